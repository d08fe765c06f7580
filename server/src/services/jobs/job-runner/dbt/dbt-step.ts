// The step of a row that runs a dbt project: everything around the program. Its relations become CSV files of the data folder with manifests, and
// from there on a run of dbt is as that of any other component: all tables, the state and the artefacts are published at once, or nothing is.

import { join } from 'node:path'
import { counted, wasOrWere } from '../../../../../../contract/counted.ts'
import { tableNameProblem } from '../../../../../../contract/table-name.ts'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import {
  clearOutputs,
  type DataFolder,
  outputPath,
  readOutput,
  refuseStrangers,
  writeProgramFile,
} from '../../../../engines/runner/data-folder.ts'
import type { Mask } from '../../../../engines/runner/mask.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { mapBounded } from '../../../../kit/map-bounded.ts'
import type { DbtNode, DbtTestResult } from '../../../../model/dbt/nodes.ts'
import {
  builtIds,
  builtIn,
  type DbtArtifacts,
  hasFailed,
  hasTooMany,
  MAX_READ,
  nodesIn,
  sourcesIn,
  testsIn,
} from '../../../../model/dbt/results.ts'
import type { ColumnOrigin } from '../../../../model/lineage.ts'
import type {
  FileInfo,
  NewFile,
  RunFiles,
  RunScope,
  RunTables,
  RunWorkspace,
  RunWorkspaces,
  StagedFile,
  WorkspaceRelation,
} from '../../../../model/run-ports.ts'
import { type ArtifactOwner, artifactTags, newArtifact } from '../artifacts.ts'
import { STAGED_AT_ONCE } from '../mapping/staging.ts'
import { planOf } from './dbt-plan.ts'
import { type ProjectDeps, placeProject } from './dbt-project.ts'
import { type DbtSettings, readDbtSettings } from './dbt-settings.ts'
import { manifestOf, tableOf } from './dbt-tables.ts'

export interface DbtDeps extends Omit<ProjectDeps, 'files' | 'folders' | 'egress'> {
  readonly workspaces: RunWorkspaces
  /** Results of tests into the list of data tests, in the transaction that shows what they are about. */
  readonly recordTests: (trx: Trx, scope: RunScope, tests: readonly DbtTestResult[]) => Promise<void>
}

export interface DbtStepDeps extends ProjectDeps {
  readonly tables: Pick<RunTables, 'find'>
  readonly dbt: DbtDeps
}

export interface DbtStep {
  readonly scope: RunScope
  readonly componentId: string
  readonly configurationId: string | null
  readonly configFile: string
  /** The state of the configuration, JSON text. */
  readonly state: string
  readonly folder: DataFolder
  /** Undefined: nothing is kept, and there is nothing of earlier runs. */
  readonly owner: ArtifactOwner | undefined
  readonly signal: AbortSignal
  say(type: 'info' | 'warn', text: string): void
}

/** A run that can begin. */
export interface OpenDbt {
  /** Of the machine, which the program may connect to. */
  readonly port: number
  readonly secrets: readonly string[]
  /** To be called when the program has ended. `mask` hides the secrets of the run in what is kept of it. */
  end(isGood: boolean, mask: Mask): Promise<DbtEnd>
  close(): Promise<void>
}

/** What is known of a run when it has ended. */
export interface DbtEnd {
  readonly nodes: readonly DbtNode[]
  /** Tables of the project that it read. */
  readonly read: readonly string[]
  /** What the columns of its tables are made of, by their ids. */
  readonly columns: Readonly<Record<string, readonly ColumnOrigin[]>>
  readonly artifacts: readonly StagedFile[]
  /** In the transaction that publishes the run, or in one of its own when it failed. */
  record(trx: Trx): Promise<void>
}

const ARTIFACTS = ['manifest.json', 'run_results.json', 'catalog.json', 'dbt.log']
const PENDING = 'pending.json'
/** Of an artefact that is read and kept. It is parsed and masked beside the requests of others. */
const MAX_BYTES = 32 * 2 ** 20
const LISTED = 100
/** Tags of artefacts, beside those that artefacts of every component have. */
const [RUN, GOOD, FAILED] = ['dbt', 'dbt-good', 'dbt-failed']

export async function openDbt(deps: DbtStepDeps, step: DbtStep): Promise<OpenDbt> {
  const { scope, folder, signal, say } = step
  const settings = readDbtSettings(step.configFile)
  const place = join(folder.data, 'in', 'dbt')
  await writeProgramFile(join(place, 'README'), 'What the stack provides for this run.\n')
  const { described, archive } = await placeProject(deps, scope, settings, place, signal)
  say('info', `The project is ${described}.`)
  const earlier = await placeEarlier(deps.files, step, settings, place)
  const workspace = await deps.dbt.workspaces.open(scope, step.componentId, step.configurationId)
  try {
    await restoreLost(workspace, step, settings)
    const { connection, id: workspaceId } = workspace
    const plan = planOf(settings, earlier, { folder: place, archive, connection, workspaceId })
    await writeProgramFile(join(place, 'plan.json'), JSON.stringify(plan))
    return {
      port: connection.port,
      secrets: [connection.password],
      end: (isGood, mask) => endOf(deps, step, { buckets: settings.buckets, workspace, pending: earlier.pending, isGood, mask }),
      close: workspace.close,
    }
  } catch (error) {
    await workspace.close()
    throw error
  }
}

