// The editor of a flow: phases and tasks as a graph, what is wrong marked on the node it concerns, its runs below.

import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useId, useState } from 'react'
import { useDrafts } from '../../document/draft.ts'
import { isRecord, type Path, parsed, setAt, valueIn } from '../../document/json-text.ts'
import { useNames } from '../../facts/names.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useConfiguration } from '../../facts/use-configuration.ts'
import {
  addPhase,
  addTask,
  type Flow,
  type FlowPhase,
  type FlowTask,
  isChain,
  isOrchestrator,
  movePhase,
  moveTask,
  placeOfProblem,
  readFlow,
  removePhase,
  removeTask,
  tasksFrom,
} from '../../flow/flow-document.ts'
import { plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, useFirstLoads } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { OpenConfiguration } from '../../parts/open-configuration.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefusal } from '../../rights.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { useKey } from '../../use-key.ts'
import { useConflict } from '../../views/configuration-conflict.tsx'
import { documentsOf, draftsName, type OpenDocument, useLeaveGuard, useSave } from '../../views/configuration-documents.ts'
import { type ChosenConfiguration, ConfigurationSelect, useRunnable } from '../../views/configuration-select.tsx'
import { SettingsButton } from '../../views/configuration-settings.tsx'
import { FlowGraph } from '../../views/flow-graph.tsx'
import { FlowCards } from './flow-cards.tsx'
import { ConditionEditor } from './flow-condition.tsx'
import './flows.css'

const route = getRouteApi('/flows/$componentId/$configurationId')
const WHY = 'Flow changed'

export function FlowScreen() {
  const place = route.useParams()
  const query = useConfiguration(place)
  if (query.data) return <FlowEditor key={draftsName(place)} place={place} loaded={query.data} />
  return (
    <Page
      title="Flow"
      crumbs={[{ name: 'Flows', to: '/flows' }, { name: place.configurationId }]}
      say={query.error ? 'This flow cannot be shown.' : place.configurationId}
    >
      <section className="card" aria-label="Flow">
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {() => null}
        </Loaded>
      </section>
    </Page>
  )
}

interface FlowProblem {
  readonly level: string
  readonly path: string
  readonly message: string
}

/** The server's report about the flow as it is typed now. */
function useProblems({ componentId, configurationId }: ConfigurationPlace, text: string): readonly FlowProblem[] {
  const asked = useDeferredValue(text)
  const query = useQuery({
    queryKey: ['flows.validate', componentId, configurationId, asked],
    queryFn: () =>
      api.call('flows.validate', {
        body: {
          component: componentId,
          config: configurationId,
          configuration: (parsed(asked) ?? {}) as Readonly<Record<string, unknown>>,
        },
      }),
    placeholderData: (before) => before,
  })
  return query.data?.problems ?? []
}

/** All tasks, or those that are named. */
function useRunTasks({ componentId, configurationId }: ConfigurationPlace) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (taskIds: readonly string[]) => {
      const only = isOrchestrator(componentId) ? { onlyOrchestrationTaskIds: taskIds } : { onlyFlowTaskIds: taskIds }
      const body = { component: componentId, config: configurationId, mode: 'run' as const }
      return api.call('queue.create', { body: taskIds.length === 0 ? body : { ...body, ...only } })
    },
    onSuccess: (job) => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }),
  })
}

