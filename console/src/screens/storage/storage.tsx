// Storage: every table of the project, by bucket, filtered by name, column, size and age. Loaded as far as the list was scrolled.

import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useMemo, useRef } from 'react'
import type { Answer, Input } from '../../../../client/src/client.ts'
import { useFavourites } from '../../facts/favourites.ts'
import { bytes, count, moment, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { Choice } from '../../parts/choice.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { NewBucket } from './new-bucket.tsx'
import './storage.css'

const route = getRouteApi('/storage')

type Filter = NonNullable<Input<'tables.browse'>['query']>
type Browsed = Answer<'tables.browse'>[number]
type Table = NonNullable<Browsed['table']>
type Line = { readonly bucket: Browsed['bucket'] } | { readonly table: Table }

const PAGE_LINES = 200
const DAY_MS = 86_400_000
/** Smallest size in bytes, by what the filter is called in the address. */
const SIZES: readonly (readonly [string, string, number])[] = [
  ['1M', 'over 1 MB', 1e6],
  ['100M', 'over 100 MB', 1e8],
  ['1G', 'over 1 GB', 1e9],
]
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()
const AGES: readonly (readonly [string, string, () => Filter])[] = [
  ['1d', 'in the last day', () => ({ changedAfter: daysAgo(1) })],
  ['7d', 'in the last 7 days', () => ({ changedAfter: daysAgo(7) })],
  ['older', 'longer than 30 days ago', () => ({ changedBefore: daysAgo(30) })],
  ['never', 'never', () => ({ neverLoaded: true })],
]

/** The lines that were loaded, and more of them on request. */
function useLines(filter: Filter, key: readonly unknown[]) {
  return useInfiniteQuery({
    queryKey: ['tables.browse', ...key],
    queryFn: ({ pageParam, signal }) =>
      api.call('tables.browse', { query: { ...filter, limit: PAGE_LINES, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE_LINES ? undefined : pages.length * PAGE_LINES),
    placeholderData: (before) => before,
  })
}

export function StorageScreen() {
  const search = route.useSearch()
  const { q = '', sort = 'name', size, age, favourite } = search
  const favourites = useFavourites().ids
  const navigate = useNavigate()
  // Without resetScroll the router would scroll the new list to where the old one was.
  const change = (next: Partial<typeof search>) =>
    void navigate({ to: '/storage', search: { ...search, ...next }, replace: true, resetScroll: false })
  const minBytes = SIZES.find(([id]) => id === size)?.[2]
  const chosen = favourite === undefined ? undefined : favourites
  const filter: Filter = {
    ...(q.trim() !== '' && { text: q.trim() }),
    ...(minBytes !== undefined && { minBytes }),
    ...AGES.find(([id]) => id === age)?.[2](),
    ...(chosen && { tableId: chosen.length === 0 ? ['none'] : [...chosen] }),
    sort: sort as NonNullable<Filter['sort']>, // the choices below
  }
  const query = useLines(filter, [q.trim(), size, age, sort, chosen])
  const lines = useMemo(() => linesOf((query.data?.pages ?? []).flat(), sort === 'name'), [query.data, sort])
  const totals = useLoad('tables.totals')
  return (
    <Page
      title="Storage"
      crumbs={[{ name: 'Storage' }]}
      say={totals.data ? sentenceOf(totals.data) : 'Storage'}
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
          {() =>
            lines.length === 0 && totals.data?.buckets === 0 ? (
              <NoTables />
            ) : (
              <TableList
                key={[q.trim(), size, age, favourite, sort].join('\n')} // another filter or order begins at the top
                lines={lines}
                favourites={favourites}
                onEnd={query.hasNextPage && !query.isFetching ? () => void query.fetchNextPage() : undefined}
              />
            )
          }
        </Loaded>
      </section>
    </Page>
  )
}

const sentenceOf = ({ tables, buckets, bytes: size }: Answer<'tables.totals'>): string =>
  tables > 0
    ? `${plural(tables, 'table')} in ${plural(buckets, 'bucket')}, ${bytes(size)}.`
    : buckets > 0
      ? `No tables yet in ${plural(buckets, 'bucket')}.`
      : 'No tables yet.'

/** With a line for each bucket before its tables. */
function linesOf(found: readonly Browsed[], isByBucket: boolean): readonly Line[] {
  return found.flatMap(({ bucket, table }, index): readonly Line[] => {
    const isFirst = isByBucket && found[index - 1]?.bucket.id !== bucket.id
    return [...(isFirst ? [{ bucket }] : []), ...(table ? [{ table }] : [])]
  })
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

interface ListProps {
  readonly lines: readonly Line[]
  readonly favourites: readonly string[]
  /** Loads more; undefined at the end, or while more is loaded. */
  readonly onEnd: (() => void) | undefined
}

/** Only the rows that are seen exist, so ten thousand tables scroll as ten do. */
function TableList({ lines, favourites, onEnd }: ListProps) {
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
  const shown = rows.getVirtualItems()
  const isAtEnd = (shown.at(-1)?.index ?? 0) >= lines.length - 1
  useEffect(() => {
    if (isAtEnd) onEnd?.()
  }, [isAtEnd, onEnd])
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
        {shown.map(({ index, start }) => (
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
  if ('bucket' in line) {
    const { id, tables, isLinked, isShared } = line.bucket
    return (
      <Link className="vrow group" style={style} to="/buckets/$bucketId" params={{ bucketId: id }}>
        <span className="flex-row">
          <Icon name="disk" />
          <span className="clip">{id}</span>
          <span className="mute fine">{tables === 0 ? 'empty' : plural(tables, 'table')}</span>
          {isLinked ? <span className="tag-label">linked</span> : null}
          {isShared ? <span className="tag-label">shared</span> : null}
        </span>
      </Link>
    )
  }
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
      <span className="numeric">
        {table.dataSizeBytes === null ? <i className="null">unknown</i> : bytes(table.dataSizeBytes)}
      </span>
      <span className="mute clip">{table.lastChangeDate ? moment(table.lastChangeDate) : 'never loaded'}</span>
    </Link>
  )
})
