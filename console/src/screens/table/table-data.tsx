// The rows of a table, page by page: a profile in every header, filter, sort, search, copy, and long cells in a drawer.

import { useMutation, useQueries } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import type { Table } from '../../../../client/src/operations.ts'
import { count, fieldTime, moment, plural, timeOfField } from '../../format.ts'
import { Lines, Loaded, loadOptions, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Dialog, Drawer } from '../../parts/drawer.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { PastTime } from '../../parts/past-time.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { boundedWidth, MAX_WIDTH, MIN_WIDTH, type PlacedCell } from '../../views/grid-cells.tsx'
import { CellDrawer } from '../../views/long-cell.tsx'
import { RowDrawer } from './rows/row-drawer.tsx'
import { type Row, whyFixed } from './rows/row-edit.ts'
import { TableViews } from './rows/table-views.tsx'
import { TableGrid } from './table-grid.tsx'
import './table.css'

const route = getRouteApi('/storage/$tableId')

const PAGE_ROWS = 100

type Rows = Answer<'tables.rows'>
type Profile = Answer<'tables.profileNow'>['columns'][number]

/** Columns that are loaded together, when they come into sight. */
const PART_COLUMNS = 50
/** Of one cell alone, as many as the API gives. */
const WHOLE_CELL_CHARS = 8_388_608

interface Filter {
  readonly column: string
  readonly op: string
  readonly value: string
}

const OPERATORS = [
  { id: 'eq', name: 'is' },
  { id: 'ne', name: 'is not' },
  { id: 'gt', name: 'is over' },
  { id: 'ge', name: 'is at least' },
  { id: 'lt', name: 'is under' },
  { id: 'le', name: 'is at most' },
  { id: 'contains', name: 'contains' },
  { id: 'startsWith', name: 'begins with' },
] as const

