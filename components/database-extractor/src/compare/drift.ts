// What has changed in the columns of the source since the table was made, and what a run does about it.

import { columnNameFrom } from '../../../../contract/column-name.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { RowSettings } from '../configuration.ts'
import type { BaseType, SourceColumn } from '../databases/columns.ts'
import { DELETED_FLAG } from './deletes.ts'
import type { Here, HereColumn, HereTable, Reader } from './here.ts'

interface ColumnType {
  readonly base: BaseType
  readonly length?: string | undefined
}

export interface Drift {
  readonly added: readonly SourceColumn[]
  readonly dropped: readonly HereColumn[]
  /** Columns whose values the table cannot hold, and a type that holds both. */
  readonly changed: readonly { readonly column: SourceColumn; readonly here: HereColumn; readonly wider: ColumnType }[]
}

export function driftOf(columns: readonly SourceColumn[], table: HereTable): Drift {
  const hereOf = ({ name }: SourceColumn) => table.columns.find((one) => one.name === columnNameFrom(name))
  const names = new Set(columns.map(({ name }) => columnNameFrom(name)))
  return {
    added: columns.filter((column) => !hereOf(column)),
    dropped: table.columns.filter(({ name }) => !names.has(name) && name !== DELETED_FLAG.name),
    changed: columns.flatMap((column) => {
      const here = hereOf(column)
      if (!here) return []
      const wider = typeForBoth(here, column)
      return isSameType(here, wider) ? [] : [{ column, here, wider }]
    }),
  }
}

const DEFAULT_LENGTH = '38,9'
const isSameType = (a: ColumnType, b: ColumnType): boolean =>
  a.base === b.base && (a.base !== 'NUMERIC' || (a.length ?? DEFAULT_LENGTH) === (b.length ?? DEFAULT_LENGTH))

const MAX_PRECISION = 38
const INTEGER_DIGITS = '19,0'

/** The narrowest type that holds every value of both; STRING where there is none. FLOAT holds whole numbers exactly up to 2^53. */
export function typeForBoth(a: ColumnType, b: ColumnType): ColumnType {
  if (a.base === b.base && a.base !== 'NUMERIC') return { base: a.base }
  const bases = [a.base, b.base]
  const isNumber = bases.every((base) => base === 'INTEGER' || base === 'NUMERIC')
  if (isNumber) {
    const sizes = [a, b].map(({ base, length }) =>
      (base === 'INTEGER' ? INTEGER_DIGITS : (length ?? DEFAULT_LENGTH)).split(',').map(Number),
    )
    const scale = Math.max(...sizes.map(([, digits = 0]) => digits))
    const whole = Math.max(...sizes.map(([precision = 0, digits = 0]) => precision - digits))
    return whole + scale > MAX_PRECISION ? { base: 'STRING' } : { base: 'NUMERIC', length: `${whole + scale},${scale}` }
  }
  if (bases.includes('FLOAT') && bases.includes('INTEGER')) return { base: 'FLOAT' }
  return bases.every((base) => base === 'DATE' || base === 'TIMESTAMP') ? { base: 'TIMESTAMP' } : { base: 'STRING' }
}

const typeText = ({ base, length }: ColumnType): string => (base === 'NUMERIC' ? `NUMERIC(${length ?? DEFAULT_LENGTH})` : base)

/** One sentence for each change, with what the run does. */
function driftSentences({ added, dropped, changed }: Drift, row: RowSettings): readonly string[] {
  const does = { add: 'it is added to the table', ignore: 'it is not read', stop: 'the run stops' }[row.newColumns]
  const widens = (wider: ColumnType) =>
    ({
      widen: `the column of the table becomes ${typeText(wider)}`,
      ignore: 'the table keeps its type, and values that do not fit fail the run',
      stop: 'the run stops',
    })[row.changedTypes]
  const keeps = { keep: 'it stays in the table and is empty in rows that are read', stop: 'the run stops' }[row.droppedColumns]
  return [
    ...added.map(({ name, native }) => `Column "${name}" (${native}) is new in the source: ${does}.`),
    ...dropped.map(({ name }) => `Column "${name}" is no longer in the source: ${keeps}.`),
    ...changed.map(
      ({ column, here, wider }) =>
        `Column "${column.name}" is ${column.native} in the source and ${typeText(here)} in the table: ${widens(wider)}.`,
    ),
  ]
}

/** What has changed and what a run makes of it, for a preview, an event and the console. */
export interface ColumnChanges {
  readonly table: string
  readonly stops: boolean
  readonly changes: readonly ColumnChange[]
}

