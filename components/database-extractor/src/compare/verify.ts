// Proves that a table of the project is equal to its source, or reports where it is not; and reads the differing ranges again.

import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { columnNameFrom } from '../../../../contract/column-name.ts'
import { counted, wasOrWere } from '../../../../contract/counted.ts'
import { createCsvFile } from '../../../connector-kit/src/csv-file.ts'
import { createOutputTable, type OutputColumn } from '../../../connector-kit/src/output-table.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { RowSettings } from '../configuration.ts'
import type { SourceColumn } from '../databases/columns.ts'
import type { Database } from '../databases/database.ts'
import { keepState, readColumns, writeManifest } from '../extract.ts'
import { DELETED_FLAG, DELETED_MARK, refuseMassDelete } from './deletes.ts'
import { rangeCondition, rowHash } from './dialect.ts'
import { type Comparison, type Difference, findDifferences } from './differences.ts'
import type { Here } from './here.ts'
import { type Compared, hereStatements, searchOf, sourceStatements } from './sides.ts'

export interface VerifyRun {
  readonly database: Database
  readonly row: RowSettings
  readonly here: Here
  /** Id of the table in the project. */
  readonly tableId: string
  /** Columns that the table lacks are no problem: they arrive with their first change, or never. */
  readonly mayLackColumns?: boolean
  readonly dataDir: string
  readonly log: Log
}

const LISTED_RANGES = 20
const LISTED_KEYS = 5

/** All tables of a run: one report, and one failure that names those that differ. */
export async function verifyAll(runs: readonly VerifyRun[]): Promise<void> {
  const results: Verified[] = []
  for (const run of runs) results.push(await verify(run))
  const [first] = runs
  if (!first) return
  await writeReport(first, results)
  const problems = results.flatMap(({ problem }) => problem ?? [])
  if (problems.length > 0) throw new UserError(`${problems.join(' ')} Set mode to "repair" to read the differing ranges again.`)
}

interface Verified {
  readonly tableId: string
  readonly comparison: Comparison
  readonly summary: Summary
  readonly result: 'equal' | 'different' | 'repaired'
  readonly problem: string | undefined
}

async function verify(run: VerifyRun): Promise<Verified> {
  const { database, row, here, tableId, log } = run
  keepState(run.dataDir)
  const { columns: found, primaryKey } = await readColumns(database, row)
  const table = await here.findTable(tableId)
  if (!table)
    throw new UserError(
      `The table ${tableId} does not exist in the project. Run the row that reads it first, or set verifyTable.`,
    )
  const missing = found.filter(({ name }) => !table.columns.some((column) => column.name === columnNameFrom(name)))
  const columns = found.filter((column) => !missing.includes(column))
  for (const { name } of missing) log.warning(`Column "${name}" is not in ${tableId}, so it is not compared.`)
  const compared: Compared = {
    ...{ database, source: row.source, here, table, columns, invalidAsNull: row.invalidValues === 'null' },
    key: primaryKey.map((name) => keyColumn(columns, name)),
    hereOnly: row.deletes === 'flag' ? `"${DELETED_FLAG.name}" is distinct from true` : undefined,
    changedColumns: columns.filter(({ name }) => row.incrementalColumns.includes(name)),
  }
  const { comparison, split } = await compare(compared)
  const { differences } = comparison
  const summary = summaryOf(comparison, isKeepingDeleted(row))
  for (const difference of differences.slice(0, LISTED_RANGES)) log.warning(`${tableId}: ${sentenceOf(difference, split)}`)
  if (differences.length > LISTED_RANGES)
    log.warning(
      `Not listed here: ${counted(differences.length - LISTED_RANGES, 'range')} of ${tableId} with differences; ${reportOf(tableId)} lists all.`,
    )
  if (summary.newer > 0)
    log.info(
      `${counted(summary.newer, 'row')} ${wasOrWere(summary.newer)} changed in the source since ${tableId} was read, and will be read by the next run.`,
    )
  if (summary.kept > 0)
    log.info(`Only in ${tableId}: ${counted(summary.kept, 'row')}; deleted rows are kept (deletes is "ignore").`)
  const sizes = `${counted(comparison.sourceRows, 'row')} in the source, ${comparison.hereRows} in ${tableId}, ${counted(comparison.ranges, 'range')}, ${counted(columns.length, 'column')}`
  const lacking =
    missing.length === 0 || run.mayLackColumns || row.newColumns === 'ignore'
      ? undefined
      : `${tableId} lacks columns of the source: ${missing.map(({ name }) => name).join(', ')}. Read the table again.`
  if (!summary.isDifferent) {
    if (!lacking) log.info(`Verified: ${tableId} is equal to its source (${sizes}).`)
    return { tableId, comparison, summary, result: lacking ? 'different' : 'equal', problem: lacking }
  }
  if (row.mode === 'verify') {
    const problem = `${tableId} differs from its source in ${counted(differences.length, 'range')}: ${countsOf(summary)} (${sizes}).`
    return { tableId, comparison, summary, result: 'different', problem: lacking ? `${problem} ${lacking}` : problem }
  }
  await repair(run, compared, comparison, split)
  return { tableId, comparison, summary, result: 'repaired', problem: lacking }
}

