// What can be done with a schedule wherever it is listed: paused, run at once, changed, deleted.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schedule } from '../../../client/src/operations.ts'
import { SCHEDULER, useNames } from '../facts/names.ts'
import { setScheduleState } from '../facts/schedule-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import { EditSchedule } from './schedule-dialog.tsx'

export function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isPaused = schedule.schedule.state === 'disabled'
  const [isOpen, setOpen] = useState(false)
  const path = { componentId: SCHEDULER, configurationId: schedule.configurationId }
  const activation = { body: { configurationId: schedule.configurationId } }
  const refresh = () =>
    Promise.all(['scheduler.list', 'scheduler.totals'].map((name) => queries.invalidateQueries({ queryKey: [name] })))
  const remove = useMutation({
    mutationFn: async () => {
      await api.call('scheduler.delete', { path: { id: schedule.id } })
      await api.call('configurations.delete', { path })
    },
    onSuccess: async () => {
      await refresh()
      toast('The schedule is deleted.', async () => {
        await api.call('configurations.restore', { path })
        await api.call('scheduler.activate', activation)
        await refresh()
      })
    },
  })
  const change = useMutation({
    mutationFn: (state: 'enabled' | 'disabled') => setScheduleState(schedule.configurationId, state),
    onSuccess: async (_, state) => {
      await refresh()
      toast(state === 'disabled' ? 'Paused.' : 'Resumed.')
    },
  })
  const run = useMutation({
    mutationFn: () =>
      api.call('queue.create', {
        body: { component: schedule.target.componentId, config: schedule.target.configurationId, mode: 'run' },
      }),
    onSuccess: (job) => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }),
  })
  const error = change.error ?? run.error ?? remove.error
  const name = useNames()(schedule.target.componentId, schedule.target.configurationId)
  return (
    <>
      <span className="flex-row">
        <ActButton
          needs="scheduler.activate"
          className="button small"
          disabled={change.isPending}
          onClick={() => change.mutate(isPaused ? 'enabled' : 'disabled')}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </ActButton>
        <ActButton needs="queue.create" className="button small ghost" disabled={run.isPending} onClick={() => run.mutate()}>
          Run now
        </ActButton>
        <ActButton
          needs="scheduler.activate"
          className="button small ghost"
          aria-label={`Change the schedule of ${name}`}
          onClick={() => setOpen(true)}
        >
          Change
        </ActButton>
        <ActButton
          needs="scheduler.delete"
          className="button small ghost"
          aria-label={`Delete the schedule of ${name}`}
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete
        </ActButton>
      </span>
      {isOpen ? <EditSchedule schedule={schedule} onClose={() => setOpen(false)} /> : null}
      {error ? <Problem error={error} /> : null}
    </>
  )
}
