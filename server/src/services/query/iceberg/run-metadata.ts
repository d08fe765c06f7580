// The metadata of a table that exists as long as a run: built from the schema that its writer requests, then changed by the updates of commits,
// one after the other, as the protocol defines them. Pure: JSON in, JSON out. Files are not looked into here: only the run itself reads them.

import { columnNameFrom } from '../../../../../contract/column-name.ts'
import type { RunTarget } from '../../../model/run-ports.ts'
import { changed, numberOf, objectOf, refused, textOf } from './commit-request.ts'
import { icebergType, tableMetadata } from './table-metadata.ts'

type Fields = Readonly<Record<string, unknown>>
export type Metadata = Fields

export function newMetadata(uuid: string, location: string, schema: Fields, now: Date): Metadata {
  const base = tableMetadata({ uuid, location, lastColumnId: 0, schemas: [], snapshots: [], properties: {} })
  const { schemas: _, ...rest } = base
  return withSchema({ ...rest, schemas: [], 'last-updated-ms': now.getTime() }, { ...schema, 'schema-id': 0 }, 0)
}

/** The columns of a result under the field ids and types that they have, or will have, in the table that takes them. */
export function targetSchema({ columns, nextFieldId }: RunTarget, asked: Fields): Fields {
  if (!Array.isArray(asked.fields) || asked.fields.length === 0) throw refused('the schema has no fields')
  let next = nextFieldId
  const taken = new Set<number>()
  const fields = asked.fields.map((field: unknown) => {
    const { name } = objectOf(field, 'a field of the schema')
    if (typeof name !== 'string') throw refused('a field of the schema lacks its name')
    const stored = columnNameFrom(name).toLowerCase()
    const column = columns.find((one) => one.name.toLowerCase() === stored)
    const id = column?.fieldId ?? next++
    if (taken.has(id)) throw refused(`two columns would both be stored as "${stored.slice(0, 100)}". Rename one of them`)
    taken.add(id)
    return { id, name, required: false, type: column ? icebergType(column) : 'string' }
  })
  return { type: 'struct', fields }
}

export function checkRunRequirements(requirements: readonly Fields[], current: Metadata | undefined): void {
  for (const requirement of requirements) {
    const type = textOf(requirement.type).slice(0, 100)
    if (type === 'assert-create') {
      if (current) throw changed('the table exists already')
      continue
    }
    if (!current) throw changed('the table does not exist')
    const [member, value] = required(type, requirement, current)
    const wanted = requirement[member] ?? null
    if (textOf(wanted) !== textOf(value ?? null))
      throw changed(`${member} is ${textOf(value)}, and the commit was made for ${textOf(wanted)}`)
  }
}

function required(type: string, requirement: Fields, current: Metadata): readonly [member: string, value: unknown] {
  switch (type) {
    case 'assert-table-uuid':
      return ['uuid', current['table-uuid']]
    case 'assert-ref-snapshot-id':
      return ['snapshot-id', refsOf(current)[textOf(requirement.ref)]?.['snapshot-id']]
    case 'assert-last-assigned-field-id':
      return ['last-assigned-field-id', current['last-column-id']]
    case 'assert-current-schema-id':
      return ['current-schema-id', current['current-schema-id']]
    case 'assert-last-assigned-partition-id':
      return ['last-assigned-partition-id', current['last-partition-id']]
    case 'assert-default-spec-id':
      return ['default-spec-id', current['default-spec-id']]
    case 'assert-default-sort-order-id':
      return ['default-sort-order-id', current['default-sort-order-id']]
    default:
      throw refused(`the requirement "${type}" is not known`)
  }
}

export const applyUpdates = (metadata: Metadata, updates: readonly Fields[]): Metadata => updates.reduce(applyUpdate, metadata)