export function TableData({ table }: { table: Table }) {
  const search = route.useSearch()
  const { column, op = 'eq', value, sort, order, page = '1', q, at, edit } = search
  const navigate = useNavigate()
  const change = (next: Partial<typeof search>) => {
    const said = Object.entries({ ...search, page: '', ...next }).filter(([, text]) => text !== '')
    void navigate({ to: '.', search: Object.fromEntries(said), replace: true })
  }
  const kept = keptFilters(search.and)
  const hidden = namesIn(search.hide)
  const pinned = namesIn(search.pin)
  const widths = widthsIn(search.width)
  const fixed = whyFixed(table, at)
  const isEditing = edit !== undefined && fixed === undefined
  /** The key of a row, or none for a new one. */
  const [edited, setEdited] = useState<{ readonly row: Row | undefined; readonly column?: string }>()
  const filters = column && value ? [...kept, { column, op, value }] : kept
  const isFiltered = filters.length > 0 || Boolean(q)
  const rowsOf = { ...queryOf(filters), ...(q ? { fulltextSearch: q } : {}), ...(at ? { timestamp: at } : {}) }
  const offset = (Number(page) - 1) * PAGE_ROWS
  const columns = table.columns ?? []
  const inSight = columns.filter((name) => !hidden.includes(name))
  const visible = [...inSight.filter((name) => pinned.includes(name)), ...inSight.filter((name) => !pinned.includes(name))]
  const parts = chunks(visible, PART_COLUMNS)
  const [wanted, setWanted] = useState<readonly number[]>([0])
  const want = (more: readonly number[]) =>
    setWanted((before) => (more.every((part) => before.includes(part)) ? before : [...new Set([...before, ...more])]))
  const isPart = visible.length > PART_COLUMNS || hidden.length > 0
  const profiled = useQueries({
    queries: parts.map((names, part) =>
      loadOptions(
        'tables.profileNow',
        { path: { tableId: table.id }, query: { ...rowsOf, ...(isPart ? { columns: names } : {}) } },
        wanted.includes(part) || (sort !== undefined && names.includes(sort)),
      ),
    ),
  })
  const profiles = new Map(profiled.flatMap(({ data }) => data?.columns ?? []).map((one) => [one.name, one]))
  const readRows = profiled.find(({ data }) => data)?.data?.readRows ?? 0
  const sortedPart = sort === undefined ? -1 : parts.findIndex((names) => names.includes(sort))
  const inOrder = {
    ...rowsOf,
    ...(sort ? { 'orderBy[0][column]': sort, 'orderBy[0][order]': order === 'desc' ? 'DESC' : 'ASC' } : {}),
    ...(sort && isNumberAsText(profiles.get(sort)) ? { 'orderBy[0][dataType]': 'DOUBLE' } : {}),
  }
  const query = useLoad(
    'tables.rows',
    {
      path: { tableId: table.id },
      query: {
        ...inOrder,
        limit: PAGE_ROWS,
        offset,
        ...(isPart ? { columns: parts[0]! } : {}),
        ...(isFiltered || at ? { count: 'true' } : {}),
      },
    },
    { enabled: !profiled[sortedPart]?.isPending, isKept: true }, // what the values are decides how they are sorted
  )
  /** The other columns of the same rows: of the same state of the table. */
  const { timestamp: _, ...ofState } = { timestamp: '', ...inOrder }
  const others = useQueries({
    queries: parts.map((names, part) =>
      loadOptions(
        'tables.rows',
        {
          path: { tableId: table.id },
          query: { ...ofState, state: query.data?.state, limit: PAGE_ROWS, offset, columns: names },
        },
        part > 0 && wanted.includes(part) && query.data !== undefined && !query.isPlaceholderData,
      ),
    ),
  })
  const partOf = (name: string) => Math.floor(visible.indexOf(name) / PART_COLUMNS)
  const loaded = parts.map((_, part) => (part === 0 ? query.data : others[part]?.data))
  /** Where a column is in its part. */
  const places = new Map(loaded.flatMap((part) => part?.columns.map(({ name }, place) => [name, place] as const) ?? []))
  const whole = loaded.every((one) => one !== undefined) ? joined(loaded) : undefined
  const failed = others.find(({ error }) => error)?.error
  const [open, setOpen] = useState<PlacedCell>()
  /** The key may be among columns that are not seen, and the row elsewhere by now: it is requested, of the state that is shown. */
  const openRow = useMutation({
    mutationFn: async ({ row, column: chosen }: PlacedCell) => {
      const key = await api.call('tables.rows', {
        path: { tableId: table.id },
        query: { ...ofState, state: query.data?.state, limit: 1, offset: row, columns: table.primaryKey },
      })
      return { row: Object.fromEntries(key.columns.map(({ name }, index) => [name, key.rows[0]?.[index] ?? ''])), column: chosen }
    },
    onSuccess: setEdited,
  })
  const toggleSort = (name: string) =>
    change(
      sort !== name ? { sort: name, order: 'asc' } : order === 'asc' ? { sort: name, order: 'desc' } : { sort: '', order: '' },
    )
  return (
    <section className="card grid" aria-label="Rows">
      <div className="toolbar">
        <Icon name="filter" />
        {kept.map((one) => (
          <FilterChip
            key={filterText(one)}
            filter={one}
            onRemove={() => change({ and: filtersText(kept.filter((other) => other !== one)) })}
          />
        ))}
        <select
          className="input small"
          aria-label="Column of the filter"
          value={column ?? ''}
          onChange={(event) => change({ column: event.target.value, value: '', op: '', q: '' })}
        >
          <option value="">{kept.length > 0 ? 'and ...' : 'All rows'}</option>
          {columns.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {column ? (
          <>
            <select
              className="input small"
              aria-label="How to compare"
              value={op}
              onChange={(event) => change({ op: event.target.value })}
            >
              {OPERATORS.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
            <Typed
              key={column}
              label="Value of the filter"
              placeholder="value, then Enter"
              value={value ?? ''}
              onDone={(text) => change({ value: text })}
            />
            {value ? (
              <button
                type="button"
                className="button small"
                onClick={() => change({ and: filtersText(filters), column: '', op: '', value: '' })}
              >
                And
              </button>
            ) : null}
          </>
        ) : null}
        {filters.length > 0 ? null : (
          <Typed
            key={`search ${q}`}
            label="Search in all columns"
            placeholder="search, then Enter"
            value={q ?? ''}
            onDone={(text) => change({ q: text })}
          />
        )}
        <span className="push flex-row wrap">
          <AsOf at={at} onChange={(text) => change({ at: text })} />
          <TableViews table={table} search={search} onOpen={change} />
          <ColumnChoice
            columns={columns}
            hidden={hidden}
            pinned={pinned}
            widths={widths}
            onChange={(names) => change({ hide: namesText(names) })}
            onPin={(names) => change({ pin: namesText(names) })}
            onWidth={(name, width) => change({ width: widthsText({ ...widths, [name]: width }) })}
          />
          <ActButton
            needs="tables.importAsync"
            className={`button small ${isEditing ? '' : 'ghost'}`}
            aria-pressed={isEditing}
            disabled={fixed !== undefined}
            title={fixed}
            onClick={() => change({ edit: isEditing ? '' : 'rows', page })}
          >
            <Icon name="edit" />
            <span>Edit rows</span>
          </ActButton>
          {isEditing ? (
            <button type="button" className="button small" onClick={() => setEdited({ row: undefined })}>
              New row
            </button>
          ) : null}
          {whole ? (
            <CopyRows rows={whole} table={table.id} />
          ) : query.data ? (
            <button type="button" className="button small ghost" onClick={() => want(parts.map((_, part) => part))}>
              Load all columns to copy
            </button>
          ) : null}
        </span>
      </div>
      <Loaded query={query} skeleton={<Lines count={8} />}>
        {(data) =>
          data.rows.length === 0 ? (
            <p className="inset mute">
              {isFiltered ? 'No matching rows.' : at ? 'The table had no rows then.' : 'The table has no rows yet.'}
            </p>
          ) : (
            <TableGrid
              labels={['Data', 'Rows of the table']}
              columns={visible.map((name) => {
                const type = loaded[partOf(name)]?.columns.find((one) => one.name === name)?.type ?? ''
                const profile = profiles.get(name)
                return {
                  name,
                  isPinned: pinned.includes(name),
                  width: widths[name],
                  isNumber: isNumber(type, profile),
                  sorted: sort !== name ? 'none' : order === 'desc' ? 'descending' : 'ascending',
                  header: (
                    <>
                      <button
                        type="button"
                        className="column-name link"
                        tabIndex={-1}
                        onClick={() => toggleSort(name)}
                        title={`Sort by ${name}`}
                      >
                        <Icon name={iconOf(type, profile)} size="small" />
                        {name}
                        {table.primaryKey.includes(name) ? <span className="tag-label">key</span> : null}
                        {sort === name ? <span aria-hidden="true">{order === 'desc' ? '↓' : '↑'}</span> : null}
                      </button>
                      <ColumnFigure profile={profile} rows={readRows} />
                    </>
                  ),
                }
              })}
              rows={data.rows.length}
              offset={offset}
              cellAt={(row, column) => {
                const part = loaded[Math.floor(column / PART_COLUMNS)]
                const name = visible[column]!
                const place = places.get(name) ?? -1
                const value = part?.rows[row]?.[place]
                if (!part || value === undefined) return undefined
                return { column: name, value, isCut: part.cut.some(([r, c]) => r === row && c === place) }
              }}
              onOpen={(cell) => (isEditing ? openRow.mutate(cell) : setOpen(cell))}
              isEditing={isEditing}
              onWidth={(name, width) => change({ width: widthsText({ ...widths, [name]: width }), page })}
              onSort={toggleSort}
              onSeen={(first, last) => want([Math.floor(first / PART_COLUMNS), Math.floor(last / PART_COLUMNS)])}
            />
          )
        }
      </Loaded>
      {failed ? <Problem error={failed} /> : null}
      {query.data ? (
        <Pages
          rows={query.data}
          total={query.data.total ?? (isFiltered || at ? undefined : (table.rowsCount ?? undefined))}
          page={Number(page)}
          isFiltered={isFiltered}
          onPage={(next) => change({ page: String(next) })}
        />
      ) : null}
      {openRow.error ? <Problem error={openRow.error} /> : null}
      {edited ? <RowDrawer table={table} row={edited.row} column={edited.column} onClose={() => setEdited(undefined)} /> : null}
      {open ? (
        <OpenCell
          key={`${open.row} ${open.column}`}
          cell={open}
          tableId={table.id}
          inOrder={inOrder}
          state={query.data?.state}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
    </section>
  )
}

interface OpenCellProps {
  readonly cell: PlacedCell
  readonly tableId: string
  /** Filters and order of the page. */
  readonly inOrder: Readonly<Record<string, string>>
  readonly state: number | undefined
  readonly onClose: () => void
}

/** A cell that the page has cut is requested alone, from the same state of the table. */
function OpenCell({ cell: { column, value, isCut, row }, tableId, inOrder, state, onClose }: OpenCellProps) {
  const { timestamp: _, ...rest } = inOrder
  const query = { ...rest, state, offset: row, limit: 1, columns: [column], cellChars: WHOLE_CELL_CHARS }
  const { data, error } = useLoad('tables.rows', isCut ? { path: { tableId }, query } : undefined)
  const whole = isCut
    ? { text: data?.rows[0]?.[0] ?? undefined, error, isCut: (data?.cut.length ?? 0) > 0 }
    : { text: value ?? '' }
  return <CellDrawer column={column} whole={whole} onClose={onClose} />
}

/** `{column, op, value}` in the address as lists, which are shorter. */
function keptFilters(text: string | undefined): readonly Filter[] {
  try {
    const lists = JSON.parse(text ?? '[]') as readonly (readonly [string, string, string])[]
    return lists.map(([column, op, value]) => ({ column, op, value }))
  } catch {
    return [] // an incomplete address
  }
}

const filtersText = (filters: readonly Filter[]): string =>
  filters.length === 0 ? '' : JSON.stringify(filters.map(({ column, op, value }) => [column, op, value]))

const filterText = ({ column, op, value }: Filter): string =>
  `${column} ${OPERATORS.find(({ id }) => id === op)?.name ?? op} ${value}`

/** Numbers are compared as numbers, whatever the column is kept as: 9 is under 10. */
const queryOf = (filters: readonly Filter[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    filters.flatMap(({ column, op, value }, index) => [
      [`whereFilters[${index}][column]`, column],
      [`whereFilters[${index}][values][0]`, value],
      [`whereFilters[${index}][operator]`, op],
      ...(/^(gt|ge|lt|le)$/.test(op) && value.trim() !== '' && Number.isFinite(Number(value))
        ? [[`whereFilters[${index}][dataType]`, 'DOUBLE']]
        : []),
    ]),
  )

const isNumberAsText = (profile: Profile | undefined): boolean =>
  profile?.histogram?.kind === 'number' && !NUMBERS.test(profile.type)

/** Pixels by column. */
type Widths = Readonly<Record<string, number | undefined>>

function widthsIn(text: string | undefined): Widths {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text ?? '{}') as Widths).filter(([, width]) => Number.isFinite(width)))
  } catch {
    return {} // an incomplete address
  }
}

const widthsText = (widths: Widths): string => {
  const said = Object.entries(widths).filter(([, width]) => width !== undefined)
  return said.length === 0 ? '' : JSON.stringify(Object.fromEntries(said))
}

function namesIn(text: string | undefined): readonly string[] {
  try {
    return JSON.parse(text ?? '[]') as readonly string[]
  } catch {
    return []
  }
}

const namesText = (names: readonly string[]): string => (names.length === 0 ? '' : JSON.stringify(names))

/** The columns of all parts side by side. */
function joined(parts: readonly (Rows | undefined)[]): Rows | undefined {
  const [first, ...rest] = parts.filter((part) => part !== undefined)
  if (!first || rest.length === 0) return first
  const all = [first, ...rest]
  return {
    ...first,
    columns: all.flatMap(({ columns }) => columns),
    rows: first.rows.map((_, row) => all.flatMap(({ rows }) => rows[row] ?? [])),
  }
}

const chunks = <T,>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.max(1, Math.ceil(all.length / size)) }, (_, index) => all.slice(index * size, (index + 1) * size))