function FlowEditor({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const drafts = useDrafts(draftsName(place))
  const documents = documentsOf(loaded, drafts)
  const root = documents[0]!
  const { draft } = root
  useLeaveGuard(draft.isChanged)
  const flow = readFlow(parsed(draft.text), place.componentId)
  const problems = useProblems(place, draft.text)
  const save = useSave(place, documents)
  const run = useRunTasks(place)
  const conflict = useConflict({ loaded, documents, save, why: WHY })
  const nameOf = useNames()
  const [selected, setSelected] = useState<string>()
  const canSave = draft.isChanged && !save.isPending
  useKey('Ctrl s', 'Save', () => (canSave ? save.mutate({ why: WHY }) : undefined))
  const isRefused = useRefusal('queue.create') !== undefined
  /** What is on the screen is saved first. */
  const start = (taskIds: readonly string[] = []) => {
    if (isRefused || run.isPending || save.isPending) return
    if (draft.isChanged) save.mutate({ why: WHY }, { onSuccess: () => run.mutate(taskIds) })
    else run.mutate(taskIds)
  }
  useKey('r', draft.isChanged ? 'Save and run' : 'Run', () => start())
  const problemOf = (kind: 'phase' | 'task', index: number) =>
    problems.find(({ path }) => placeOfProblem(path)?.kind === kind && placeOfProblem(path)?.index === index)
  const tasks = flow.phases.flatMap((phase) => phase.tasks)
  const errors = problems.filter(({ level }) => level === 'error').length
  const name = loaded.configuration.name
  return (
    <Page
      title={name}
      isLoading={useFirstLoads()}
      about={{ componentId: place.componentId }}
      crumbs={[{ name: 'Flows', to: '/flows' }, { name }]}
      above={
        <span className="mute">
          Version {loaded.configuration.version}
          {draft.isChanged ? ', changed and not saved' : ''}
        </span>
      }
      sub={loaded.configuration.description || undefined}
      say={`${name}: ${plural(tasks.length, 'task')} in ${plural(flow.phases.length, 'phase')}${errors > 0 ? `, ${plural(errors, 'mistake')}` : ''}.`}
      actions={
        <>
          <Link className="button ghost" to="/components/$componentId/$configurationId" params={place} search={{ view: 'json' }}>
            Edit as JSON
          </Link>
          <SettingsButton place={place} configuration={loaded.configuration} />
          {draft.isChanged ? (
            <button type="button" className="button ghost" onClick={draft.discard}>
              Discard
            </button>
          ) : null}
          <ActButton
            needs="configurations.update"
            className="button"
            disabled={!canSave}
            onClick={() => save.mutate({ why: WHY })}
          >
            <span>Save</span>
            <kbd>Ctrl S</kbd>
          </ActButton>
          <ActButton
            needs="queue.create"
            className="button primary"
            disabled={run.isPending || save.isPending}
            onClick={() => start()}
          >
            <Icon name="play" />
            <span>{draft.isChanged ? 'Save and run' : 'Run'}</span>
          </ActButton>
        </>
      }
    >
      {conflict.note}
      {conflict.screen}
      {save.error && !conflict.screen ? <Problem error={save.error} /> : null}
      {run.error ? <Problem error={run.error} /> : null}
      <div className="columns" hidden={conflict.screen !== null}>
        <div className="stack-4">
          <section className="card" aria-labelledby="graph">
            <header>
              <h2 id="graph">Graph</h2>
              <span className="fine mute hide-small">
                drag tasks{isChain(flow) ? ' and phases' : ''}, or move them with Alt and the arrows
              </span>
              <ActButton
                needs="configurations.update"
                className="button small push"
                onClick={() => draft.edit(addPhase(draft.text, place.componentId))}
              >
                <Icon name="plus" size="small" />
                <span>Add a phase</span>
              </ActButton>
            </header>
            {flow.phases.length === 0 ? (
              <Teach>A phase holds tasks that run side by side. Add the first phase, then put configurations into it.</Teach>
            ) : (
              <FlowGraph
                flow={flow}
                selected={selected}
                onSelect={setSelected}
                markOfPhase={(phase) => problemOf('phase', phase.index)?.message ?? ''}
                markOfTask={(task) => {
                  const problem = problemOf('task', task.index)
                  return {
                    status: problem ? (problem.level === 'error' ? 'error' : 'warning') : 'created',
                    note: problem?.message ?? (task.componentId ? nameOf(task.componentId, null) : task.type),
                  }
                }}
                onMove={(task, phase, before) => {
                  draft.edit(moveTask(draft.text, place.componentId, task.index, phase.id, before?.index))
                  setSelected(undefined)
                }}
                {...(isChain(flow)
                  ? {
                      onMovePhase: (phase: FlowPhase, to: number) => {
                        draft.edit(movePhase(draft.text, place.componentId, phase.index, to))
                        setSelected(undefined)
                      },
                    }
                  : {})}
                onAddTask={(phase) => setSelected(`add ${phase.index}`)}
              />
            )}
          </section>
          <Problems problems={problems} />
          <FlowCards place={place} loaded={loaded} isChanged={draft.isChanged} />
        </div>
        <Side selected={selected} onSelect={setSelected} flow={flow} root={root} place={place} onRun={start} />
      </div>
    </Page>
  )
}

const Problems = ({ problems }: { problems: readonly FlowProblem[] }) =>
  problems.length === 0 ? null : (
    <section className="card" aria-labelledby="problems">
      <header>
        <h2 id="problems">Problems</h2>
      </header>
      <ul className="list">
        {problems.map(({ level, path, message }) => (
          <li key={`${path} ${message}`}>
            <span className={level === 'error' ? 'failed' : 'warn'}>
              <Icon name={level === 'error' ? 'st-err' : 'st-warn'} />
            </span>
            <span className="grow">{message}</span>
            <span className="identifier fine hide-small">{path}</span>
          </li>
        ))}
      </ul>
    </section>
  )

interface SideProps {
  readonly selected: string | undefined
  readonly onSelect: (key: string | undefined) => void
  readonly flow: Flow
  readonly root: OpenDocument
  readonly place: ConfigurationPlace
  /** Runs these tasks alone. */
  readonly onRun: (taskIds: readonly string[]) => void
}

/** What is selected in the graph; the graph stays usable. */
function Side(props: SideProps) {
  const { selected, onSelect, flow } = props
  const [kind, at] = selected?.split(' ') ?? []
  const phase = flow.phases.find(({ index }) => kind !== 'task' && index === Number(at))
  const task = flow.phases.flatMap(({ tasks }) => tasks).find(({ index }) => kind === 'task' && index === Number(at))
  const title = kind === 'add' ? `New task in ${phase?.name}` : (task?.name ?? phase?.name)
  if (title === undefined || (!phase && !task)) return <p className="mute">Select a phase or a task to change it.</p>
  return (
    <section className="card" aria-label="Selected">
      <header>
        <h2 className="clip">{title}</h2>
        <button type="button" className="button icon ghost small push" aria-label="Close" onClick={() => onSelect(undefined)}>
          <Icon name="x" />
        </button>
      </header>
      <form className="inset stack-3" onSubmit={(event) => event.preventDefault()}>
        {kind === 'add' && phase ? <NewTask {...props} phase={phase} /> : null}
        {kind === 'phase' && phase ? <PhaseForm {...props} phase={phase} /> : null}
        {task ? <TaskForm {...props} task={task} /> : null}
      </form>
    </section>
  )
}

function NewTask({ root, phase, onSelect, flow }: SideProps & { phase: FlowPhase }) {
  const list = useRunnable()
  const id = useId()
  const [chosen, setChosen] = useState<ChosenConfiguration>()
  const choice = chosen ?? list.choices[0]
  const count = flow.phases.reduce((sum, { tasks }) => sum + tasks.length, 0)
  return (
    <>
      <div className="field">
        <Label htmlFor={id}>Configuration to run</Label>
        <ConfigurationSelect id={id} list={list} value={choice?.key ?? ''} onChange={setChosen} />
        {list.isLoaded && !choice && !list.isFiltered ? (
          <span className="hint">There is no configuration yet that could run.</span>
        ) : null}
      </div>
      <button
        type="button"
        className="button primary"
        disabled={!choice}
        onClick={() => {
          const { componentId, configurationId, name } = choice!
          root.draft.edit(addTask(root.draft.text, phase.id, { componentId, configId: configurationId, name }))
          onSelect(`task ${count}`)
        }}
      >
        Add the task
      </button>
    </>
  )
}

function Field({ root, path, label }: { root: OpenDocument; path: Path; label: string }) {
  const id = useId()
  const value = valueIn(parsed(root.draft.text), path)
  return (
    <div className="field">
      <Label htmlFor={id}>{label}</Label>
      <input
        className="input"
        id={id}
        value={value === undefined ? '' : String(value)}
        onChange={(event) => root.draft.edit(setAt(root.draft.text, path, event.target.value || undefined))}
      />
    </div>
  )
}

function TaskForm({ root, task, flow, place, onSelect, onRun }: SideProps & { task: FlowTask }) {
  const list = useRunnable()
  const ids = [useId(), useId()] as const
  const path: Path = ['tasks', task.index]
  const edit = (...changes: readonly (readonly [Path, unknown])[]) =>
    root.draft.edit(changes.reduce((text, [at, value]) => setAt(text, [...path, ...at], value), root.draft.text))
  const document = parsed(root.draft.text)
  const retries = valueIn(document, [...path, 'task', 'retry', 'strategyParams', 'maxRetries'])
  const retriesId = useId()
  return (
    <>
      <Field root={root} path={[...path, 'name']} label="Name" />
      {task.type === 'job' ? (
        <div className="field">
          <Label htmlFor={ids[0]}>Runs</Label>
          <ConfigurationSelect
            id={ids[0]}
            list={list}
            value={task.configId ? `${task.componentId} ${task.configId}` : ''}
            {...(task.configId ? {} : { none: 'nothing' })}
            onChange={(chosen) => {
              if (chosen) edit([['task', 'componentId'], chosen.componentId], [['task', 'configId'], chosen.configurationId])
            }}
          />
        </div>
      ) : (
        <p className="mute">A task of the kind {task.type}; its settings are edited as JSON.</p>
      )}
      <div className="field">
        <Label htmlFor={ids[1]}>Phase</Label>
        <select
          className="input"
          id={ids[1]}
          value={flow.phases.find(({ tasks }) => tasks.includes(task))?.id ?? ''}
          onChange={(event) => edit([['phase'], event.target.value])}
        >
          {flow.phases.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {isOrchestrator(place.componentId) ? (
        <label className="flex-row">
          <input
            type="checkbox"
            checked={valueIn(document, [...path, 'continueOnFailure']) === true}
            onChange={(event) => edit([['continueOnFailure'], event.target.checked])}
          />
          Continue when it fails
        </label>
      ) : (
        <div className="field">
          <Label htmlFor={retriesId}>Tries again after a failure</Label>
          <select
            className="input"
            id={retriesId}
            value={retries === undefined ? '0' : String(retries)}
            onChange={(event) =>
              edit([
                ['task', 'retry'],
                event.target.value === '0'
                  ? undefined
                  : { strategy: 'linear', strategyParams: { maxRetries: Number(event.target.value), delay: 10 } },
              ])
            }
          >
            {['0', '1', '2', '3', '5', '10'].map((times) => (
              <option key={times} value={times}>
                {times === '0' ? 'never' : `${times} times, 10 s apart`}
              </option>
            ))}
          </select>
        </div>
      )}
      <label className="flex-row">
        <input
          type="checkbox"
          checked={task.isEnabled}
          onChange={(event) => edit([['enabled'], event.target.checked ? undefined : false])}
        />
        Runs; otherwise it is left out
      </label>
      <div className="flex-row wrap">
        <ActButton needs="queue.create" className="button small" disabled={!task.isEnabled} onClick={() => onRun([task.id])}>
          <Icon name="play" size="small" />
          <span>Run this task</span>
        </ActButton>
        <ActButton
          needs="queue.create"
          className="button small"
          disabled={!task.isEnabled}
          onClick={() => onRun(tasksFrom(flow, task))}
        >
          Run from here, {plural(tasksFrom(flow, task).length, 'task')}
        </ActButton>
      </div>
      <div className="flex-row">
        {task.configId ? <OpenConfiguration componentId={task.componentId} configurationId={task.configId} isSmall /> : null}
        <button
          type="button"
          className="button small ghost"
          onClick={() => {
            root.draft.edit(removeTask(root.draft.text, task.index))
            onSelect(undefined)
          }}
        >
          Remove the task
        </button>
      </div>
    </>
  )
}

interface Next {
  readonly goto?: unknown
  readonly condition?: unknown
}

function PhaseForm(props: SideProps & { phase: FlowPhase }) {
  const { root, phase, place, onSelect } = props
  return (
    <>
      <Field root={root} path={['phases', phase.index, 'name']} label="Name" />
      {isOrchestrator(place.componentId) ? <Before {...props} /> : <After {...props} />}
      <button
        type="button"
        className="button small ghost"
        onClick={() => {
          root.draft.edit(removePhase(root.draft.text, place.componentId, phase.id))
          onSelect(undefined)
        }}
      >
        Remove the phase{phase.tasks.length > 0 ? ` and its ${plural(phase.tasks.length, 'task')}` : ''}
      </button>
    </>
  )
}

/** Which phases must have ended: of an orchestrator. */
function Before({ root, phase, flow }: SideProps & { phase: FlowPhase }) {
  const path: Path = ['phases', phase.index, 'dependsOn']
  const value = valueIn(parsed(root.draft.text), path)
  const before = Array.isArray(value) ? value.map(String) : []
  const others = flow.phases.filter(({ id }) => id !== phase.id)
  return (
    <fieldset className="plain stack-2">
      <legend className="label">Starts after these</legend>
      {others.map(({ id, name }) => (
        <label key={id} className="flex-row">
          <input
            type="checkbox"
            checked={before.includes(id)}
            onChange={(event) =>
              root.draft.edit(
                setAt(root.draft.text, path, event.target.checked ? [...before, id] : before.filter((one) => one !== id)),
              )
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

/** A list with conditions ends with a way that is always taken. */
const withEnd = (list: readonly Next[]): readonly Next[] =>
  list.length > 0 && list.at(-1)!.condition !== undefined ? [...list, { id: `way-${list.length + 1}`, goto: null } as Next] : list

/** Where to go when the phase has ended: the first whose condition is true. */
function After({ root, phase, flow }: SideProps & { phase: FlowPhase }) {
  const path: Path = ['phases', phase.index, 'next']
  const value = valueIn(parsed(root.draft.text), path)
  const list = (Array.isArray(value) ? value : []).filter(isRecord) as readonly Next[]
  const put = (next: readonly unknown[]) => root.draft.edit(setAt(root.draft.text, path, next.length === 0 ? undefined : next))
  /** Ids may be numbers. */
  const gotoOf = (id: string): unknown => {
    const chosen = flow.phases.find((one) => one.id === id)
    return chosen ? valueIn(parsed(root.draft.text), ['phases', chosen.index, 'id']) : null
  }
  return (
    <fieldset className="plain stack-2">
      <legend className="label">Then</legend>
      {list.length === 0 ? <p className="fine mute">The flow ends after this phase.</p> : null}
      {list.map((next, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is what counts
        <div key={index} className="stack-2 next-way">
          <div className="flex-row">
            <select
              className="input grow"
              aria-label={`Goes to, ${index + 1}`}
              value={String(next.goto ?? '')}
              onChange={(event) => put(list.with(index, { ...next, goto: gotoOf(event.target.value) }))}
            >
              <option value="">the end</option>
              {flow.phases.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="button icon ghost small"
              aria-label={`Remove way ${index + 1}`}
              onClick={() => put(list.filter((_, at) => at !== index))}
            >
              <Icon name="x" size="small" />
            </button>
          </div>
          <ConditionEditor
            flow={flow}
            condition={next.condition}
            label={`Way ${index + 1}`}
            onChange={(condition) => {
              const { condition: _, ...always } = next
              put(withEnd(list.with(index, condition === undefined ? always : { ...always, condition })))
            }}
          />
        </div>
      ))}
      <button
        type="button"
        className="button small"
        onClick={() =>
          put([
            ...list,
            { id: `way-${list.length + 1}`, goto: flow.phases.find(({ index }) => index === phase.index + 1)?.id ?? null },
          ])
        }
      >
        <Icon name="plus" size="small" />
        <span>Add a way</span>
      </button>
    </fieldset>
  )
}