interface ColumnChange {
  readonly column: string
  readonly change: 'added' | 'dropped' | 'type'
  /** Types: in the source, in the table, and in the table after the run. Null: there is none. */
  readonly source: string | null
  readonly table: string | null
  readonly becomes: string | null
  readonly sentence: string
  readonly usedBy: readonly UsedBy[]
}

interface UsedBy extends Omit<Reader, 'computed'> {
  /** Columns that are computed from it; none: the table is read, and whether the column is used is unknown. */
  readonly columns: readonly string[]
}

export function columnChanges(drift: Drift, row: RowSettings, tableId: string, readers: readonly Reader[]): ColumnChanges {
  const sentences = driftSentences(drift, row)
  const usedBy = (name: string): UsedBy[] =>
    readers
      .map(({ computed, ...reader }) => ({ ...reader, columns: computed[name] ?? [] }))
      .sort((a, b) => b.columns.length - a.columns.length)
  const { added, dropped, changed } = drift
  const changes = [
    ...added.map((column) => ({
      ...{ column: column.name, change: 'added' as const, source: column.native, table: null, usedBy: [] },
      becomes: row.newColumns === 'add' ? column.base : null,
    })),
    ...dropped.map((column) => ({
      ...{ column: column.name, change: 'dropped' as const, source: null, table: typeText(column), becomes: typeText(column) },
      usedBy: usedBy(column.name),
    })),
    ...changed.map(({ column, here, wider }) => ({
      ...{ column: column.name, change: 'type' as const, source: column.native, table: typeText(here) },
      becomes: typeText(row.changedTypes === 'widen' ? wider : here),
      usedBy: usedBy(here.name),
    })),
  ]
  return {
    table: tableId,
    stops: isStopped(drift, row),
    changes: changes.map((change, at) => ({ ...change, sentence: sentences[at] ?? '' })), // both lists have the same order
  }
}

const isStopped = ({ added, changed, dropped }: Drift, row: RowSettings): boolean =>
  (row.newColumns === 'stop' && added.length > 0) ||
  (row.changedTypes === 'stop' && changed.length > 0) ||
  (row.droppedColumns === 'stop' && dropped.length > 0)

/** Since the last run, which read `lastColumns`. A column that was dropped stays in the table, and so in the drift of every later run. */
const isNews = ({ added, changed, dropped }: Drift, row: RowSettings, lastColumns: readonly string[]): boolean =>
  (row.newColumns !== 'ignore' && added.length > 0) ||
  (row.changedTypes !== 'ignore' && changed.length > 0) ||
  dropped.some(({ name }) => lastColumns.some((one) => columnNameFrom(one) === name))

export interface Settled {
  /** What is read. */
  readonly columns: readonly SourceColumn[]
  /** As the table has them after the run. */
  readonly types: readonly SourceColumn[]
  /** Columns that only the table has. */
  readonly dropped: readonly SourceColumn[]
}

interface Place {
  readonly here: Here
  readonly table: HereTable
  readonly log: Log
  /** What the last run read. */
  readonly lastColumns: readonly string[]
}

/** Applies the setting of the row before anything is read. */
export async function settleDrift(
  row: RowSettings,
  found: readonly SourceColumn[],
  { here, table, log, lastColumns }: Place,
): Promise<Settled> {
  const drift = driftOf(found, table)
  const sentences = driftSentences(drift, row)
  const stops = isStopped(drift, row)
  if (stops || isNews(drift, row, lastColumns)) {
    const report = columnChanges(drift, row, table.id, await here.readersOf(table.id))
    log.warning(`The columns of the source of ${table.id} have changed.`, { columnChanges: report })
  }
  if (stops)
    throw new UserError(
      `The columns of the source have changed. ${sentences.join(' ')} Change newColumns, changedTypes or droppedColumns of the row, or the table.`,
    )
  for (const sentence of sentences) log.warning(sentence)
  if (row.changedTypes === 'widen')
    for (const { here: column, wider } of drift.changed) await here.changeType(table.id, column.name, wider)
  const columns = row.newColumns === 'ignore' ? found.filter((column) => !drift.added.includes(column)) : found
  return {
    columns,
    types: columns.map((column) => {
      const own = table.columns.find(({ name }) => name === columnNameFrom(column.name))
      const wider = row.changedTypes === 'widen' ? drift.changed.find((one) => one.column === column)?.wider : undefined
      return own ? typed(column, wider ?? own) : column
    }),
    dropped: drift.dropped.map((column) => typed({ name: column.name, native: 'none', base: column.base }, column)),
  }
}

const typed = ({ name, native }: SourceColumn, { base, length }: ColumnType): SourceColumn => ({
  ...{ name, native, base },
  ...(length !== undefined && { length }),
})
