// The rows of a configuration in the order they run: move, enable, copy, run one or several, and how each ended last.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConfigurationRow } from '../../../../client/src/operations.ts'
import { type RowResult, rowsOf } from '../../facts/job-rows.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useRuns } from '../../facts/use-configuration.ts'
import { moment } from '../../format.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { type OpenDocument, ROOT, useRun } from '../../views/configuration-documents.ts'
import { EditRows } from './rows-edit.tsx'
import './configuration.css'

/** How each row ended last, from the newest job that ran it. */
function useLastResults(place: ConfigurationPlace): ReadonlyMap<string, RowResult> {
  const jobs = useRuns(place, 20).data ?? []
  const results = new Map<string, RowResult>()
  for (const job of jobs) for (const row of rowsOf(job)) if (!results.has(row.rowId)) results.set(row.rowId, row)
  return results
}

export function RowsPane({
  place,
  loaded,
  documents,
  current,
}: {
  place: ConfigurationPlace
  loaded: LoadedConfiguration
  documents: readonly OpenDocument[]
  current: string
}) {
  const { rows } = loaded.configuration
  const results = useLastResults(place)
  const change = useRowChanges(place, rows)
  const run = useRun(place)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [dragged, setDragged] = useState<string>()
  const [said, setSaid] = useState('')
  const [isEditing, setEditing] = useState(false)
  const toggle = (id: string) =>
    setSelected((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  const move = (id: string, to: number) => {
    const order = rows.map((row) => row.id).filter((other) => other !== id)
    const place = Math.max(0, Math.min(to, order.length))
    order.splice(place, 0, id)
    change.mutate({ order })
    setSaid(`${rows.find((row) => row.id === id)?.name || id} is at place ${place + 1} of ${rows.length}.`)
  }
  const isChanged = (key: string) => documents.some((document) => document.key === key && document.draft.isChanged)
  return (
    <aside aria-label="Rows">
      <div className="pane-header">
        <h2 className="heading">Rows</h2>
        <span className="fine mute">{rows.length === 0 ? 'none' : 'run in this order'}</span>
        <ActButton
          needs="rows.create"
          className="button icon ghost small push"
          aria-label="Add a row"
          title="Add a row"
          onClick={() => change.mutate({ add: {} })}
        >
          <Icon name="plus" />
        </ActButton>
      </div>
      <Link
        activeOptions={{ exact: true }}
        className="row-entry root"
        to="."
        search={(before: object) => ({ ...before, row: undefined })}
        aria-current={current === ROOT ? 'true' : undefined}
      >
        <i className="from-root" />
        <span className="column">
          <span className="medium">Root{isChanged(ROOT) ? <Changed /> : null}</span>
          <span className="fine mute">shared by all rows</span>
        </span>
      </Link>
      <ol>
        {rows.map((row, index) => (
          <RowItem
            key={row.id}
            row={row}
            result={results.get(row.id)}
            isCurrent={row.id === current}
            isSelected={selected.has(row.id)}
            isChanged={isChanged(row.id)}
            isTarget={dragged !== undefined && dragged !== row.id}
            onToggle={() => toggle(row.id)}
            onMove={(step) => move(row.id, index + step)}
            onDrag={() => setDragged(row.id)}
            onDrop={() => {
              if (dragged !== undefined && dragged !== row.id) move(dragged, index)
              setDragged(undefined)
            }}
          />
        ))}
      </ol>
      <p className="visually-hidden" role="status">
        {said}
      </p>
      {change.error ? <Problem error={change.error} /> : null}
      {run.error ? <Problem error={run.error} /> : null}
      {selected.size > 0 ? (
        <div className="flex-row wrap rw-actions">
          <ActButton needs="queue.create" className="button small primary" onClick={() => run.mutate([...selected])}>
            <Icon name="play" size="small" />
            <span>
              Run {selected.size === 1 ? 'it' : `these ${selected.size}`}
              {documents.some(({ draft }) => draft.isChanged) ? ' as saved' : ''}
            </span>
          </ActButton>
          <ActButton needs="rows.update" className="button small" onClick={() => change.mutate({ enable: [...selected] })}>
            Enable
          </ActButton>
          <ActButton needs="rows.update" className="button small" onClick={() => change.mutate({ disable: [...selected] })}>
            Disable
          </ActButton>
          <button type="button" className="button small" onClick={() => setEditing(true)}>
            Change a value
          </button>
          <ActButton needs="rows.create" className="button small" onClick={() => change.mutate({ copy: [...selected] })}>
            Duplicate
          </ActButton>
          <ActButton
            needs="rows.delete"
            className="button small"
            onClick={() => {
              change.mutate({ remove: [...selected] })
              setSelected(new Set())
            }}
          >
            Delete
          </ActButton>
        </div>
      ) : rows.length > 0 ? (
        <p className="fine mute rw-hint">
          Move a row with <kbd>Alt</kbd> <kbd>↑</kbd> <kbd>↓</kbd> or by dragging. Select rows to run, enable or copy them.
        </p>
      ) : (
        <p className="fine mute rw-hint">
          Rows run the same configuration with differences of their own: an endpoint each, a table each.
        </p>
      )}
      {isEditing ? <EditRows rows={documents.filter(({ key }) => selected.has(key))} onClose={() => setEditing(false)} /> : null}
    </aside>
  )
}

/** An empty one is a list where PHP wrote it. */
const hasState = ({ state }: ConfigurationRow): boolean => Object.keys(state ?? {}).length > 0

const Changed = () => (
  <span className="tag-label" title="not saved">
    changed
  </span>
)

function RowItem({
  row,
  result,
  isCurrent,
  isSelected,
  isChanged,
  isTarget,
  onToggle,
  onMove,
  onDrag,
  onDrop,
}: {
  row: ConfigurationRow
  result: RowResult | undefined
  isCurrent: boolean
  isSelected: boolean
  isChanged: boolean
  isTarget: boolean
  onToggle: () => void
  onMove: (step: number) => void
  onDrag: () => void
  onDrop: () => void
}) {
  const name = row.name || row.id
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || step === undefined) return
    event.preventDefault()
    onMove(step)
  }
  return (
    <li
      className={`row-entry ${row.isDisabled ? 'inactive' : ''} ${isTarget ? 'target' : ''}`}
      aria-current={isCurrent ? 'true' : undefined}
      draggable
      onDragStart={onDrag}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
      onKeyDown={onKeyDown}
    >
      <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} onChange={onToggle} />
      <StatusIcon status={row.isDisabled ? 'disabled' : (result?.status ?? 'created')} />
      <Link
        activeOptions={{ exact: true }}
        className="column grow"
        to="."
        search={(before: object) => ({ ...before, row: row.id })}
        aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
      >
        <span className="medium clip">
          {name}
          {isChanged ? <Changed /> : null}
          {hasState(row) ? (
            <span className="tag-label" title="remembers where its last run stopped; see the tab State">
              state
            </span>
          ) : null}
        </span>
        <span className="fine mute clip">
          {row.isDisabled ? 'Disabled' : (result?.error ?? result?.tables?.map(({ id }) => id).join(', ') ?? 'has not run yet')}
        </span>
      </Link>
      <span className="fine mute tabular">{result?.endTime ? moment(result.endTime).replace(/^today /, '') : ''}</span>
    </li>
  )
}

