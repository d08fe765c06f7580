// Why a job failed: what happened, where in the configuration, what changed since the last good run, what to do.

import { Link } from '@tanstack/react-router'
import type { Job } from '../../../client/src/operations.ts'
import type { FailedResult } from '../facts/failure.ts'
import { duration, moment, plural } from '../format.ts'
import { CodeHelp } from '../parts/guide.tsx'
import { Icon } from '../parts/icon.tsx'
import { OpenConfiguration } from '../parts/open-configuration.tsx'
import { ExplainButton } from './ask-model.tsx'
import { Repair } from './job-repair.tsx'
import { SuggestedRepair } from './job-suggestion.tsx'
import './views.css'

interface CauseProps {
  readonly job: Job
  readonly result: FailedResult
  /** Gets the id of the job that a repair started. */
  readonly onStarted?: (jobId: string) => void
}

export function CauseCard({ job, result, onStarted }: CauseProps) {
  const cause = result.error?.cause ?? undefined
  const place = { componentId: job.component, configurationId: job.config ?? '' }
  const row = cause?.where?.rowId ?? undefined
  return (
    <section className="card cause" aria-labelledby="cause">
      <div className="inset stack-3">
        <p className="failed status">
          <Icon name="st-err" />
          <span id="cause">Cause</span>
        </p>
        <p className="large strong">{cause?.text ?? result.message}</p>
        {cause ? <p className="body-text soft">{result.message}</p> : null}
        {cause?.request?.url ? (
          <p className="request-line">
            <span className="request-method">{cause.request.method}</span>
            {cause.request.url}
            {cause.request.status ? <span className="heading">answered {cause.request.status}</span> : null}
          </p>
        ) : null}
        {cause ? (
          <dl className="pairs">
            {cause.where ? (
              <>
                <dt>Where</dt>
                <dd className="identifier wrap">{cause.where.pointer.replace(/^\//, '').replaceAll('/', '.')}</dd>
              </>
            ) : null}
            <dt>What to do</dt>
            <dd>{cause.advice}</dd>
            {cause.since ? (
              <>
                <dt>Last good run</dt>
                <dd>
                  <Link to="/jobs/$jobId" params={{ jobId: cause.since.job }}>
                    {moment(cause.since.endTime)}
                  </Link>
                  {cause.since.isConfigurationChanged || cause.since.rowsChanged.length > 0
                    ? `, the configuration has changed since version ${cause.since.configVersion}`
                    : ', nothing changed in the configuration since'}
                </dd>
              </>
            ) : null}
          </dl>
        ) : null}
        <p className="fine mute">
          {result.error?.type === 'user'
            ? 'Running it again unchanged will fail again.'
            : 'The platform or the component failed; running it again may help.'}{' '}
          {cause ? <CodeHelp code={cause.kind}>About {cause.kind}</CodeHelp> : null}
          {result.error?.exceptionId ? (
            <>
              {' '}
              Exception <span className="identifier">{result.error.exceptionId}</span>
            </>
          ) : null}
        </p>
        {job.config && cause ? (
          <SuggestedRepair job={job} cause={cause} message={result.message ?? ''} onStarted={onStarted} />
        ) : null}
        {job.config && cause?.where ? <Repair job={job} cause={cause} /> : null}
        {job.config ? (
          <div className="flex-row wrap">
            <OpenConfiguration componentId={job.component} configurationId={job.config} row={row} />
            {job.component === 'keboola.ex-generic-v2' ? (
              <Link
                className="button"
                to="/builder/$configurationId"
                params={{ configurationId: job.config }}
                search={row ? { row, step: 'request' } : {}}
              >
                <Icon name="bolt" />
                <span>Try it on the first page</span>
              </Link>
            ) : null}
            <ExplainButton jobId={String(job.id)} />
            {cause?.since?.isConfigurationChanged ? (
              <Link
                className="button ghost"
                to="/components/$componentId/$configurationId"
                params={place}
                search={{ tab: 'versions', version: cause.since.configVersion }}
              >
                What changed
              </Link>
            ) : null}
          </div>
        ) : null}
      </div>
    </section>
  )
}

/** "usual 6 min", and whether this run was far from it. */
export function usualText(job: Job): string {
  if (!job.usual) return ''
  return ` Usual ${duration(job.usual.durationMs / 1000)}, from ${plural(job.usual.runs, 'run')}.`
}
