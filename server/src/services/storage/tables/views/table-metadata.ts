// Metadata of tables and columns. `columnsMetadata` comes in the three shapes clients send (spec storage 2.5.9): an object by column
// (PHP), an object with the single key `all` (Go), a list of lists (Python). The item's own `columnName` decides; an outer key is
// only a grouping.

import {
  type MetadataItem,
  type MetadataPair,
  metadataView,
  notAList,
  readMetadataItems,
  readProvider,
} from '../../../../http/metadata-items.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Origin } from '../../../../model/event.ts'
import type { Scope } from '../../../../model/scope.ts'
import { STORAGE_PROVIDER, type Table, type TableParts, tableEvent } from '../catalog/table-catalog.ts'
import type { ProposedTables } from '../proposed/proposed-tables.ts'
import { columnsMetadataView } from './table-view.ts'

/** As a request sends it. */
export interface MetadataRequest {
  readonly provider?: string
  readonly metadata?: unknown
  readonly columnsMetadata?: unknown
}

/** As clients compare it, letter by letter. */
const NOTHING_ASKED = 'At least on of search parameters metadataKey|metadataValue|metadataProvider must be provided.'

export type TableMetadata = ReturnType<typeof createTableMetadata>

export function createTableMetadata(parts: TableParts, proposed: Pick<ProposedTables, 'describedBy' | 'describe'>) {
  const { catalog, metadata, inTransaction, recordEvent, clock } = parts

  const columnsOf = async ({ row }: Table) => (await metadata.listColumns(row.projectId, [row.key])).get(row.key) ?? {}

  const itemsOfTable = async ({ row }: Table) =>
    ((await metadata.listTables(row.projectId, [row.key])).get(row.key) ?? []).map(metadataView)

  const itemsOfColumn = async (table: Table, column: string) => ((await columnsOf(table))[column] ?? []).map(metadataView)

  /** Tables the caller may see that have such metadata, on themselves or on a column. */
  async function search(scope: Scope, wanted: { readonly key?: string; readonly value?: string; readonly provider?: string }) {
    if (!wanted.key && !wanted.value && !wanted.provider)
      throw new PlatformError(
        'validationError',
        { reason: `Invalid request:\n - metadataKey: "${NOTHING_ASKED}"` },
        { errors: [{ key: 'metadataKey', message: NOTHING_ASKED }] },
      )
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value))
    const found = new Set(await metadata.findTables(scope.actor.projectId, given))
    return (await catalog.list(scope)).filter((table) => found.has(table.row.key))
  }

  async function set(scope: Scope, tableId: string, request: MetadataRequest, origin: Origin) {
    const ofProduction = await proposed.describedBy(scope, tableId)
    const table = ofProduction ?? (await catalog.getForChange(scope, tableId))
    const provider = providerFrom(request.provider, table)
    const pairs = isAbsent(request.metadata) ? [] : readMetadataItems(request.metadata)
    const byColumn = readColumnsMetadata(request.columnsMetadata, table.columns)
    if (pairs.length === 0 && byColumn.size === 0) throw notAList(undefined)
    if (ofProduction) {
      const ofColumns = [...byColumn].flatMap(([column, items]) => items.map((item) => ({ column, provider, ...item })))
      await proposed.describe(scope, table, [...pairs.map((pair) => ({ column: null, provider, ...pair })), ...ofColumns])
      return { metadata: await itemsOfTable(table), columnsMetadata: {} } // of production, which is as it was
    }
    await inTransaction(async (trx) => {
      const { projectId, key } = table.row
      if (pairs.length > 0) await metadata.set(trx, projectId, key, undefined, { provider, pairs, at: clock.now() })
      for (const [column, items] of byColumn)
        await metadata.set(trx, projectId, key, column, { provider, pairs: items, at: clock.now() })
      await recordEvent(trx, scope.actor, tableEvent(table, 'storage.tableMetadataSet', {}), origin)
    })
    const named = Object.entries(await columnsOf(table)).filter(([column]) => byColumn.has(column))
    return { metadata: await itemsOfTable(table), columnsMetadata: columnsMetadataView(Object.fromEntries(named)) }
  }

  async function remove(scope: Scope, tableId: string, id: number): Promise<void> {
    const table = await catalog.getForChange(scope, tableId)
    const { projectId, key } = table.row
    checkRemoval(table, (await metadata.listTables(projectId, [key])).get(key) ?? [], id)
    await inTransaction((trx) => metadata.remove(trx, projectId, key, undefined, id))
  }

  async function setOfColumn(scope: Scope, columnId: string, request: MetadataRequest) {
    const { table, column } = await columnOf(catalog.getForChange, scope, columnId)
    const provider = providerFrom(request.provider, table)
    const pairs = readMetadataItems(request.metadata)
    const { projectId, key } = table.row
    await inTransaction((trx) => metadata.set(trx, projectId, key, column, { provider, pairs, at: clock.now() }))
    return itemsOfColumn(table, column)
  }

  async function removeOfColumn(scope: Scope, columnId: string, id: number): Promise<void> {
    const { table, column } = await columnOf(catalog.getForChange, scope, columnId)
    checkRemoval(table, (await columnsOf(table))[column] ?? [], id)
    await inTransaction((trx) => metadata.remove(trx, table.row.projectId, table.row.key, column, id))
  }

  return {
    search,
    list: async (scope: Scope, tableId: string) => itemsOfTable(await catalog.get(scope, tableId)),
    set,
    remove,
    async listOfColumn(scope: Scope, columnId: string) {
      const { table, column } = await columnOf(catalog.get, scope, columnId)
      return itemsOfColumn(table, column)
    },
    setOfColumn,
    removeOfColumn,
  }
}

