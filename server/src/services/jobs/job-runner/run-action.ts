// Sync actions (spec platform 1.21, 6.3): the same component with another action, at once, without data, state or processors.
// A component with the feature `preview-input` is given the first rows of the tables in its mapping.

import { type DataFolder, writeConfigFile, writeStateFile } from '../../../engines/runner/data-folder.ts'
import { createMask } from '../../../engines/runner/mask.ts'
import { yamlOf } from '../../../engines/runner/yaml-files.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { membersOf } from '../../../kit/text/json-text.ts'
import type { RunnableComponent, RunScope } from '../../../model/run-ports.ts'
import { environmentOf, runComponent, spareKeyOf, tagOf } from './component-run.ts'
import { configFile } from './config-file.ts'
import { dryRunScript, type SampleChoice, type ScriptTried, tryScript } from './dry-run-script.ts'
import { openImageParameters, refuseSharedSecrets } from './image-parameters.ts'
import { readInputs } from './input.ts'
import { failureOf, IN_EVENTS, limitsOf, thrown } from './limits.ts'
import { readMapping, readRuntime } from './mapping/mapping.ts'
import { withOauthCredentials } from './oauth-credentials.ts'
import { resolveRow } from './run-configuration.ts'
import { INPUT_NULLS, type JobRunnerDeps } from './run-job.ts'
import { readState } from './state.ts'
import { refersToVault, replaceVault } from './variables.ts'

export interface ActionRequest {
  readonly componentId: string
  readonly action: string
  /** JSON text; `#` values in clear or as ciphers of this project and component. */
  readonly configData: string
  readonly tag: string | undefined
}

const ACTION_MS = 30_000

const PREVIEW_INPUT = 'preview-input'
const PREVIEW_ROWS = 100

/** The component's answer as JSON text, secrets hidden. */
export async function runAction(
  deps: JobRunnerDeps,
  scope: RunScope,
  request: ActionRequest,
  signal: AbortSignal,
): Promise<string> {
  const component = deps.components.find(request.componentId)
  if (!component) throw new PlatformError('queue.unknownComponent', { component: request.componentId })
  if (!component.synchronousActions.includes(request.action)) {
    throw new PlatformError('jobRunner.unknownAction', {
      component: component.id,
      action: request.action,
      actions: component.synchronousActions.join(', ') || 'none',
    })
  }
  if (component.definition.type === 'sql') {
    const configuration = await resolved(deps, scope, component, request.configData)
    return dryRunScript(deps, { scope, component, configuration, timeoutMs: ACTION_MS, signal })
  }
  const place = {
    projectId: scope.projectId,
    componentId: component.id,
    configurationId: undefined,
    isDefaultBranch: scope.isDefaultBranch,
  }
  const encrypt = await deps.secrets.encrypterOf(scope.projectId)
  const given = await withVault(deps, scope, onlyParameters(request.configData))
  const opened = await deps.secrets.decrypt(place, encrypt(given, component.id))
  const { text, values } = await withOauthCredentials(deps, scope.actor, component, opened.text)
  const runtime = readRuntime(JSON.parse(membersOf(given).get('runtime') ?? '{}'))
  const images = await openImageParameters(deps, place, component)
  refuseSharedSecrets(images.values, { configuration: text })
  const token = component.forwardToken
    ? await deps.tokens.issue(scope, `Action ${request.action}`, (2 * ACTION_MS) / 1000)
    : undefined
  const limits = { ...limitsOf(component, runtime, undefined, true, deps.programs.diskBytes), timeoutMs: ACTION_MS }
  const folder = await deps.programs.runner.newFolder(false, spareKeyOf({ component, limits }))
  try {
    const config = configFile({ configuration: text, imageParameters: images.text, action: request.action })
    const format = component.configurationFormat
    await writeConfigFile(folder, format === 'yaml' ? yamlOf(config) : config, format)
    await writeStateFile(folder, '{}', format)
    if (component.features.includes(PREVIEW_INPUT))
      await readFirstRows(deps, scope, { component, configData: request.configData, folder }, signal)
    const { outcome } = await runComponent(deps.programs, {
      component,
      tag: tagOf(component, runtime, request.tag),
      folder,
      environment: environmentOf({
        scope,
        component,
        project: await deps.project(scope.projectId),
        configurationId: '',
        version: '',
        rowId: null,
        mode: 'run',
        token: token?.value,
        dataTypesSupport: component.dataTypesSupport,
      }),
      limits,
      mask: createMask([...opened.values, ...values, ...images.values, ...(token ? [token.value] : [])]),
      signal,
      collectStdout: true,
      onEvent: () => {},
    })
    const failure = failureOf(component, outcome, limits)
    if (failure?.type === 'application') throw broken(failure.message.replace(IN_EVENTS, IN_LOG), outcome.words)
    if (failure) throw thrown(failure)
    return answerOf(component.id, outcome.stdout)
  } finally {
    await deps.programs.runner.removeFolder(folder)
    if (token) await deps.tokens.revoke(scope, token.id)
  }
}

