/**
 * From items to `out/tables` (spec extractor 13 to 16).
 *
 * What must stay true:
 * 1. Nothing is in the output folder before `finish`; a run that ends earlier leaves no table.
 * 2. Every table has the union of the columns seen in the whole run, in order of first appearance.
 * 3. Memory is bounded by one page: rows and pages go to the work folder as they come.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonValue } from '../json/json.ts'
import { exactJson } from '../json/text.ts'
import { type AutomaticType, createAutomaticType } from './automatic.ts'
import { settleAliases } from './layout.ts'
import { createMappedTypes, type MappedTypes } from './mapped.ts'
import { readMappings } from './mapping.ts'
import type { Page, TableSummary, TablesLog } from './page.ts'
import { type PrimaryKeys, withPrimaryKeys } from './primary-keys.ts'
import { type Prepared, prepare } from './publish.ts'
import { rememberedStructures } from './remembered.ts'
import { TablesError } from './tables-error.ts'

export type { AddedValue, Page, TableSummary, TablesLog } from './page.ts'
export type { PrimaryKeys } from './primary-keys.ts'

export type TablesOptions = {
  /** Where tables appear: `<data>/out/tables`. */
  readonly outDir: string
  /** Private folder on the same disk for spooled pages and unfinished tables; made when missing, removed at the end. */
  readonly workDir: string
  /** Output bucket (spec extractor 15); undefined: file names without bucket, manifests without destination. */
  readonly bucket?: string | undefined
  /** `config.mappings` as configured. Wrong ones throw a TablesError here, before the first request. */
  readonly mappings?: JsonValue | undefined
  readonly compatLevel?: 1 | 2 | 3 | undefined
  /** What `in/state.json` remembers, {struct, structVersion}: columns of earlier runs. */
  readonly parserState?: JsonValue | undefined
  readonly log: TablesLog
}

export type CompleteTables = {
  readonly tables: readonly TableSummary[]
  /** What `out/state.json` is to remember, after `sofar` of other buckets; what it was when all types are mapped (spec extractor 16). */
  readonly parserState: (sofar: JsonValue | undefined) => JsonValue | undefined
}

export type Tables = {
  /** Throws TablesError when the items do not fit together (spec extractor 13.2) or a mapping (14). */
  readonly add: (page: Page) => void
  /** The same for an iteration with mappings of its own. Wrong ones throw a TablesError here. */
  readonly addWith: (mappings: JsonValue | undefined) => (page: Page) => void
  /** Completes all tables in the work folder. The last step that can find something wrong. */
  readonly complete: (options: { readonly incremental: boolean; readonly primaryKeys?: PrimaryKeys }) => CompleteTables
  /** Moves the complete tables, with their manifests, to the output folder, and removes the work folder. */
  readonly publish: () => void
  /** Removes everything spooled, after a failure. */
  readonly discard: () => void
}

export function createTables(options: TablesOptions): Tables {
  const { workDir, bucket, log } = options
  if (bucket !== undefined && /[/\\\0]/.test(bucket))
    throw new TablesError(`The output bucket '${bucket}' cannot be part of a file name.`)
  let files = 0
  let started = 0
  let prepared: Prepared | undefined
  const newFile = (suffix: string) => join(workDir, `${++files}.${suffix}`)

  /** By the text of the mappings: iterations that do not change them share the tables they make. */
  const mapped = new Map<string, MappedTypes>()
  const mappedBy = (mappings: JsonValue | undefined): MappedTypes => {
    const key = exactJson(mappings ?? null)
    const found = mapped.get(key) ?? createMappedTypes(readMappings(mappings), newFile)
    mapped.set(key, found)
    return found
  }
  mappedBy(options.mappings)
  mkdirSync(workDir, { recursive: true })

  const automatic = new Map<string, AutomaticType>()
  const remembered = rememberedStructures(options)
  const automaticOf = (type: string): AutomaticType => {
    let found = automatic.get(type)
    if (found === undefined) {
      const { stateOf, aliases, isLegacy } = remembered
      found = createAutomaticType({ type, state: stateOf(type), aliases, nextOrder: () => ++started, isLegacy, newFile, log })
      automatic.set(type, found)
    }
    return found
  }

  const addWith = (mappings: JsonValue | undefined) => {
    const byMapping = mappedBy(mappings)
    return (page: Page) => {
      if (page.items.length === 0 || (page.items.length === 1 && page.items[0] === null)) {
        log.debug(`No data returned in '${page.type}'`)
      } else if (byMapping.has(page.type)) {
        byMapping.add(page)
      } else {
        automaticOf(page.type).add(page)
      }
    }
  }

  return {
    add: addWith(options.mappings),
    addWith,
    complete: ({ incremental, primaryKeys = new Map() }) => {
      const types = [...automatic.values()]
      const aliases = settleAliases(
        types.flatMap((type) => type.tables()),
        remembered.aliases,
      )
      const made = [...automatic.values(), ...mapped.values()].flatMap((types) => types.finish())
      const isMapped = [...mapped.values()].every((types) => !types.isEmpty)
      prepared = prepare(withPrimaryKeys(made, primaryKeys, log), { outDir: options.outDir, workDir, bucket, incremental })
      return {
        tables: prepared.tables,
        parserState: (sofar) => (isMapped ? sofar : remembered.next(types, aliases, sofar)),
      }
    },
    publish: () => {
      if (prepared === undefined) throw new Error('Tables are published before they are complete.')
      prepared.publish()
      rmSync(workDir, { recursive: true, force: true })
    },
    discard: () => {
      for (const type of automatic.values()) type.discard()
      rmSync(workDir, { recursive: true, force: true })
    },
  }
}
