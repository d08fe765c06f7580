// One run of an app: the program of its configuration, with a folder, a token that only reads, and nothing of the server's own.

import { join } from 'node:path'
import type { EgressPolicy } from '../../../../../contract/egress-rules.ts'
import type { Dial } from '../../../engines/reverse-proxy/program-proxy.ts'
import type { ContainerEngine } from '../../../engines/runner/container-engine.ts'
import { type DataFolder, writeConfigFile } from '../../../engines/runner/data-folder.ts'
import type { Isolation } from '../../../engines/runner/isolation.ts'
import { createMask } from '../../../engines/runner/mask.ts'
import type { Program } from '../../../engines/runner/program.ts'
import type { Runner, RunOutcome } from '../../../engines/runner/runner.ts'
import type { RuntimeName, Runtimes } from '../../../engines/runner/runtimes.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { containerOf, imageName, imageSource, isImage } from '../../../model/component-image.ts'
import type { RunnableComponent } from '../../../model/run-ports.ts'
import type { AppCodes } from './app-code.ts'
import { type AppSettings, invalid, type OwnProgram, readAppSettings, SIZES, type Size } from './app-settings.ts'
import type { AppRow } from './apps.store.ts'
import type { InstanceRun } from './instances.ts'

export interface AppProgramDeps {
  readonly runner: Runner
  readonly runtimes: Runtimes
  readonly code: AppCodes
  readonly isolation: () => Promise<Isolation>
  /** The docker or podman of this machine, when its engine answers. */
  readonly findContainerEngine: () => Promise<ContainerEngine | undefined>
  readonly findComponent: (id: string) => RunnableComponent | undefined
  /** The configuration that was deployed, secrets encrypted. */
  readonly findVersion: (app: AppRow, version: number) => Promise<{ readonly configuration: string } | undefined>
  readonly decrypt: (app: AppRow, text: string) => Promise<{ readonly text: string; readonly values: readonly string[] }>
  /** Who deployed it; undefined when that token is gone. */
  readonly findActor: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  /** A token that reads what the actor may read, and changes nothing. */
  readonly issueToken: (
    actor: Actor,
    description: string,
    seconds: number,
  ) => Promise<{ readonly id: number; readonly value: string }>
  readonly revokeToken: (projectId: number, tokenId: number) => Promise<void>
  /** A workspace that only the token of a run may use. */
  readonly createWorkspace: (app: AppRow, actor: Actor) => Promise<number>
  readonly removeWorkspace: (projectId: number, workspaceId: number) => Promise<void>
  readonly commandsFolder: string
  readonly diskBytes: number
  readonly egress: EgressPolicy
  readonly baseUrl: () => string
  /** Of PostgreSQL clients; undefined when the stack does not listen for them. */
  readonly sqlPort: () => number | undefined
}

/** A token cannot be exchanged in a process that runs, so the process ends before it does. */
const LONGEST_RUN_SECONDS = 86_400
const TOKEN_SECONDS = LONGEST_RUN_SECONDS + 3_600

const IMAGE_CPUS = 2
const memoryOf = (size: Size): number => SIZES[size] * 2 ** 20

export type AppProgram = ReturnType<typeof createAppProgram>

