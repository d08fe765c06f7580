// All jobs of the project on one axis of time: who ran what when, what waited, and how many ran at once. A window at a time.

import { Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { Job } from '../../../../client/src/operations.ts'
import { isOver } from '../../facts/job.ts'
import { type Lane, type Load, lanesOf, loadOf, type TimedJob } from '../../facts/job-lanes.ts'
import { FLOW_COMPONENTS, useNames } from '../../facts/names.ts'
import { count, duration, hourAndMinute, moment, parseTime, plural, zone } from '../../format.ts'
import { useSeconds } from '../../live.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { wordOf } from '../../parts/status.tsx'
import './jobs.css'

const HOURS: readonly (readonly [string, string])[] = [
  ['0.25', '15 minutes'],
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', 'a day'],
  ['168', 'a week'],
]
const HOUR_MS = 3_600_000
/** Of one window; a shorter one has fewer. */
const MAX_JOBS = 500
const FIELDS = 'id,status,component,config,token,createdTime,startTime,endTime'
const TICKS = [0, 0.2, 0.4, 0.6, 0.8]

interface TimelineProps {
  /** Filters of the list of jobs. */
  readonly filters: Readonly<Record<string, unknown>>
  readonly hours: string | undefined
  /** End of the window; undefined: now. */
  readonly until: string | undefined
}

export function ProjectTimeline({ filters, hours = '24', until }: TimelineProps) {
  const navigate = useNavigate()
  const [opened] = useState(() => Date.now())
  const span = (Number(hours) || 24) * HOUR_MS
  const asked = until === undefined ? Number.NaN : Date.parse(until)
  const to = Number.isNaN(asked) ? opened : asked
  const [from, end] = [new Date(to - span).toISOString(), new Date(to).toISOString()]
  const shared = { ...filters, limit: MAX_JOBS, fields: FIELDS, ...(Number.isNaN(asked) ? {} : { createdTimeTo: end }) }
  const ended = useLoad('queue.search', { query: { ...shared, endTimeFrom: from } }, { isKept: true })
  const going = useLoad(
    'queue.search',
    { query: { ...shared, ...GOING } },
    { enabled: filters.status === undefined, isKept: true },
  )
  useSeconds((going.data ?? []).length > 0 && Number.isNaN(asked))
  const show = (next: { readonly hours?: string; readonly until?: string | undefined }) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...next }) })
  const move = (by: -1 | 1) => {
    const next = to + (by * span) / 2
    show({ until: next >= Date.now() ? undefined : new Date(next).toISOString() })
  }
  return (
    <>
      <div className="toolbar wrap">
        <Choice label="Window" value={hours} options={HOURS} onChange={(value) => show({ hours: value || '24' })} />
        <button type="button" className="button small" onClick={() => move(-1)}>
          Earlier
        </button>
        <button type="button" className="button small" disabled={Number.isNaN(asked)} onClick={() => move(1)}>
          Later
        </button>
        <button
          type="button"
          className="button small ghost"
          disabled={Number.isNaN(asked)}
          onClick={() => show({ until: undefined })}
        >
          Now
        </button>
        <span className="fine mute">
          {moment(from)} to {Number.isNaN(asked) ? 'now' : moment(end)}, {zone}
        </span>
      </div>
      <Loaded query={ended} skeleton={<Lines count={8} />}>
        {(over) => {
          const jobs = [...new Map([...over, ...(going.data ?? [])].map((job) => [job.id, job])).values()].map(timed)
          const now = Number.isNaN(asked) ? Date.now() : to
          return (
            <>
              {over.length === MAX_JOBS ? (
                <p className="inset fine warn">
                  The newest {count(MAX_JOBS)} jobs of this window are shown. Choose a shorter window to see all of them.
                </p>
              ) : null}
              {jobs.length === 0 ? (
                <p className="inset mute">No job ran or waited in this window.</p>
              ) : (
                <Picture jobs={jobs} from={to - span} to={now} />
              )}
            </>
          )
        }}
      </Loaded>
    </>
  )
}

const GOING = { status: ['created', 'waiting', 'processing', 'terminating'] }

const timed = (job: Job): TimedJob => ({
  id: job.id,
  component: job.component,
  config: job.config,
  status: job.status,
  by: job.token.description ?? '',
  created: parseTime(job.createdTime).getTime(),
  started: job.startTime === null ? undefined : parseTime(job.startTime).getTime(),
  ended: job.endTime === null || !isOver(job.status) ? undefined : parseTime(job.endTime).getTime(),
})

interface PictureProps {
  readonly jobs: readonly TimedJob[]
  readonly from: number
  readonly to: number
}

