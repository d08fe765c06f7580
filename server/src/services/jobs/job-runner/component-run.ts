// One component or processor of a run: its program, its environment, and the run itself.

import { dirname, join } from 'node:path'
import type { EgressPolicy } from '../../../../../contract/egress-rules.ts'
import type { Checkpoints } from '../../../engines/runner/checkpoints.ts'
import type { ContainerEngine } from '../../../engines/runner/container-engine.ts'
import type { DataFolder } from '../../../engines/runner/data-folder.ts'
import type { Environments } from '../../../engines/runner/environments.ts'
import type { Isolation } from '../../../engines/runner/isolation.ts'
import type { LogEvent } from '../../../engines/runner/log-event.ts'
import type { Mask } from '../../../engines/runner/mask.ts'
import { homeOf, linkedFolder, type Program } from '../../../engines/runner/program.ts'
import type { Runner, RunOutcome } from '../../../engines/runner/runner.ts'
import type { Runtimes } from '../../../engines/runner/runtimes.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { containerOf, imageName, imageSource } from '../../../model/component-image.ts'
import { featuresOf } from '../../../model/features.ts'
import type { ProjectInfo, RunnableComponent, RunScope } from '../../../model/run-ports.ts'
import type { ComponentLimits } from './limits.ts'
import type { RuntimeSettings } from './mapping/mapping.ts'

export interface ProgramSettings {
  readonly runner: Runner
  /** The docker or podman of this machine, when its engine answers. */
  readonly findContainerEngine: () => Promise<ContainerEngine | undefined>
  /** Where built-in programs are; `readable` is what else they have to read (packages). */
  readonly builtinFolder: string
  /** Where the program of the Python transformation is, and what runs the code that users write for it. */
  readonly pythonFolder: string
  readonly environments: Environments
  readonly runtimes: Runtimes
  readonly isolation: () => Promise<Isolation>
  /** Where packages of Python are found; undefined: the public index. */
  readonly pythonIndexUrl: string | undefined
  /** What starts faster than the program in this folder, as long as it is the same. */
  readonly componentBundle: (folder: string) => string | undefined
  readonly readable: readonly string[]
  /** Where packages with native code are installed, which may be beside ours. */
  readonly nativeCode: string
  /** Extensions of DuckDB that the operator has added. */
  readonly extensions: string
  /** Folders of the machine that the operator has named, for components with the features `read-folders` and `write-folders`. */
  readonly folders: NamedFolders
  /** Where a registered command starts. */
  readonly commandFolder: (componentId: string, uri: string) => Promise<string>
  /** Most disk one run may fill. */
  readonly diskBytes: number
  /** Most files one program may leave as results. */
  readonly results: number
  /** What components may connect to. Built-in ones keep to it by themselves, isolated commands by the proxy that is their only way out. */
  readonly egress: EgressPolicy
  /** Local addresses that built-in components may request as well: the sample API. */
  readonly places: () => readonly string[]
  /** Address of the object store, for components that read their inputs there. */
  readonly objectStoreUrl: () => string
  readonly checkpoints: Checkpoints
}

export interface NamedFolders {
  readonly read: Readonly<Record<string, string>>
  readonly write: Readonly<Record<string, string>>
}

/** As shown in the result of a job. */
export interface ImageRecord {
  readonly id: string
  readonly digests: readonly string[]
}

export interface ComponentRun {
  readonly component: RunnableComponent
  readonly tag: string
  readonly folder: DataFolder
  readonly environment: Readonly<Record<string, string>>
  readonly limits: ComponentLimits
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly collectStdout?: boolean
  /** It has no network at all. */
  readonly isOffline?: boolean
  /** Ports of this machine that it may connect to. */
  readonly loopbackPorts?: readonly number[]
  /** A folder that outlives the run; for built-in programs. */
  readonly checkpointFolder?: string | undefined
  onEvent(event: LogEvent): void
}

/** Of the configuration; a job without a saved one creates its environment each time. */
async function environmentsOf(settings: ProgramSettings, { environment, folder }: ComponentRun): Promise<string> {
  const { KBC_PROJECTID = '', KBC_BRANCHID = '', KBC_COMPONENTID = '', KBC_CONFIGID = '' } = environment
  if (KBC_CONFIGID === '') return join(folder.tmp, 'environments')
  return settings.environments([KBC_PROJECTID, KBC_BRANCHID, KBC_COMPONENTID, KBC_CONFIGID])
}