const FilterChip = ({ filter, onRemove }: { filter: Filter; onRemove: () => void }) => (
  <button type="button" className="chip picked" aria-label={`Remove the filter ${filterText(filter)}`} onClick={onRemove}>
    {filterText(filter)}
    <Icon name="x" size="small" />
  </button>
)

/** The table as it was: everything on the page is then of that time. */
function AsOf({ at, onChange }: { at: string | undefined; onChange: (at: string) => void }) {
  const [isOpen, setOpen] = useState(false)
  const [time, setTime] = useState(at ? fieldTime(new Date(at)) : '')
  return (
    <>
      <button type="button" className={`button small ${at ? '' : 'ghost'}`} onClick={() => setOpen(true)}>
        <Icon name="history" />
        <span>As of {at ? moment(at) : 'now'}</span>
      </button>
      {isOpen ? (
        <Dialog title="The rows as of" onClose={() => setOpen(false)}>
          <Form
            onSubmit={() => {
              onChange(time === '' ? '' : timeOfField(time).toISOString())
              setOpen(false)
            }}
          >
            <PastTime label="Time" hint="Empty: now. States are kept for some days." value={time} onChange={setTime} />
            <button type="submit" className="button primary">
              Show these rows
            </button>
          </Form>
        </Dialog>
      ) : null}
    </>
  )
}

