// The statements of a script that is tried: each runs to its end within the time of all, and the first rows of what it made are kept for
// the answer. What is kept has a size: beyond it rows and columns are left out, which the result shows.

import type { SqlColumn, SqlSession, SqlValue } from '../../../engines/sql/sql-engine.ts'
import { isQuery, type Statement } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { SqlScriptPart, SqlTryStep, SqlTryValue } from '../../../model/run-ports.ts'
import { identifier } from '../../../model/sql-columns.ts'
import { changeOf } from './script-columns.ts'

/** Of all values and names of the answer together. */
const MAX_CHARACTERS = 2_000_000
const MAX_VALUE = 500
const MAX_TEXT = 2_000

interface Limits {
  /** Of all statements together. */
  readonly timeoutMs: number
  readonly shownRows: number
  readonly signal: AbortSignal
}

interface Rows {
  readonly columns: readonly SqlColumn[]
  readonly sample: SqlTryStep['sample']
  readonly isCut: boolean
  /** Null: more than are shown. */
  readonly rows: number | null
}

const NONE: Rows = { columns: [], sample: [], isCut: false, rows: null }

export function createStatementSteps(session: SqlSession, { timeoutMs, shownRows, signal }: Limits) {
  const startedAt = performance.now()
  const all: SqlTryStep[] = []
  let charactersLeft = MAX_CHARACTERS
  const ms = () => Math.round(performance.now() - startedAt)

  /** Runs `work` with the time that is left. */
  async function inTime<T>(
    work: (given: { readonly signal: AbortSignal; readonly timeoutMs: number }) => Promise<T>,
  ): Promise<T> {
    const late = () => new PlatformError('sql.tryTimeout', { seconds: Math.round(timeoutMs / 1000) })
    const left = timeoutMs - ms()
    if (left <= 0) throw late()
    return work({ signal, timeoutMs: left }).catch((error: unknown) => {
      throw error instanceof PlatformError && error.code === 'sql.timeout' ? late() : error
    })
  }

  const countOf = (table: string): Promise<number> =>
    inTime(async (given) => {
      const { batches } = await session.query(`SELECT count(*) FROM ${identifier(table)}`, given)
      return Number((await Array.fromAsync(batches)).flat()[0]?.[0] ?? 0)
    })

  /** The first rows of a query; one more than is shown, to detect whether there are more. */
  const firstRows = (sql: string): Promise<Rows> =>
    inTime(async (given) => {
      const { columns, batches } = await session.query(sql, { ...given, limit: shownRows + 1 })
      return shown(columns, (await Array.fromAsync(batches)).flat())
    })

  function shown(columns: readonly SqlColumn[], found: readonly (readonly SqlValue[])[]): Rows {
    const names = columns.reduce((sum, { name, type }) => sum + name.length + type.length, 0)
    const rows = found.length > shownRows ? null : found.length
    if (names > charactersLeft) return { columns: [], sample: [], isCut: true, rows }
    charactersLeft -= names
    let isCut = rows === null
    const sample: SqlTryValue[][] = []
    for (const row of found.slice(0, shownRows)) {
      const values = row.map(shownValue)
      isCut ||= row.some((value) => typeof value === 'string' && value.length > MAX_VALUE)
      const size = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
      if (size > charactersLeft) return { columns, sample, isCut: true, rows }
      charactersLeft -= size
      sample.push(values)
    }
    return { columns, sample, isCut, rows }
  }

  async function run({ block, code }: SqlScriptPart, statement: Statement, number: number, pointer: string): Promise<void> {
    const place = { block, code, statement: number, pointer, sql: statement.text.slice(0, MAX_TEXT) }
    const before = performance.now()
    const taken = () => Math.round((performance.now() - before) * 10) / 10
    if (isQuery(statement)) {
      const found = await firstRows(statement.text)
      all.push({ ...place, ...found, table: null, ms: taken(), changedRows: null, problem: null })
      return
    }
    const { changedRows } = await inTime((given) => session.execute(statement.text, given))
    const end = { ms: taken(), changedRows }
    const change = await changeOf(statement)
    const table = change && 'table' in change && change.kind !== 'drop' ? change.table : null
    const isView = change?.kind === 'create' && !change.isTable
    all.push({ ...place, ...end, table, ...(await resultOf(table, isView)) })
  }

  /** A view is not counted: that would compute all of it. */
  async function resultOf(table: string | null, isView: boolean): Promise<Rows & Pick<SqlTryStep, 'problem'>> {
    if (table === null) return { ...NONE, problem: null }
    try {
      const found = await firstRows(`FROM ${identifier(table)}`)
      return { ...found, rows: isView ? found.rows : await countOf(table), problem: null }
    } catch (error) {
      if (!(error instanceof PlatformError) || (error.kind !== 'invalid' && error.code !== 'sql.tooMuch')) throw error
      return { ...NONE, problem: error.message }
    }
  }

  return { run, countOf, all, ms }
}

function shownValue(value: SqlValue): SqlTryValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return typeof value === 'string' ? value.slice(0, MAX_VALUE) : value
}
