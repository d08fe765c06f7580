// Components of one node are visible to all: each node publishes what is in its folder and reads what the others have published.
//  (1) bytes first: the folder of a component is in the object store, under its digest, before its description names it;
//  (2) a node's own folder wins over what others have; of several others the one that was published last;
//  (3) a folder is fetched when it is first needed, and kept under its digest: a changed component is another digest.

import { join, relative, resolve, sep } from 'node:path'
import type { ComponentDescription } from '../../../../../contract/component.ts'
import {
  lookAtFolder,
  type Package,
  packFolder,
  removeOthers,
  unpackOnce,
} from '../../../engines/component-package/component-package.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Components, SharedDescription } from './components.ts'
import { readDescription } from './description.ts'
import type { createSharedComponentsStore, SharedRow } from './shared-components.store.ts'

export interface SharedComponentsDeps {
  readonly store: ReturnType<typeof createSharedComponentsStore>
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'head' | 'list' | 'delete'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly components: Pick<Components, 'own' | 'setShared' | 'packageOf'>
  readonly cipher: { seal(text: string): Promise<string>; open(cipher: string): Promise<string> }
  /** Of the data folder, whatever process uses it. */
  readonly node: () => Promise<string>
  /** Where the folders of this node's components are. */
  readonly folder: string
  readonly cache: string
  /** No other process reads the database. */
  readonly isAlone: boolean
  readonly log: { warn(details: object, text: string): void }
}

interface Published {
  readonly stamp: string
  readonly digest: string | null
  readonly isRunnable: boolean
}

const PREFIX = 'components/'
/** Folders are looked at less often than descriptions: they have more files. */
const FOLDERS_MS = 5_000
const SWEEP_MS = 3600_000
/** Objects that no description refers to: one may be about to be published. */
const KEPT_MS = 24 * 3600_000

export function createSharedComponents(deps: SharedComponentsDeps) {
  const { store, objects, inTransaction, clock, components } = deps
  const published = new Map<string, Published>()
  let said: string | undefined
  let seen: string | undefined
  let lastFolders = Number.NEGATIVE_INFINITY
  let lastSweep = Number.NEGATIVE_INFINITY

  /** After each look at the folder. */
  async function exchange(): Promise<void> {
    if (deps.isAlone) return
    await publish()
    await read()
    await sweep()
  }

  async function publish(): Promise<void> {
    const own = components.own()
    const stamp = JSON.stringify(own)
    const now = clock.now().getTime()
    if (stamp === said && (own.length === 0 || Math.abs(now - lastFolders) < FOLDERS_MS)) return
    lastFolders = now
    const rows: Omit<SharedRow, 'node' | 'published_at'>[] = []
    let changed = stamp !== said
    for (const description of own) {
      const before = published.get(description.id)
      const after = await publishFolder(description, before)
      published.set(description.id, after)
      changed ||= before?.digest !== after.digest || before?.isRunnable !== after.isRunnable
      const text = await deps.cipher.seal(JSON.stringify(description))
      rows.push({ component: description.id, description: text, digest: after.digest, is_runnable: after.isRunnable ? 1 : 0 })
    }
    if (!changed) return
    const node = await deps.node()
    await inTransaction((trx) => store.replace(trx, node, rows, now))
    said = stamp
  }

  async function publishFolder(description: ComponentDescription, before: Published | undefined): Promise<Published> {
    const { type, uri } = description.data.definition
    if (type !== 'command') return { stamp: '', digest: null, isRunnable: true }
    const path = resolve(deps.folder, uri)
    const isOwn = uri !== '' && !relative(deps.folder, path).startsWith(`..${sep}`) && relative(deps.folder, path) !== '..'
    const found = isOwn
      ? await lookAtFolder(path)
      : ({ ok: false, reason: 'it has no folder of its own (data.definition.uri)' } as const)
    if (!found.ok) {
      if (before?.stamp !== found.reason)
        deps.log.warn(
          { component: description.id, reason: found.reason },
          'Only nodes that have this component in their folder can run it',
        )
      return { stamp: found.reason, digest: null, isRunnable: false }
    }
    if (before?.stamp === found.stamp) return before
    const packed = await packFolder(path, found.files)
    await keep(packed)
    return { stamp: found.stamp, digest: packed.digest, isRunnable: true }
  }

  const keep = async ({ digest, bytes }: Package): Promise<void> => {
    await objects.put(PREFIX + digest, one(bytes))
  }

  async function read(): Promise<void> {
    const stamp = await store.stamp()
    if (stamp === seen) return
    const node = await deps.node()
    const found: SharedDescription[] = []
    const rows = await store.list()
    if (seen === undefined) await removeOthers(deps.cache, new Set(rows.flatMap(({ digest }) => digest ?? [])))
    for (const row of rows) {
      if (row.node === node) continue
      // A newer node may describe what this one cannot read: its component is unknown here, as before.
      const description = readDescription(JSON.parse(await deps.cipher.open(row.description)))
      if (description.ok)
        found.push({ description: description.description, digest: row.digest ?? undefined, isRunnable: row.is_runnable === 1 })
      else
        deps.log.warn({ component: row.component, problems: description.problems }, 'A component of another node cannot be read')
    }
    components.setShared(found)
    seen = stamp
  }

  async function sweep(): Promise<void> {
    const now = clock.now().getTime()
    if (Math.abs(now - lastSweep) < SWEEP_MS) return
    lastSweep = now
    const named = new Set((await store.list()).map(({ digest }) => PREFIX + digest))
    const { objects: kept } = await objects.list({ prefix: PREFIX })
    for (const { key, modifiedMs } of kept) if (!named.has(key) && modifiedMs < now - KEPT_MS) await objects.delete(key)
  }

  return {
    exchange,
    /** Where a command starts: in the folder of this node, or in what another node has published. */
    async folderOf(id: string, uri: string): Promise<string> {
      const digest = components.packageOf(id)
      if (digest === undefined) return join(deps.folder, uri)
      return unpackOnce(deps.cache, digest, async () => {
        const found = await objects.get(PREFIX + digest)
        if (!found) throw new PlatformError('unavailable', { what: `The folder of the component "${id}"` })
        return Buffer.concat((await found.body.toArray()) as Uint8Array[]) // a stream of bytes
      })
    },
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
