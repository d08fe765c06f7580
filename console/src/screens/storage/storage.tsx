// Storage: every table of the project, by bucket, filtered by name, column, size and age.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useMemo, useRef } from 'react'
import type { Table } from '../../../../client/src/operations.ts'
import { useFavourites } from '../../facts/favourites.ts'
import { bucketOf } from '../../facts/table-id.ts'
import { bytes, count, moment, parseTime, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { Choice } from '../../parts/choice.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Page } from '../../shell/page.tsx'
import { NewBucket } from './new-bucket.tsx'
import './storage.css'

const route = getRouteApi('/storage')

type Line = { readonly bucket: string; readonly tables: number; readonly tags: readonly string[] } | { readonly table: Table }
type Sort = 'name' | 'rows' | 'size' | 'changed'

const COMPARE: Readonly<Record<Exclude<Sort, 'name'>, (a: Table, b: Table) => number>> = {
  rows: (a, b) => (b.rowsCount ?? 0) - (a.rowsCount ?? 0),
  size: (a, b) => (b.dataSizeBytes ?? 0) - (a.dataSizeBytes ?? 0),
  changed: (a, b) => (b.lastChangeDate ?? '').localeCompare(a.lastChangeDate ?? ''),
}

const DAY_MS = 86_400_000
/** Smallest size in bytes, by what the filter is called in the address. */
const SIZES: readonly (readonly [string, string, number])[] = [
  ['1M', 'over 1 MB', 1e6],
  ['100M', 'over 100 MB', 1e8],
  ['1G', 'over 1 GB', 1e9],
]
/** Whether a table fits, by the days since its last change; undefined when it was never loaded. */
const AGES: readonly (readonly [string, string, (days: number | undefined) => boolean])[] = [
  ['1d', 'in the last day', (days) => days !== undefined && days < 1],
  ['7d', 'in the last 7 days', (days) => days !== undefined && days < 7],
  ['older', 'longer than 30 days ago', (days) => days !== undefined && days > 30],
  ['never', 'never', (days) => days === undefined],
]

/** Answers say more than their description. */
interface ListedBucket {
  readonly id: string
  readonly sharing: string | null
  readonly isLinkedBucket?: boolean
}

const tagsOf = (bucket: ListedBucket | undefined): readonly string[] => [
  ...(bucket?.isLinkedBucket ? ['linked'] : []),
  ...(bucket?.sharing ? ['shared'] : []),
]

interface Filter {
  readonly q: string
  readonly size: string | undefined
  readonly age: string | undefined
}

function matcherOf({ q, size, age }: Filter): (table: Table) => boolean {
  const asked = q.trim().toLowerCase()
  const least = SIZES.find(([id]) => id === size)?.[2] ?? 0
  const fitsAge = AGES.find(([id]) => id === age)?.[2] ?? (() => true)
  return ({ id, columns = [], dataSizeBytes, lastChangeDate }) =>
    (id.toLowerCase().includes(asked) || columns.some((name) => name.toLowerCase().includes(asked))) &&
    (dataSizeBytes ?? 0) >= least &&
    fitsAge(lastChangeDate === null ? undefined : (Date.now() - parseTime(lastChangeDate).getTime()) / DAY_MS)
}

export function StorageScreen() {
  const search = route.useSearch()
  const { q = '', sort = 'name', size, age, favourite } = search
  const favourites = useFavourites().ids
  const navigate = useNavigate()
  const change = (next: Partial<typeof search>) =>
    void navigate({ to: '/storage', search: { ...search, ...next }, replace: true })
  const query = useLoad('tables.list', { query: { include: 'columns' } })
  const tables = query.data ?? []
  const total = tables.reduce((sum, table) => sum + (table.dataSizeBytes ?? 0), 0)
  const buckets = (useLoad('buckets.list', { query: {} }).data ?? []) as readonly ListedBucket[] // described loosely
  const known = new Set([...buckets.map(({ id }) => id), ...tables.map(({ id }) => bucketOf(id))])
  return (
    <Page
      title="Storage"
      crumbs={[{ name: 'Storage' }]}
      say={
        query.data
          ? tables.length === 0
            ? known.size === 0
              ? 'No tables yet.'
              : `No tables yet in ${plural(known.size, 'bucket')}.`
            : `${plural(tables.length, 'table')} in ${plural(known.size, 'bucket')}, ${bytes(total)}.`
          : 'Storage'
      }
      actions={
        <>
          <NewBucket />
          <ActLink needs="tables.createAsync" className="button primary" to="/upload">
            <Icon name="upload" />
            <span>Upload data</span>
          </ActLink>
        </>
      }
    >
      <section className="card" aria-label="Tables">
        <div className="toolbar">
          <FilterField value={q} label="Filter by name or column" onChange={(text) => change({ q: text })} />
          <Choice label="Size" value={size} options={SIZES} onChange={(text) => change({ size: text })} />
          <Choice label="Changed" value={age} options={AGES} onChange={(text) => change({ age: text })} />
          <label className="check-line nowrap">
            <input
              type="checkbox"
              checked={favourite !== undefined}
              onChange={({ target }) => change({ favourite: target.checked ? 'only' : '' })}
            />
            Only favourites
          </label>
          <label className="flex-row push">
            <span className="mute nowrap">Sorted by</span>
            <select className="input small" value={sort} onChange={(event) => change({ sort: event.target.value })}>
              <option value="name">bucket and name</option>
              <option value="rows">rows</option>
              <option value="size">size</option>
              <option value="changed">last change</option>
            </select>
          </label>
        </div>
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {(all) =>
            all.length === 0 && known.size === 0 ? (
              <NoTables />
            ) : (
              <TableList
                lines={linesOf(
                  all.filter(matcherOf({ q, size, age })).filter(({ id }) => favourite === undefined || favourites.includes(id)),
                  sort as Sort,
                  size || age || favourite ? [] : buckets.filter(({ id }) => id.toLowerCase().includes(q.trim().toLowerCase())),
                )}
                favourites={favourites}
              />
            )
          }
        </Loaded>
      </section>
    </Page>
  )
}

const NoTables = () => (
  <div className="empty">
    <p className="body-text soft">
      Tables hold what components extract and what you upload. Upload a CSV file to create the first one, or run a component that
      writes tables.
    </p>
    <div className="flex-row">
      <ActLink needs="tables.createAsync" className="button primary" to="/upload">
        Upload a CSV file
      </ActLink>
      <Link className="button" to="/components">
        Set up a component
      </Link>
    </div>
  </div>
)

/** `buckets` are shown also when none of their tables was found. */
function linesOf(found: readonly Table[], sort: Sort, buckets: readonly ListedBucket[]): readonly Line[] {
  if (sort !== 'name' && COMPARE[sort]) return found.toSorted(COMPARE[sort]).map((table) => ({ table }))
  const byBucket = Map.groupBy(
    found.toSorted((a, b) => a.id.localeCompare(b.id)),
    ({ id }) => bucketOf(id),
  )
  const byId = new Map(buckets.map((bucket) => [bucket.id, bucket]))
  return [...new Set([...byBucket.keys(), ...byId.keys()])].toSorted().flatMap((bucket) => {
    const list = byBucket.get(bucket) ?? []
    return [{ bucket, tables: list.length, tags: tagsOf(byId.get(bucket)) }, ...list.map((table) => ({ table }))]
  })
}

/** Only the rows that are seen exist, so ten thousand tables scroll as ten do. */
function TableList({ lines, favourites }: { lines: readonly Line[]; favourites: readonly string[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const rowHeight = useMemo(
    () => Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row-h'), 10) || 36,
    [],
  )
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  if (lines.length === 0) return <p className="inset mute">No matching tables.</p>
  return (
    <div className="rows" ref={frame}>
      <div className="vrow titles tables-grid">
        <span>Name</span>
        <span className="numeric">Rows</span>
        <span className="numeric">Size</span>
        <span>Last change</span>
      </div>
      <div className="rows-inner" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <TableLine key={index} line={lines[index]!} top={start} isFavourite={isFavourite(lines[index]!, favourites)} />
        ))}
      </div>
    </div>
  )
}

