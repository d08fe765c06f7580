// A commit as the protocol sends it: what must be true of the table, and what shall change. Read exactly, because ids have 63 bits; what is not
// built is refused by its name and never passed over.

import type { Column } from '../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseExactly } from '../../../kit/text/exact-json.ts'
import { schemaColumns } from './schema-columns.ts'

type Fields = Readonly<Record<string, unknown>>

/** What requirements are compared with. */
export interface CurrentTable {
  readonly uuid: string
  readonly snapshotId: string
  readonly lastColumnId: number
  readonly schemaId: number
}

export interface CommitRequest {
  readonly requirements: readonly Fields[]
  readonly creates: boolean
  /** Of a table that is made. */
  readonly location: string | undefined
  /** The columns from now on; undefined: as they are. */
  readonly schema: readonly Column[] | undefined
  readonly snapshot: NewSnapshot | undefined
}

export interface NewSnapshot {
  readonly id: string
  /** What the first of the snapshots was built on. */
  readonly parent: string | undefined
  readonly manifestList: string
}

export function readCommit(text: string | undefined): CommitRequest {
  const body = readBody(text)
  const requirements = listOf(body.requirements, 'requirements')
  const updates = listOf(body.updates, 'updates')
  const creates = requirements.some(({ type }) => type === 'assert-create')
  const location = updates.find(({ action }) => action === 'set-location')?.location
  for (const update of updates) checkUpdate(update, creates)
  return {
    requirements,
    creates,
    location: typeof location === 'string' ? location : undefined,
    schema: readSchema(updates),
    snapshot: readSnapshot(updates),
  }
}

/** Throws 409 where the table does not meet a requirement of the writer. */
export function checkRequirements({ requirements, snapshot }: CommitRequest, current: CurrentTable): void {
  for (const requirement of requirements) checkRequirement(requirement, current)
  if (snapshot && snapshot.parent !== current.snapshotId)
    throw changed(`the new snapshot was built on ${snapshot.parent ?? 'none'}, and the current one is ${current.snapshotId}`)
}

function checkRequirement(requirement: Fields, current: CurrentTable): void {
  const { type, ref } = requirement
  const [member, value] = (typeof type === 'string' && Object.hasOwn(REQUIREMENTS, type) && REQUIREMENTS[type]?.(current)) || []
  if (member === undefined) throw refused(`the requirement "${textOf(type).slice(0, 100)}" is not known`)
  if (type === 'assert-ref-snapshot-id' && ref !== MAIN)
    throw refused(`it names the branch or tag "${textOf(ref).slice(0, 100)}", and there is only main`)
  const wanted = textOf(requirement[member] ?? null)
  if (wanted.toLowerCase() !== textOf(value))
    throw changed(`${member} is ${textOf(value)}, and the commit was made for ${wanted.slice(0, 100)}`)
}

/** The member that a requirement compares, and what it must be. */
const REQUIREMENTS: Readonly<Record<string, (current: CurrentTable) => readonly [member: string, value: string | number]>> = {
  'assert-table-uuid': ({ uuid }) => ['uuid', uuid],
  'assert-ref-snapshot-id': ({ snapshotId }) => ['snapshot-id', snapshotId],
  'assert-last-assigned-field-id': ({ lastColumnId }) => ['last-assigned-field-id', lastColumnId],
  'assert-current-schema-id': ({ schemaId }) => ['current-schema-id', schemaId],
  'assert-last-assigned-partition-id': () => ['last-assigned-partition-id', 999],
  'assert-default-spec-id': () => ['default-spec-id', 0],
  'assert-default-sort-order-id': () => ['default-sort-order-id', 0],
}

const MAIN = 'main'

