// Git repositories that the stack hosts for data apps (ADR 0044).
//  (1) A repository is one row: its branches and tags, and the object that holds all they need. A push writes a new object, then
//      changes the row in one statement, so every node sees it before or after the push, and nothing in between.
//  (2) A credential opens one repository, until it expires or the token that made it no longer works. Only its hash is kept.

import { randomBytes, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  advertisement,
  fetched,
  type GitService,
  type PushResult,
  type Refs,
  refusal,
  report,
} from '../../../engines/git/answers.ts'
import type { GitHost, Push } from '../../../engines/git/git-host.ts'
import { type FetchRequest, type RefChange, readFetchRequest } from '../../../engines/git/requests.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventDetails, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import { hashOf } from './app-token.ts'
import type { AppRow } from './apps.store.ts'
import type { GitCredentialRow, Permissions, RepositoriesStore, RepositoryRow } from './repositories.store.ts'

export interface RepositoriesDeps {
  readonly store: RepositoriesStore
  readonly git: GitHost
  readonly objects: Pick<ObjectStore, 'openLocal' | 'adopt' | 'delete' | 'list'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** Refuses an app that is not there, or that the actor may not use. */
  readonly findApp: (actor: Actor, id: string) => Promise<AppRow>
  /** For addresses that name the app alone. */
  readonly findAnywhere: (id: number) => Promise<AppRow | undefined>
  readonly admit: (projectId: number, tokenId: number) => Promise<Actor | undefined>
}

export interface RepositoryCaller {
  readonly actor: Actor
  readonly origin: Origin
}

/** What a credential opened. */
export interface OpenRepository extends RepositoryCaller {
  readonly app: AppRow
  readonly permissions: Permissions
}

export interface CredentialRequest {
  readonly name?: string | undefined
  readonly permissions?: Permissions | undefined
  readonly expiresInSeconds?: number | undefined
}

