// From a stored configuration to what each row runs with (spec platform 1.4, 1.22): which rows, merged, with shared code and
// variables put in and secrets opened. Everything that can be wrong with a configuration is found here, before anything runs.

import { effectiveConfiguration, processorsText } from '../../../../../contract/effective-configuration.ts'
import { jsonPointer } from '../../../../../contract/failure-causes.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { itemsOf, kindOf, membersOf, withMember } from '../../../kit/text/json-text.ts'
import type { QueuedJob } from '../../../model/queued-job.ts'
import type {
  RowOfConfiguration,
  RunConfigurations,
  RunSecrets,
  SecretPlace,
  StoredConfiguration,
} from '../../../model/run-ports.ts'
import { type ArtifactSettings, readArtifacts } from './artifacts.ts'
import {
  gone,
  invalid,
  type Mapping,
  type ProcessorDefinition,
  type RuntimeSettings,
  readMapping,
  readProcessors,
  readRuntime,
} from './mapping/mapping.ts'
import { replaceSharedCode } from './shared-code.ts'
import { refersToVault, replaceVariables, replaceVault, valuesFor } from './variables.ts'

/** One run of the component: a row, or the configuration itself. */
export interface RowPlan {
  readonly rowId: string | null
  readonly name: string
  /** Effective configuration, secrets in clear. */
  readonly configuration: string
  readonly state: string
  readonly secrets: readonly string[]
  readonly mapping: Mapping
  readonly runtime: RuntimeSettings
  readonly artifacts: ArtifactSettings
  readonly before: readonly ProcessorPlan[]
  readonly after: readonly ProcessorPlan[]
  /** Values that were put in for variables. */
  readonly variables: Readonly<Record<string, string>>
}

export interface ProcessorPlan {
  readonly component: string
  readonly tag: string | undefined
  /** JSON text, secrets in clear. */
  readonly parameters: string
}

export interface RowChoice {
  readonly rows: readonly (RowOfConfiguration | undefined)[]
  /** Sentences about rows that do not run. */
  readonly skipped: readonly string[]
}

/** Without rows the configuration itself is the one run; disabled rows run only when they are named. */
export function chooseRows(stored: StoredConfiguration, wanted: readonly string[] | null): RowChoice {
  if (stored.rows.length === 0 && wanted === null) return { rows: [undefined], skipped: [] }
  if (wanted !== null) {
    const [chosen, known] = [new Set(wanted), new Set(stored.rows.map(({ id }) => id))]
    const rows = stored.rows.filter(({ id }) => chosen.has(id))
    const missing = wanted.filter((id) => !known.has(id))
    if (rows.length === 0) throw gone(`none of its rows ${wanted.join(', ')} exists`)
    return { rows, skipped: missing.map((id) => `The row ${id} does not exist and is left out.`) }
  }
  const disabled = stored.rows.filter(({ isDisabled }) => isDisabled)
  return {
    rows: stored.rows.filter(({ isDisabled }) => !isDisabled),
    skipped: disabled.map(({ id, name }) => `The row "${name}" (${id}) is disabled and is left out.`),
  }
}

export interface PlanDeps {
  readonly configurations: RunConfigurations
  readonly secrets: RunSecrets
  /** Variables of the project that hold in a branch, by name; encrypted ones are ciphers. */
  readonly vaultValues: (projectId: number, branchId: number) => Promise<ReadonlyMap<string, string>>
}

export interface PlanRequest {
  readonly place: SecretPlace & { readonly branchId: number }
  readonly stored: StoredConfiguration
  readonly row: RowOfConfiguration | undefined
  readonly variableValuesId: string | null
  readonly variableValues: readonly { readonly name: string; readonly value: unknown }[]
  /** Laid over all other values; absent without any. */
  readonly variableOverrides?: readonly { readonly name: string; readonly value: unknown }[]
}

/** The configuration of a row with shared code and variables put in, secrets still ciphers; `processors` is part of it. */
export async function resolveRow(
  deps: PlanDeps,
  request: PlanRequest,
): Promise<{ readonly text: string; readonly used: Readonly<Record<string, string>> }> {
  const { stored, row } = request
  if (row && kindOf(row.configuration) === 'array')
    throw invalid(`the configuration of its row "${row.id}" is a list; a run needs an object with "parameters"`)
  const processors = chooseProcessors(stored.configuration, row?.configuration)
  const effective = effectiveConfiguration(stored.configuration, row?.configuration).text
  const whole = processors === undefined ? effective : withMember(effective, 'processors', processors)
  const shared = replaceSharedCode(whole, await sharedCodeOf(deps, request, effective))
  return withVariables(deps, request, await withVault(deps, request, shared), effective)
}

