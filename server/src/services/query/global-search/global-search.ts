// Rules of the search over everything: what matches, in which branches, in which order.

import { createContext, Script } from 'node:vm'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'

export const TYPES = [
  'flow',
  'bucket',
  'table',
  'transformation',
  'configuration',
  'configuration-row',
  'workspace',
  'shared-code',
] as const
export type FoundType = (typeof TYPES)[number]

export interface Branch {
  readonly id: number
  readonly name: string
  readonly isDefault: boolean
}

/** One thing of a source. `id` and `name` are searched. */
export interface Findable {
  readonly id: string
  readonly type: FoundType
  readonly name: string
  readonly componentId?: string
  /** Where it is, besides project and branch: for example its bucket or its configuration. */
  readonly path?: Readonly<Record<string, unknown>>
  readonly createdAt: number
}

export interface Found extends Findable {
  readonly branch: Branch
  /** False for what lies in the default branch and is assigned to this one. */
  readonly isNative: boolean
}

/** A bucket by its number, and the branch that it lies in. */
export interface PlacedBucket {
  readonly key: number
  readonly branchId: number
}

export interface SearchRequest {
  readonly query: string
  readonly types: readonly FoundType[]
  readonly branchTypes: readonly ('production' | 'development')[]
  readonly branchIds: readonly number[]
  readonly isRegex: boolean
}

/**
 * What a branch has of its own; what it only shows of the default branch is found there. `owns` is for what lies in buckets: metadata can
 * assign a bucket of the default branch to another one (corrections-2 A16).
 */
export type Source = (scope: {
  readonly actor: Actor
  readonly branch: Branch
  readonly owns: (bucket: PlacedBucket) => boolean
}) => Promise<readonly (Findable & { readonly bucket?: PlacedBucket })[]>

export interface GlobalSearchDeps {
  readonly sources: readonly Source[]
  readonly branchesOf: (projectId: number) => Promise<readonly Branch[]>
  /** Buckets of the default branch that are assigned to a branch, by their number. */
  readonly assignedBuckets: (projectId: number) => Promise<ReadonlyMap<number, number>>
}

const REGEX_LIMIT_MS = 250

export function createGlobalSearch({ sources, branchesOf, assignedBuckets }: GlobalSearchDeps) {
  /** Everything that matches, best first: equal names, then names that begin with the query, then the rest by name. */
  async function search(actor: Actor, request: SearchRequest): Promise<readonly Found[]> {
    const branches = await branchesOf(actor.projectId)
    const assigned = await assignedBuckets(actor.projectId)
    const branchOf = ({ key, branchId }: PlacedBucket) => branches.find(({ id }) => id === assigned.get(key))?.id ?? branchId
    const all: Found[] = []
    for (const branch of branches.filter((one) => isWanted(one, request))) {
      for (const source of sources) {
        for (const { bucket, ...item } of await source({ actor, branch, owns: (one) => branchOf(one) === branch.id })) {
          const isNative = bucket === undefined || bucket.branchId === branch.id
          if (request.types.length === 0 || request.types.includes(item.type)) all.push({ ...item, branch, isNative })
        }
      }
    }
    const found = request.isRegex ? matchingRegex(all, request.query) : matchingWords(all, request.query)
    const wanted = request.query.toLowerCase()
    const rank = ({ name }: Found) => (name.toLowerCase() === wanted ? 0 : name.toLowerCase().startsWith(wanted) ? 1 : 2)
    return found.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  return { search }
}

function isWanted(branch: Branch, { branchIds, branchTypes }: SearchRequest): boolean {
  if (branchIds.length > 0) return branchIds.includes(branch.id)
  return branchTypes.length === 0 || branchTypes.includes(branch.isDefault ? 'production' : 'development')
}

/** The id of a table contains that of its bucket: it is searched by queries that are ids of tables themselves (corrections-2, A37). */
const searchedIn = ({ id, name, type }: Found, query: string): readonly string[] =>
  type === 'table' && query.split('.').length < 3 ? [name] : [id, name]

function matchingWords(all: readonly Found[], query: string): readonly Found[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return all.filter((one) => {
    const text = searchedIn(one, query).join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** In a context of its own, which can be stopped: an expression with bad luck would hold the whole stack. */
function matchingRegex(all: readonly Found[], query: string): readonly Found[] {
  const refuse = (reason: string) => new PlatformError('storage.validation', { field: 'query', reason })
  const context = createContext(
    { query, texts: all.map((one) => searchedIn(one, query)) },
    { codeGeneration: { strings: false, wasm: false } },
  )
  const script = new Script(
    `const wanted = new RegExp(query, 'iu'); JSON.stringify(texts.map((searched) => searched.some((text) => wanted.test(text))))`,
  )
  try {
    const hits = JSON.parse(String(script.runInContext(context, { timeout: REGEX_LIMIT_MS }))) as boolean[] // made by the script
    return all.filter((_, i) => hits[i])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw refuse('the expression takes too long. Make it simpler.')
    throw refuse('This value is not a regular expression.')
  }
}