const isKeepingDeleted = ({ incremental, deletes }: RowSettings): boolean => incremental && deletes === 'ignore'

function keyColumn(columns: readonly SourceColumn[], name: string): SourceColumn {
  const column = columns.find((one) => one.name === name)
  if (!column) throw new UserError(`primaryKey names "${name}", which the table in the project does not have.`)
  return column
}

async function compare(compared: Compared): Promise<{ comparison: Comparison; split: SourceColumn | undefined }> {
  if (compared.key.length > 0) {
    const { search, split } = await searchOf(compared)
    return { comparison: await findDifferences(search), split }
  }
  const whole = async ({ dialect, relation, ask }: ReturnType<typeof sourceStatements>) => {
    const [[rows = '0', sum = '0'] = []] = await ask(
      `select count(*), ${dialect.total('hash')} from (select ${rowHash(dialect, compared.columns)} as hash from ${relation}) as all_rows`,
    )
    return { rows: Number(rows), sum: sum ?? '0' }
  }
  const [there, own] = await Promise.all([whole(sourceStatements(compared)), whole(hereStatements(compared))])
  const range = { from: undefined, to: undefined }
  const isSame = there.rows === own.rows && there.sum === own.sum
  const differences = isSame ? [] : [{ range, sourceRows: there.rows, hereRows: own.rows, keys: undefined }]
  return { comparison: { sourceRows: there.rows, hereRows: own.rows, ranges: 1, differences }, split: undefined }
}

interface Summary {
  readonly missing: number
  readonly extra: number
  readonly changed: number
  readonly newer: number
  /** Extra rows that the row keeps by its settings. */
  readonly kept: number
  /** Ranges with too many rows to list. */
  readonly uncounted: number
  readonly isDifferent: boolean
}

function summaryOf({ differences }: Comparison, keepsDeleted: boolean): Summary {
  const sum = (of: (difference: Difference) => number | undefined) =>
    differences.reduce((total, one) => total + (of(one) ?? 0), 0)
  const extra = sum(({ keys }) => keys?.extra.length)
  const counts = {
    missing: sum(({ keys }) => keys?.missing.length),
    extra: keepsDeleted ? 0 : extra,
    changed: sum(({ keys }) => keys?.changed.length),
    uncounted: differences.filter(({ keys }) => keys === undefined).length,
  }
  return {
    ...counts,
    kept: keepsDeleted ? extra : 0,
    newer: sum(({ keys }) => keys?.newer),
    isDifferent: Object.values(counts).some((count) => count > 0),
  }
}

const countsOf = ({ missing, extra, changed, uncounted }: Summary): string =>
  [
    `${counted(missing, 'row')} missing`,
    `${changed} with other values`,
    `${extra} not in the source`,
    ...(uncounted > 0 ? [`${counted(uncounted, 'range')} with too many different rows to count them`] : []),
  ].join(', ')

const rangeText = ({ from, to }: Difference['range'], split: SourceColumn | undefined): string => {
  if (split === undefined || (from === undefined && to === undefined)) return 'the whole table'
  if (from === undefined) return `${split.name} before ${to}`
  return to === undefined ? `${split.name} from ${from}` : `${split.name} from ${from}, before ${to}`
}

function sentenceOf({ range, sourceRows, hereRows, keys }: Difference, split: SourceColumn | undefined): string {
  const counts = `${rangeText(range, split)}: ${counted(sourceRows, 'row')} in the source, ${hereRows} here`
  if (!keys) return `${counts}.`
  const lists = Object.entries({ missing: keys.missing, 'other values': keys.changed, 'not in the source': keys.extra })
  const shown = lists
    .filter(([, list]) => list.length > 0)
    .map(([what, list]) => {
      const names = list.slice(0, LISTED_KEYS).map((key) => key.join('/').slice(0, 80))
      return `${what}: ${names.join(', ')}${list.length > LISTED_KEYS ? ` and ${list.length - LISTED_KEYS} more` : ''}`
    })
  return [counts, ...shown, ...(keys.newer > 0 ? [`changed since: ${keys.newer}`] : [])].join('; ')
}

const reportOf = (tableId: string): string => tableId.replace(/[^.]+$/, 'millrace_verification')

