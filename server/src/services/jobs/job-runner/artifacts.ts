// Artifacts (spec platform 1.23): files a run leaves for later runs, outside tables and files of the mapping. Kept as files of the
// project, found by their tags, and published with everything else the row produced.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { type DataFolder, listSlices, refuseStrangers, sizeOf } from '../../../engines/runner/data-folder.ts'
import { packFolder, unpackFile } from '../../../engines/runner/tar.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mapBounded } from '../../../kit/map-bounded.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import type { FileInfo, NewFile, RunFiles, RunScope, StagedFile } from '../../../model/run-ports.ts'
import { invalid, read } from './mapping/mapping.ts'
import { STAGED_AT_ONCE } from './mapping/staging.ts'

const Scalar = Type.Union([Type.String(), Type.Number()])
const Filter = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  date_since: Type.Optional(Type.String()),
  component_id: Type.Optional(Type.String()),
  config_id: Type.Optional(Scalar),
  branch_id: Type.Optional(Scalar),
})
const Kind = Type.Object({ enabled: Type.Optional(Type.Boolean()), filter: Type.Optional(Filter) })
const Settings = Type.Object({
  options: Type.Optional(Type.Object({ zip: Type.Optional(Type.Boolean()) })),
  runs: Type.Optional(Kind),
  custom: Type.Optional(Kind),
  shared: Type.Optional(Kind),
})
export type ArtifactSettings = Static<typeof Settings>

const KINDS = ['runs', 'custom', 'shared'] as const
const MAX_DOWNLOADED = 50
const LARGEST_BYTES = 2 ** 30
const ARCHIVE = 'artifacts.tar.gz'

/** `node` is the configuration's `artifacts`. */
export function readArtifacts(node: unknown): ArtifactSettings {
  if (node === undefined || node === null || (Array.isArray(node) && node.length === 0)) return {}
  const settings = read(Settings, node, 'artifacts')
  const { runs, custom } = settings
  if (runs?.enabled && !runs.filter?.limit && !runs.filter?.date_since)
    throw invalid('artifacts.runs.filter needs limit or date_since')
  if (custom?.enabled && (!custom.filter?.component_id || custom.filter.config_id === undefined))
    throw invalid('artifacts.custom.filter needs component_id and config_id')
  return settings
}

/** Whether artifacts of earlier runs are requested. */
export const wantsArtifacts = (settings: ArtifactSettings): boolean => KINDS.some((kind) => settings[kind]?.enabled)

/** Whose artifacts they are. */
export interface ArtifactOwner {
  readonly componentId: string
  readonly configurationId: string
  readonly jobId: number
  /** Set for a job that is part of an orchestration: only those share. */
  readonly orchestrationId: string | null
}

export interface ArtifactDeps {
  readonly files: RunFiles
}

export interface ArtifactRun {
  readonly scope: RunScope
  readonly settings: ArtifactSettings
  readonly owner: ArtifactOwner
  readonly folder: DataFolder
  readonly signal: AbortSignal
  readonly now: Date
  readonly diskBytes: number
}

/** Puts artifacts of earlier jobs below artifacts/in, each job in a folder of its own; answers the ids of their files. */
export async function downloadArtifacts({ files }: ArtifactDeps, run: ArtifactRun): Promise<readonly number[]> {
  const kind = KINDS.find((one) => run.settings[one]?.enabled)
  const wanted = kind && tagsOf(kind, run)
  if (!wanted) return []
  const { limit, date_since: since } = run.settings[kind]?.filter ?? {}
  const found = await files.list(run.scope, {
    fileIds: undefined,
    tags: wanted,
    withoutTags: kind === 'shared' ? [] : ['shared'],
    query: undefined,
    createdSince: since === undefined ? undefined : momentOf(since, run.now),
    sinceId: undefined,
    limit: Math.min(limit ?? MAX_DOWNLOADED, MAX_DOWNLOADED),
  })
  // One after the other: the files of a job that left several go into one folder.
  for (const file of found) await download(files, run, kind, file)
  return found.map(({ id }) => id)
}

