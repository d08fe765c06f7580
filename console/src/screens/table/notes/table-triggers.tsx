// What runs by itself when this table was loaded.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Trigger } from '../../../../../client/src/operations.ts'
import { useMe } from '../../../facts/me.ts'
import { useNames } from '../../../facts/names.ts'
import { useTableIds } from '../../../facts/storage-names.ts'
import { moment, plural } from '../../../format.ts'
import { Teach } from '../../../listing.tsx'
import { Loaded, useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Dialog } from '../../../parts/drawer.tsx'
import { Field } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { ListTable } from '../../../parts/list-table.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { TextList } from '../../../parts/text-list.tsx'
import { api, branchId } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'
import { ConfigurationSelect, useRunnable } from '../../../views/configuration-select.tsx'

export function TableTriggers({ tableId }: { tableId: string }) {
  const inBranch = branchId() !== undefined
  const query = useLoad('triggers.list', inBranch ? undefined : { query: {} })
  const nameOf = useNames()
  const queries = useQueryClient()
  const [open, setOpen] = useState<Trigger | 'new'>()
  const refresh = () => queries.invalidateQueries({ queryKey: ['triggers.list'] })
  const own = (query.data ?? []).filter(({ tables }) => tables.some((one) => one.tableId === tableId))
  const remove = useMutation({
    mutationFn: async (trigger: Trigger) => {
      await api.call('triggers.delete', { path: { id: trigger.id } })
      await refresh()
      return trigger
    },
    onSuccess: (trigger) =>
      toast('The trigger is deleted.', async () => {
        await api.call('triggers.create', { body: bodyOf(trigger) })
        await refresh()
      }),
  })
  if (inBranch)
    return (
      <section className="card" aria-label="Triggers">
        <Teach>Triggers watch tables of the default branch. Leave the development branch to see them.</Teach>
      </section>
    )
  return (
    <section className="card" aria-labelledby="triggers">
      <header>
        <h2 id="triggers">Triggers</h2>
        <ActButton needs="triggers.create" className="button small push" onClick={() => setOpen('new')}>
          New trigger
        </ActButton>
      </header>
      {remove.error ? <Problem error={remove.error} /> : null}
      <Loaded query={query}>
        {() =>
          own.length === 0 ? (
            <Teach>A trigger runs a configuration or a flow as soon as this table was loaded, instead of at a fixed time.</Teach>
          ) : (
            <ListTable
              label="Triggers of the table"
              columns={['Runs', 'When all of these were loaded', 'At most every', 'Last run', { hidden: 'Change' }]}
            >
              {own.map((trigger) => (
                <tr key={trigger.id}>
                  <td className="medium">{nameOf(trigger.component, trigger.configurationId)}</td>
                  <td className="identifier">{trigger.tables.map((one) => one.tableId).join(', ')}</td>
                  <td className="nowrap">{plural(trigger.coolDownPeriodMinutes, 'minute')}</td>
                  <td className="nowrap">{moment(trigger.lastRun)}</td>
                  <td>
                    <span className="flex-row">
                      <ActButton needs="triggers.update" className="button small" onClick={() => setOpen(trigger)}>
                        Change
                      </ActButton>
                      <ActButton
                        needs="triggers.delete"
                        className="button small danger"
                        disabled={remove.isPending}
                        onClick={() => remove.mutate(trigger)}
                      >
                        Delete
                      </ActButton>
                    </span>
                  </td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Loaded>
      {open ? (
        <TriggerForm
          tableId={tableId}
          trigger={open === 'new' ? undefined : open}
          onClose={() => setOpen(undefined)}
          onSaved={refresh}
        />
      ) : null}
    </section>
  )
}

const bodyOf = ({ runWithTokenId, component, configurationId, coolDownPeriodMinutes, tables }: Trigger) => ({
  ...{ runWithTokenId, component, configurationId, coolDownPeriodMinutes },
  tableIds: tables.map(({ tableId }) => tableId),
})

interface FormProps {
  readonly tableId: string
  /** Undefined: a new one. */
  readonly trigger: Trigger | undefined
  readonly onClose: () => void
  readonly onSaved: () => Promise<unknown>
}

function TriggerForm({ tableId, trigger, onClose, onSaved }: FormProps) {
  const runnable = useRunnable()
  const [typed, setTyped] = useState('')
  const offered = useTableIds(typed)
  const me = useMe()
  const [target, setTarget] = useState(trigger ? `${trigger.component} ${trigger.configurationId}` : '')
  const [minutes, setMinutes] = useState(String(trigger?.coolDownPeriodMinutes ?? 1))
  const [tableIds, setTableIds] = useState<readonly string[]>(trigger?.tables.map((one) => one.tableId) ?? [tableId])
  const save = useMutation({
    mutationFn: async () => {
      const [component = '', configurationId = ''] = target.split(' ')
      const body = { component, configurationId, coolDownPeriodMinutes: Number(minutes), tableIds }
      if (trigger) await api.call('triggers.update', { path: { id: trigger.id }, body })
      else await api.call('triggers.create', { body: { ...body, runWithTokenId: Number(me?.id) } })
      await onSaved()
    },
    onSuccess: () => {
      onClose()
      toast(
        trigger ? 'Saved.' : 'The trigger is created.',
        trigger
          ? async () => {
              await api.call('triggers.update', { path: { id: trigger.id }, body: bodyOf(trigger) })
              await onSaved()
            }
          : undefined,
      )
    },
  })
  return (
    <Dialog title={trigger ? 'Change the trigger' : 'New trigger'} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <Field label="Run">
          {(id) => (
            <ConfigurationSelect
              id={id}
              list={runnable}
              isRequired
              value={target}
              none="choose a configuration or a flow"
              onChange={(chosen) => setTarget(chosen?.key ?? '')}
            />
          )}
        </Field>
        <Field label="When all of these were loaded" hint="Since the last run of the trigger.">
          {(id) => <TextList id={id} values={tableIds} options={offered} onType={setTyped} onChange={setTableIds} />}
        </Field>
        <Field label="At most every so many minutes" hint="Loads in between wait for the next run.">
          {(id) => (
            <input
              className="input"
              id={id}
              type="number"
              min="1"
              max="527040"
              required
              value={minutes}
              onChange={(event) => setMinutes(event.target.value)}
            />
          )}
        </Field>
        {trigger ? null : (
          <p className="hint">Runs have your rights: they use your token of this project, which must not expire.</p>
        )}
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton
          needs={trigger ? 'triggers.update' : 'triggers.create'}
          type="submit"
          className="button primary"
          disabled={save.isPending || tableIds.length === 0 || target === ''}
        >
          {trigger ? 'Save' : 'Create the trigger'}
        </ActButton>
      </Form>
    </Dialog>
  )
}
