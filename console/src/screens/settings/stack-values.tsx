// The settings of the stack: where each value comes from, and those that can change while it runs.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { StackSetting } from '../../../../client/src/operations.ts'
import { moment, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/field.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

export function StackValues() {
  const query = useLoad('operations.settings')
  const [filter, setFilter] = useState('')
  const [isChangeable, setChangeable] = useState(true)
  const [open, setOpen] = useState<StackSetting>()
  const shown = (query.data ?? []).filter(
    (one) =>
      (one.isChangeable || !isChangeable) && `${one.name} ${one.description}`.toLowerCase().includes(filter.trim().toLowerCase()),
  )
  return (
    <section className="card" aria-labelledby="stack-values">
      <header className="wrap">
        <h2 id="stack-values">Settings of the stack</h2>
        <span className="fine mute">{query.data ? `${shown.length} of ${plural(query.data.length, 'setting')}` : ''}</span>
        <span className="push flex-row wrap">
          <label className="check-line">
            <input type="checkbox" checked={isChangeable} onChange={({ target }) => setChangeable(target.checked)} />
            Only what can change while the stack runs
          </label>
          <FilterField label="Filter settings" value={filter} onChange={setFilter} />
        </span>
      </header>
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {() =>
          shown.length === 0 ? (
            <p className="inset mute">No setting matches.</p>
          ) : (
            <ListTable label="Settings of the stack" columns={['Setting', 'Value', 'From', { hidden: 'Change' }]}>
              {shown.map((one) => (
                <tr key={one.name}>
                  <td className="said">
                    <span className="identifier">{one.name}</span>
                    <p className="fine mute">{one.description}</p>
                  </td>
                  <td className="identifier">{one.isSecret ? 'secret' : (one.value ?? one.default)}</td>
                  <td className="fine">
                    {one.changedAt ? `${one.changedBy ?? 'changed'}, ${moment(one.changedAt)}` : one.origin}
                  </td>
                  <td>
                    {one.isChangeable ? (
                      <button
                        type="button"
                        className="button small"
                        aria-label={`Change ${one.name}`}
                        onClick={() => setOpen(one)}
                      >
                        Change
                      </button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Loaded>
      {open ? <ChangeSetting setting={open} onClose={() => setOpen(undefined)} /> : null}
    </section>
  )
}

function ChangeSetting({ setting, onClose }: { setting: StackSetting; onClose: () => void }) {
  const queries = useQueryClient()
  const path = { name: setting.name }
  const [value, setValue] = useState(setting.value ?? setting.default)
  const refresh = () => queries.invalidateQueries({ queryKey: ['operations.settings'] })
  const put = (next: string | undefined) =>
    next === undefined
      ? api.call('operations.resetSetting', { path })
      : api.call('operations.changeSetting', { path, body: { value: next } })
  /** As it was: the value that was set before, or that of the environment. */
  const before = setting.changedAt === null ? undefined : (setting.value ?? undefined)
  const change = useMutation({
    mutationFn: put,
    onSuccess: async () => {
      await refresh()
      onClose()
      toast(`${setting.name} is changed.`, async () => {
        await put(before)
        await refresh()
      })
    },
  })
  return (
    <Dialog title={`Change ${setting.name}`} onClose={onClose}>
      <Form onSubmit={() => change.mutate(value)}>
        <p className="body-text soft">{setting.description}</p>
        <Field label="Value" hint={`The default is ${setting.default}. It applies on every node within seconds.`}>
          {(id) => <input className="input" id={id} required value={value} onChange={(event) => setValue(event.target.value)} />}
        </Field>
        {change.error ? <Problem error={change.error} /> : null}
        <div className="flex-row wrap">
          {setting.changedAt === null ? null : (
            <button type="button" className="button" disabled={change.isPending} onClick={() => change.mutate(undefined)}>
              Back to the environment
            </button>
          )}
          <button type="submit" className="button primary push" disabled={change.isPending || value === setting.value}>
            Change the setting
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
