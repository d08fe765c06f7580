// The run of a flow: which task broke the chain, the graph as it is now, the tasks on one axis of time, what a rerun repeats and keeps.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Job } from '../../../../client/src/operations.ts'
import { flowResultOf, type PhaseResult, type TaskResult } from '../../facts/flow-result.ts'
import { isOver } from '../../facts/job.ts'
import { type Flow, type FlowTask, namesOf, readFlow } from '../../flow/flow-document.ts'
import { duration, plural, took } from '../../format.ts'
import { useLoad } from '../../load.tsx'
import { Icon } from '../../parts/icon.tsx'
import { OpenConfiguration } from '../../parts/open-configuration.tsx'
import { LastRuns } from '../../parts/spark.tsx'
import { Status } from '../../parts/status.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { useKey } from '../../use-key.ts'
import { FlowGraph } from '../../views/flow-graph.tsx'
import { CompareRuns, OtherRuns } from './flow-compare.tsx'
import './jobs.css'

const route = getRouteApi('/jobs/$jobId')

/** `below` stands under the graph and the timeline, `beside` under the task that is selected. */
export function FlowRun({ job, below, beside }: { job: Job; below: ReactNode; beside: ReactNode }) {
  const { tasks = [], phases = [] } = flowResultOf(job)!
  const configuration = useLoad(
    'configurations.get',
    job.config === null ? undefined : { path: { componentId: job.component, configurationId: job.config } },
  ).data?.configuration
  const { task: wanted } = route.useSearch()
  const navigate = useNavigate()
  const [isClosed, setClosed] = useState(false)
  const show = (task: string | undefined) => {
    setClosed(task === undefined)
    void navigate({ to: '.', search: (before: object) => ({ ...before, task }), replace: true })
  }
  const flow = shownFlow(readFlow(configuration, job.component), phases, tasks)
  const resultOf = (task: FlowTask) => tasks.find(({ id }) => id === task.id)
  const failed = tasks.find(({ status }) => status === 'error')
  const chosen = isClosed ? undefined : tasks.find(({ id }) => id === (wanted ?? failed?.id))
  return (
    <div className="columns">
      <div className="stack-4">
        <section className="card" aria-labelledby="graph">
          <header>
            <h2 id="graph">Graph</h2>
            <OtherRuns job={job} />
          </header>
          <FlowGraph
            flow={flow}
            selected={chosen ? `task ${tasks.indexOf(chosen)}` : undefined}
            onSelect={(key) => (key.startsWith('task ') ? show(tasks[Number(key.slice(5))]?.id) : undefined)}
            markOfPhase={(phase) => phaseNote(phases.find(({ id }) => id === phase.id))}
            markOfTask={(task) => ({ status: resultOf(task)?.status ?? 'skipped', note: taskNote(resultOf(task)) })}
          />
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
                      tone: task.status === 'error' ? 'failed' : task.status === 'processing' ? 'running' : 'good',
                    },
                  ]
                : [],
            }))}
          />
        </section>
        {job.config && isOver(job.status) ? <CompareRuns job={job} /> : null}
        {below}
      </div>
      <div className="stack-4">
        {chosen ? (
          <Selected
            key={chosen.id}
            result={chosen}
            tasks={tasks}
            flow={flow}
            isChosen={wanted !== undefined}
            onClose={() => show(undefined)}
          />
        ) : null}
        {beside}
      </div>
    </div>
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