const isFavourite = (line: Line, favourites: readonly string[]): boolean => 'table' in line && favourites.includes(line.table.id)

/** Drawn once: while the list scrolls only the rows that come are new. */
const TableLine = memo(function TableLine({ line, top, isFavourite }: { line: Line; top: number; isFavourite: boolean }) {
  const style = { transform: `translateY(${top}px)` }
  if ('bucket' in line)
    return (
      <Link className="vrow group" style={style} to="/buckets/$bucketId" params={{ bucketId: line.bucket }}>
        <span className="flex-row">
          <Icon name="disk" />
          <span className="clip">{line.bucket}</span>
          <span className="mute fine">{line.tables === 0 ? 'empty' : plural(line.tables, 'table')}</span>
          {line.tags.map((tag) => (
            <span key={tag} className="tag-label">
              {tag}
            </span>
          ))}
        </span>
      </Link>
    )
  const { table } = line
  return (
    <Link className="vrow tables-grid" style={style} to="/storage/$tableId" params={{ tableId: table.id }}>
      <span className="flex-row">
        <Icon name="table" size="small" />
        <span className="clip medium">{table.displayName}</span>
        <span className="identifier clip hide-small">{table.id}</span>
        {table.isAlias ? <span className="tag-label">alias</span> : null}
        {isFavourite ? (
          <>
            <Icon name="star-full" size="small" />
            <span className="visually-hidden">favourite</span>
          </>
        ) : null}
      </span>
      <span className="numeric">{table.rowsCount === null ? <i className="null">unknown</i> : count(table.rowsCount)}</span>
      <span className="numeric">{bytes(table.dataSizeBytes ?? 0)}</span>
      <span className="mute clip">{table.lastChangeDate ? moment(table.lastChangeDate) : 'never loaded'}</span>
    </Link>
  )
})
