// All problems of a flow before it runs: its own errors, references to what does not exist, and cycles of flows.
// What is not there is a warning when a flow is saved: it may be saved before its configurations, and they may come and go.

import { PlatformError } from '../../../kit/errors.ts'
import { type ContentProblem, pointerOf } from '../../../model/content-problem.ts'
import type { JobWork } from '../../../model/flow-ports.ts'
import type { FlowFormat, FlowPlan } from './flow-plan.ts'
import { type Problem, problemsText } from './problems.ts'
import { readFlow } from './read-flow.ts'

export interface FlowPlace {
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string
}

export interface FlowValidationDeps {
  /** Undefined: not a component whose configurations are flows. */
  readonly formatOf: (componentId: string) => FlowFormat | undefined
  readonly componentExists: (componentId: string) => boolean
  /** JSON text; undefined when there is none. */
  readonly findConfiguration: (place: FlowPlace, configurationId: string) => Promise<string | undefined>
}

export type FlowValidation = ReturnType<typeof createFlowValidation>

const DEEPEST = 50

export function createFlowValidation({ formatOf, componentExists, findConfiguration }: FlowValidationDeps) {
  /** All problems; none for a component whose configurations are not flows. */
  async function validate(
    place: FlowPlace,
    configurationId: string | undefined,
    configuration: string,
  ): Promise<readonly SavedProblem[]> {
    const format = formatOf(place.componentId)
    if (format === undefined) return []
    const { plan, problems } = readFlow(JSON.parse(configuration), format)
    const trail = await findCircle(place, configurationId, configuration)
    return [
      ...problems.map((problem) => ({
        ...problem,
        level: problem.level === 'error' ? ('error' as const) : ('warning' as const),
      })),
      ...(await missing(place, plan)),
      ...(trail ? [{ level: 'error', path: 'tasks', message: containsItself(trail).message } as const] : []),
    ]
  }

  /** The same for the validation of a configuration of any component. */
  const contentProblems = async (
    place: FlowPlace,
    configurationId: string | undefined,
    configuration: string,
  ): Promise<readonly ContentProblem[]> =>
    (await validate(place, configurationId, configuration)).map(({ level, path, message }) => ({
      level,
      pointer: pointerOf(path),
      message,
      rule: 'flow',
    }))

  /** Refuses what could never run; answers warnings as sentences. */
  async function checkSaved(
    place: FlowPlace,
    configurationId: string | undefined,
    configuration: string,
  ): Promise<readonly string[]> {
    const problems = await validate(place, configurationId, configuration)
    refuse(problems)
    return problems.map(({ path, message }) => `${path}: ${message}`)
  }

  /** A plan that can run; refused with everything that is wrong. */
  async function planToRun(place: FlowPlace, configurationId: string | undefined, configuration: string): Promise<FlowPlan> {
    const { plan, problems } = readFlow(JSON.parse(configuration), formatOf(place.componentId) ?? 'flow')
    refuse(problems)
    if (plan.phases.length === 0) throw new PlatformError('flows.invalid', { problems: 'phases: It has no phase.' })
    const trail = await findCircle(place, configurationId, configuration)
    if (trail) throw containsItself(trail)
    return plan
  }

  async function missing(place: FlowPlace, plan: FlowPlan): Promise<SavedProblem[]> {
    const found = new Map<string, boolean>()
    const problems: SavedProblem[] = []
    for (const { work, index } of jobsOf(plan)) {
      const path = `tasks[${index}].task`
      if (!componentExists(work.component)) {
        problems.push({
          level: 'warning',
          path: `${path}.componentId`,
          message: `The component "${work.component}" does not exist here.`,
        })
        continue
      }
      if (work.config === undefined || work.configData !== undefined) continue
      const key = `${work.component} ${work.config}`
      const exists =
        found.get(key) ?? (await findConfiguration({ ...place, componentId: work.component }, work.config)) !== undefined
      found.set(key, exists)
      if (!exists)
        problems.push({
          level: 'warning',
          path: `${path}.configId`,
          message: `The configuration "${work.config}" of ${work.component} does not exist.`,
        })
    }
    return problems
  }

  /** The flows from one to itself again: it would wait for itself for ever. Undefined when there is no such way. */
  async function findCircle(place: FlowPlace, configurationId: string | undefined, configuration: string) {
    const clean = new Set<string>()

    async function visit(
      at: FlowPlace,
      id: string | undefined,
      text: string,
      above: readonly string[],
    ): Promise<readonly string[] | undefined> {
      const format = formatOf(at.componentId)
      const trail = [...above, `${format} ${id ?? 'of the task'}`]
      const key = id === undefined ? undefined : trail.at(-1)! // just put there
      if (key !== undefined && above.includes(key)) return trail
      if (format === undefined || trail.length > DEEPEST || clean.has(key ?? '')) return undefined
      for (const { work } of jobsOf(readFlow(JSON.parse(text), format).plan)) {
        if (formatOf(work.component) === undefined) continue
        const inner = { ...place, componentId: work.component }
        const isStored = work.configData === undefined
        // What is being saved is not in the store yet.
        const isThis = isStored && work.config === configurationId && formatOf(place.componentId) === formatOf(work.component)
        const content = isThis ? configuration : isStored ? await findConfiguration(inner, work.config ?? '') : work.configData
        const found = content === undefined ? undefined : await visit(inner, isStored ? work.config : undefined, content, trail)
        if (found) return found
      }
      if (key !== undefined) clean.add(key)
      return undefined
    }
    return visit(place, configurationId, configuration, [])
  }

  return { validate, contentProblems, checkSaved, planToRun }
}

const containsItself = (trail: readonly string[]) => new PlatformError('flows.containsItself', { trail: trail.join(' > ') })

/** Of a configuration that is saved: drafts are kept, with a warning (corrections-2, G5). */
type SavedProblem = Problem & { readonly level: 'error' | 'warning' }

function refuse(problems: readonly Problem[]): void {
  const errors = problems.filter(({ level }) => level !== 'warning')
  if (errors.length > 0) throw new PlatformError('flows.invalid', { problems: problemsText(errors) })
}

/** With their places in the list of tasks. */
const jobsOf = ({ phases }: FlowPlan): { readonly work: JobWork; readonly index: number }[] =>
  phases.flatMap(({ tasks }) => tasks.flatMap(({ work, index }) => (work.type === 'job' ? [{ work, index }] : [])))
