// The rows of a job on one axis: what was read in, what the program did, what was loaded.

import type { Job } from '../../../../client/src/operations.ts'
import { plural } from '../../format.ts'
import { type Bar, Timeline, TONE_CLASSES } from '../../parts/timeline.tsx'
import './jobs.css'

interface Phase {
  readonly name: string
  readonly startTime: string
  readonly endTime: string | null
  /** To the millisecond; jobs of earlier releases have it in `startTime`. */
  readonly startMs?: number
  readonly durationMs?: number | null
}

interface RowRun {
  readonly rowId: string | null
  readonly status: string
  readonly phases?: readonly Phase[]
}

const TONES: Readonly<Record<string, Bar['tone']>> = { input: 'input', program: 'program', load: 'load' }

export function RowTimeline({ job, nameOfRow }: { job: Job; nameOfRow: (rowId: string) => string }) {
  const runs: readonly RowRun[] = (job.result as { readonly rows?: readonly RowRun[] }).rows ?? job.progress?.rows ?? []
  if (runs.length === 0) return null
  return (
    <section className="card" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">Timeline</h2>
        <span className="fine mute">
          {runs.length === 1 ? 'one run' : `${plural(runs.length, 'row')}, one after the other`}
          {job.progress ? ', as far as it is' : ''}
        </span>
        <span className="push flex-row gap-3 fine mute hide-small">
          {(['input', 'program', 'load'] as const).map((tone) => (
            <span key={tone} className="flex-row gap-1">
              <i className={`time-key ${TONE_CLASSES[tone]}`} />
              {tone === 'input' ? 'tables in' : tone}
            </span>
          ))}
        </span>
      </header>
      <Timeline
        label="Timeline of rows"
        rows={runs.map((run, index) => ({
          key: `${run.rowId} ${index}`,
          name: run.rowId === null ? 'configuration' : nameOfRow(run.rowId),
          status: run.status,
          bars: (run.phases ?? []).map(({ name, startTime, endTime, startMs = Date.parse(startTime), durationMs }) => ({
            name,
            from: startMs,
            to: endTime ? startMs + (durationMs ?? Date.parse(endTime) - startMs) : Date.now(),
            tone:
              endTime === null
                ? 'running'
                : run.status === 'error' && name === run.phases?.at(-1)?.name
                  ? 'failed'
                  : (TONES[name] ?? 'program'),
          })),
        }))}
      />
    </section>
  )
}