export function createAppProgram(deps: AppProgramDeps) {
  const ownProgram = (componentId: string): OwnProgram | undefined => {
    const component = deps.findComponent(componentId)
    if (component && isImage(component)) return 'image'
    return component?.definition.type === 'command' ? 'command' : undefined
  }
  const settingsOf = (componentId: string, configuration: string): AppSettings =>
    readAppSettings(configuration, ownProgram(componentId))

  const open = async (app: AppRow, configuration: string) => {
    const { text, values } = await deps.decrypt(app, configuration)
    return { text, values, settings: settingsOf(app.component_id, text) }
  }

  /** Refuses what could not run here, before it is deployed. */
  async function check(app: AppRow, configuration: string): Promise<AppSettings> {
    settingsOf(app.component_id, configuration) // before anything is decrypted
    const { settings } = await open(app, configuration)
    const own = settings.own === 'image' ? await engineFor(componentOf(app)) : undefined
    await checkRuntime(settings)
    if (settings.code) await deps.code.look(app, settings.code)
    await own?.fetch()
    return settings
  }

  async function checkRuntime({ own, runtime }: AppSettings): Promise<void> {
    if (own === 'command') return
    const { problem } = await deps.isolation()
    // Commands come from the operator of the stack; the code of an app comes from any user who may configure it. An image is reached through its
    // forwarder, which only isolated ones have.
    if (problem !== undefined) throw new PlatformError('apps.notIsolated', { reason: problem })
    if (runtime && runtime !== 'python-js') await commandOf(runtime) // its files show what it is
  }

  async function commandOf(runtime: RuntimeName): Promise<(file: string) => readonly string[]> {
    const found = await deps.runtimes.find(runtime)
    if ('missing' in found) throw new PlatformError('apps.runtimeMissing', { type: runtime, missing: found.missing })
    return found.command
  }

  function componentOf({ component_id }: AppRow): RunnableComponent {
    const component = deps.findComponent(component_id)
    if (!component) throw invalid('its component is no longer there')
    return component
  }

  async function engineFor(component: RunnableComponent) {
    const image = imageName(component, component.definition.tag)
    const engine = await deps.findContainerEngine()
    if (!engine) throw new PlatformError('apps.noContainerEngine', { component: component.id, image })
    /** One attempt: the deploying user waits for the response, and a start is retried anyway. */
    const fetch = (signal?: AbortSignal) => engine.prepare(image, { ...imageSource(component), attempts: 1, signal })
    return { engine, image, fetch }
  }

  async function imageProgram(
    component: RunnableComponent,
    { size, secrets }: AppSettings,
    folder: DataFolder,
    signal: AbortSignal,
  ): Promise<Program> {
    const { engine, image, fetch } = await engineFor(component)
    await fetch(signal)
    const limits = { memoryBytes: memoryOf(size), cpus: IMAGE_CPUS }
    const container = await engine.container({ ...containerOf(component, folder), ...limits, image, variables: secrets })
    return { kind: 'image', container, network: 'none' } // besides its forwarder
  }

  async function programOf(
    app: AppRow,
    settings: AppSettings,
    folder: DataFolder,
    { signal, onEvent }: Pick<InstanceRun, 'signal' | 'onEvent'>,
  ): Promise<{ readonly program: Program; readonly runtime?: RuntimeName }> {
    const { own, runtime, code } = settings
    if (own === 'image') return { program: await imageProgram(componentOf(app), settings, folder, signal) }
    const { command, uri } = componentOf(app).definition
    if (own && command) return { program: { kind: 'command', command, folder: join(deps.commandsFolder, uri) } }
    if (!runtime || !code) throw invalid('it has no program')
    const written = await deps.code.write(app, code, runtime, folder.data, signal)
    if (written.commit !== undefined) onEvent({ level: 'info', message: `Starts the commit ${written.commit}.` })
    for (const message of written.warnings) onEvent({ level: 'warning', message })
    const toRun = await commandOf(written.runtime)
    return { program: { kind: 'command', command: toRun(written.file), folder: written.folder }, runtime: written.runtime }
  }

  async function run(app: AppRow, handle: InstanceRun): Promise<RunOutcome> {
    const found = await deps.findVersion(app, app.config_version ?? 0)
    if (!found) throw new PlatformError('apps.versionNotFound', { id: String(app.id), version: app.config_version ?? 0 })
    const creator = app.token_id === null ? undefined : await deps.findActor(app.project_id, app.token_id)
    if (!creator) throw new PlatformError('apps.deployerGone', { id: String(app.id) })
    const { settings, ...opened } = await open(app, found.configuration)
    await checkRuntime(settings)
    for (const name of settings.packages)
      handle.onEvent({
        level: 'warning',
        message: `The package ${name.slice(0, 100)} is not installed by the stack: it must be there on the node.`,
      })
    const token = await deps.issueToken(creator, `App ${app.id} (${app.configuration_id})`, TOKEN_SECONDS)
    const folder = await deps.runner.newFolder().catch(async (error: unknown) => {
      await deps.revokeToken(app.project_id, token.id)
      throw error
    })
    let workspace: number | undefined
    try {
      await handle.onToken(token.id)
      if (settings.hasWorkspace) workspace = await deps.createWorkspace(app, { ...creator, tokenId: token.id })
      await writeConfigFile(folder, opened.text)
      const { program, runtime } = await programOf(app, settings, folder, handle)
      return await deps.runner.run({
        program,
        folder,
        environment: environmentOf(app, settings, token.value, workspace),
        limits: { timeoutMs: LONGEST_RUN_SECONDS * 1000, memoryBytes: memoryOf(settings.size), diskBytes: deps.diskBytes },
        mask: createMask([...opened.values, token.value]),
        egress: egressOf(app),
        loopbackPorts: [deps.sqlPort()].filter((port) => port !== undefined),
        serving: { environment: listeningOf(runtime), onOpen: (dial: Dial) => handle.onOpen(dial) },
        signal: handle.signal,
        onEvent: handle.onEvent,
      })
    } finally {
      if (workspace !== undefined) await deps.removeWorkspace(app.project_id, workspace)
      await deps.revokeToken(app.project_id, token.id)
      await deps.runner.removeFolder(folder)
    }
  }

  function environmentOf(
    app: AppRow,
    { own, secrets }: AppSettings,
    token: string,
    workspace: number | undefined,
  ): Record<string, string> {
    const url = deps.baseUrl()
    const port = deps.sqlPort()
    const branch = String(app.branch_id)
    return {
      ...(own !== 'image' && secrets), // a container reads them from a file
      KBC_PROJECTID: String(app.project_id),
      KBC_BRANCHID: branch,
      KBC_COMPONENTID: app.component_id,
      KBC_CONFIGID: app.configuration_id,
      KBC_CONFIGVERSION: String(app.config_version),
      KBC_STACKID: new URL(url).hostname,
      KBC_URL: url,
      KBC_TOKEN: token,
      ...(workspace !== undefined && { WORKSPACE_ID: String(workspace), BRANCH_ID: branch }),
      MILLRACE_QUERY_URL: `${url}/v2/storage/branch/${branch}/query`,
      ...(port !== undefined && {
        PGHOST: '127.0.0.1',
        PGPORT: String(port),
        PGUSER: 'app',
        PGPASSWORD: token,
        PGDATABASE: branch,
      }),
    }
  }

  /** What its component may reach, and the stack itself for its tables. */
  function egressOf({ component_id }: AppRow): EgressPolicy | undefined {
    if (deps.findComponent(component_id)?.network !== 'bridge') return undefined
    const own = [deps.baseUrl(), deps.baseUrl().replace('//connection.', '//query.')].map(stackAddress)
    return { ...deps.egress, allow: [...deps.egress.allow, ...own] }
  }

  return { settingsOf, check, run }
}

function stackAddress(baseUrl: string): string {
  const { hostname, port, protocol } = new URL(baseUrl)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/** Streamlit reads variables of its own; everything else reads PORT. */
function listeningOf(runtime: RuntimeName | undefined): (port: number) => Record<string, string> {
  return (port) => ({
    PORT: String(port),
    HOST: '127.0.0.1',
    ...(runtime === 'streamlit' && {
      STREAMLIT_SERVER_PORT: String(port),
      STREAMLIT_SERVER_ADDRESS: '127.0.0.1',
      STREAMLIT_SERVER_HEADLESS: 'true',
      STREAMLIT_SERVER_ENABLE_CORS: 'false',
      STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION: 'false',
      STREAMLIT_BROWSER_GATHER_USAGE_STATS: 'false',
    }),
  })
}