function applyUpdate(metadata: Metadata, update: Fields): Metadata {
  const action = textOf(update.action).slice(0, 100)
  switch (action) {
    case 'assign-uuid':
      return { ...metadata, 'table-uuid': update.uuid }
    case 'upgrade-format-version':
      if (update['format-version'] !== 2) throw refused('tables have the format version 2')
      return metadata
    case 'add-schema':
      return withSchema(metadata, objectOf(update.schema, 'schema'), update['last-column-id'])
    case 'set-current-schema':
      return { ...metadata, 'current-schema-id': chosen(metadata.schemas, update['schema-id'], 'schema-id') }
    case 'add-spec': {
      const spec = objectOf(update.spec, 'spec')
      const ids = listOf(spec.fields).map((field) => numberOf(field['field-id'] ?? 0))
      return {
        ...metadata,
        'partition-specs': added(metadata['partition-specs'], spec, 'spec-id'),
        'last-partition-id': maxOf(numberOf(metadata['last-partition-id']), ids),
      }
    }
    case 'set-default-spec':
      return { ...metadata, 'default-spec-id': chosen(metadata['partition-specs'], update['spec-id'], 'spec-id') }
    case 'add-sort-order':
      return {
        ...metadata,
        'sort-orders': added(metadata['sort-orders'], objectOf(update['sort-order'], 'sort-order'), 'order-id'),
      }
    case 'set-default-sort-order':
      return { ...metadata, 'default-sort-order-id': chosen(metadata['sort-orders'], update['sort-order-id'], 'order-id') }
    case 'add-snapshot': {
      const snapshot = objectOf(update.snapshot, 'snapshot')
      return {
        ...metadata,
        snapshots: [...listOf(metadata.snapshots), snapshot],
        'last-sequence-number': snapshot['sequence-number'] ?? metadata['last-sequence-number'],
        'last-updated-ms': snapshot['timestamp-ms'] ?? metadata['last-updated-ms'],
      }
    }
    case 'set-snapshot-ref':
      return withRef(metadata, update)
    case 'remove-snapshot-ref': {
      const { [textOf(update['ref-name'])]: _, ...refs } = refsOf(metadata)
      const { 'current-snapshot-id': current, ...rest } = metadata
      return { ...rest, refs, ...(update['ref-name'] !== 'main' && { 'current-snapshot-id': current }) }
    }
    case 'remove-snapshots': {
      const gone = new Set((Array.isArray(update['snapshot-ids']) ? update['snapshot-ids'] : []).map(textOf))
      return { ...metadata, snapshots: listOf(metadata.snapshots).filter((one) => !gone.has(textOf(one['snapshot-id']))) }
    }
    case 'set-location':
      if (update.location !== metadata.location) throw refused('tables lie where the catalogue puts them')
      return metadata
    case 'set-properties':
      return {
        ...metadata,
        properties: { ...objectOf(metadata.properties, 'properties'), ...objectOf(update.updates, 'updates') },
      }
    case 'remove-properties': {
      const removed = new Set(Array.isArray(update.removals) ? update.removals.map(textOf) : [])
      const kept = Object.entries(objectOf(metadata.properties, 'properties')).filter(([name]) => !removed.has(name))
      return { ...metadata, properties: Object.fromEntries(kept) }
    }
    default:
      throw refused(`"${action}" is not part of this catalogue`)
  }
}

function withSchema(metadata: Metadata, schema: Fields, lastColumnId: unknown): Metadata {
  const ids = listOf(schema.fields).map(({ id }) => numberOf(id))
  return {
    ...metadata,
    schemas: added(metadata.schemas, schema, 'schema-id'),
    'last-column-id': maxOf(numberOf(metadata['last-column-id']), [numberOf(lastColumnId ?? 0), ...ids]),
  }
}

function withRef(metadata: Metadata, update: Fields): Metadata {
  const { action: _, 'ref-name': name, ...ref } = update
  const refs = { ...refsOf(metadata), [textOf(name)]: ref }
  if (name !== 'main') return { ...metadata, refs }
  const entry = { 'snapshot-id': update['snapshot-id'], 'timestamp-ms': metadata['last-updated-ms'] }
  return {
    ...metadata,
    refs,
    'current-snapshot-id': update['snapshot-id'],
    'snapshot-log': [...listOf(metadata['snapshot-log']), entry],
  }
}

/** The same id again takes the place of the first: writers send what they were given. */
const added = (list: unknown, item: Fields, id: string): readonly Fields[] => [
  ...listOf(list).filter((one) => one[id] !== item[id]),
  item,
]

/** -1 is what was added last. */
function chosen(list: unknown, id: unknown, member: string): unknown {
  const found = id === -1 ? listOf(list).at(-1) : listOf(list).find((one) => one[member] === id)
  if (!found) throw refused(`there is no ${member} ${textOf(id).slice(0, 20)}`)
  return found[member]
}

const refsOf = (metadata: Metadata): Readonly<Record<string, Fields>> => (metadata.refs ?? {}) as Readonly<Record<string, Fields>> // written by this file

const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map((item) => objectOf(item, 'an item of a list')) : []

/** By hand: a call has fewer arguments than a list may have items. */
const maxOf = (first: number, others: readonly number[]): number => others.reduce((max, one) => Math.max(max, one), first)
