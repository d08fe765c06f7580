// The registry of components: the built-in ones and the files of the components folder, by id and by alias.
//  (1) a lookup never waits; the list is swapped whole when a reload has succeeded for each file by itself;
//  (2) a broken file keeps its last good description, so that a typo does not stop a schedule;
//  (3) a component without a description can be stored, which only keeps configurations, if the operator allows it;
//  (4) a file may replace a built-in description by using its id, never by using its alias.

import type { ComponentDescription } from '../../../../../contract/component.ts'
import { readJson } from '../../../kit/text/json-text.ts'
import type { RunnableComponent } from '../../../model/run-ports.ts'
import { BUILTIN } from './builtin.ts'
import { readDescription } from './description.ts'
import { runnableComponent } from './runnable-component.ts'

export interface Components {
  /** By id or alias. Where unknown components are stored, every id that is well formed is found. */
  find(id: string): ComponentDescription | undefined
  /** As the job runner reads it; only what has a description. */
  findRunnable(id: string): RunnableComponent | undefined
  /** The id itself when no component has it. */
  canonicalId(id: string): string
  /** Every id of the component, its own first; only the id itself when no component has it. */
  namesOf(id: string): readonly string[]
  /** The id that clients are shown for one they used: the same, except that names of this stack alone give way to the public one. */
  listedId(id: string): string
  list(): readonly ComponentDescription[]
  /** As clients list them: an entry for each public id, alias or not; where unknown components are stored, also for those of `storedIds`. The same list while nothing changes. */
  listed(storedIds: () => Promise<readonly string[]>): Promise<readonly ComponentDescription[]>
  /** Ids and aliases of the components that files of this node describe. */
  ownNames(): readonly string[]
  /** The components that files of this node describe. */
  own(): readonly ComponentDescription[]
  /** What other nodes have published, the newest last, in place of what they had before. */
  setShared(shared: readonly SharedDescription[]): void
  /** Under which digest another node keeps the folder of a component; undefined for what is in the folder of this one. */
  packageOf(id: string): string | undefined
  /** Whether this node has what it takes to run it. */
  isRunnableHere(id: string): boolean
  /** Reads the folder again when it changed. */
  reload(): Promise<void>
  /** What is wrong with the files of the folder, by file and field. */
  problems(): readonly string[]
  /** Why a described component is not found: its file is invalid. */
  problemOf(id: string): string | undefined
}

export interface ComponentsDeps {
  readonly folder: { readIfChanged(): Promise<readonly { readonly file: string; readonly text: string }[] | undefined> }
  /** What is done with configurations of components without a description: refuse them, or store them. */
  readonly unknown?: UnknownComponents
  readonly log: { warn(details: object, text: string): void; info(details: object, text: string): void }
}

export type UnknownComponents = 'refuse' | 'store'

/** A component of another node. */
export interface SharedDescription {
  readonly description: ComponentDescription
  /** Of its folder; undefined: it has none, or none that is shared. */
  readonly digest: string | undefined
  readonly isRunnable: boolean
}

interface Registry {
  readonly all: readonly ComponentDescription[]
  readonly byId: ReadonlyMap<string, ComponentDescription>
  readonly namesOf: ReadonlyMap<string, readonly string[]>
}

/** How the names begin that only Millrace gives to components which have a public id. */
const STACK_ONLY = 'platform.'

export function createComponents({ folder, log, unknown = 'refuse' }: ComponentsDeps): Components {
  let lastGood = new Map<string, ComponentDescription>()
  let shared = new Map<string, SharedDescription>()
  let registry = index(BUILTIN, []).registry
  let problems: readonly string[] = []
  let unusable: readonly UnusableFile[] = []
  let lastList: { readonly registry: Registry; readonly key: string; readonly list: readonly ComponentDescription[] } | undefined

  const canonicalId = (id: string): string => registry.byId.get(id)?.id ?? id

  async function reload(): Promise<void> {
    const files = await folder.readIfChanged()
    if (!files) return
    const found: string[] = []
    const bad: UnusableFile[] = []
    const good = new Map<string, ComponentDescription>()
    for (const { file, text } of files) {
      const read = parse(text)
      if (!read.ok) found.push(...read.problems.map((problem) => `${file}: ${problem}`))
      const description = read.ok ? read.description : lastGood.get(file)
      if (description) good.set(file, description)
      else if (!read.ok) bad.push({ file, id: read.id, reason: read.problems.join('; ') })
    }
    unusable = bad
    lastGood = good
    problems = [...found, ...rebuild()]
    if (problems.length > 0) log.warn({ problems }, 'The components folder has problems')
    else if (files.length > 0) log.info({ components: files.length }, 'The components folder was read')
  }

  /** Descriptions in files take precedence; returns the ids and aliases that they use. */
  function rebuild(): readonly string[] {
    const own = index(BUILTIN, [...lastGood])
    const others = [...shared.values()].filter(({ description: { id } }) => !isOwn(id))
    const all = index(BUILTIN, [...lastGood, ...others.map(({ description }) => [description.id, description] as const)])
    registry = all.registry
    return own.clashes
  }

  const isOwn = (id: string): boolean => [...lastGood.values()].some((own) => own.id === id)
  const sharedOf = (id: string): SharedDescription | undefined => {
    const found = shared.get(canonicalId(id))
    return found && registry.byId.get(id) === found.description ? found : undefined
  }

  return {
    find: (id) => registry.byId.get(id) ?? (unknown === 'store' ? undescribed(id) : undefined),
    findRunnable: (id) => runnableComponent(registry.byId.get(id)),
    canonicalId,
    namesOf: (id) => registry.namesOf.get(canonicalId(id)) ?? [id],
    listedId: (id) => (id.startsWith(STACK_ONLY) ? canonicalId(id) : id),
    list: () => registry.all,
    listed: async (storedIds) => {
      const stored = unknown === 'store' ? (await storedIds()).filter((id) => !registry.byId.has(id)) : []
      const key = stored.join()
      if (lastList?.registry === registry && lastList.key === key) return lastList.list
      const described = registry.all.flatMap((component) =>
        publicNames(registry.namesOf.get(component.id) ?? []).map((id) => ({ ...component, id })),
      )
      const list = [...described, ...stored.flatMap((id) => undescribed(id) ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))
      lastList = { registry, key, list }
      return list
    },
    ownNames: () => [...lastGood.values()].flatMap(({ id }) => registry.namesOf.get(id) ?? []),
    own: () => [...lastGood.values()].filter((description) => registry.byId.get(description.id) === description),
    setShared: (found) => {
      shared = new Map(found.map((one) => [one.description.id, one]))
      rebuild()
    },
    packageOf: (id) => sharedOf(id)?.digest,
    isRunnableHere: (id) => registry.byId.has(id) && (sharedOf(id)?.isRunnable ?? true),
    reload,
    problems: () => problems,
    problemOf: (id) => {
      const found = registry.byId.has(id) ? undefined : unusable.find((one) => isAbout(one, id))
      return found && `components/${found.file}: ${found.reason}`
    },
  }
}

