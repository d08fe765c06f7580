// Whether a table is as fresh as usual: in the sentence of its page, as a mark beside its id, and as a card with its last loads.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { JudgedFreshness, Table } from '../../../../client/src/operations.ts'
import { useNames } from '../../facts/names.ts'
import { duration, hourAndMinute, moment, plural, until } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Status } from '../../parts/status.tsx'
import { rowsOf, type TableEvent, useTableEvents } from './table-history.tsx'
import './table.css'

export const useFreshness = (tableId: string) => useLoad('lineage.freshnessOfTable', { path: { tableId } })

export function FreshnessMark({ freshness: { state, lateByMs } }: { freshness: JudgedFreshness }) {
  if (state === 'late') return <Status status="late" badge text={`Late by ${duration(lateByMs / 1000)}`} />
  return state === 'fresh' ? <Status status="fresh" badge /> : null
}

/** How many rows, how fresh, what is missing. */
export function TableSentence({ table, freshness }: { table: Table; freshness: JudgedFreshness | undefined }) {
  const nameOf = useNames()
  const rows = table.rowsCount === null ? table.displayName : plural(table.rowsCount, 'row')
  if (table.lastImportDate === null) return <>{rows}, never loaded.</>
  const writer = freshness?.writer
  const jobId = freshness?.lastLoad?.jobId
  return (
    <>
      {rows}, last loaded {moment(table.lastImportDate)}
      {writer && jobId ? <> by {<JobLink jobId={jobId}>{nameOf(writer.componentId, writer.configurationId)}</JobLink>}</> : null}.
      {freshness ? <Missing freshness={freshness} /> : null}
    </>
  )
}

/** What should have come and did not; nothing when all is well. */
function Missing({ freshness: { state, expectedTime, failure, lateInputs } }: { freshness: JudgedFreshness }) {
  const failed = failure ? <JobLink jobId={failure.jobId}>failed</JobLink> : null
  if (state !== 'late') return failed ? <> The run after it {failed}.</> : null
  return (
    <>
      {' '}
      A load was due {whenOf(expectedTime)}
      {failed ? <> and {failed}</> : lateInputs.length > 0 ? `; it waits for ${lateInputs.join(', ')}` : ' and did not come'}.
    </>
  )
}

const whenOf = (time: string | null): string => (time === null ? '' : `by ${moment(time).replace(/^today |:\d\d$/g, '')}`)

const JobLink = ({ jobId, children }: { jobId: string; children: ReactNode }) => (
  <Link to="/jobs/$jobId" params={{ jobId }}>
    {children}
  </Link>
)

/** Loads that the card draws. */
const DRAWN = 20

export function FreshnessCard({ table: { id, lastImportDate } }: { table: Table }) {
  const query = useFreshness(id)
  const events = useTableEvents(id)
  const loads = (events.data ?? []).filter(({ event }) => event === 'storage.tableImportDone').slice(0, DRAWN)
  return (
    <section className="card" aria-labelledby="freshness">
      <header>
        <h2 id="freshness">Freshness</h2>
      </header>
      <Loaded query={query} skeleton={<Lines count={3} />}>
        {(freshness) => (
          <div className="inset stack-3">
            {loads.length > 1 ? <LoadBars loads={loads.toReversed()} /> : null}
            <dl className="pairs">
              {factsOf(freshness, lastImportDate, loads[0]).map(([name, value]) => (
                <div key={name} className="contents">
                  <dt>{name}</dt>
                  <dd className="tabular">{value}</dd>
                </div>
              ))}
            </dl>
          </div>
        )}
      </Loaded>
    </section>
  )
}

function factsOf(
  { usualIntervalMs, expectedTime, state, lateByMs, lastLoad }: JudgedFreshness,
  loadedAt: string | null,
  newest: TableEvent | undefined,
): readonly (readonly [string, ReactNode])[] {
  const by = lastLoad?.jobId ? <JobLink jobId={lastLoad.jobId}>job {lastLoad.jobId}</JobLink> : lastLoad?.tokenDescription
  return [
    [
      'Usual',
      usualIntervalMs === null
        ? 'not known yet: few loads, or all within half an hour'
        : `every ${duration(usualIntervalMs / 1000)}`,
    ],
    ['Last load', loadedAt === null ? 'never' : moment(loadedAt)],
    ...(newest && rowsOf(newest) !== '' ? [['Rows', rowsOf(newest)] as const] : []),
    ...(by ? [['By', by] as const] : []),
    ...(state === 'late' ? [['Late', `by ${duration(lateByMs / 1000)}`] as const] : []),
    ...(state === 'fresh' && expectedTime
      ? [['Next', `about ${hourAndMinute(expectedTime)}, ${until(expectedTime)}`] as const]
      : []),
  ]
}

/** One bar for each load, as high as its rows. */
function LoadBars({ loads }: { loads: readonly TableEvent[] }) {
  const most = Math.max(1, ...loads.map(({ results }) => results?.rowsInFile ?? 0))
  return (
    <span
      className="load-bars"
      role="img"
      aria-label={`Rows of the last ${plural(loads.length, 'load')}, oldest first: ${loads.map(({ results }) => results?.rowsInFile ?? 0).join(', ')}`}
    >
      {loads.map((load) => (
        <i
          key={load.id}
          title={`${moment(load.created)}: ${rowsOf(load)}`}
          style={{ height: `${Math.max(6, (100 * (load.results?.rowsInFile ?? 0)) / most)}%` }}
        />
      ))}
    </span>
  )
}
