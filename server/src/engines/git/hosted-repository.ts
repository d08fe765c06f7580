// Reads and writes repositories that consist of one pack. Runs in a thread: unpacking and packing is work for the processor.

import fs from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Errors, indexPack, init, packObjects, type ReadObjectResult, readObject } from 'isomorphic-git'
import { type PackLimits, packProblem } from './check-pack.ts'
import type { FileRules } from './file-rules.ts'
import type { FetchRequest } from './requests.ts'
import { type Git, writeCommit } from './write-commit.ts'

/** Paths are those of files on this machine; folders for `into` and `out` already exist. */
export type HostOrder =
  | {
      readonly kind: 'receive'
      /** The pack of the repository; undefined: it is empty. */
      readonly pack: string | undefined
      readonly pushed: string | undefined
      /** The requested objects of branches and tags. */
      readonly tips: readonly string[]
      /** Where the pack with all that these need is written. */
      readonly out: string
      readonly limits: PackLimits & { readonly maxPackBytes: number }
    }
  | {
      readonly kind: 'send'
      readonly pack: string
      readonly request: FetchRequest
      readonly out: string
    }
  | { readonly kind: 'write'; readonly pack: string; readonly object: string; readonly folder: string; readonly files: FileRules }

export interface Sent {
  /** Objects that both the client and this repository have. */
  readonly common: readonly string[]
  readonly shallow: readonly string[]
  readonly unshallow: readonly string[]
}

export type HostAnswer = { readonly sent?: Sent; readonly commit?: string } | { readonly problem: string }

interface Opened extends Git {
  /** Every object of the packs. */
  readonly known: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

/** Never throws: what went wrong is a sentence. */
export async function handleOrder(order: HostOrder): Promise<HostAnswer> {
  const work = await mkdtemp(join(dirname(order.kind === 'write' ? order.folder : order.out), 'git-'))
  try {
    if (order.kind === 'receive') return await receive(order, work)
    const git = await open(work, [order.pack])
    if (order.kind === 'send') return { sent: await send(git, order) }
    return { commit: await writeCommit(git, order.object, order.folder, order.files) }
  } catch (error) {
    return { problem: sentence(error) }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function open(gitdir: string, packs: readonly string[]): Promise<Opened> {
  const git = { fs, gitdir, cache: {} }
  await init({ ...git, bare: true, dir: gitdir })
  const folder = join(gitdir, 'objects/pack')
  await mkdir(folder, { recursive: true })
  const known = new Set<string>()
  for (const [i, pack] of packs.entries()) {
    await symlink(pack, join(folder, `pack-${i}.pack`))
    const { oids } = await indexPack({ ...git, dir: gitdir, filepath: `objects/pack/pack-${i}.pack` })
    for (const oid of oids) known.add(oid)
  }
  return { ...git, known }
}

/** All that the branches and tags need, as one pack: what a push leaves behind is gone with it. */
async function receive(
  { pack, pushed, tips, out, limits }: HostOrder & { readonly kind: 'receive' },
  work: string,
): Promise<HostAnswer> {
  const problem = pushed === undefined ? undefined : packProblem(await readFile(pushed), limits)
  if (problem !== undefined) return { problem }
  const git = await open(
    work,
    [pack, pushed].filter((path) => path !== undefined),
  )
  const needed = await reachable(git, tips)
  if (needed.size > limits.maxObjects) return { problem: `the repository would have more than ${limits.maxObjects} objects` }
  const { packfile } = await packObjects({ ...git, oids: [...needed] })
  if (packfile!.length > limits.maxPackBytes)
    return { problem: `the repository would be larger than ${limits.maxPackBytes / 2 ** 20} MB` }
  await writeFile(out, packfile!)
  return {}
}

async function send(git: Opened, { request, out }: HostOrder & { readonly kind: 'send' }): Promise<Sent> {
  const { wants, depth, isDone } = request
  const unknown = wants.find((oid) => !git.known.has(oid))
  if (unknown !== undefined) throw new Error(`The repository has no object ${unknown}.`)
  const common = request.haves.filter((oid) => git.known.has(oid))
  const before = new Set(request.shallow.filter((oid) => git.known.has(oid)))
  const { shallow, deepened } = depth === undefined ? { shallow: [], deepened: NONE } : await boundary(git, wants, depth)
  const unshallow = [...before].filter((oid) => deepened.has(oid))
  const sent = { common, shallow: shallow.filter((oid) => !before.has(oid)), unshallow }
  if (!isDone) return sent
  const has = await reachable(git, common, { withoutParents: before })
  const opened = (await Promise.all(unshallow.map(async (oid) => parentsOf(await parsed(git, oid))))).flat()
  const withoutParents = before.difference(deepened).union(new Set(shallow))
  const needed = await reachable(git, [...wants, ...opened], { without: has, withoutParents })
  const { packfile } = await packObjects({ ...git, oids: [...needed] })
  await writeFile(out, packfile!)
  return sent
}

/** The commits at which a history of that depth ends, and those before them. */
async function boundary(git: Git, wants: readonly string[], depth: number) {
  const deepened = new Set<string>()
  let level = new Set(await Promise.all(wants.map((oid) => commitOf(git, oid))))
  for (let i = 1; i < depth && level.size > 0; i++) {
    for (const oid of level) deepened.add(oid)
    const parents = await Promise.all([...level].map(async (oid) => parentsOf(await parsed(git, oid))))
    level = new Set(parents.flat()).difference(deepened)
  }
  const last = await Promise.all([...level].map(async (oid) => ({ oid, parents: parentsOf(await parsed(git, oid)) })))
  return { shallow: last.filter(({ parents }) => parents.length > 0).map(({ oid }) => oid), deepened }
}

async function commitOf(git: Git, oid: string): Promise<string> {
  const found = await parsed(git, oid)
  return found.type === 'tag' ? commitOf(git, found.object.object) : oid
}

interface Walk {
  /** Objects to leave out, with everything they reference. */
  readonly without?: ReadonlySet<string>
  readonly withoutParents?: ReadonlySet<string>
}

async function reachable(git: Git, from: readonly string[], { without = NONE, withoutParents = NONE }: Walk = {}) {
  const found = new Set<string>()
  const waiting = [...from]
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    if (found.has(oid) || without.has(oid)) continue
    found.add(oid)
    const object = await parsed(git, oid)
    if (object.type === 'tag') waiting.push(object.object.object)
    if (object.type === 'commit') waiting.push(object.object.tree, ...(withoutParents.has(oid) ? [] : parentsOf(object)))
    if (object.type !== 'tree') continue
    for (const entry of object.object) {
      if (entry.type === 'tree') waiting.push(entry.oid)
      // A blob leads to nothing and is not read; a commit in a tree is that of another repository.
      if (entry.type === 'blob' && !without.has(entry.oid)) found.add(entry.oid)
    }
  }
  return found
}

type Parsed = Extract<ReadObjectResult, { format: 'parsed' }>

const parsed = async (git: Git, oid: string): Promise<Parsed> => (await readObject({ ...git, oid, format: 'parsed' })) as Parsed // the requested format

const parentsOf = (found: Parsed): readonly string[] => (found.type === 'commit' ? found.object.parent : [])

function sentence(error: unknown): string {
  if (error instanceof Errors.NotFoundError) return `the object ${error.data.what} is missing`
  return error instanceof Error ? error.message : String(error)
}