function checkUpdate(update: Fields, creates: boolean): void {
  const action = textOf(update.action).slice(0, 100)
  switch (action) {
    case 'add-schema':
    case 'set-current-schema':
    case 'add-snapshot':
      return
    case 'set-snapshot-ref':
      if (update['ref-name'] === MAIN && update.type === 'branch') return
      throw refused(`it sets the reference "${textOf(update['ref-name']).slice(0, 100)}", and there is only the branch main`)
    case 'upgrade-format-version':
      if (update['format-version'] === 2) return
      throw refused('tables have the format version 2')
    case 'add-spec':
      checkEmpty(update.spec, 'partitions')
      return
    case 'add-sort-order':
      checkEmpty(update['sort-order'], 'sort order')
      return
    case 'set-default-spec':
    case 'set-default-sort-order':
      return
    case 'assign-uuid':
    case 'set-location':
    case 'set-properties':
      if (creates) return
      throw refused(`"${action}" is only allowed when a table is created`)
    default:
      throw refused(`"${action}" is not part of this catalogue`)
  }
}

export function checkEmpty(value: unknown, what: string): void {
  const { fields } = objectOf(value, what)
  if (Array.isArray(fields) && fields.length > 0) throw refused(`tables have no ${what}. Leave its fields empty`)
}

/** The schema that `set-current-schema` makes current; -1 is the one that was added last. */
function readSchema(updates: readonly Fields[]): readonly Column[] | undefined {
  const added = updates.filter(({ action }) => action === 'add-schema').map(({ schema }) => objectOf(schema, 'schema'))
  const chosen = updates.findLast(({ action }) => action === 'set-current-schema')
  if (!chosen) {
    if (added.length > 0) throw refused('it adds a schema and does not make it the current one')
    return undefined
  }
  const id = chosen['schema-id']
  const schema = id === -1 ? added.at(-1) : added.findLast((one) => one['schema-id'] === id)
  if (!schema) throw refused(`it makes the schema ${textOf(id).slice(0, 20)} the current one and does not add it`)
  return schemaColumns(schema)
}

/** Several snapshots in one commit are one: the last one has the content of the table, the first one its base. */
function readSnapshot(updates: readonly Fields[]): NewSnapshot | undefined {
  const added = updates.filter(({ action }) => action === 'add-snapshot').map(({ snapshot }) => objectOf(snapshot, 'snapshot'))
  const first = added[0]
  const last = added.at(-1)
  const ref = updates.findLast(({ action }) => action === 'set-snapshot-ref')
  if (!first || !last) {
    if (ref) throw refused('it sets main to a snapshot that it does not add')
    return undefined
  }
  const id = idOf(last['snapshot-id'], 'snapshot-id')
  if (!ref || idOf(ref['snapshot-id'], 'snapshot-id') !== id) throw refused('it does not set main to the snapshot that it adds')
  const manifestList = last['manifest-list']
  if (typeof manifestList !== 'string') throw refused('the snapshot lacks its manifest-list')
  const parent = first['parent-snapshot-id'] ?? undefined
  return { id, parent: parent === undefined ? undefined : idOf(parent, 'parent-snapshot-id'), manifestList }
}

const MAX_ID = 2n ** 63n - 1n

function idOf(value: unknown, member: string): string {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const id = isInteger ? BigInt(value as number | bigint) : -1n // the line above looked
  if (id < 0n || id > MAX_ID) throw refused(`${member} must be an integer of at most 63 bits`)
  return textOf(id)
}

/** Forms reach this as well as JSON; a form with files has no text at all. */
export function readBody(text: string | undefined): Fields {
  let value: unknown
  try {
    value = parseExactly(text ?? '')
  } catch (cause) {
    throw new PlatformError('iceberg.commitRefused', { reason: 'the body must be JSON, sent as application/json' }, { cause })
  }
  return objectOf(value, 'the body')
}

/** Of any value of a request: an object may have members that keep it from being written as a text. */
export const textOf = (value: unknown): string => (typeof value === 'object' && value !== null ? 'an object' : String(value))
export const numberOf = (value: unknown): number => (typeof value === 'object' ? Number.NaN : Number(value))

const listOf = (value: unknown, what: string): readonly Fields[] => {
  if (!Array.isArray(value)) throw refused(`${what} must be a list`)
  return value.map((item) => objectOf(item, `an item of ${what}`))
}

export function objectOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(`${what} must be an object`)
  return value as Fields // its members are checked where they are read
}

export const refused = (reason: string): PlatformError => new PlatformError('iceberg.commitRefused', { reason })
export const changed = (reason: string): PlatformError => new PlatformError('iceberg.commitFailed', { reason })
