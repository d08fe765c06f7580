// The plan of the driver of a Spark run, and the meaning of its end. Pure.

import type { CauseKind, FailureFacts } from '../../../../../contract/failure-causes.ts'
import { splitStatements } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RunScope, SparkRun, SparkScriptPart, SqlInput } from '../../../model/run-ports.ts'
import type { SqlColumnMapping } from '../../../model/sql-columns.ts'

export interface PlannedInput {
  readonly name: string
  /** The catalogue of its branch, as Spark names it. */
  readonly catalogue: string
  /** Levels of its name in the catalogue. */
  readonly table: readonly string[]
  /** Select list; null: all columns. */
  readonly columns: readonly string[] | null
  readonly where: string | null
  readonly limit: number | null
  readonly isCopied: boolean
}

export const CATALOGUE = 'millrace'
/** The namespace of the run. */
const RUN = 'run'

/** Of another branch, where an input comes from one. */
const catalogueOfBranch = (branchId: number): string => `${CATALOGUE}_${branchId}`

/** `part`: the table of the run that holds its rows already, where the files of the table itself show more than the input. */
export function planInput({ scope, inputs }: SparkRun, input: SqlInput, part: string | undefined): PlannedInput {
  const { query, tableId, columns, name, isCopied } = input
  if (inputs.filter((one) => one.name.toLowerCase() === name.toLowerCase()).length > 1)
    throw refused(`Input table "${name}"`, 'another input has the same name; names are not case-sensitive in Spark', {
      place: { table: name },
    })
  const mapped = columns?.map(sparkColumn)
  if (part !== undefined)
    return { name, isCopied, catalogue: CATALOGUE, table: [RUN, part], columns: mapped ?? null, where: null, limit: null }
  return {
    name,
    isCopied,
    catalogue: input.scope.branchId === scope.branchId ? CATALOGUE : catalogueOfBranch(input.scope.branchId),
    table: tableId.split('.'),
    columns: mapped ?? query.columns?.map(quoted) ?? null,
    where: query.where ? condition(query.where) : null,
    limit: query.limit ?? null,
  }
}

/** Names of the catalogues of a run and the warehouse that each requests. */
export function planCatalogues({ scope, inputs }: SparkRun): Readonly<Record<string, string>> {
  const warehouseOf = ({ isDefaultBranch, branchId }: RunScope) => (isDefaultBranch ? '' : String(branchId))
  const others = inputs.map((input) => input.scope).filter(({ branchId }) => branchId !== scope.branchId)
  return Object.fromEntries([
    [CATALOGUE, warehouseOf(scope)],
    ...others.map((other) => [catalogueOfBranch(other.branchId), warehouseOf(other)]),
  ])
}

function condition({ column, operator, values }: NonNullable<SqlInput['query']['where']>): string {
  const list = values.map(literal).join(', ')
  if (list === '') return operator === 'eq' ? 'false' : 'true'
  return `coalesce(CAST(${quoted(column)} AS STRING), '') ${operator === 'eq' ? '' : 'NOT '}IN (${list})`
}

/** Types of the mapping are those of DuckDB. */
const TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'STRING',
  TEXT: 'STRING',
  JSON: 'STRING',
  HUGEINT: 'DECIMAL(38,0)',
  INTEGER: 'INT',
  REAL: 'FLOAT',
  TIMESTAMP: 'TIMESTAMP_NTZ',
  DATETIME: 'TIMESTAMP_NTZ',
  TIMESTAMPTZ: 'TIMESTAMP_LTZ',
  BLOB: 'BINARY',
}

function sparkColumn({ source, destination, type, emptyIsNull }: SqlColumnMapping): string {
  const value = emptyIsNull ? `nullif(CAST(${quoted(source)} AS STRING), '')` : quoted(source)
  return `${type === undefined ? value : `CAST(${value} AS ${TYPES[type] ?? type})`} AS ${quoted(destination)}`
}

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``
const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** SQL statement by statement, Python as one program for each code. */
export async function planPart({ block, code, script, pointer, language }: SparkScriptPart) {
  if (language === 'python') return { block, code, pointer, language, statements: [script.join('\n')] }
  try {
    const statements = (await Array.fromAsync(script, splitStatements)).flat()
    return { block, code, pointer, language, statements }
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    throw refused(`Block "${block}", code "${code}"`, error.message, { pointer, place: { block, code }, kind: 'sql.syntax' })
  }
}

const refused = (place: string, reason: string, facts: FailureFacts) =>
  new PlatformError('sql.scriptFailed', { place, reason: `${reason.replace(/\.$/, '')}.` }, { facts })

/** As the driver writes it. */
export interface DriverEnd {
  readonly problem?: {
    readonly kind: string
    readonly message: string
    readonly block?: string
    readonly code?: string
    readonly statement?: number
    readonly table?: string
    readonly pointer?: string
  }
}

const SQL_KINDS: readonly CauseKind[] = ['sql.syntax', 'sql.unknownTable', 'sql.unknownColumn', 'sql.invalidValue', 'sql.failed']

/** Undefined: all went well. */
export function failureOfEnd({ problem }: DriverEnd): PlatformError | undefined {
  if (!problem) return undefined
  const { kind, message, block, code, statement, table, pointer } = problem
  const text = message.slice(0, LONGEST_MESSAGE)
  if (kind === 'setup') return new PlatformError('spark.notReady', { reason: text })
  if (kind === 'iceberg') return new PlatformError('spark.noIceberg', { reason: text })
  if (kind === 'cluster') return new PlatformError('spark.clusterFailed', { reason: text })
  const known = SQL_KINDS.find((one) => one === kind)
  const place =
    block === undefined ? (table === undefined ? {} : { table }) : { block, code: code ?? '', ...(statement && { statement }) }
  const facts = { ...(known && { kind: known }), ...(pointer !== undefined && { pointer }), place }
  return new PlatformError('spark.scriptFailed', { message: text }, { facts })
}

const LONGEST_MESSAGE = 4_000
