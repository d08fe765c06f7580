// How long the last runs of a configuration took, oldest first: a bar each, and the usual time as a line across.

import { Link } from '@tanstack/react-router'
import type { Job } from '../../../client/src/operations.ts'
import { isOver, secondsOf } from '../facts/job.ts'
import { duration, moment, plural } from '../format.ts'
import { wordOf } from '../parts/status.tsx'
import './views.css'

interface Run {
  readonly job: Job
  readonly seconds: number
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2
}

const tookWords = (seconds: number): string => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : duration(seconds))

const TONES: Readonly<Record<string, string>> = { success: '', warning: 'took-warned', error: 'took-failed' }

export function DurationHistory({ jobs }: { jobs: readonly Job[] }) {
  const runs: readonly Run[] = jobs
    .filter((job) => isOver(job.status) && job.startTime !== null)
    .map((job) => ({ job, seconds: job.durationMs === null ? (secondsOf(job) ?? 0) : job.durationMs / 1000 }))
    .toReversed()
  const good = runs.filter(({ job }) => job.status === 'success' || job.status === 'warning')
  if (runs.length < 2) return null
  const usual = median((good.length > 0 ? good : runs).map(({ seconds }) => seconds))
  const most = Math.max(0.001, ...runs.map(({ seconds }) => seconds))
  const failed = runs.filter(({ job }) => job.status === 'error').length
  const last = runs.at(-1)!
  return (
    <section className="card" aria-labelledby="durations">
      <header className="wrap">
        <h2 id="durations">How long runs took</h2>
        <span className="fine mute">
          The last {plural(runs.length, 'run')}, oldest first: usually {tookWords(usual)}, at most {tookWords(most)}, the last one{' '}
          {tookWords(last.seconds)}. {failed === 0 ? 'None failed.' : `${plural(failed, 'run')} failed.`}
        </span>
      </header>
      <ol className="took-bars" style={{ '--usual-share': usual / most } as React.CSSProperties}>
        {runs.map(({ job, seconds }) => {
          const words = `${moment(job.startTime!)}: ${wordOf(job.status).toLowerCase()}, ${tookWords(seconds)}`
          return (
            <li key={job.id}>
              <Link to="/jobs/$jobId" params={{ jobId: job.id }} title={words} aria-label={words}>
                <i className={TONES[job.status] ?? 'took-other'} style={{ height: `max(3px, ${(100 * seconds) / most}%)` }} />
              </Link>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