export interface TryRequest extends SampleChoice {
  readonly componentId: string
  /** JSON text. */
  readonly configData: string
}

/** The statements of a SQL transformation run over a sample of its inputs; nothing is kept. */
export async function runTrial(
  deps: JobRunnerDeps,
  scope: RunScope,
  { componentId, configData, ...sample }: TryRequest,
  signal: AbortSignal,
): Promise<ScriptTried> {
  const component = deps.components.find(componentId)
  if (!component) throw new PlatformError('queue.unknownComponent', { component: componentId })
  if (component.definition.type !== 'sql') throw new PlatformError('jobRunner.notTried', { component: component.id })
  const configuration = await resolved(deps, scope, component, configData)
  return tryScript(deps, { scope, component, configuration, timeoutMs: ACTION_MS, signal }, sample)
}

/** As a run would have it: with shared code, variables and vault variables. */
async function resolved(deps: JobRunnerDeps, scope: RunScope, component: RunnableComponent, text: string): Promise<string> {
  const { projectId, branchId, isDefaultBranch } = scope
  const resolution = await resolveRow(deps, {
    place: { projectId, branchId, componentId: component.id, configurationId: undefined, isDefaultBranch },
    stored: { version: 0, isDisabled: false, configuration: text, state: '{}', rows: [] },
    row: undefined,
    variableValuesId: null,
    variableValues: [],
  })
  return resolution.text
}

/** Changes of a row do not matter: an action has no state. */
async function readFirstRows(
  deps: JobRunnerDeps,
  scope: RunScope,
  {
    component,
    configData,
    folder,
  }: { readonly component: RunnableComponent; readonly configData: string; readonly folder: DataFolder },
  signal: AbortSignal,
): Promise<void> {
  const mapping = readMapping(JSON.parse(membersOf(configData).get('storage') ?? '{}'))
  const inputTables = mapping.inputTables.map((entry) => ({
    ...entry,
    limit: Math.min(entry.limit || PREVIEW_ROWS, PREVIEW_ROWS),
  }))
  await readInputs(deps, {
    scope,
    mapping: { ...mapping, inputTables, inputFiles: [] },
    state: readState('{}'),
    folder,
    staging: 'local',
    signal,
    now: deps.clock.now(),
    bareNulls: component.features.includes(INPUT_NULLS),
  })
}

/** A connection is tried out with the values that a run would have. */
const withVault = async (deps: JobRunnerDeps, { projectId, branchId }: RunScope, text: string): Promise<string> =>
  refersToVault(text) ? replaceVault(text, await deps.vaultValues(projectId, branchId)) : text

/** Parameters, and what the extractor reads beside them; no mapping, no processors, no state. */
function onlyParameters(configData: string): string {
  const members = [...membersOf(configData)].filter(([name]) => name !== 'storage' && name !== 'processors')
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

function answerOf(componentId: string, stdout: string): string {
  try {
    JSON.parse(stdout)
    return stdout.trim()
  } catch {
    throw broken(`The component ${componentId} answered with something that is not JSON. ${IN_LOG}`, stdout.slice(0, 4_000))
  }
}

/** An action has no events; what its component printed is found in the log. */
const IN_LOG = 'The exception id finds what it printed in the log of the stack.'

const broken = (message: string, words: string): PlatformError => thrown({ type: 'application', message }, words)
