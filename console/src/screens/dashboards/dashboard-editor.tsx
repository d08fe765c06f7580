// What a dashboard shows: its name, tiles over saved queries, and filters. Saved as a whole; a save over a newer state is refused.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Dashboard, DashboardsUpdateBody } from '../../../../client/src/operations.ts'
import { PARAMETER_TYPES } from '../../editor/sql-parameters.ts'
import { useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import './dashboards.css'

type Tile = Dashboard['tiles'][number]
type Filter = Dashboard['filters'][number]

const TYPES: readonly (readonly [Tile['type'], string])[] = [
  ['bar', 'Bars'],
  ['line', 'Lines'],
  ['area', 'Areas'],
  ['scatter', 'Points'],
  ['pivot', 'Pivot'],
  ['figure', 'Figure'],
  ['table', 'Table'],
]
const WIDTHS: readonly (readonly [number, string])[] = [
  [1, 'a third'],
  [2, 'two thirds'],
  [3, 'the whole width'],
]

export function DashboardEditor({ dashboard }: { dashboard: Dashboard }) {
  const queries = useQueryClient()
  const { id, version } = dashboard
  const [draft, setDraft] = useState(dashboard)
  const save = useMutation({
    mutationFn: async (body: DashboardsUpdateBody) => {
      await api.call('dashboards.update', { path: { dashboardId: id }, body })
      await queries.invalidateQueries({ queryKey: ['dashboards.get'] })
      await queries.invalidateQueries({ queryKey: ['dashboards.list'] })
      await queries.invalidateQueries({ queryKey: ['dashboards.result'] })
    },
    onSuccess: () => {
      const { name, description, tiles, filters } = dashboard
      toast('The dashboard is saved.', () => save.mutateAsync({ name, description, tiles, filters }))
    },
  })
  const { name, description, tiles, filters } = draft
  const isChanged = JSON.stringify(draft) !== JSON.stringify(dashboard)
  const change = (next: Partial<Dashboard>) => setDraft({ ...draft, ...next })
  return (
    <section className="card" aria-label="Editor">
      <Form className="inset form wide" onSubmit={() => save.mutate({ name, description, tiles, filters, version })}>
        <div className="flex-row wrap gap-4">
          <Field label="Name">
            {(field) => (
              <input
                className="input"
                id={field}
                required
                value={name}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </Field>
          <Field label="Description">
            {(field) => (
              <input
                className="input"
                id={field}
                value={description}
                onChange={(event) => change({ description: event.target.value })}
              />
            )}
          </Field>
        </div>
        <Tiles tiles={tiles} onChange={(next) => change({ tiles: next })} />
        <Filters filters={filters} onChange={(next) => change({ filters: next })} />
        {save.error ? <Problem error={save.error} /> : null}
        <div className="flex-row">
          <button type="button" className="button push" disabled={!isChanged} onClick={() => setDraft(dashboard)}>
            Undo the changes
          </button>
          <ActButton needs="dashboards.update" type="submit" className="button primary" disabled={!isChanged || save.isPending}>
            Save the dashboard
          </ActButton>
        </div>
      </Form>
    </section>
  )
}

const freeId = (taken: readonly string[]): string => {
  let number = taken.length + 1
  while (taken.includes(`tile-${number}`)) number++
  return `tile-${number}`
}

function Tiles({ tiles, onChange }: { tiles: readonly Tile[]; onChange: (tiles: readonly Tile[]) => void }) {
  const saved = useLoad('savedQueries.list', { query: { limit: 1000 } }).data ?? []
  const put = (index: number, next: Partial<Tile>) => onChange(tiles.with(index, { ...tiles[index]!, ...next }))
  const move = (index: number, to: number) => onChange(tiles.toSpliced(index, 1).toSpliced(to, 0, tiles[index]!))
  return (
    <fieldset className="plain stack-3">
      <legend className="label">Tiles</legend>
      {tiles.map((tile, index) => (
        <div key={tile.id} className="flex-row wrap tile-edit">
          <input
            className="input small grow"
            aria-label={`Title of tile ${index + 1}`}
            value={tile.title}
            onChange={(event) => put(index, { title: event.target.value })}
          />
          <select
            className="input small"
            aria-label={`Query of tile ${index + 1}`}
            value={tile.queryId}
            onChange={(event) => onChange(tiles.with(index, plain({ ...tile, queryId: event.target.value })))}
          >
            {saved.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <select
            className="input small"
            aria-label={`Kind of tile ${index + 1}`}
            value={tile.type}
            onChange={(event) => onChange(tiles.with(index, plain({ ...tile, type: event.target.value as Tile['type'] })))}
          >
            {TYPES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
          <Columns tile={tile} number={index + 1} onChange={(next) => onChange(tiles.with(index, next))} />
          <select
            className="input small"
            aria-label={`Width of tile ${index + 1}`}
            value={tile.width}
            onChange={(event) => put(index, { width: Number(event.target.value) })}
          >
            {WIDTHS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
          {tile.type === 'figure' ? (
            <AlertFields tile={tile} number={index + 1} onChange={(next) => onChange(tiles.with(index, next))} />
          ) : null}
          <button
            type="button"
            className="button small ghost"
            aria-label={`Move tile ${index + 1} up`}
            disabled={index === 0}
            onClick={() => move(index, index - 1)}
          >
            ↑
          </button>
          <button
            type="button"
            className="button small ghost"
            aria-label={`Remove tile ${index + 1}`}
            onClick={() => onChange(tiles.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <div className="flex-row">
        <select
          className="input small"
          aria-label="Add a saved query"
          value=""
          onChange={(event) => {
            const query = saved.find(({ id }) => id === event.target.value)
            if (!query) return
            const id = freeId(tiles.map((one) => one.id))
            onChange([...tiles, { id, queryId: query.id, title: query.name, type: 'table', width: 1 }])
          }}
        >
          <option value="">{saved.length === 0 ? 'no saved query yet: save one in SQL' : 'Add a saved query'}</option>
          {saved.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </fieldset>
  )
}

/** Columns and bounds belong to the query and the kind they were chosen for. */
const plain = ({ id, queryId, title, type, width }: Tile): Tile => ({ id, queryId, title, type, width })

interface ColumnsProps {
  readonly tile: Tile
  readonly number: number
  readonly onChange: (next: Tile) => void
}

/** Names as they are typed: a result with parameters may not be there to choose from. */
function Columns({ tile, number, onChange }: ColumnsProps) {
  const { type, alert } = tile
  if (type === 'table') return null
  const now = { x: tile.x ?? '', y: tile.y?.[0] ?? '', series: tile.series ?? '' }
  const put = (next: Partial<typeof now>) => {
    const { x, y, series } = { ...now, ...next }
    onChange({ ...plain(tile), ...(x && { x }), ...(y && { y: [y] }), ...(series && { series }), ...(alert && { alert }) })
  }
  const fields: readonly (readonly [keyof typeof now, string])[] = [
    ...(type === 'figure' ? [] : [['x', 'What'] as const]),
    ['y', 'How much'],
    ...(type === 'figure' || type === 'scatter' ? [] : [['series', 'One for each'] as const]),
  ]
  return fields.map(([key, label]) => (
    <input
      key={key}
      className="input small mono"
      aria-label={`${label} of tile ${number}`}
      placeholder={`${label.toLowerCase()}: a column`}
      value={now[key]}
      onChange={(event) => put({ [key]: event.target.value })}
    />
  ))
}

function AlertFields({ tile, number, onChange }: { tile: Tile; number: number; onChange: (next: Tile) => void }) {
  const { alert } = tile
  const without: Tile = { ...plain(tile), ...(tile.y ? { y: tile.y } : {}) }
  return (
    <span className="flex-row gap-1">
      <select
        className="input small"
        aria-label={`Alert of tile ${number}`}
        value={alert?.operator ?? ''}
        onChange={(event) =>
          onChange(
            event.target.value === ''
              ? without
              : { ...without, alert: { operator: event.target.value as 'above' | 'below', value: alert?.value ?? 0 } },
          )
        }
      >
        <option value="">no alert</option>
        <option value="above">alert above</option>
        <option value="below">alert below</option>
      </select>
      {alert ? (
        <input
          className="input small tabular"
          type="number"
          step="any"
          aria-label={`Bound of tile ${number}`}
          value={alert.value}
          onChange={(event) => onChange({ ...without, alert: { ...alert, value: event.target.valueAsNumber || 0 } })}
        />
      ) : null}
    </span>
  )
}

function Filters({ filters, onChange }: { filters: readonly Filter[]; onChange: (filters: readonly Filter[]) => void }) {
  const put = (index: number, next: Partial<Filter>) => onChange(filters.with(index, { ...filters[index]!, ...next }))
  return (
    <fieldset className="plain stack-3">
      <legend className="label">Filters</legend>
      {filters.map((filter, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: its name is what is typed
        <div key={index} className="flex-row wrap tile-edit">
          <input
            className="input small mono"
            aria-label={`Parameter of filter ${index + 1}`}
            placeholder="name of the parameter"
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            value={filter.name}
            onChange={(event) => put(index, { name: event.target.value })}
          />
          <input
            className="input small"
            aria-label={`Label of filter ${index + 1}`}
            placeholder="label"
            value={filter.label ?? ''}
            onChange={(event) => put(index, { label: event.target.value })}
          />
          <select
            className="input small"
            aria-label={`Type of filter ${index + 1}`}
            value={filter.type}
            onChange={(event) => put(index, { type: event.target.value as Filter['type'] })}
          >
            {PARAMETER_TYPES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <input
            className="input small"
            aria-label={`Default of filter ${index + 1}`}
            placeholder="default"
            value={filter.default ?? ''}
            onChange={(event) => put(index, { default: event.target.value })}
          />
          <button
            type="button"
            className="button small ghost"
            aria-label={`Remove filter ${index + 1}`}
            onClick={() => onChange(filters.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <div className="flex-row">
        <button type="button" className="button small" onClick={() => onChange([...filters, { name: '', type: 'text' }])}>
          Add a filter
        </button>
        <span className="fine mute">goes to every query that has a parameter of its name</span>
      </div>
    </fieldset>
  )
}