/** From the task's own job: what it read and wrote, how long it took against what is usual, how it ended before. */
function TaskFacts({ jobId, condition }: { jobId: string; condition: string }) {
  const job = useLoad('queue.get', { path: { id: jobId } }).data
  const query = job?.config ? { componentId: job.component, configId: job.config, branchId: job.branchId, limit: 10 } : undefined
  const runs = useLoad('queue.search', query && { query }).data ?? []
  if (!job) return null
  const { input, output } = job.result as { input?: Tables; output?: Tables } // described loosely
  const names = (tables: Tables | undefined) => tables?.tables?.map(({ id }) => id).join(', ')
  return (
    <>
      <dl className="pairs">
        <dt>Read</dt>
        <dd>{names(input) || <span className="mute">nothing</span>}</dd>
        <dt>Wrote</dt>
        <dd>{names(output) || <span className="mute">nothing</span>}</dd>
        <dt>Took</dt>
        <dd className="tabular">
          {took(job.durationSeconds)}
          {job.usual ? `, usual ${took(job.usual.durationMs / 1000)}` : ''}
        </dd>
        {condition ? (
          <>
            <dt>Condition</dt>
            <dd>{condition}</dd>
          </>
        ) : null}
        {runs.length > 0 ? (
          <>
            <dt>Last runs</dt>
            <dd>
              <LastRuns jobs={runs.toReversed()} />
            </dd>
          </>
        ) : null}
      </dl>
      <div className="flex-row wrap">
        <Link className="button" to="/jobs/$jobId" params={{ jobId }}>
          Open job {jobId}
        </Link>
        {job.config ? <OpenConfiguration componentId={job.component} configurationId={job.config} /> : null}
      </div>
    </>
  )
}

interface Tables {
  readonly tables?: readonly { readonly id: string }[]
}

/** When a phase is begun: "after Extract, only when ...". */
function conditionOf({ lines }: Flow, names: ReadonlyMap<string, string>, phase: string): string {
  return lines
    .filter(({ to }) => to === phase)
    .map(({ from, condition }) => `after ${names.get(from) ?? from}${condition ? `, only when ${condition}` : ''}`)
    .join('; or ')
}

interface SelectedProps {
  readonly result: TaskResult
  readonly tasks: readonly TaskResult[]
  readonly flow: Flow
  /** By a person, not because it failed. */
  readonly isChosen: boolean
  readonly onClose: () => void
}

/** The task that is selected in the graph; the graph stays usable. */
function Selected({ result, tasks, flow, isChosen, onClose }: SelectedProps) {
  useKey('Escape', 'Close the task', onClose)
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isChosen) panel.current?.scrollIntoView({ block: 'nearest' }) // on a small screen it stands far below
  }, [isChosen])
  const message = result.results.at(-1)?.result.message
  const again = tasks.filter(
    ({ status }) => status === 'error' || status === 'skipped' || status === 'cancelled' || status === 'terminated',
  )
  const condition = conditionOf(flow, namesOf(flow), result.phase)
  return (
    <aside ref={panel} className="card" aria-label="Selected task">
      <header>
        <h2 className="clip">{result.name}</h2>
        <Status status={result.status} badge />
        <button
          type="button"
          className="button icon ghost small push"
          aria-label="Close the task"
          title="Close, Esc"
          onClick={onClose}
        >
          <Icon name="x" />
        </button>
      </header>
      <div className="inset stack-4">
        {result.status === 'error' && message ? (
          <div className="note failed">
            <Icon name="st-err" />
            <p>{message}</p>
          </div>
        ) : null}
        {result.jobId ? (
          <TaskFacts jobId={result.jobId} condition={condition} />
        ) : (
          <p className="mute">{condition ? `It runs ${condition}.` : 'It has no job.'}</p>
        )}
        {result.status === 'error' ? (
          <div className="stack-2">
            <p className="label">Rerunning from here will</p>
            <ul className="fine soft stack-2">
              <li className="flex-row align-top">
                <Icon name="rerun" size="small" />
                <span>run {again.map(({ name }) => name).join(', ')}</span>
              </li>
              <li className="flex-row align-top">
                <Icon name="check" size="small" />
                <span>{keptText(tasks.length - again.length)}</span>
              </li>
            </ul>
          </div>
        ) : null}
      </div>
    </aside>
  )
}

const keptText = (kept: number): string =>
  kept === 0
    ? 'keep nothing: no task had ended well'
    : `keep the results of ${kept === 1 ? 'the other task' : `the other ${plural(kept, 'task')}`}`
