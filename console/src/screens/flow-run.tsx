// The run of a flow: which task broke the chain, the graph as it is now, the tasks on one axis of time, what a rerun repeats and keeps.

import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Job } from '../../../client/src/operations.ts'
import { type Flow, type FlowTask, readFlow } from '../flow/flow-document.ts'
import { duration, plural, took } from '../format.ts'
import { useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { LastRuns } from '../parts/spark.tsx'
import { Status } from '../parts/status.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { CompareRuns, OtherRuns } from './flow-compare.tsx'
import { FlowGraph } from './flow-graph.tsx'
import { flowResultOf, type PhaseResult, type TaskResult } from './flow-result.ts'
import { isOver } from './jobs.tsx'

export function FlowRun({ job }: { job: Job }) {
  const { tasks = [], phases = [] } = flowResultOf(job)!
  const configuration = useLoad(
    'configurations.get',
    { path: { componentId: job.component, configurationId: job.config ?? '' } },
    { enabled: job.config !== null },
  ).data?.configuration
  const [selected, setSelected] = useState<string>()
  const flow = shownFlow(readFlow(configuration, job.component), phases, tasks)
  const resultOf = (task: FlowTask) => tasks.find(({ id }) => id === task.id)
  const failed = tasks.find(({ status }) => status === 'error')
  const chosen = flow.phases
    .flatMap((phase) => phase.tasks)
    .find((task) => (selected ? selected === `task ${task.index}` : task.id === failed?.id))
  const result = chosen && resultOf(chosen)
  return (
    <>
      <section className="card" aria-labelledby="graph">
        <header>
          <h2 id="graph">Graph</h2>
          <OtherRuns job={job} />
        </header>
        <FlowGraph
          flow={flow}
          selected={chosen ? `task ${chosen.index}` : selected}
          onSelect={setSelected}
          markOfPhase={(phase) => phaseNote(phases.find(({ id }) => id === phase.id))}
          markOfTask={(task) => ({ status: resultOf(task)?.status ?? 'skipped', note: taskNote(resultOf(task)) })}
        />
        {result ? <Selected result={result} tasks={tasks} /> : null}
      </section>
      <section className="card" aria-labelledby="timeline">
        <header>
          <h2 id="timeline">Timeline</h2>
        </header>
        <Timeline
          label="Timeline of tasks"
          rows={tasks.map((task) => ({
            key: task.id,
            name: task.name,
            status: task.status,
            group: phases.find(({ id }) => id === task.phase)?.name ?? task.phase,
            ...(task.isKept ? { note: 'kept' } : {}),
            bars: task.startTime
              ? [
                  {
                    name: task.name,
                    from: Date.parse(task.startTime),
                    to: Date.parse(task.startTime) + 1000 * task.duration,
                    tone: task.status === 'error' ? 'err' : task.status === 'processing' ? 'run' : 'ok',
                  },
                ]
              : [],
          }))}
        />
      </section>
      {job.config && isOver(job.status) ? <CompareRuns job={job} /> : null}
    </>
  )
}

/** The configuration may have changed since: what ran is what is shown. */
function shownFlow(flow: Flow, phases: readonly PhaseResult[], tasks: readonly TaskResult[]): Flow {
  return {
    lines: flow.lines,
    phases: phases.map(({ id, name }, index) => ({
      id,
      name,
      index,
      layer: flow.phases.find((phase) => phase.id === id)?.layer ?? index,
      tasks: tasks
        .filter((task) => task.phase === id)
        .map((task) => ({
          id: task.id,
          name: task.name,
          index: tasks.indexOf(task),
          isEnabled: true,
          type: 'job',
          componentId: task.component ?? '',
          configId: '',
        })),
    })),
  }
}

const phaseNote = (phase: PhaseResult | undefined): string => (phase && phase.duration > 0 ? duration(phase.duration) : '')

function taskNote(task: TaskResult | undefined): string {
  if (!task || task.status === 'skipped') return 'Left out'
  if (task.isKept) return 'Kept from the run before'
  if (task.status === 'error') return task.duration < 1 ? 'Failed within a second' : `Failed after ${duration(task.duration)}`
  return task.status === 'waiting' || task.status === 'created' ? 'Waits' : took(task.duration)
}

/** What the task's own job says: what it read and wrote, how long it took against what is usual, how it ended before. */
function TaskFacts({ jobId }: { jobId: string }) {
  const job = useLoad('queue.get', { path: { id: jobId } as never }).data
  const query = { componentId: job?.component ?? '', configId: job?.config ?? '', branchId: job?.branchId ?? '', limit: 10 }
  const runs = useLoad('queue.search', { query }, { enabled: Boolean(job?.config) }).data ?? []
  if (!job) return null
  const { input, output } = job.result as { input?: Tables; output?: Tables } // described loosely
  const names = (tables: Tables | undefined) => tables?.tables?.map(({ id }) => id).join(', ')
  return (
    <dl className="kv xs">
      <dt>Read</dt>
      <dd>{names(input) || 'nothing'}</dd>
      <dt>Wrote</dt>
      <dd>{names(output) || 'nothing'}</dd>
      <dt>Took</dt>
      <dd>
        {took(job.durationSeconds)}
        {job.usual ? `, usual ${took(job.usual.durationMs / 1000)}` : ''}
      </dd>
      {runs.length > 0 ? (
        <>
          <dt>Last runs</dt>
          <dd>
            <LastRuns jobs={runs.toReversed()} />
          </dd>
        </>
      ) : null}
      {job.config ? (
        <>
          <dt>Runs</dt>
          <dd>
            <Link
              to="/components/$componentId/$configurationId"
              params={{ componentId: job.component, configurationId: job.config }}
            >
              the configuration {job.config}
            </Link>
          </dd>
        </>
      ) : null}
    </dl>
  )
}

interface Tables {
  readonly tables?: readonly { readonly id: string }[]
}

function Selected({ result, tasks }: { result: TaskResult; tasks: readonly TaskResult[] }) {
  const message = result.results.at(-1)?.result.message
  const again = tasks.filter(
    ({ status }) => status === 'error' || status === 'skipped' || status === 'cancelled' || status === 'terminated',
  )
  return (
    <div className="in stack3 flow-selected">
      <div className="row wrap">
        <h3 className="h">{result.name}</h3>
        <Status status={result.status} badge />
        {result.jobId ? (
          <Link className="btn sm push" to="/jobs/$jobId" params={{ jobId: result.jobId }}>
            Open job {result.jobId}
          </Link>
        ) : null}
      </div>
      {result.status === 'error' && message ? (
        <div className="note err">
          <Icon name="st-err" />
          <p>{message}</p>
        </div>
      ) : null}
      {result.jobId ? <TaskFacts jobId={result.jobId} /> : null}
      {result.status === 'error' ? (
        <ul className="xs soft stack2">
          <li className="row">
            <Icon name="rerun" size="sm" />
            Rerunning from here runs {again.map(({ name }) => name).join(', ')}
          </li>
          <li className="row">
            <Icon name="check" size="sm" />
            and {keptText(tasks.length - again.length)}.
          </li>
        </ul>
      ) : null}
    </div>
  )
}

const keptText = (kept: number): string =>
  kept === 0
    ? 'keeps nothing: no task had ended well'
    : `keeps the results of ${kept === 1 ? 'the other task' : `the other ${plural(kept, 'task')}`}`
