// Runs of a rehearsal: what they may do, and what replaces the outside. No program of such a run has a network; an extractor is
// answered from the newest recording of its configuration in production, with the state that the recorded run began with. Secrets are not
// opened for it: what runs was written by the token that proposes, and that token reads what it writes.

import { join } from 'node:path'
import type { DataFolder } from '../../../engines/runner/data-folder.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Edit, readJson, replaceSpans, visitScalars } from '../../../kit/text/json-text.ts'
import type { QueuedJob } from '../../../model/queued-job.ts'
import type {
  ConfigurationPlace,
  RunConfigurations,
  RunFiles,
  RunnableComponent,
  RunOauth,
  RunScope,
  RunSecrets,
  StoredConfiguration,
} from '../../../model/run-ports.ts'

export interface RehearsalDeps {
  readonly files: RunFiles
  readonly configurations: Pick<RunConfigurations, 'find'>
  readonly defaultBranchId: (projectId: number) => Promise<number>
  /** States of the rows of a job before it ran; `content` is null where it was not kept. */
  readonly statesOf: (
    projectId: number,
    jobId: number,
  ) => Promise<readonly { readonly rowId: string | null; readonly before: { readonly content: string | null } }[]>
  /** Why programs of commands cannot be isolated here; undefined: they are. */
  readonly isolationProblem: () => Promise<string | undefined>
}

/** A recording of an extractor, by the row that it was made for. */
export interface Recording {
  readonly fileId: number
  readonly jobId: number
}

export const RECORDING_TAG = 'http-exchanges'
/** A component with this feature records its requests, and can be answered from a recording. */
const REPLAYS = 'replays-recordings'

/** Why a component cannot run in a rehearsal; undefined when it can. */
export function notRehearsable({ id, type, definition, features, forwardToken }: RehearsedComponent): string | undefined {
  if (definition.type === 'builtin' && features.includes(REPLAYS)) return undefined
  if (type !== 'transformation') return `${id} reaches other systems`
  if (forwardToken) return `${id} is given a token of the project`
  if (definition.type === 'sql' || definition.type === 'python' || definition.type === 'command') return undefined
  return `${id} runs outside this node`
}

export type RehearsedComponent = Pick<RunnableComponent, 'id' | 'type' | 'definition' | 'features' | 'forwardToken'>

export const needsRecording = ({ features }: Pick<RunnableComponent, 'features'>): boolean => features.includes(REPLAYS)

/** Throws for what must not run; the plan of a rehearsal leaves it out, so this is met by jobs that were created otherwise. */
export async function checkRehearsal(deps: RehearsalDeps, job: QueuedJob, component: RunnableComponent): Promise<void> {
  const refuse = (reason: string) => new PlatformError('proposals.notRehearsed', { component: component.id, reason })
  if (job.isDefaultBranch) throw refuse('a rehearsal runs in a development branch')
  const reason = notRehearsable(component)
  if (reason !== undefined) throw refuse(reason)
  const { type } = component.definition
  const problem = type === 'python' || type === 'command' ? await deps.isolationProblem() : undefined
  if (problem !== undefined) throw refuse(`its program cannot be isolated from the network here: ${problem}`)
}

/** Processors of a rehearsal are those of the stack, which have no network. */
export function checkProcessors(steps: readonly { readonly component: RunnableComponent; readonly isMain: boolean }[]): void {
  const other = steps.find(({ component, isMain }) => !isMain && component.definition.type !== 'builtin')
  if (other)
    throw new PlatformError('proposals.notRehearsed', {
      component: other.component.id,
      reason: 'it is not a processor of the stack',
    })
}

export async function findRecording(
  deps: RehearsalDeps,
  scope: RunScope,
  { componentId, configurationId, rowId }: { componentId: string; configurationId: string; rowId: string | null },
): Promise<Recording | undefined> {
  const branchId = await deps.defaultBranchId(scope.projectId)
  const tags = [RECORDING_TAG, `componentId: ${componentId}`, `configurationId: ${configurationId}`, `branchId: ${branchId}`]
  const query = { fileIds: undefined, withoutTags: [], query: undefined, createdSince: undefined, sinceId: undefined, limit: 1 }
  const found = await deps.files.list(readerOf(scope, branchId), {
    ...query,
    tags: [...tags, ...(rowId === null ? [] : [`configurationRowId: ${rowId}`])],
  })
  const [newest] = found
  return newest && { fileId: newest.id, jobId: Number(newest.tags.find((tag) => tag.startsWith('runId: '))?.slice(7) ?? 0) }
}