/** Every configuration may refer to the vault; it is read only for those that do. */
async function withVault(deps: PlanDeps, { place }: PlanRequest, text: string): Promise<string> {
  return refersToVault(text) ? replaceVault(text, await deps.vaultValues(place.projectId, place.branchId)) : text
}

/** Everything else that a component reads belongs into `parameters` (corrections-2, G13). */
const ROOT_NODES = [
  'action',
  'artifacts',
  'authorization',
  'image_parameters',
  'parameters',
  'processors',
  'runtime',
  'shared_code_id',
  'shared_code_row_ids',
  'storage',
  'variables_id',
  'variables_values_id',
]

/** Configurations of the HTTP extractor may have what it reads at their root instead. */
const EXTRACTOR_NODES = ['api', 'config']

function refuseUnknownNodes(names: Iterable<string>): void {
  for (const name of names)
    if (!ROOT_NODES.includes(name) && !EXTRACTOR_NODES.includes(name))
      throw new PlatformError(
        'jobRunner.unknownOption',
        { name: name.slice(0, 60), known: ROOT_NODES.map((node) => `"${node}"`).join(', ') },
        { facts: { pointer: jsonPointer([name]) } },
      )
}

export async function planRow(deps: PlanDeps, request: PlanRequest): Promise<RowPlan> {
  const { stored, row, place } = request
  const replaced = await resolveRow(deps, request)
  refuseUnknownNodes(membersOf(replaced.text).keys())
  const opened = await openSecrets(deps, place, replaced.text)
  const state = await openSecrets(deps, place, row ? row.state : stored.state)
  const members = membersOf(opened.text)
  const { before, after } = readProcessors(parsed(members.get('processors')))
  const texts = processorParameters(members.get('processors'))
  const planOf = ({ definition }: ProcessorDefinition, parameters: string | undefined): ProcessorPlan => ({
    component: definition.component,
    tag: definition.tag ?? undefined,
    parameters: parameters ?? '{}',
  })
  return {
    rowId: row?.id ?? null,
    name: row?.name ?? '',
    configuration: effectiveConfiguration(opened.text).text,
    state: state.text,
    secrets: [...opened.values, ...state.values],
    mapping: readMapping(parsed(members.get('storage'))),
    runtime: readRuntime(parsed(members.get('runtime'))),
    artifacts: readArtifacts(parsed(members.get('artifacts'))),
    before: before.map((one, at) => planOf(one, texts.before[at])),
    after: after.map((one, at) => planOf(one, texts.after[at])),
    variables: replaced.used,
  }
}

/** In one place only: with two lists the precedence would be unclear. */
function chooseProcessors(root: string, row: string | undefined): string | undefined {
  const inRoot = nonEmpty(processorsText(root))
  const inRow = row === undefined ? undefined : nonEmpty(processorsText(row))
  if (inRoot !== undefined && inRow !== undefined)
    throw invalid('processors are set both in the configuration and in its row; keep them in one place')
  return inRoot ?? inRow
}

const nonEmpty = (text: string | undefined): string | undefined =>
  text === undefined || /^\s*(\{\s*\}|\[\s*\]|null)\s*$/.test(text) ? undefined : text

function processorParameters(processors: string | undefined): { readonly before: string[]; readonly after: string[] } {
  const members = processors === undefined ? new Map<string, string>() : membersOf(processors)
  const of = (name: string): string[] =>
    itemsOf(members.get(name) ?? '[]').map((item) => membersOf(item).get('parameters') ?? '{}')
  return { before: of('before'), after: of('after') }
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text))

/** A variable may have brought a clear value into a `#` field: sealed first, then everything is opened the same way. */
async function openSecrets(
  deps: PlanDeps,
  place: SecretPlace,
  text: string,
): Promise<{ readonly text: string; readonly values: readonly string[] }> {
  const encrypt = await deps.secrets.encrypterOf(place.projectId)
  return deps.secrets.decrypt(place, encrypt(text, place.componentId))
}

const VARIABLES = 'keboola.variables'
const SHARED_CODE = 'keboola.shared-code'

function scalarOf(text: string, name: string): string | undefined {
  const value = parsed(membersOf(text).get(name))
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
}

