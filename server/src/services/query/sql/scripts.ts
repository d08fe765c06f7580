// SQL scripts of transformations: a database that lives as long as the run, the inputs as views, the statements one after the other, the
// results as CSV files. Tables of the project are only read here; what becomes of the results is the runner's.

import type { CauseKind, FailureFacts } from '../../../../../contract/failure-causes.ts'
import { saveText } from '../../../engines/sql/database-files.ts'
import { HISTORY_SCHEMA, readHistoryName } from '../../../engines/sql/history.ts'
import type { SessionOwner, SqlEngine, SqlSession, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { type Statement, splitStatements, statementsOf } from '../../../engines/sql/statements.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { nextTurn } from '../../../kit/next-turn.ts'
import type {
  RunScope,
  RunSql,
  SqlDryRun,
  SqlDryRunColumn,
  SqlInput,
  SqlRun,
  SqlRunEnd,
  SqlScriptPart,
  SqlTry,
  SqlTryEnd,
  SqlTryFailure,
} from '../../../model/run-ports.ts'
import type { Scope } from '../../../model/scope.ts'
import { identifier, sqlColumn } from '../../../model/sql-columns.ts'
import { createScriptColumns, type ScriptColumns } from './script-columns.ts'
import { createStatementSteps } from './statement-steps.ts'
import { columnsOf, tryStatement } from './statement-trial.ts'

export interface ScriptsDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  readonly openPart: (scope: Scope, input: SqlInput) => Promise<SqlTable>
  /** A session of a run has ended. */
  readonly onSession: (projectId: number, runId: string, ms: number) => void
  /** Most memory of a session. */
  readonly memoryMb: number
}

/** The schema under which a script's views find their parts; no bucket has this name. */
const PARTS = 'sys.input'

export function createScripts({ engine, findTable, openPart, memoryMb, onSession }: ScriptsDeps): RunSql {
  /** A session with the inputs of the script as views or tables. */
  async function open(
    request: SqlRun & Partial<Pick<SqlTry, 'sampleRows'>>,
    signal: AbortSignal,
    named = new Set<string>(),
    owner?: SessionOwner,
  ): Promise<SqlSession> {
    const { inputs, database, threads, timeoutMs, sampleRows } = request
    const find = async (schema: string, name: string) => {
      const input = schema === PARTS ? inputs[Number(name)] : undefined
      if (input) return openPart(scopeOf(input.scope), input)
      const table = await findTable(scopeOf(request.scope), schema, name)
      if (table) named.add((schema === HISTORY_SCHEMA && readHistoryName(name)?.tableId) || `${schema}.${name}`)
      return table && sampleRows !== undefined ? sampled(table, sampleRows) : table
    }
    return engine.open({
      mode: 'write',
      database,
      findTable: find,
      ...defined({ owner }),
      limits: { memoryMb: Math.max(384, Math.min(request.memoryMb, memoryMb)), threads, timeoutMs },
      signal,
      onClosed: (ms) => onSession(request.scope.projectId, request.scope.runId, ms),
    })
  }

  async function run(request: SqlRun, signal: AbortSignal): Promise<SqlRunEnd> {
    const named = new Set<string>()
    await using session = await open(request, signal, named)
    const columns = createScriptColumns(session)
    for (const [i, input] of request.inputs.entries()) await show(session, input, i, signal, columns)
    const total = await countStatements(request.parts)
    let done = 0
    for (const part of request.parts) {
      request.say(`Running block "${part.block}", code "${part.code}".`)
      await eachStatement(part, async (statement) => {
        await session.execute(statement.text, { signal })
        await columns.follow(statement)
        request.onStatement?.(++done, Math.max(done, total))
      })
    }
    for (const output of request.outputs) await save(session, output, signal)
    const known = request.outputs.flatMap((output) => {
      const found = columns.of(output.table)
      return found ? [[output.table, stored(output, found, ({ column }) => column)] as const] : []
    })
    const types: Record<string, readonly SqlDryRunColumn[]> = {}
    if (request.withTypes) for (const { table } of request.outputs) types[table] = await columnsOf(session, table)
    return { namedTables: [...named], columns: Object.fromEntries(known), types }
  }

  async function dryRun(request: SqlRun, signal: AbortSignal): Promise<SqlDryRun> {
    await using session = await open(request, signal)
    const columns = createScriptColumns(session)
    const inputs: SqlDryRun['inputs'][number][] = []
    for (const [i, input] of request.inputs.entries()) {
      await show(session, { ...input, isEmpty: true }, i, signal, columns)
      inputs.push({ name: input.name, tableId: input.tableId, columns: await columnsOf(session, input.name) })
    }
    const statements: SqlDryRun['statements'][number][] = []
    for (const part of request.parts)
      await eachStatement(part, async (statement, number) => {
        const tried = await tryStatement(session, statement, signal)
        await columns.follow(statement)
        statements.push({ block: part.block, code: part.code, statement: number, sql: statement.text, ...tried })
      })
    const outputs: SqlDryRun['outputs'][number][] = []
    for (const output of request.outputs) {
      const { table, columns: all } = await outputOf(session, output.table, columns)
      outputs.push({ table, columns: stored(output, all, ({ name }) => name) })
    }
    return { inputs, statements, outputs }
  }

  /** A statement that fails ends the trial and is part of the answer, with what ran before it. */
  async function tryRun(request: SqlTry, signal: AbortSignal): Promise<SqlTryEnd> {
    const count = await countStatements(request.parts)
    if (count > MAX_TRIED) throw new PlatformError('sql.tooManyStatements', { count, limit: MAX_TRIED })
    await using session = await open(request, signal, undefined, request.scope.actor)
    const steps = createStatementSteps(session, { ...request, signal })
    const columns = createScriptColumns(session)
    const inputs: SqlTryEnd['inputs'][number][] = []
    const outputs: SqlTryEnd['outputs'][number][] = []
    let failure: SqlTryFailure | null = null
    try {
      for (const [i, input] of request.inputs.entries()) {
        await show(session, input, i, signal, columns)
        inputs.push({ name: input.name, tableId: input.tableId, rows: await steps.countOf(input.name) })
      }
      for (const part of request.parts)
        await eachStatement(part, (statement, number, pointer) => steps.run(part, statement, number, pointer))
      for (const { table } of request.outputs)
        outputs.push({ table, rows: await steps.countOf(table).catch((error: unknown) => nullIfInvalid(error)) })
    } catch (error) {
      failure = failureOf(error)
    }
    return { inputs, steps: steps.all, outputs, failure, ms: steps.ms() }
  }
  return { run, dryRun, tryRun }
}