/** What is recorded is the project's: the run reads it, whichever token has made it. */
const readerOf = (scope: RunScope, branchId: number): RunScope => ({
  ...scope,
  branchId,
  isDefaultBranch: true,
  actor: { ...scope.actor, canReadAllFileUploads: true },
})

/** The configuration with the states of production: those of its last run, or those before the run that was recorded. */
export async function withProductionState(
  deps: RehearsalDeps,
  scope: RunScope,
  place: ConfigurationPlace,
  stored: StoredConfiguration,
  component: RunnableComponent,
): Promise<StoredConfiguration> {
  const production = await deps.configurations.find({ ...place, branchId: await deps.defaultBranchId(place.projectId) })
  const recordedState = async (rowId: string | null): Promise<string | undefined> => {
    if (!needsRecording(component)) return undefined
    const recording = await findRecording(deps, scope, { ...place, componentId: component.id, rowId })
    const states = recording ? await deps.statesOf(place.projectId, recording.jobId) : []
    return states.find((one) => one.rowId === rowId)?.before.content ?? undefined
  }
  const stateOf = async (rowId: string | null, last: string | undefined) => (await recordedState(rowId)) ?? last ?? '{}'
  const rows: StoredConfiguration['rows'][number][] = []
  for (const row of stored.rows)
    rows.push({ ...row, state: await stateOf(row.id, production?.rows.find(({ id }) => id === row.id)?.state) })
  return { ...stored, state: await stateOf(null, production?.state), rows }
}

/** Puts the recording into the folder of the run; the environment has its path. */
export async function placeRecording(
  deps: RehearsalDeps,
  scope: RunScope,
  { fileId }: Recording,
  folder: DataFolder,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const path = join(folder.data, '.recording.jsonl')
  await deps.files.download(readerOf(scope, scope.branchId), fileId, path, signal)
  return { MILLRACE_REPLAY_FILE: path }
}

/** Instead of a secret; in each encoding it is the same text. Recordings have no secrets, so requests fit them with this one. */
const PLACEHOLDER = 'rehearsalPlaceholder'
const NUMBER = 100200300
/** The expiry of an OAuth token affects requests and reveals nothing. */
const TIME_NAME = /^(?:expires?|expir(?:es|ation|y)_?(?:in|at|on|time|date)?|created(?:_?at)?|exp|iat)$/i

/** For the run of a rehearsal: a placeholder is in the place of every secret, and no access token is exchanged. */
export function withoutSecrets<Deps extends { readonly secrets: RunSecrets; readonly oauth: RunOauth }>(deps: Deps): Deps {
  const hidden = ({ text }: { readonly text: string }) => ({ text: withPlaceholders(text), values: [] })
  return {
    ...deps,
    secrets: { ...deps.secrets, decrypt: async (place, text) => hidden(await deps.secrets.decrypt(place, text)) },
    oauth: { credentialsFor: async (actor, key) => hidden(await deps.oauth.credentialsFor(actor, key, false)) },
  }
}

/** `text` is JSON with its secrets in clear. */
export function withPlaceholders(text: string): string {
  const edits: Edit[] = []
  const replace = (start: number, end: number, name = '') => {
    const value = JSON.parse(text.slice(start, end)) as unknown
    edits.push({ start, end, text: JSON.stringify(placeholderFor(value, name)) })
  }
  visitScalars(
    text,
    ({ start, end, name }) => name?.startsWith('#') && replace(start, end),
    ({ start, end: endOf, name }) => {
      if (!name?.startsWith('#')) return undefined
      const end = endOf()
      visitScalars(text.slice(start, end), (inner) => replace(start + inner.start, start + inner.end, inner.name))
      return end
    },
  )
  return replaceSpans(text, edits)
}

/** Of the same kind: credentials of OAuth are an object that is written as a text. */
function placeholderFor(value: unknown, name: string): unknown {
  if (typeof value === 'number') return TIME_NAME.test(name) ? value : NUMBER
  if (typeof value !== 'string' || value === '') return value
  const json = /^\s*[{[]/.test(value) ? readJson(value) : undefined
  return json?.ok ? JSON.stringify(json.value, (key, member: unknown) => leafOf(member, key)) : PLACEHOLDER
}

const leafOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' ? value : typeof value === 'string' && value !== '' ? PLACEHOLDER : placeholderFor(value, name)