async function sharedCodeOf(
  deps: PlanDeps,
  { place }: PlanRequest,
  effective: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const id = scalarOf(effective, 'shared_code_id')
  const rowIds = parsed(membersOf(effective).get('shared_code_row_ids'))
  if (id === undefined || !Array.isArray(rowIds) || rowIds.length === 0) return new Map()
  const stored = await deps.configurations.find({ ...place, componentId: SHARED_CODE, configurationId: id })
  if (!stored) throw gone(`its shared code "${id}" does not exist`, '/shared_code_id')
  return new Map(
    rowIds.map((rowId) => {
      const row = stored.rows.find((one) => one.id === String(rowId))
      if (!row) throw gone(`the shared code "${id}" has no row "${rowId}"`, '/shared_code_row_ids')
      const { code_content } = JSON.parse(row.configuration) as { code_content?: unknown } // shape checked next
      return [row.id, Array.isArray(code_content) ? code_content.map(String) : [String(code_content ?? '')]]
    }),
  )
}

interface VariableConfiguration {
  readonly variables?: readonly { readonly name?: unknown }[]
  readonly values?: readonly { readonly name?: unknown; readonly value?: unknown }[]
}

async function withVariables(
  deps: PlanDeps,
  request: PlanRequest,
  text: string,
  effective: string,
): Promise<{ text: string; used: Readonly<Record<string, string>> }> {
  const id = scalarOf(effective, 'variables_id')
  if (id === undefined) return { text, used: {} }
  const stored = await deps.configurations.find({ ...request.place, componentId: VARIABLES, configurationId: id })
  if (!stored) throw gone(`its variables "${id}" do not exist`, '/variables_id')
  const { variables } = JSON.parse(stored.configuration) as VariableConfiguration // read with care
  const given = await sealed(deps, request.place.projectId, [
    ...givenValues(request, stored, scalarOf(effective, 'variables_values_id')),
    ...(request.variableOverrides ?? []),
  ])
  const values = new Map(given.map(({ name, value }) => [String(name), variableText(String(name), value)]))
  const declared = Array.isArray(variables) ? variables.map(({ name }) => String(name)) : []
  return replaceVariables(text, valuesFor(declared, values))
}

type GivenValues = NonNullable<VariableConfiguration['values']>

/** Variables named with `#` are put in as ciphers: they open in `#` members, and nothing that shows a configuration shows them in clear. */
async function sealed(deps: PlanDeps, projectId: number, values: GivenValues): Promise<GivenValues> {
  if (!values.some(({ name }) => String(name).startsWith('#'))) return values
  const encrypt = await deps.secrets.encrypterOf(projectId)
  return readStored<{ values: GivenValues }>(encrypt(JSON.stringify({ values }), VARIABLES)).values
}

function variableText(name: string, value: unknown): string {
  if (typeof value === 'object' && value !== null) throw invalid(`the value of its variable "${name}" is not a text`)
  return String(value ?? '')
}

/** Values of the job win over a row named by the job, that over the row named by the configuration. */
function givenValues(
  { variableValues, variableValuesId, variableOverrides = [] }: PlanRequest,
  stored: StoredConfiguration,
  defaultId: string | undefined,
) {
  if (variableValues.length > 0) return variableValues
  const rowId = variableValuesId ?? defaultId
  if (rowId === undefined && variableOverrides.length > 0) return []
  if (rowId === undefined) throw invalid('it uses variables, and neither the job nor the configuration names their values')
  const row = stored.rows.find(({ id }) => id === rowId)
  if (!row) throw gone(`the row "${rowId}" with the values of its variables does not exist`, '/variables_values_id')
  const { values } = JSON.parse(row.configuration) as VariableConfiguration // read with care
  return Array.isArray(values) ? values : []
}

/** For jobs that bring their own configuration. */
export const ownConfiguration = (configData: string): StoredConfiguration => ({
  version: 0,
  isDisabled: false,
  configuration: configData,
  state: '{}',
  rows: [],
})

export const notFound = (componentId: string, configurationId: string): PlatformError =>
  gone(`the configuration "${configurationId}" of ${componentId} no longer exists`)

/** The cost context that runs are accounted under, from the job or from the configuration. */
export const contextOf = ({ backendContext }: QueuedJob, { runtime: { backend } }: RowPlan): string | undefined =>
  backendContext ?? (Array.isArray(backend) ? undefined : (backend?.context ?? undefined))

/** Ids of the rows that a job of a configuration runs, in order. */
export const rowIdsIn = (
  configuration: Parameters<typeof chooseRows>[0],
  rowIds: Parameters<typeof chooseRows>[1],
): readonly string[] => chooseRows(configuration, rowIds).rows.flatMap((row) => (row ? [row.id] : []))