interface UnusableFile {
  readonly file: string
  /** Undefined when it has none, or cannot be read. */
  readonly id: string | undefined
  readonly reason: string
}

/** The id of a file without one is its name. */
const isAbout = ({ file, id: own }: UnusableFile, id: string): boolean =>
  own === undefined ? [id, id.split('.').at(-1)].includes(file.replace(/\.json$/, '')) : own === id

/** The id of a component and its public aliases. A component of this stack alone keeps its own id. */
const publicNames = ([id = '', ...aliases]: readonly string[]): readonly string[] => [
  id,
  ...aliases.filter((alias) => !alias.startsWith(STACK_ONLY)),
]

/** The flag by which clients recognise components that the stack only stores. */
const UNKNOWN_FLAG = 'unknownComponent'

/** The types in the ids of public components, without the vendor in front of them. */
const TYPE_BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^ex-/, 'extractor'],
  [/^wr-/, 'writer'],
  [/^app-/, 'application'],
  [/^processor-/, 'processor'],
  [/(^|-)transformation(-|$)/, 'transformation'],
]

const guessedType = (id: string): string => {
  const name = id.slice(id.lastIndexOf('.') + 1)
  return TYPE_BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

function undescribed(id: string): ComponentDescription | undefined {
  const description = 'This stack has no description of the component: its configurations are stored and cannot run.'
  const read = readDescription({
    id,
    type: guessedType(id),
    name: id,
    description,
    flags: ['genericUI', 'encrypt', UNKNOWN_FLAG],
  })
  return read.ok ? read.description : undefined
}

function parse(text: string) {
  const read = readJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  if (!read.ok) return { ok: false, problems: [read.reason], id: undefined } as const
  return { ...readDescription(read.value), id: idIn(read.value) }
}

function idIn(value: unknown): string | undefined {
  const { id } = (value ?? {}) as { readonly id?: unknown } // JSON; its members are checked one by one
  return typeof id === 'string' ? id : undefined
}

function index(builtin: readonly ComponentDescription[], files: readonly (readonly [string, ComponentDescription])[]) {
  const clashes: string[] = []
  const byOwnId = new Map(builtin.map((description) => [description.id, description]))
  const aliasOwner = new Map(builtin.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])))
  const fileOf = new Map<string, string>()
  for (const [file, description] of files) {
    const { id } = description
    const taken = fileOf.get(id) ?? (aliasOwner.has(id) ? `the component ${aliasOwner.get(id)}, as an alias` : undefined)
    if (taken !== undefined) {
      clashes.push(`${file}: id: "${id}" is already used by ${taken}`)
      continue
    }
    fileOf.set(id, file)
    byOwnId.set(id, description)
  }
  const byId = new Map(byOwnId)
  for (const description of byOwnId.values()) {
    for (const alias of description.aliases) {
      const holder = byId.get(alias)
      if (holder && holder.id !== description.id)
        clashes.push(`${fileOf.get(description.id) ?? description.id}: aliases: "${alias}" is already used by ${holder.id}`)
      else byId.set(alias, description)
    }
  }
  const all = [...byOwnId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const names = (description: ComponentDescription): string[] => [
    description.id,
    ...description.aliases.filter((alias) => byId.get(alias) === description),
  ]
  const namesOf = new Map(all.map((description) => [description.id, names(description)]))
  return { registry: { all, byId, namesOf } satisfies Registry, clashes }
}