/** The id of a column is the id of its table and its name. */
async function columnOf(get: TableParts['catalog']['get'], scope: Scope, columnId: string) {
  const parts = columnId.split('.')
  const column = parts.at(3) ?? ''
  const table = await get(scope, parts.slice(0, 3).join('.'))
  if (parts.length !== 4 || !table.columns.includes(column))
    throw new PlatformError('notFound', { what: `The column "${column.slice(0, 100)}" of table "${table.id}"` })
  return { table, column }
}

/** On typed tables only the platform writes its own entries. */
function providerFrom(provider: string | undefined, table: Table): string {
  const known = readProvider(provider)
  if (known === STORAGE_PROVIDER && table.data.isTyped) throw isOfStorage('edited')
  return known
}

/** The platform's metadata of typed tables cannot be changed by callers. */
const isOfStorage = (what: 'edited' | 'deleted') =>
  new PlatformError(
    'storage.metadata.invalidProvider',
    {},
    { text: `Metadata with "${STORAGE_PROVIDER}" provider cannot be ${what} by user.`, kind: 'forbidden' },
  )

function checkRemoval(table: Table, items: readonly MetadataItem[], id: number): void {
  if (table.data.isTyped && items.some((item) => item.id === id && item.provider === STORAGE_PROVIDER))
    throw isOfStorage('deleted')
}

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

function readColumnsMetadata(value: unknown, columns: readonly string[]): ReadonlyMap<string, readonly MetadataPair[]> {
  const found = new Map<string, MetadataPair[]>()
  for (const { column, item } of itemsOf(typeof value === 'string' && value !== '' ? parse(value) : value)) {
    if (!columns.includes(column))
      throw new PlatformError('storage.metadata.invalidStructure', {
        reason: `the table has no column "${column.slice(0, 100)}".`,
      })
    found.set(column, [...(found.get(column) ?? []), ...readMetadataItems([item])])
  }
  return found
}

function itemsOf(value: unknown): { column: string; item: unknown }[] {
  if (value === undefined || value === null || value === '') return []
  if (typeof value !== 'object') throw notAList(undefined)
  const groups: [string, unknown][] = Array.isArray(value) ? value.map((group: unknown) => ['', group]) : Object.entries(value)
  return groups.flatMap(([key, group]) => {
    const items: unknown[] = Array.isArray(group) ? group : [group]
    return items.map((item) => {
      const named = typeof item === 'object' && item !== null && 'columnName' in item ? item.columnName : key
      if (typeof named !== 'string' || named === '')
        throw new PlatformError('storage.metadata.invalidStructure', {
          reason: 'every item of columnsMetadata needs a columnName.',
        })
      return { column: named, item }
    })
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notAList(undefined)
  }
}