/** So many statements are tried at once; each is a line of the answer. */
const MAX_TRIED = 500

/** The first rows, in the order in which they are stored. */
const sampled = ({ version, keys, select }: SqlTable, rows: number): SqlTable => ({
  version: `${version} ${rows}`,
  keys,
  select: (local) => `SELECT * FROM (${select(local)}) LIMIT ${rows}`,
})

/** What the script itself did wrong; throws what is not its fault. */
function failureOf(error: unknown): SqlTryFailure {
  if (!(error instanceof PlatformError) || error.code !== 'sql.scriptFailed') throw error
  const { kind, pointer, place } = error.facts ?? {}
  return {
    message: error.message,
    kind: kind ?? null,
    pointer: pointer ?? null,
    block: place?.block ?? null,
    code: place?.code ?? null,
    statement: place?.statement ?? null,
    line: place?.line ?? null,
    character: place?.character ?? null,
  }
}

/** A result that was not made: a part of the script was tried, or its name is wrong. */
function nullIfInvalid(error: unknown): null {
  if (error instanceof PlatformError && error.kind === 'invalid') return null
  throw error
}

async function outputOf(session: SqlSession, table: string, columns: ScriptColumns): Promise<SqlDryRun['outputs'][number]> {
  const shown = await columnsOf(session, table).catch((error: unknown) => {
    throw named(error, ...outputPlace(table))
  })
  const known = columns.of(table)
  return { table, columns: shown.map((column, i) => ({ ...column, from: known?.[i]?.from ?? null })) }
}

const scopeOf = ({ actor, branchId, isDefaultBranch }: RunScope): Scope => ({
  actor,
  branch: { id: branchId, isDefault: isDefaultBranch },
})