interface PlacedEarlier {
  readonly hasGood: boolean
  readonly hasFailed: boolean
  /** Nodes that failed runs have built and that are not published yet. */
  readonly pending: readonly string[]
}

/** What `state:modified` is compared with, and what `dbt retry` continues from. */
async function placeEarlier(
  files: RunFiles,
  { scope, owner, folder, signal, say }: DbtStep,
  { onlyModified, retry }: DbtSettings,
  place: string,
): Promise<PlacedEarlier> {
  if (!owner) return { hasGood: false, hasFailed: false, pending: [] }
  const newest = async (tag: string, names: readonly string[]): Promise<ReadonlyMap<string, FileInfo>> => {
    const found = await files.list(scope, {
      ...{ tags: [...artifactTags(scope, owner).slice(0, -1), tag], withoutTags: [], fileIds: undefined, query: undefined },
      ...{ createdSince: undefined, sinceId: undefined, limit: LISTED },
    })
    const job = found[0] && jobOf(found[0])
    return new Map(found.filter((file) => jobOf(file) === job && names.includes(file.name)).map((file) => [file.name, file]))
  }
  const good = onlyModified ? (await newest(GOOD, ['manifest.json'])).get('manifest.json') : undefined
  if (good) await files.download(scope, good.id, join(place, 'good', 'manifest.json'), signal)
  if (onlyModified && !good) say('info', 'There is no good run to compare with: everything runs.')
  const last = await newest(RUN, ['manifest.json', 'run_results.json', PENDING])
  const pending = last.get(PENDING)
  if (pending) await files.download(scope, pending.id, join(place, 'last', PENDING), signal)
  const [manifest, results] = [last.get('manifest.json'), last.get('run_results.json')]
  const isFailed = results?.tags.includes(FAILED) === true
  if (retry && isFailed && manifest) {
    await files.download(scope, manifest.id, join(place, 'last', 'manifest.json'), signal)
    await files.download(scope, results.id, join(place, 'last', 'run_results.json'), signal)
    say('info', 'The last run failed: its failed and skipped models run again.')
  } else if (retry) say('info', 'The last run has no failed models: everything runs.')
  return {
    hasGood: good !== undefined,
    hasFailed: isFailed && manifest !== undefined,
    pending: pending ? await readPending(folder) : [],
  }
}

const jobOf = ({ tags }: FileInfo): string | undefined => tags.find((tag) => tag.startsWith('jobId-'))