function Picture({ jobs, from, to }: PictureProps) {
  const nameOf = useNames()
  const showEnd = useCallback((frame: HTMLElement | null) => frame?.scrollTo({ left: frame.scrollWidth }), [])
  const lanes = lanesOf(jobs, to)
  const loads = loadOf(jobs, to)
  const percent = (time: number) => (100 * (Math.min(to, Math.max(from, time)) - from)) / (to - from)
  const most = loads.reduce((max, one) => (one.running > max.running ? one : max), loads[0]!)
  const waited = jobs.map((job) => ({ job, ms: (job.started ?? job.ended ?? to) - job.created }))
  const longest = waited.reduce((max, one) => (one.ms > max.ms ? one : max))
  return (
    <>
      <p className="inset">
        {plural(jobs.length, 'job')} of {plural(lanes.length, 'configuration')}; at most {count(most.running)} at once
        {most.running > 1 ? `, ${moment(new Date(most.at).toISOString())}` : ''}.{' '}
        {longest.ms < 2000
          ? 'None waited for long.'
          : `${nameOf(longest.job.component, longest.job.config)} waited longest, ${duration(longest.ms / 1000)}.`}
      </p>
      <Scroll label="Timeline of jobs" frame={showEnd}>
        <div className="job-lanes">
          <span className="time-axis" />
          <span className="time-axis">
            {TICKS.map((tick) => (
              <span key={tick} style={{ left: `${100 * tick}%` }}>
                {(to - from > 24 * HOUR_MS ? moment : hourAndMinute)(new Date(from + tick * (to - from)).toISOString())}
              </span>
            ))}
          </span>
          <span className="lane-name mute">At once</span>
          <LoadStrip loads={loads} to={to} percent={percent} most={most.running} />
          {lanes.map((lane) => (
            <LaneLine key={lane.key} lane={lane} name={nameOf(lane.component, lane.config)} to={to} percent={percent} />
          ))}
        </div>
      </Scroll>
      <p className="inset fine mute flex-row gap-3 wrap">
        <span className="flex-row gap-1">
          <i className="lane-key lane-waits" /> waited
        </span>
        <span className="flex-row gap-1">
          <i className="lane-key" /> succeeded
        </span>
        <span className="flex-row gap-1">
          <i className="lane-key lane-failed" /> failed
        </span>
        <span className="flex-row gap-1">
          <i className="lane-key lane-running" /> runs
        </span>
        <span>Jobs on separate lines of a configuration overlap.</span>
      </p>
    </>
  )
}

interface StripProps {
  readonly loads: readonly Load[]
  readonly to: number
  readonly most: number
  readonly percent: (time: number) => number
}

/** How many ran at each moment. */
const LoadStrip = ({ loads, to, most, percent }: StripProps) => (
  <svg className="lane-load" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
    {loads.map(({ at, running }, index) => {
      const [left, right] = [percent(at), percent(loads[index + 1]?.at ?? to)]
      const height = (20 * running) / Math.max(1, most)
      return running === 0 || right <= left ? null : (
        <rect key={at} x={left} width={right - left} y={20 - height} height={height} />
      )
    })}
  </svg>
)

const TONES: Readonly<Record<string, string>> = {
  success: '',
  warning: 'lane-warned',
  error: 'lane-failed',
  processing: 'lane-running',
  terminating: 'lane-running',
}

interface LaneProps {
  readonly lane: Lane
  readonly name: string
  readonly to: number
  readonly percent: (time: number) => number
}

const LaneLine = ({ lane: { component, config, lines }, name, to, percent }: LaneProps) => (
  <>
    <span className="lane-name clip">
      {config === null ? (
        name
      ) : FLOW_COMPONENTS.includes(component) ? (
        <Link to="/flows/$componentId/$configurationId" params={{ componentId: component, configurationId: config }}>
          {name}
        </Link>
      ) : (
        <Link
          to="/components/$componentId/$configurationId"
          params={{ componentId: component, configurationId: config }}
          search={{ tab: 'runs' }}
        >
          {name}
        </Link>
      )}
    </span>
    <span className="lane-lines">
      {lines.map((jobs, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name
        <span key={index} className="lane-line">
          {jobs.map((job) => (
            <JobBar key={job.id} job={job} name={name} to={to} percent={percent} />
          ))}
        </span>
      ))}
    </span>
  </>
)

function JobBar({ job, name, to, percent }: { job: TimedJob; name: string } & Pick<LaneProps, 'to' | 'percent'>) {
  const end = job.ended ?? to
  const start = job.started ?? end
  const [left, middle, right] = [percent(job.created), percent(start), percent(end)]
  const words = [
    `${name}, ${wordOf(job.status).toLowerCase()}`,
    job.by ? `by ${job.by}` : '',
    `${moment(new Date(job.started ?? job.created).toISOString())}`,
    start - job.created >= 1000 ? `waited ${duration((start - job.created) / 1000)}` : '',
    job.started === undefined ? '' : `ran ${duration(Math.max(0.5, (end - start) / 1000))}`,
  ].filter((word) => word !== '')
  return (
    <Link
      to="/jobs/$jobId"
      params={{ jobId: job.id }}
      className="lane-job"
      style={{ left: `${left}%`, width: `max(4px, ${right - left}%)` }}
      title={words.join(', ')}
      aria-label={words.join(', ')}
    >
      {middle > left ? (
        <i className="lane-waits" style={{ width: `${(100 * (middle - left)) / Math.max(right - left, 0.0001)}%` }} />
      ) : null}
      {job.started === undefined ? null : <i className={`lane-bar ${TONES[job.status] ?? 'lane-other'}`} />}
    </Link>
  )
}
