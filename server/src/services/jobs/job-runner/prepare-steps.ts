// The programs of a row, in order: which they are, what each is given, and the secrets that the operator gave them.

import { createHash } from 'node:crypto'
import { PlatformError } from '../../../kit/errors.ts'
import { placeOf, type QueuedJob } from '../../../model/queued-job.ts'
import type { ProjectInfo, RunComponents, RunnableComponent, RunScope } from '../../../model/run-ports.ts'
import { environmentOf, type ProgramSettings, tagOf } from './component-run.ts'
import { configFile, processorConfigFile } from './config-file.ts'
import { type OpenedSecrets, openImageParameters, refuseSharedSecrets } from './image-parameters.ts'
import { limitsOf } from './limits.ts'
import { invalid } from './mapping/mapping.ts'
import type { Step } from './row-types.ts'
import type { PlanDeps, ProcessorPlan, RowPlan } from './run-configuration.ts'
import { contextOf } from './run-configuration.ts'

export interface StepDeps extends PlanDeps {
  readonly components: RunComponents
  readonly programs: ProgramSettings
}

/** A row that can run: of which component, with which configuration, for whom. */
export interface PlannedRow {
  readonly scope: RunScope
  readonly component: RunnableComponent
  readonly project: ProjectInfo
  readonly token: string | undefined
  readonly plan: RowPlan
  readonly version: string
}

/** Before processors, the component, after processors; and what of it must not be seen. */
export async function prepareSteps(
  deps: StepDeps,
  job: QueuedJob,
  row: PlannedRow,
): Promise<{ readonly steps: readonly Step[]; readonly secrets: readonly string[] }> {
  const images = await openImageParameters(deps, placeOf(job), row.component)
  refuseSharedSecrets(images.values, row.plan)
  const around = await openProcessors(deps, job, row)
  return {
    steps: stepsOf(deps, job, row, images.text, job.inputOnly ? [] : around),
    secrets: [...images.values, ...around.flatMap(({ imageParameters }) => imageParameters.values)],
  }
}

/** A processor of the row: what it is, where it runs, and the parameters of the operator. */
interface Processor {
  readonly plan: ProcessorPlan
  readonly component: RunnableComponent
  readonly position: 'before' | 'after'
  readonly imageParameters: OpenedSecrets
}

/** Before the first of them runs: one that is not there, or in the wrong place, ends the row at once. */
function openProcessors(deps: StepDeps, job: QueuedJob, { component: main, plan }: PlannedRow): Promise<Processor[]> {
  if (main.stagingInput === 'none') return Promise.resolve([]) // it takes no data
  const open = async (wanted: ProcessorPlan, position: 'before' | 'after'): Promise<Processor> => {
    const component = deps.components.find(wanted.component)
    if (!component) throw new PlatformError('queue.unknownComponent', { component: wanted.component })
    if (component.processorPosition !== 'any' && component.processorPosition !== position)
      throw invalid(`the processor ${wanted.component} cannot run ${position} a component`)
    const imageParameters = await openImageParameters(deps, placeOf(job), component)
    return { plan: wanted, component, position, imageParameters }
  }
  return Promise.all([...plan.before.map((one) => open(one, 'before')), ...plan.after.map((one) => open(one, 'after'))])
}

function stepsOf(
  deps: StepDeps,
  job: QueuedJob,
  planned: PlannedRow,
  imageParameters: string,
  processors: readonly Processor[],
): Step[] {
  const { component, plan } = planned
  const main: Step = {
    component,
    tag: tagOf(component, plan.runtime, job.tag),
    isMain: true,
    limits: limitsOf(component, plan.runtime, job.backend, true, deps.programs.diskBytes),
    configFile: configFile({
      configuration: plan.configuration,
      imageParameters,
      action: 'run',
      context: contextOf(job, plan),
    }),
    environment: environmentFor(job, planned, component),
  }
  const stepsAt = (position: Processor['position']): Step[] =>
    processors.filter((one) => one.position === position).map((one) => processorStep(deps, job, planned, one))
  return [...stepsAt('before'), main, ...stepsAt('after')]
}

const processorStep = (
  deps: StepDeps,
  job: QueuedJob,
  planned: PlannedRow,
  { plan, component, imageParameters }: Processor,
): Step => ({
  component,
  tag: plan.tag ?? component.definition.tag,
  isMain: false,
  limits: limitsOf(component, {}, job.backend, false, deps.programs.diskBytes),
  configFile: processorConfigFile(plan.parameters, imageParameters.text),
  environment: environmentFor(job, planned, component),
})

const environmentFor = (
  job: QueuedJob,
  { scope, component: main, project, token, plan, version }: PlannedRow,
  component: RunnableComponent,
) =>
  environmentOf({
    scope,
    component,
    project,
    configurationId: job.configurationId ?? createHash('sha256').update(plan.configuration).digest('hex').slice(0, 32),
    version,
    rowId: plan.rowId,
    mode: job.mode === 'debug' ? 'debug' : 'run',
    token,
    dataTypesSupport: main.dataTypesSupport,
  })