/** A view reads only what the script queries; a table can be changed by the script. */
async function show(
  session: SqlSession,
  { name, tableId, columns: mapped, isCopied, isEmpty = false }: SqlInput & { readonly isEmpty?: boolean },
  i: number,
  signal: AbortSignal,
  columns: ScriptColumns,
): Promise<void> {
  const list = mapped ? mapped.map(sqlColumn).join(', ') : '*'
  const kind = isCopied ? 'TABLE' : 'VIEW'
  const select = `SELECT ${list} FROM ${identifier(PARTS)}.${identifier(String(i))}${isCopied && isEmpty ? ' WITH NO DATA' : ''}`
  const sourceOf = (column: string) => mapped?.find(({ destination }) => destination === column)?.source ?? column
  try {
    await session.execute(`CREATE ${kind} ${identifier(name)} AS ${select}`, { signal })
    await columns.addInput(name, tableId, sourceOf)
  } catch (error) {
    throw named(error, `Input table "${name}"`, { pointer: `/storage/input/tables/${i}`, place: { table: name } })
  }
}

/** A text that cannot be split is refused when its turn comes. */
async function countStatements(parts: readonly SqlScriptPart[]): Promise<number> {
  let count = 0
  for (const text of parts.flatMap(({ script }) => script)) {
    await nextTurn() // a configuration may hold many megabytes of them
    try {
      count += (await splitStatements(text)).length
    } catch {
      return 0
    }
  }
  return count
}

/** Runs `work` for the statements of a code, in order. What it throws is reported with its place. */
async function eachStatement(
  { block, code, script, pointer }: SqlScriptPart,
  work: (statement: Statement, number: number, pointer: string) => Promise<void>,
): Promise<void> {
  let number = 0
  for (const [at, text] of script.entries())
    try {
      for await (const statement of statementsOf(text)) await work(statement, ++number, `${pointer}/${at}`)
    } catch (error) {
      const facts = { pointer: `${pointer}/${at}`, place: { block, code, statement: number } }
      throw named(error, `Block "${block}", code "${code}", statement ${number}`, facts)
    }
}

async function save(
  session: SqlSession,
  { table, path, columns }: SqlRun['outputs'][number],
  signal: AbortSignal,
): Promise<void> {
  const list = columns?.map(identifier).join(', ') ?? '*'
  try {
    const { bytes } = await session.copy(`SELECT ${list} FROM ${identifier(table)}`, 'csv', { signal })
    await saveText(path, bytes)
  } catch (error) {
    throw named(error, ...outputPlace(table))
  }
}

/** Those that the mapping names, in its order. */
function stored<T>({ columns }: SqlRun['outputs'][number], all: readonly T[], nameOf: (column: T) => string): readonly T[] {
  const named = (name: string) => all.find((one) => nameOf(one).toLowerCase() === name.toLowerCase()) ?? []
  return columns?.flatMap(named) ?? all
}

const outputPlace = (table: string): [string, FailureFacts] => [`Output table "${table}"`, { place: { table } }]

/** Which part of the script it was. What the stack itself cannot do keeps its own name. */
function named(error: unknown, place: string, facts: FailureFacts): unknown {
  if (
    !(error instanceof PlatformError) ||
    (error.kind !== 'invalid' && error.kind !== 'unprocessable' && error.kind !== 'too-large')
  )
    return error
  return new PlatformError(
    'sql.scriptFailed',
    { place, reason: error.message },
    { cause: error, facts: withCause(facts, error), params: { ...error.params, ...placeOf(facts) } },
  )
}

/** For editors: which text of the configuration, and which statement of its code. */
const placeOf = ({ pointer, place }: FailureFacts) => defined({ pointer, statement: place?.statement })

/** Messages of DuckDB, by their first words. */
const KINDS: readonly (readonly [RegExp, CauseKind])[] = [
  [/^(?:Parser|Syntax) Error/i, 'sql.syntax'],
  [/^Catalog Error: Table/i, 'sql.unknownTable'],
  [/^Binder Error: .*(?:column|not found in FROM clause)/i, 'sql.unknownColumn'],
  [/^(?:Conversion|Out of Range|Invalid Input) Error/i, 'sql.invalidValue'],
]

function withCause(facts: FailureFacts, { code, message, params }: PlatformError): FailureFacts {
  const kind =
    code === 'sql.failed'
      ? (KINDS.find(([words]) => words.test(message))?.[1] ?? 'sql.failed')
      : code === 'sql.timeout' || code === 'sql.tryTimeout' || code === 'sql.tooMuch'
        ? 'sql.tooMuch'
        : 'sql.syntax'
  const { line, column } = params ?? {}
  const position = typeof line === 'number' && typeof column === 'number' ? { line, character: column } : {}
  return { ...facts, kind, place: { ...facts.place, ...position } }
}