interface RowChange {
  readonly order?: readonly string[]
  readonly add?: object
  readonly enable?: readonly string[]
  readonly disable?: readonly string[]
  readonly copy?: readonly string[]
  readonly remove?: readonly string[]
}

function useRowChanges(place: ConfigurationPlace, rows: readonly ConfigurationRow[]) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const refresh = () => queries.invalidateQueries({ queryKey: ['configurations.get'] })
  const at = (rowId: string) => ({ ...place, rowId })
  const setDisabled = (ids: readonly string[], isDisabled: boolean) =>
    Promise.all(
      ids.map((id) =>
        api.call('rows.update', { path: at(id), body: { isDisabled, changeDescription: isDisabled ? 'Disabled' : 'Enabled' } }),
      ),
    )
  return useMutation({
    mutationFn: async ({ order, add, enable, disable, copy, remove }: RowChange) => {
      if (order)
        await api.call('configurations.update', {
          path: place,
          body: { rowsSortOrder: order, changeDescription: 'Order of rows' },
        })
      if (add) {
        const made = await api.call('rows.create', { path: place, body: { name: `Row ${rows.length + 1}`, configuration: {} } })
        void navigate({ to: '.', search: (before: object) => ({ ...before, row: made.id }) })
      }
      if (enable) await setDisabled(enable, false)
      if (disable) await setDisabled(disable, true)
      for (const id of copy ?? []) {
        const row = rows.find((one) => one.id === id)!
        await api.call('rows.copy', {
          path: { ...at(id), versionId: String(row.version) },
          body: { changeDescription: `Copy of ${row.name || id}` },
        })
      }
      for (const id of remove ?? []) await api.call('rows.delete', { path: at(id), body: {} })
    },
    onSuccess: async (_, { order, disable, enable, remove }) => {
      await refresh()
      if (disable)
        toast('Disabled.', async () => {
          await setDisabled(disable, false)
          await refresh()
        })
      if (enable) toast('Enabled.')
      if (order) toast('The order is saved.')
      if (remove) toast('Deleted. Restore an earlier version of the configuration to get it back.')
    },
  })
}