const PREFIX = 'data-app-repositories/'
const CREDENTIAL_SECONDS = 90 * 86_400
const MAX_CREDENTIALS = 100
const MAX_REFS = 1_000
const ATTEMPTS = 5
/** What a push under way has written and not named yet is younger. */
const KEPT_MS = 3_600_000
/** The first of these that is there is what a clone checks out and an app runs. */
const DEFAULT_BRANCHES = ['refs/heads/main', 'refs/heads/master']
const REF_NAME =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids them
  /^refs\/(?:heads|tags)\/(?!.*(?:\.\.|@\{|\/\/|\/\.|\.\/|\.lock\/|[\x00-\x20\x7f~^:?*[\\]))(?![./])[^\s]{1,200}(?<!\.|\/|\.lock)$/

export type Repositories = ReturnType<typeof createRepositories>

export function createRepositories(deps: RepositoriesDeps) {
  const { store, git, objects, inTransaction, clock, recordEvent } = deps
  const now = () => clock.now().getTime()

  async function ofApp(actor: Actor, id: string): Promise<AppRow> {
    const app = await deps.findApp(actor, id)
    if (!(await store.find(app))) throw new PlatformError('apps.noManagedRepository', { id })
    return app
  }

  async function createCredential(
    { actor, origin }: RepositoryCaller,
    id: string,
    { name = '', permissions = 'readWrite', expiresInSeconds = CREDENTIAL_SECONDS }: CredentialRequest,
  ): Promise<{ readonly row: GitCredentialRow; readonly secret: string }> {
    const app = await ofApp(actor, id)
    const secret = randomBytes(32).toString('base64url')
    const row = await inTransaction(async (trx) => {
      await store.removeExpired(trx, app, now())
      if ((await store.countCredentials(trx, app)) >= MAX_CREDENTIALS)
        throw new PlatformError('apps.tooManyGitCredentials', { limit: MAX_CREDENTIALS })
      const made = await store.insertCredential(trx, {
        project_id: app.project_id,
        app_id: app.id,
        hash: hashOf(secret),
        name,
        permissions,
        token_id: actor.tokenId,
        created_at: now(),
        expires_at: now() + expiresInSeconds * 1000,
      })
      await recordEvent(trx, actor, eventOf('apps.gitCredentialCreated', { credential: String(made.id) }, placeOf(app)), origin)
      return made
    })
    return { row, secret }
  }

  async function listCredentials(actor: Actor, id: string): Promise<GitCredentialRow[]> {
    const found = await store.listCredentials(await ofApp(actor, id))
    return found.filter(({ expires_at }) => expires_at > now())
  }

  async function removeCredential({ actor, origin }: RepositoryCaller, id: string, credential: string): Promise<void> {
    const app = await ofApp(actor, id)
    const isGone = await inTransaction(async (trx) => {
      const isRemoved = /^\d{1,15}$/.test(credential) && (await store.removeCredential(trx, app, Number(credential)))
      if (isRemoved) await recordEvent(trx, actor, eventOf('apps.gitCredentialDeleted', { credential }, placeOf(app)), origin)
      return isRemoved
    })
    if (!isGone) throw new PlatformError('apps.gitCredentialNotFound', { id, credential: credential.slice(0, 40) })
  }

  /** Undefined: there is no such repository, or the secret does not open it. */
  async function open(id: string, secret: string, origin: Origin): Promise<OpenRepository | undefined> {
    const app = /^\d{1,15}$/.test(id) ? await deps.findAnywhere(Number(id)) : undefined
    const found = app && (await store.findCredential(app.id, hashOf(secret)))
    if (!found || found.expires_at <= now()) return undefined
    const actor = await deps.admit(app.project_id, found.token_id)
    if (!actor) return undefined
    return { app: await deps.findApp(actor, id), actor, permissions: found.permissions, origin }
  }

  /** With the pack as a file that stays readable meanwhile, also when a push replaces it. */
  async function withPack<T>(app: AppRow, work: (row: RepositoryRow, pack: string | undefined) => Promise<T>): Promise<T> {
    for (let i = 0; i < ATTEMPTS; i++) {
      const row = await store.find(app)
      if (!row) throw new PlatformError('apps.noManagedRepository', { id: String(app.id) })
      if (row.pack_key === null) return work(row, undefined)
      const pack = await objects.openLocal(row.pack_key)
      if (!pack) continue // a push was faster: the row names another one now
      try {
        return await work(row, pack.path)
      } finally {
        await pack.release()
      }
    }
    throw new PlatformError('unavailable', { what: `The repository of app ${app.id}` })
  }

  async function advertise({ app }: OpenRepository, service: GitService): Promise<Buffer> {
    const refs = refsOf(await store.find(app))
    return advertisement(service, refs, headOf(refs))
  }

  /** What a client that fetches gets, as it is sent. */
  async function* send({ app }: OpenRepository, body: Buffer): AsyncGenerator<Buffer> {
    const request = readFetchRequest(body)
    if (!request || request.wants.length === 0) return yield refusal('the request cannot be read')
    const folder = await git.openFolder()
    try {
      const answer = await withPack(app, (_, pack) => selected(pack, request, folder.path))
      if ('problem' in answer) yield refusal(answer.problem)
      else yield* fetched(request, answer.sent, answer.pack)
    } finally {
      await folder.remove()
    }
  }

  const selected = async (pack: string | undefined, request: FetchRequest, folder: string) =>
    pack === undefined ? { problem: 'The repository is empty.' } : git.send(pack, request, folder)

  /** Answers the report that the client shows; undefined: what was sent is not a push. */
  async function receive(opened: OpenRepository, body: Readable): Promise<Buffer | undefined> {
    const folder = await git.openFolder()
    try {
      const push = await git.readPush(body, folder.path)
      if (!push.request) return undefined
      // Clients check with an empty push whether they may push, before they send a large one.
      if (push.request.changes.length === 0) return Buffer.alloc(0)
      return report(push.request, await take(opened, push.request.changes, push, folder.path))
    } finally {
      await folder.remove()
    }
  }

  async function take(opened: OpenRepository, changes: readonly RefChange[], push: Push, folder: string): Promise<PushResult> {
    if (push.problem !== undefined) return refuseAll(changes, push.problem)
    for (let i = 0; i < ATTEMPTS; i++) {
      const result = await withPack(opened.app, (row, pack) =>
        takeOnce(opened, changes, { row, pack, pushed: push.pack }, folder),
      )
      if (result) return result
    }
    return refuseAll(changes, 'others are pushing to this repository. Push again.')
  }

  /** Undefined: another push came first. */
  async function takeOnce(
    { app, actor, origin }: OpenRepository,
    changes: readonly RefChange[],
    { row, ...packs }: { readonly row: RepositoryRow; readonly pack: string | undefined; readonly pushed: string | undefined },
    folder: string,
  ): Promise<PushResult | undefined> {
    const { refs, refused } = changed(refsOf(row), changes)
    const taken = changes.filter(({ name }) => refused[name] === undefined)
    if (taken.length === 0) return { refused }
    const tips = [...new Set(Object.values(refs))]
    const written = tips.length === 0 ? undefined : await git.receive({ ...packs, tips }, folder)
    if (written && 'problem' in written) return refuseAll(changes, written.problem)
    const key = written ? `${PREFIX}${app.id}/${randomUUID()}` : null
    if (written) await objects.adopt(key!, written.path) // set with it
    const isSaved = await inTransaction(async (trx) => {
      const isNewest = await store.update(trx, row, { refs: JSON.stringify(refs), pack_key: key, pushed_at: now() })
      if (isNewest) await recordEvent(trx, actor, eventOf('apps.pushed', { branches: namesOf(taken) }, placeOf(app)), origin)
      return isNewest
    })
    const unused = isSaved ? row.pack_key : key
    if (unused !== null) await objects.delete(unused)
    return isSaved ? { refused } : undefined
  }

  /** The commit of a branch, a tag or a commit id; empty: the branch that the repository recommends. */
  function chosen(row: RepositoryRow | undefined, ref: string): { readonly object: string } | { readonly problem: string } {
    const refs = refsOf(row)
    if (/^[0-9a-f]{40}$/.test(ref)) return { object: ref }
    const names = ref === '' ? DEFAULT_BRANCHES : [`refs/heads/${ref}`, `refs/tags/${ref}`]
    const object = names.map((name) => refs[name]).find((oid) => oid !== undefined)
    if (object !== undefined) return { object }
    if (Object.keys(refs).length === 0) return { problem: 'The repository is empty. Push a commit to the branch main first.' }
    return { problem: `The repository has no branch or tag "${ref || 'main'}".` }
  }

  return {
    createCredential,
    listCredentials,
    removeCredential,
    open,
    advertise,
    send,
    receive,
    has: async (app: AppRow): Promise<boolean> => (await store.find(app)) !== undefined,

    /** Why the code of an app cannot be read from there; undefined when it can. */
    async look(app: AppRow, ref: string): Promise<string | undefined> {
      const found = chosen(await store.find(app), ref)
      return 'problem' in found ? found.problem : undefined
    },

    /** Writes the newest files of a branch to a folder that must not exist yet. */
    write: (app: AppRow, ref: string, folder: string, signal: AbortSignal) =>
      withPack(app, async (row, pack) => {
        const found = chosen(row, ref)
        if ('problem' in found || pack === undefined) return 'problem' in found ? found : { problem: 'The repository is empty.' }
        return git.write(pack, found.object, folder, signal)
      }),

    /** Of an app that is gone. */
    async discard(app: AppRow): Promise<void> {
      const { objects: found } = await objects.list({ prefix: `${PREFIX}${app.id}/` })
      await objects.delete(found.map(({ key }) => key))
    },
  }
}

/** Removes what interrupted pushes and deletions have left. */
export async function sweepPacks({
  store,
  objects,
  clock,
}: Pick<RepositoriesDeps, 'store' | 'objects' | 'clock'>): Promise<void> {
  const youngFrom = clock.now().getTime() - KEPT_MS
  let after = ''
  for (let more = true; more; ) {
    const page = await objects.list({ prefix: PREFIX, after })
    const named = await store.listPackKeys() // read after the objects: what is new is named by then, or young
    const left = page.objects.filter(({ key, modifiedMs }) => !named.has(key) && modifiedMs < youngFrom)
    await objects.delete(left.map(({ key }) => key))
    after = page.objects.at(-1)?.key ?? ''
    more = page.more
  }
}

function changed(before: Refs, changes: readonly RefChange[]): { readonly refs: Refs; readonly refused: PushResult['refused'] } {
  const refs: Record<string, string> = { ...before }
  const refused: Record<string, string> = {}
  for (const change of changes) {
    const reason = reasonAgainst(change, before)
    if (reason !== undefined) refused[change.name] = reason
    else if (change.after === undefined) delete refs[change.name]
    else refs[change.name] = change.after
  }
  if (Object.keys(refs).length <= MAX_REFS) return { refs, refused }
  return { refs: before, refused: refuseAll(changes, `a repository has at most ${MAX_REFS} branches and tags`).refused }
}

function reasonAgainst({ name, before, after }: RefChange, refs: Refs): string | undefined {
  if (!REF_NAME.test(name)) return 'the name is not valid: there are branches (refs/heads/) and tags (refs/tags/)'
  if (refs[name] !== before) return 'it was changed meanwhile: fetch, then push again'
  if (after === undefined && name === headOf(refs)) return 'it is the default branch, which cannot be deleted'
  return undefined
}

const refuseAll = (changes: readonly RefChange[], problem: string): PushResult => ({
  problem,
  refused: Object.fromEntries(changes.map(({ name }) => [name, problem])),
})

const refsOf = (row: RepositoryRow | undefined): Refs => JSON.parse(row?.refs ?? '{}') as Refs // as takeOnce writes it
const headOf = (refs: Refs): string | undefined => DEFAULT_BRANCHES.find((name) => refs[name] !== undefined)

/** At most ten: the message of an event is short. */
const namesOf = (changes: readonly RefChange[]): string => {
  const names = changes.map(({ name }) => name.replace(/^refs\/(heads|tags)\//, ''))
  return names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')
}

const placeOf = ({ id, component_id, configuration_id, branch_id }: AppRow): EventDetails => ({
  objectId: String(id),
  component: component_id,
  configurationId: configuration_id,
  branchId: branch_id,
})