function tagsOf(kind: (typeof KINDS)[number], { owner, scope, settings }: ArtifactRun): readonly string[] | undefined {
  if (kind === 'shared')
    return owner.orchestrationId === null
      ? undefined
      : ['artifact', 'shared', `branchId-${scope.branchId}`, `orchestrationId-${owner.orchestrationId}`]
  const custom = kind === 'custom' ? settings.custom?.filter : undefined
  return [
    'artifact',
    `branchId-${custom?.branch_id ?? scope.branchId}`,
    `componentId-${custom?.component_id ?? owner.componentId}`,
    `configId-${custom?.config_id ?? owner.configurationId}`,
  ]
}

function momentOf(text: string, now: Date): number {
  const moment = parseMoment(text, now)
  if (!moment) throw invalid(`"${text}" in artifacts date_since is not a time; write "-7 days" or an ISO time`)
  return moment.getTime()
}

async function download(files: RunFiles, run: ArtifactRun, kind: string, file: FileInfo): Promise<void> {
  const job = file.tags.map((tag) => /^jobId-(\d+)$/.exec(tag)?.[1]).find((id) => id !== undefined) ?? '0'
  const folder = join(run.folder.data, 'artifacts/in', kind, 'jobs', `job-${job}`)
  if (!file.name.endsWith('.tar.gz'))
    return files.download(run.scope, file.id, join(folder, file.name.replace(/[/\\\0]|^\.+$/g, '_')), run.signal)
  const archive = join(run.folder.root, `${file.id}.tar.gz`)
  await files.download(run.scope, file.id, archive, run.signal)
  await unpackFile(folder, archive, run.diskBytes, run.signal)
}

/** The job is the last of them. */
export const artifactTags = (scope: RunScope, owner: ArtifactOwner): readonly string[] => [
  'artifact',
  `branchId-${scope.branchId}`,
  `componentId-${owner.componentId}`,
  `configId-${owner.configurationId}`,
  `jobId-${owner.jobId}`,
]

/** Stores what the component left below artifacts/out; it is invisible until it is published. */
export async function stageArtifacts({ files }: ArtifactDeps, run: ArtifactRun): Promise<readonly StagedFile[]> {
  await refuseStrangers(run.folder, 'artifacts')
  const { owner, scope } = run
  const tags = artifactTags(scope, owner)
  const shared = [...tags, 'shared', `orchestrationId-${owner.orchestrationId}`]
  const planned = [
    ...(await plannedFrom(run, 'current', tags)),
    ...(owner.orchestrationId === null ? [] : await plannedFrom(run, 'shared', shared)),
  ]
  return mapBounded(planned, STAGED_AT_ONCE, (file) => files.stage(scope, file, run.signal))
}

async function plannedFrom(run: ArtifactRun, name: 'current' | 'shared', tags: readonly string[]): Promise<NewFile[]> {
  const folder = join(run.folder.data, 'artifacts/out', name)
  const paths = await listSlices(folder)
  if (paths.length === 0) return []
  if ((await sizeOf(folder)) > LARGEST_BYTES)
    throw new PlatformError('jobRunner.outputInvalid', {
      reason: `artifacts/out/${name} has more than the ${LARGEST_BYTES} bytes an artifact may have.`,
    })
  if (run.settings.options?.zip === false)
    return paths.map((path) => newArtifact(path.replaceAll('/', '-'), join(folder, path), tags))
  const archive = join(run.folder.root, `${name}.tar.gz`)
  await packFolder(folder, archive, run.signal)
  return [newArtifact(ARCHIVE, archive, tags)]
}

export const newArtifact = (name: string, path: string, tags: readonly string[]): NewFile => ({
  name,
  path,
  slices: undefined,
  tags,
  isPublic: false,
  isPermanent: false,
  isEncrypted: true,
  notify: false,
})