export async function runComponent(
  settings: ProgramSettings,
  run: ComponentRun,
): Promise<{ outcome: RunOutcome; image: ImageRecord }> {
  const isStarter = run.component.definition.type === 'program'
  const environments = isStarter ? await environmentsOf(settings, run) : undefined
  const environment =
    run.component.definition.type === 'builtin'
      ? {
          ...run.environment,
          MILLRACE_EGRESS_POLICY: JSON.stringify({ ...settings.egress, places: settings.places() }),
          ...(run.checkpointFolder === undefined ? {} : { MILLRACE_CHECKPOINT_DIR: linkedFolder(run.folder) }),
          ...foldersVariable(settings.folders, run.component),
          ...(hasNativeCode(run.component) && { MILLRACE_EXTENSIONS: settings.extensions }),
        }
      : {
          ...run.environment,
          ...indexVariables(settings, run.component),
          ...(environments !== undefined && { MILLRACE_ENVIRONMENTS_DIR: environments }),
        }
  const { program, image } = await programOf(settings, run, environments)
  const outcome = await settings.runner.run({
    program,
    folder: run.folder,
    environment,
    limits: run.limits,
    gelf: run.component.logging.type === 'gelf' ? run.component.logging.gelfServerType : undefined,
    mask: run.mask,
    egress: run.isOffline ? undefined : egressOf(settings, run.component, environment),
    signal: run.signal,
    spareKey: spareKeyOf(run),
    onEvent: run.onEvent,
    ...(run.loopbackPorts?.length ? { loopbackPorts: run.loopbackPorts } : {}),
    ...(run.collectStdout ? { collectStdout: true } : {}),
  })
  return { outcome, image }
}

/** Processes of a component with the same limits are started alike; only our own programs are started before they are needed. */
export const spareKeyOf = ({ component, limits }: Pick<ComponentRun, 'component' | 'limits'>): string | undefined =>
  component.definition.type === 'builtin' ? `${component.id} ${limits.memoryBytes}` : undefined

const mayRead = ({ features }: RunnableComponent): boolean => features.includes('read-folders')
/** Of our own programs: they read and write databases with DuckDB. */
const hasNativeCode = ({ features }: RunnableComponent): boolean => features.includes('native-code')
const mayWrite = ({ features }: RunnableComponent): boolean => features.includes('write-folders')

function foldersVariable({ read, write }: NamedFolders, component: RunnableComponent): Record<string, string> {
  const folders = mayRead(component) ? read : mayWrite(component) ? write : undefined
  return folders ? { MILLRACE_FOLDERS: JSON.stringify(folders) } : {}
}

/** The stack itself is reached by components that were given a token for it, its object store by those that read their inputs there. */
function egressOf(
  { egress, objectStoreUrl, pythonIndexUrl }: ProgramSettings,
  { network, stagingInput, definition }: RunnableComponent,
  environment: Readonly<Record<string, string>>,
): EgressPolicy | undefined {
  if (network !== 'bridge') return undefined
  const ours = [
    ...(environment.KBC_URL ? [environment.KBC_URL] : []),
    ...(stagingInput === 's3' ? [objectStoreUrl()] : []),
    ...(usesPackages(definition) && pythonIndexUrl !== undefined ? [pythonIndexUrl] : []),
  ]
  return { ...egress, allow: [...egress.allow, ...ours.map(hostAndPort)] }
}

const usesPackages = ({ type }: RunnableComponent['definition']): boolean => type === 'python' || type === 'program'

/** For uv and for pip. */
function indexVariables({ pythonIndexUrl }: ProgramSettings, { definition }: RunnableComponent): Record<string, string> {
  if (!usesPackages(definition) || pythonIndexUrl === undefined) return {}
  return { UV_DEFAULT_INDEX: pythonIndexUrl, PIP_INDEX_URL: pythonIndexUrl }
}

function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

async function programOf(
  settings: ProgramSettings,
  run: ComponentRun,
  environments: string | undefined,
): Promise<{ program: Program; image: ImageRecord }> {
  const { definition, id } = run.component
  if (definition.type === 'builtin') {
    const [folder = ''] = definition.uri.split('/')
    const own = join(settings.builtinFolder, folder)
    const bundle = settings.componentBundle(folder)
    return {
      program: {
        kind: 'node',
        entry: bundle ?? join(settings.builtinFolder, definition.uri),
        arguments: [],
        waitsForJob: bundle !== undefined, // sources may change between loading and the job
        readable: [
          ...[own, ...settings.readable, ...(mayRead(run.component) ? Object.values(settings.folders.read) : [])],
          ...(hasNativeCode(run.component) ? [settings.nativeCode, settings.extensions] : []),
        ],
        hasNativeCode: hasNativeCode(run.component),
        writable: mayWrite(run.component) ? Object.values(settings.folders.write) : [],
        linked: run.checkpointFolder,
      },
      image: { id: `builtin/${id}:${run.tag}`, digests: [] },
    }
  }
  if (definition.type === 'command') {
    const program = {
      kind: 'command',
      command: definition.command ?? [],
      folder: await settings.commandFolder(id, definition.uri),
    } as const
    return { program, image: { id: `command/${id}:${run.tag}`, digests: [] } }
  }
  if (definition.type === 'python') return pythonOf(settings, run)
  if (definition.type === 'program') return starterOf(settings, run, environments)
  return imageOf(settings, run)
}