async function readPending(folder: DataFolder): Promise<readonly string[]> {
  const text = await readOutput(folder, `in/dbt/last/${PENDING}`, MAX_BYTES)
  const ids: unknown = JSON.parse(text ?? '[]')
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** A workspace that is another than that of the run before (a backup was restored, it was deleted) gets the tables back that models add to. */
async function restoreLost(workspace: RunWorkspace, { state, signal, say }: DbtStep, { buckets }: DbtSettings): Promise<void> {
  const { workspaceId } = (JSON.parse(state) ?? {}) as { readonly workspaceId?: unknown } // of the program's state
  if (workspaceId === undefined || workspaceId === workspace.id) return
  for (const [schema, bucket] of buckets) {
    const names = await workspace.restore(bucket, schema, signal)
    if (names.length > 0)
      say(
        'info',
        `The workspace is new: ${counted(names.length, 'table')} of ${bucket} ${wasOrWere(names.length)} copied into the schema ${schema}.`,
      )
  }
}

/** A run whose program has ended. */
interface EndedRun {
  readonly buckets: ReadonlyMap<string, string>
  readonly workspace: RunWorkspace
  readonly pending: readonly string[]
  readonly isGood: boolean
  readonly mask: Mask
}

async function endOf(deps: DbtStepDeps, step: DbtStep, { buckets, workspace, pending, isGood, mask }: EndedRun): Promise<DbtEnd> {
  const { scope, folder, signal } = step
  await refuseStrangers(folder, 'out')
  await clearOutputs(folder, 'out/tables') // results are relations of the workspace alone
  const artifacts: DbtArtifacts = {
    manifest: await readArtifact(folder, 'manifest.json'),
    runResults: await readArtifact(folder, 'run_results.json'),
  }
  const tableId = tableOf(buckets)
  const ids = new Set([...pending, ...builtIds(artifacts)])
  const tests = testsIn(artifacts, tableId).map((one) => hidden(one, mask))
  const relations = builtIn(artifacts, ids).map((one) => ({ ...one, tableId: tableId(one.schema, one.name) }))
  if (isGood) for (const { id, name, tableId } of relations) if (tableId !== undefined) refuseUnfit(id, name)
  if (isGood)
    for (const { schema, name, tableId: id } of relations)
      if (id !== undefined) await saveTable(deps, step, workspace, { schema, name, tableId: id })
  const traced = isGood ? await tracedColumns(artifacts, workspace, tableId, signal) : new Map()
  const columns = relations.flatMap(({ schema, name, tableId: id }) => {
    const found = traced.get(`${schema}.${name}`)
    return id !== undefined && found ? [[id, found] as const] : []
  })
  await writeProgramFile(join(folder.data, 'out', 'dbt', PENDING), JSON.stringify(isGood ? [] : [...ids]))
  const isFailed = !isGood || hasFailed(artifacts.runResults)
  return {
    nodes: nodesIn(artifacts, tableId).map((one) => hidden(one, mask)),
    read: sourcesIn(artifacts.manifest).map(({ schema, name }) => `${schema}.${name}`),
    columns: Object.fromEntries(columns),
    artifacts: step.owner ? await stage(deps.files, step, step.owner, isFailed ? FAILED : GOOD, mask) : [],
    record: (trx) => deps.dbt.recordTests(trx, scope, tests),
  }
}

/** The alias of a node is of the code of users: it becomes the name of a table, and of a file before that. */
function refuseUnfit(id: string, name: string): void {
  const problem = tableNameProblem(name)
  if (problem === undefined) return
  const reason = `the relation of ${id.slice(0, 120)} cannot be a table: ${problem} Give it another alias.`
  throw new PlatformError('jobRunner.outputInvalid', { reason })
}

async function saveTable(
  { tables }: DbtStepDeps,
  { scope, folder, signal, say }: DbtStep,
  workspace: RunWorkspace,
  { schema, name, tableId }: WorkspaceRelation & { readonly tableId: string },
): Promise<void> {
  const path = outputPath(folder, 'out/tables', tableId)
  const before = await tables.find(scope, tableId)
  const { columns, absent } = await workspace.save({ schema, name }, path, before?.columns ?? [], signal)
  // Columns never leave a table by a load: their readers continue to work.
  if (absent.length > 0)
    say('warn', `The model ${name} has no more ${absent.join(', ')}: the table ${tableId} keeps them, empty.`)
  const kept = (before?.schema ?? []).filter((column) => absent.includes(column.name))
  await writeProgramFile(`${path}.manifest`, JSON.stringify(manifestOf(tableId, columns, kept)))
}

/** Of every relation of the project: what a table is made of may go through relations that are not stored. */
function tracedColumns(
  artifacts: DbtArtifacts,
  workspace: RunWorkspace,
  tableId: (schema: string, name: string) => string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly ColumnOrigin[]>> {
  const all = builtIn(artifacts, new Set(Object.keys((artifacts.manifest as { nodes?: object })?.nodes ?? {})))
  const relations = all.map(({ schema, name, query }) => ({ schema, name, query, tableId: tableId(schema, name) }))
  return workspace.trace(relations, signal)
}

/** Undefined when there is none, or none that can be read. One that is too large is refused: its tables would be missing in silence. */
async function readArtifact(folder: DataFolder, name: string): Promise<unknown> {
  const text = await readOutput(folder, `out/dbt/${name}`, MAX_BYTES)
  if (text === undefined) return undefined
  const artifact = parsed(text)
  if (hasTooMany(artifact))
    throw new PlatformError('jobRunner.outputInvalid', {
      reason: `${name} has more than ${MAX_READ} nodes. Split the project, or run a part of it with parameters.select.`,
    })
  return artifact
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // half written by a program that was ended
  }
}

const hidden = <T extends { readonly name: string; readonly message: string | null }>(one: T, mask: Mask): T => ({
  ...one,
  name: mask(one.name),
  message: one.message === null ? null : mask(one.message),
})

/** Texts that the code of users wrote, without the secrets that it was given. */
async function stage(
  files: RunFiles,
  step: DbtStep,
  owner: ArtifactOwner,
  outcome: string,
  mask: Mask,
): Promise<readonly StagedFile[]> {
  const { scope, folder, signal, say } = step
  const tags = [...artifactTags(scope, owner), RUN, outcome]
  const found: NewFile[] = []
  for (const name of [...ARTIFACTS, PENDING]) {
    const text = await readOutput(folder, `out/dbt/${name}`, MAX_BYTES).catch((error: unknown) => {
      if (!(error instanceof PlatformError)) throw error
      say('warn', `The artefact ${name} is not kept: ${error.message}`)
    })
    if (text === undefined) continue
    const path = join(folder.data, 'out', 'dbt', name)
    const masked = mask(text)
    if (masked !== text) await writeProgramFile(path, masked)
    found.push(newArtifact(name, path, tags))
  }
  return mapBounded(found, STAGED_AT_ONCE, (file) => files.stage(scope, file, signal))
}