const REPORT: readonly OutputColumn[] = [
  ...[
    { name: 'verified_at', base: 'TIMESTAMP' as const },
    { name: 'table_id', base: 'STRING' as const },
  ],
  ...[
    { name: 'number', base: 'INTEGER' as const },
    { name: 'result', base: 'STRING' as const },
  ],
  ...['range_from', 'range_to', 'keys'].map((name) => ({ name, base: 'STRING' as const })),
  ...['rows_in_source', 'rows_here', 'missing', 'changed', 'extra', 'newer'].map((name) => ({ name, base: 'INTEGER' as const })),
]

/** One line for each table and one for each range that differs. Stored also when the run fails. */
async function writeReport({ dataDir, tableId: first }: VerifyRun, results: readonly Verified[]): Promise<void> {
  const report = await createOutputTable(dataDir, 'millrace_verification', REPORT, {
    ...{ primaryKey: ['verified_at', 'table_id', 'number'], incremental: true, always: true, destination: reportOf(first) },
  })
  const at = new Date().toISOString().replace('T', ' ').replace('Z', '')
  for (const { tableId, comparison, summary, result } of results) {
    const { sourceRows, hereRows, differences } = comparison
    const totals = [sourceRows, hereRows, summary.missing, summary.changed, summary.extra + summary.kept, summary.newer]
    await report.write([at, tableId, '0', result, null, null, null, ...totals.map(String)])
    for (const [index, { range, keys, ...rows }] of differences.entries()) {
      const lists = keys && [keys.missing, keys.changed, keys.extra]
      const names = lists ? JSON.stringify(lists.flat().slice(0, LISTED_KEYS * 4)) : null
      const counts = lists ? [...lists.map((list) => String(list.length)), String(keys.newer)] : [null, null, null, null]
      const ends = [range.from ?? null, range.to ?? null, names]
      const place = [at, tableId, String(index + 1), result]
      await report.write([...place, ...ends, String(rows.sourceRows), String(rows.hereRows), ...counts])
    }
  }
  await report.close()
}

/** Rows of the differing ranges, and before them the keys of those that leave the table. */
async function repair(
  run: VerifyRun,
  compared: Compared,
  { differences, hereRows }: Comparison,
  split: SourceColumn | undefined,
): Promise<void> {
  const { database, row, dataDir, tableId, log } = run
  if (!split) throw new UserError(`${tableId} has no primary key, so it cannot be repaired in parts. Run the row that reads it.`)
  const keepsDeleted = isKeepingDeleted(row)
  const removable = differences.reduce(
    (sum, { keys, hereRows: own, sourceRows }) => sum + (keys ? keys.extra.length : Math.max(0, own - sourceRows)),
    0,
  )
  if (!keepsDeleted) refuseMassDelete(tableId, removable, hereRows, row.deletesLimitPercent)
  const order = sourceStatements(compared).dialect.order(split)
  const { search } = await searchOf(compared)
  mkdirSync(join(dataDir, 'out', 'tables'), { recursive: true })
  const path = join(dataDir, 'out', 'tables', `millrace_repair_${row.outputTable}.csv`)
  const nullMarker = `\\N${randomBytes(3).toString('hex')}`
  const { columns, key } = compared
  const csv = await createCsvFile(path, nullMarker)
  let gone = 0
  for (const { range, keys, hereRows: own } of differences) {
    if (keepsDeleted) break
    if (!keys && own > MAX_REPLACED)
      throw new UserError(`More than ${MAX_REPLACED} rows of ${tableId} differ. Run the row that reads it instead.`)
    const leaving = keys ? keys.extra : (await search.here.rows(range)).map((one) => one.key)
    for (const values of leaving) await csv.write([...columns.map((column) => values[key.indexOf(column)] ?? null), 'true'])
    gone += leaving.length
  }
  await csv.close()
  const ranges = differences.filter(({ keys }) => !keys || keys.missing.length + keys.changed.length + keys.newer > 0)
  const where = ranges.map(({ range }) => rangeCondition(order, range)).join(' or ')
  const invalidAsNull = row.invalidValues === 'null'
  const request = { source: row.source, columns, increment: undefined, path, nullMarker, invalidAsNull }
  const rows = where === '' ? 0 : await database.read({ ...request, where, constants: ['false'], isAppended: true })
  const primaryKey = key.map(({ name }) => name)
  writeManifest(path, { columns, primaryKey, incremental: true, nullMarker, deletedColumn: DELETED_MARK, destination: tableId })
  log.info(
    `Repaired ${tableId}: ${counted(rows, 'row')} of ${counted(ranges.length, 'range')} read again, ${counted(gone, 'row')} replaced or removed.`,
  )
}

const MAX_REPLACED = 1_000_000
