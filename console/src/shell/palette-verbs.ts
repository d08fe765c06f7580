// What the palette does: run a configuration, create something, pause or resume a schedule, open a job by its number.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useNames } from '../facts/names.ts'
import { setScheduleState } from '../facts/schedule-state.ts'
import { SCHEDULES_PAGE, useSchedulesNamed } from '../facts/schedules.ts'
import { useSettled } from '../facts/storage-names.ts'
import { useLoad } from '../load.tsx'
import type { IconName } from '../parts/icon.tsx'
import { useRefusal } from '../rights.ts'
import { api } from '../session.ts'
import { findBinding } from '../use-key.ts'
import { type Asked, jobNumberIn } from './palette-words.ts'
import { toast } from './toast.tsx'

export interface Entry {
  readonly key: string
  readonly icon: IconName
  readonly name: string
  readonly note: string
  readonly run: () => void
}

const MAX_ENTRIES = 12

/** Screens whose key N creates one of what they list. */
const CREATED: readonly (readonly [to: string, name: string, icon: IconName])[] = [
  ['/storage', 'New bucket', 'disk'],
  ['/components', 'New configuration', 'plug'],
  ['/flows', 'New flow', 'flow'],
  ['/schedules', 'New schedule', 'clock'],
  ['/streams', 'New stream', 'pulse'],
  ['/branches', 'New branch', 'flow'],
  ['/workspaces', 'New workspace', 'sql'],
  ['/apps', 'New app', 'eye'],
  ['/tokens', 'New token', 'key'],
  ['/notifications', 'New notification', 'bell'],
]

interface Verbs {
  readonly entries: readonly Entry[]
  readonly error: Error | null
}

export function useVerbs(query: string, { verb, text, kinds }: Asked, onClose: () => void): Verbs {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const nameOf = useNames()
  const wanted = useSettled(verb === 'run' ? text.trim() : '')
  const runnable =
    useLoad(
      'configurations.browse',
      { query: { canRun: true, ...(wanted === '' ? {} : { text: wanted }), limit: MAX_ENTRIES } },
      { enabled: verb === 'run', isKept: true },
    ).data ?? []
  const isSchedule = verb === 'pause' || verb === 'resume' || kinds?.[0] === 'schedule'
  const first = useLoad(
    'scheduler.list',
    { query: { limit: SCHEDULES_PAGE } },
    { enabled: isSchedule && text.trim() === '' },
  ).data
  const schedules = useSchedulesNamed(isSchedule || text.length > 1 ? text : '') ?? first ?? []
  const mayRun = useRefusal('queue.create') === undefined
  const mayPause = useRefusal('scheduler.activate') === undefined
  const does = useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSuccess: onClose,
  })
  const isMeant = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  const open = (to: string) => {
    onClose()
    return navigate({ to })
  }
  const start = (component: string, config: string) => async () => {
    const { id } = await api.call('queue.create', { body: { component, config, mode: 'run' } })
    toast(`Job ${id} started.`)
    await navigate({ to: '/jobs/$jobId', params: { jobId: id } })
  }
  const setState = (configurationId: string, state: 'enabled' | 'disabled') => async () => {
    await setScheduleState(configurationId, state)
    await queries.invalidateQueries({ queryKey: ['scheduler.list'] })
    toast(state === 'disabled' ? 'Paused.' : 'Resumed.')
  }
  const job = jobNumberIn(query)
  const entries: Entry[] = []
  if (job !== undefined)
    entries.push({ key: `job ${job}`, icon: 'jobs', name: `Open job ${job}`, note: 'job', run: () => void open(`/jobs/${job}`) })
  if (verb === 'new')
    for (const [to, name, icon] of CREATED.filter(([, name]) => isMeant(name)))
      entries.push({
        key: `new ${to}`,
        icon,
        name,
        note: 'command',
        run: () => void open(to).then(() => findBinding('n')?.run()),
      })
  if (verb === 'run' && mayRun)
    for (const { componentId, configurationId, name } of runnable)
      entries.push({
        key: `run ${componentId} ${configurationId}`,
        icon: 'play',
        name: `Run ${name}`,
        note: nameOf(componentId, null),
        run: () => does.mutate(start(componentId, configurationId)),
      })
  for (const { id, configurationId, target, schedule } of schedules) {
    const name = nameOf(target.componentId, target.configurationId)
    const isPaused = schedule.state === 'disabled'
    if (!isMeant(name)) continue
    if (mayPause && ((verb === 'pause' && !isPaused) || (verb === 'resume' && isPaused)))
      entries.push({
        key: `state ${id}`,
        icon: isPaused ? 'play' : 'st-pause',
        name: `${isPaused ? 'Resume' : 'Pause'} the schedule of ${name}`,
        note: schedule.cronTab,
        run: () => does.mutate(setState(configurationId, isPaused ? 'enabled' : 'disabled')),
      })
    if (verb === undefined && (kinds === undefined || kinds[0] === 'schedule') && text !== '')
      entries.push({
        key: `schedule ${id}`,
        icon: 'clock',
        name: `Schedule of ${name}`,
        note: schedule.cronTab,
        run: () => void open('/schedules'),
      })
  }
  return { entries: entries.slice(0, MAX_ENTRIES), error: does.error }
}
