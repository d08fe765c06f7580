// Usage: what the project used in a month, by day and by configuration, and what it may use at most.

import { getRouteApi, Link } from '@tanstack/react-router'
import type { Answer } from '../../../../client/src/client.ts'
import { useNames } from '../../facts/names.ts'
import { bytes, count, duration, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import './project.css'

type Line = Exclude<Answer<'billing.usage'>, string>[number]

const route = getRouteApi('/usage')
const monthOf = (time: Date): string => time.toISOString().slice(0, 7)

/** First and last day of a month such as 2026-11. */
function daysOf(month: string): { readonly from: string; readonly to: string } {
  const [year, number] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year!, number!, 0)).getUTCDate()
  return { from: `${month}-01`, to: `${month}-${String(last).padStart(2, '0')}` }
}

function monthBefore(month: string): string {
  const [year, number] = month.split('-').map(Number)
  return monthOf(new Date(Date.UTC(year!, number! - 2, 1)))
}

const linesOf = (answer: Answer<'billing.usage'> | undefined): readonly Line[] => (typeof answer === 'object' ? answer : [])

export function UsageScreen() {
  const now = monthOf(new Date())
  const { month = now } = route.useSearch()
  const range = /^\d{4}-\d\d$/.test(month) ? daysOf(month) : daysOf(now)
  const byDay = useLoad('billing.usage', { query: { ...range, groupBy: 'day' } })
  const byConfiguration = useLoad('billing.usage', { query: { ...range, groupBy: 'component,configuration' } })
  const days = linesOf(byDay.data)
  return (
    <Page
      title="Usage"
      isLoading={byDay.isPending || byConfiguration.isPending}
      crumbs={[{ name: 'Usage' }]}
      say={byDay.data ? sentenceOf(days) : 'Usage'}
      sub={`From ${range.from} to ${range.to}; days are in UTC.`}
      actions={
        <>
          <Link className="button" to="/usage" search={{ month: monthBefore(month) }}>
            Month before
          </Link>
          {month === now ? null : (
            <Link className="button" to="/usage">
              This month
            </Link>
          )}
          <button type="button" className="button" onClick={() => void download(range)}>
            Save as CSV
          </button>
        </>
      }
    >
      <div className="stack-4">
        <Loaded query={byDay} skeleton={<Lines />}>
          {() => <Days days={days} />}
        </Loaded>
        <Loaded query={byConfiguration} skeleton={<Lines />}>
          {(answer) => <Configurations lines={linesOf(answer)} />}
        </Loaded>
        <Limits />
      </div>
    </Page>
  )
}

async function download(range: { readonly from: string; readonly to: string }): Promise<void> {
  const csv = await api.call('billing.usage', { query: { ...range, groupBy: 'day,component,configuration', format: 'csv' } })
  saveAs(`usage-${range.from}-${range.to}.csv`, new Blob([String(csv)], { type: 'text/csv' }))
}

const sum = (lines: readonly Line[], field: 'jobs' | 'failedJobs' | 'jobSeconds' | 'rowsLoaded'): number =>
  lines.reduce((all, line) => all + line[field], 0)

function sentenceOf(days: readonly Line[]): string {
  const jobs = sum(days, 'jobs')
  const rows = sum(days, 'rowsLoaded')
  if (jobs === 0 && rows === 0) return 'Nothing was used in this month.'
  const loaded = plural(rows, 'row was loaded', 'rows were loaded')
  return jobs === 0
    ? `${loaded}, and no job ran.`
    : `${plural(jobs, 'job')} ran for ${duration(sum(days, 'jobSeconds'))}, and ${loaded}.`
}

function Days({ days }: { days: readonly Line[] }) {
  if (days.length === 0) return null
  const most = Math.max(1, ...days.map((day) => day.jobSeconds))
  return (
    <section className="card" aria-labelledby="by-day">
      <header>
        <h2 id="by-day">By day</h2>
      </header>
      <ListTable
        label="Usage by day"
        columns={[
          'Day',
          { num: 'Jobs' },
          { num: 'Failed' },
          'Time of jobs',
          { num: 'SQL' },
          { num: 'Rows loaded' },
          { num: 'Bytes loaded' },
          { num: 'Stored' },
        ]}
      >
        {days.map((day) => (
          <tr key={day.day}>
            <td className="tabular nowrap">{day.day}</td>
            <td className="numeric">{count(day.jobs)}</td>
            <td className="numeric">{count(day.failedJobs)}</td>
            <td>
              <span className="flex-row">
                <meter min={0} max={most} value={day.jobSeconds} aria-label={`Time of jobs on ${day.day}`} />
                <span className="tabular nowrap">{duration(day.jobSeconds)}</span>
              </span>
            </td>
            <td className="numeric">{duration(day.sqlSeconds)}</td>
            <td className="numeric">{count(day.rowsLoaded)}</td>
            <td className="numeric">{bytes(day.bytesLoaded)}</td>
            <td className="numeric">{bytes(day.storageByteHours / 24)}</td>
          </tr>
        ))}
      </ListTable>
    </section>
  )
}

function Configurations({ lines }: { lines: readonly Line[] }) {
  const nameOf = useNames()
  const ranked = lines.filter((line) => line.componentId !== '').toSorted((a, b) => b.jobSeconds - a.jobSeconds)
  if (ranked.length === 0) return null
  return (
    <section className="card" aria-labelledby="by-configuration">
      <header>
        <h2 id="by-configuration">By configuration</h2>
        <span className="fine mute push">The one that took longest comes first.</span>
      </header>
      <ListTable
        label="Usage by configuration"
        columns={['Configuration', { num: 'Jobs' }, { num: 'Time of jobs' }, { num: 'Rows loaded' }, { num: 'Bytes read' }]}
      >
        {ranked.map((line) => (
          <tr key={`${line.componentId} ${line.configurationId}`}>
            <td>
              {line.configurationId ? (
                <Link
                  className="medium"
                  to="/components/$componentId/$configurationId"
                  params={{ componentId: line.componentId!, configurationId: line.configurationId }}
                >
                  {nameOf(line.componentId!, line.configurationId)}
                </Link>
              ) : (
                <span className="medium">{nameOf(line.componentId!, null)}</span>
              )}{' '}
              <span className="identifier">{line.componentId}</span>
            </td>
            <td className="numeric">{count(line.jobs)}</td>
            <td className="numeric">{duration(line.jobSeconds)}</td>
            <td className="numeric">{count(line.rowsLoaded)}</td>
            <td className="numeric">{bytes(line.bytesRead)}</td>
          </tr>
        ))}
      </ListTable>
    </section>
  )
}

function Limits() {
  const query = useLoad('billing.limits')
  return (
    <section className="card" aria-labelledby="limits">
      <header>
        <h2 id="limits">Limits</h2>
        <span className="fine mute push">An administrator of the stack sets them.</span>
      </header>
      <Loaded query={query}>
        {(limits) => (
          <ul className="list limits">
            {limits.map(({ name, description, value }) => (
              <li key={name}>
                <span>{description.replace(/^./, (first) => first.toUpperCase())}</span>
                <span className="identifier hide-small">{name}</span>
                <span className="push tabular">{value === null ? 'no limit for this project' : `at most ${count(value)}`}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  )
}
