import { wordOf } from './status.tsx'
import './parts.css'

interface Run {
  readonly id: string
  readonly status: string
}

const MARKS: Readonly<Record<string, string>> = {
  error: 'spark-failed',
  warning: 'spark-warned',
  processing: 'spark-running',
  success: '',
}

/** How the last runs ended, oldest first: a bar each, a failed one higher and notched. */
export const LastRuns = ({ jobs }: { jobs: readonly Run[] }) =>
  jobs.length === 0 ? (
    <i className="null">never</i>
  ) : (
    <span
      className="spark"
      role="img"
      aria-label={`Last runs, oldest first: ${jobs.map(({ status }) => wordOf(status)).join(', ')}`}
    >
      {jobs.map(({ id, status }) => (
        <i key={id} className={MARKS[status] ?? 'spark-other'} style={{ height: status === 'error' ? '18px' : '12px' }} />
      ))}
    </span>
  )