function ColumnChoice({
  columns,
  hidden,
  pinned,
  widths,
  onChange,
  onPin,
  onWidth,
}: {
  columns: readonly string[]
  hidden: readonly string[]
  pinned: readonly string[]
  widths: Widths
  onChange: (hidden: readonly string[]) => void
  onPin: (pinned: readonly string[]) => void
  onWidth: (name: string, width: number | undefined) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [filter, setFilter] = useState('')
  const shown = columns.filter((name) => !hidden.includes(name))
  const found = columns.filter((name) => name.toLowerCase().includes(filter.trim().toLowerCase()))
  const hide = (names: readonly string[]) => onChange(names.length === columns.length ? names.slice(1) : names) // one stays
  return (
    <>
      <button type="button" className={`button small ${hidden.length > 0 ? '' : 'ghost'}`} onClick={() => setOpen(true)}>
        <Icon name="eye" />
        <span>
          {count(shown.length)} of {plural(columns.length, 'column')}
        </span>
      </button>
      {isOpen ? (
        <Drawer title="Columns" onClose={() => setOpen(false)}>
          <FilterField label="Filter columns" value={filter} onChange={setFilter} />
          <div className="flex-row wrap">
            <button type="button" className="button small" onClick={() => onChange([])}>
              Show all
            </button>
            <button type="button" className="button small" onClick={() => hide([...new Set([...hidden, ...found])])}>
              Hide {found.length === columns.length ? 'all but one' : plural(found.length, 'found column')}
            </button>
            {found.length < columns.length && found.length > 0 ? (
              <button
                type="button"
                className="button small"
                onClick={() => onChange(columns.filter((name) => !found.includes(name)))}
              >
                Show only these
              </button>
            ) : null}
          </div>
          <ul className="stack-2">
            {found.map((name) => (
              <li key={name} className="flex-row">
                <label className="check-line grow">
                  <input
                    type="checkbox"
                    checked={!hidden.includes(name)}
                    disabled={shown.length === 1 && shown[0] === name}
                    onChange={({ target }) =>
                      onChange(target.checked ? hidden.filter((other) => other !== name) : [...hidden, name])
                    }
                  />
                  {name}
                </label>
                <input
                  className="input small column-width"
                  type="number"
                  min={MIN_WIDTH}
                  max={MAX_WIDTH}
                  step="8"
                  aria-label={`Width of ${name}`}
                  placeholder="width"
                  value={widths[name] ?? ''}
                  onChange={({ target }) => onWidth(name, target.value === '' ? undefined : boundedWidth(Number(target.value)))}
                />
                <button
                  type="button"
                  className="button small"
                  aria-pressed={pinned.includes(name)}
                  aria-label={`Pin ${name}`}
                  onClick={() => onPin(pinned.includes(name) ? pinned.filter((other) => other !== name) : [...pinned, name])}
                >
                  {pinned.includes(name) ? 'Pinned' : 'Pin'}
                </button>
              </li>
            ))}
          </ul>
        </Drawer>
      ) : null}
    </>
  )
}

function Pages({
  rows,
  total,
  page,
  isFiltered,
  onPage,
}: {
  rows: Rows
  total: number | undefined
  page: number
  isFiltered: boolean
  onPage: (page: number) => void
}) {
  const last = rows.offset + rows.rows.length
  return (
    <div className="toolbar foot">
      <span className="mute tabular">
        {rows.rows.length === 0 ? 'no rows' : `${count(rows.offset + 1)} to ${count(last)}`}
        {total === undefined
          ? ''
          : isFiltered
            ? `, ${total === 1 ? '1 row matches' : `${count(total)} rows match`}`
            : ` of ${plural(total, 'row')}`}
      </span>
      <button type="button" className="button small push" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <button type="button" className="button small" disabled={rows.nextOffset === null} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </div>
  )
}

function Typed({
  value,
  label,
  placeholder,
  onDone,
}: {
  value: string
  label: string
  placeholder: string
  onDone: (text: string) => void
}) {
  const [text, setText] = useState(value)
  return (
    <Form className="flex-row" onSubmit={() => onDone(text)}>
      <input
        className="input small"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </Form>
  )
}

/** The rows of this page, for a sheet, a program or a query. */
function CopyRows({ rows, table }: { rows: Rows; table: string }) {
  const names = rows.columns.map(({ name }) => name)
  const cell = (value: string | null) =>
    value !== null && /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : (value ?? '')
  const literal = (value: string | null) => (value === null ? 'null' : `'${value.replaceAll("'", "''")}'`)
  return (
    <>
      <CopyButton label="CSV" text={[names, ...rows.rows].map((row) => row.map(cell).join(',')).join('\n')} />
      <CopyButton
        label="JSON"
        text={JSON.stringify(
          rows.rows.map((row) => Object.fromEntries(row.map((value, at) => [names[at], value]))),
          null,
          1,
        )}
      />
      <CopyButton
        label="SQL"
        text={`-- ${table}\nselect * from (values\n  ${rows.rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n  ')}\n) as t(${names.map((name) => `"${name}"`).join(', ')})`}
      />
    </>
  )
}

const NUMBERS = /INT|NUM|DEC|FLOAT|DOUBLE|REAL/i

const isNumber = (type: string, profile: Profile | undefined): boolean =>
  NUMBERS.test(type) || profile?.histogram?.kind === 'number'

function iconOf(type: string, profile: Profile | undefined): IconName {
  if (isNumber(type, profile)) return 'hash'
  if (/DATE|TIME/i.test(type) || profile?.histogram?.kind === 'time') return 'clock'
  return /^\s*[[{]/.test(profile?.top[0]?.value ?? '') ? 'json' : 'text'
}

const FEW_VALUES = 8

/** The distribution of a column in its header, with the one fact that matters in words. */
function ColumnFigure({ profile, rows }: { profile: Profile | undefined; rows: number }) {
  if (!profile) return <span className="fig-line" />
  const { histogram, top, distinct, empty, nulls } = profile
  const missing = empty + nulls
  const share = (part: number) => `${Math.round((100 * part) / Math.max(1, rows))} %`
  if (histogram && histogram.bins.length > 0 && distinct > FEW_VALUES) {
    const [from, to] = [histogram.bins[0]!.from, histogram.bins.at(-1)!.to]
    const most = Math.max(1, ...histogram.bins.map((bin) => bin.rows))
    return (
      <span className="fig-line" title={`${from} to ${to}`}>
        <span className="hist" role="img" aria-label={`From ${from} to ${to}, ${count(distinct)} distinct`}>
          {histogram.bins.map((bin) => (
            <i key={bin.from} style={{ height: `${Math.max(4, (100 * bin.rows) / most)}%` }} />
          ))}
        </span>
        <span className="fig-note">
          {distinct === rows ? 'all distinct' : missing > 0 ? `${share(missing)} empty` : `${briefly(from)} to ${briefly(to)}`}
        </span>
      </span>
    )
  }
  return (
    <span className="fig-line">
      <span
        className="share"
        role="img"
        aria-label={top.map(({ value, rows: part }) => `${value || 'empty'} ${share(part)}`).join(', ')}
      >
        {distinct <= 50
          ? top
              .slice(0, 5)
              .map(({ value, rows: part }) => (
                <i key={value} style={{ width: share(part).replace(' ', '') }} title={`${value} ${share(part)}`} />
              ))
          : null}
      </span>
      <span className="fig-note">
        {distinct === rows && rows > 1
          ? 'all distinct'
          : missing > rows / 3
            ? `${share(missing)} empty`
            : distinct > 50
              ? `${count(distinct)} distinct`
              : top[0]
                ? `${briefly(top[0].value) || 'empty'} ${share(top[0].rows)}`
                : 'empty'}
      </span>
    </span>
  )
}

const briefly = (text: string | null): string => {
  const short = (text ?? '').replace(/T.*$/, '')
  return short.length > 14 ? `${short.slice(0, 13)}…` : short
}