/** Commands come from the operator; this code comes from any user who may write a configuration, so it only runs isolated. */
async function pythonOf(
  settings: ProgramSettings,
  { component: { id }, tag }: ComponentRun,
): Promise<{ program: Program; image: ImageRecord }> {
  const python = await settings.runtimes.find('python')
  if ('missing' in python) throw new PlatformError('runner.noPython', { component: id, missing: python.missing })
  const { problem } = await settings.isolation()
  if (problem !== undefined) throw new PlatformError('runner.codeNotIsolated', { component: id, reason: problem })
  return {
    program: { kind: 'command', command: python.command('main.py'), folder: settings.pythonFolder },
    image: { id: `python/${id}:${tag}`, digests: [] },
  }
}

/** Starts programs that any user who may write a configuration names, so it only runs isolated. */
async function starterOf(
  settings: ProgramSettings,
  run: ComponentRun,
  environments: string | undefined,
): Promise<{ program: Program; image: ImageRecord }> {
  const { definition, id } = run.component
  const { problem } = await settings.isolation()
  if (problem !== undefined) throw new PlatformError('runner.codeNotIsolated', { component: id, reason: problem })
  const [name = ''] = definition.uri.split('/')
  const entry = settings.componentBundle(name) ?? join(settings.builtinFolder, definition.uri)
  return {
    program: {
      kind: 'command',
      command: [process.execPath, entry],
      folder: dirname(entry),
      readable: [settings.builtinFolder, ...settings.readable, ...homeOf(process.execPath)],
      writable: environments === undefined ? [] : [environments],
    },
    image: { id: `program/${id}:${run.tag}`, digests: [] },
  }
}

async function imageOf(settings: ProgramSettings, run: ComponentRun): Promise<{ program: Program; image: ImageRecord }> {
  const { component, limits } = run
  const image = imageName(component, run.tag)
  const engine = await settings.findContainerEngine()
  if (!engine) throw new PlatformError('runner.noContainerEngine', { component: component.id, image })
  const digests = await engine.prepare(image, imageSource(component))
  const container = await engine.container({
    ...containerOf(component, run.folder),
    image,
    memoryBytes: limits.memoryBytes,
    cpus: limits.cpus,
  })
  const network = component.network === 'bridge' && !run.isOffline ? 'bridge' : 'none'
  return { program: { kind: 'image', container, network }, image: { id: image, digests } }
}

export interface EnvironmentParts {
  readonly scope: RunScope
  readonly component: RunnableComponent
  readonly project: ProjectInfo
  readonly configurationId: string
  readonly version: string
  readonly rowId: string | null
  readonly mode: 'run' | 'debug'
  /** Set when the main component requests it. */
  readonly token: string | undefined
  readonly dataTypesSupport: string
}

/** spec platform 1.13. A processor sees its own id, and everything else of the component it works for. */
export function environmentOf(parts: EnvironmentParts): Record<string, string> {
  const { scope, component, project, rowId, token } = parts
  return {
    KBC_RUNID: scope.runId,
    KBC_PROJECTID: String(scope.projectId),
    KBC_STACKID: new URL(scope.baseUrl).hostname,
    KBC_CONFIGID: parts.configurationId,
    KBC_CONFIGVERSION: parts.version,
    KBC_COMPONENTID: component.id,
    KBC_STAGING_FILE_PROVIDER: 'aws',
    KBC_PROJECT_FEATURE_GATES: featuresOf(project).join(','),
    KBC_COMPONENT_RUN_MODE: parts.mode,
    KBC_BRANCHID: String(scope.branchId),
    KBC_DATA_TYPE_SUPPORT: parts.dataTypesSupport,
    ...(rowId === null ? {} : { KBC_CONFIGROWID: rowId }),
    ...(component.forwardToken && token !== undefined ? { KBC_TOKEN: token, KBC_URL: scope.baseUrl } : {}),
    ...(component.forwardTokenDetails
      ? { KBC_PROJECTNAME: project.name, KBC_TOKENID: String(scope.actor.tokenId), KBC_TOKENDESC: scope.actor.tokenDescription }
      : {}),
  }
}

/** The image: of the request, of the configuration, or of the component, in this order. */
export const tagOf = ({ definition }: RunnableComponent, runtime: RuntimeSettings, asked: string | null | undefined) =>
  asked || runtime.tag || runtime.image_tag || definition.tag
