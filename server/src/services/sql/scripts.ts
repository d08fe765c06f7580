// SQL scripts of transformations: a database that lives as long as the run, the inputs as views, the statements one after the other, the
// results as CSV files. Tables of the project are only read here; what becomes of the results is the runner's.

import type { CauseKind, FailureFacts } from '../../../../contract/failure-causes.ts'
import { saveText } from '../../engines/sql/database-files.ts'
import type { SqlEngine, SqlSession, SqlTable } from '../../engines/sql/sql-engine.ts'
import { statementsOf } from '../../engines/sql/statements.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { RunScope, RunSql, SqlInput, SqlRun, SqlScriptPart } from '../../model/run-ports.ts'
import type { Scope } from '../../model/scope.ts'
import { identifier, sqlColumn } from '../../model/sql-columns.ts'

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
  async function run(request: SqlRun, signal: AbortSignal): Promise<readonly string[]> {
    const { inputs, parts, outputs, database } = request
    const named = new Set<string>()
    const find = async (schema: string, name: string) => {
      const input = schema === PARTS ? inputs[Number(name)] : undefined
      if (input) return openPart(scopeOf(input.scope), input)
      const table = await findTable(scopeOf(request.scope), schema, name)
      if (table) named.add(`${schema}.${name}`)
      return table
    }
    await using session = await engine.open({
      mode: 'write',
      database,
      findTable: find,
      limits: { memoryMb: Math.max(384, Math.min(request.memoryMb, memoryMb)), timeoutMs: request.timeoutMs },
      signal,
      onClosed: (ms) => onSession(request.scope.projectId, request.scope.runId, ms),
    })
    for (const [i, input] of inputs.entries()) await show(session, input, i, signal)
    const total = countStatements(parts)
    let done = 0
    const onStatement = () => request.onStatement?.(++done, Math.max(done, total))
    for (const part of parts) await runPart(session, part, { ...request, onStatement }, signal)
    for (const { table, path } of outputs) await save(session, table, path, signal)
    return [...named]
  }
  return { run }
}

const scopeOf = ({ actor, branchId, isDefaultBranch }: RunScope): Scope => ({
  actor,
  branch: { id: branchId, isDefault: isDefaultBranch },
})

/** A view reads what the script asks of it; a table can be changed by the script. */
async function show(session: SqlSession, { name, columns, isCopied }: SqlInput, i: number, signal: AbortSignal): Promise<void> {
  const list = columns ? columns.map(sqlColumn).join(', ') : '*'
  const kind = isCopied ? 'TABLE' : 'VIEW'
  await session
    .execute(`CREATE ${kind} ${identifier(name)} AS SELECT ${list} FROM ${identifier(PARTS)}.${identifier(String(i))}`, {
      signal,
    })
    .catch((error: unknown) => {
      throw named(error, `Input table "${name}"`, { pointer: `/storage/input/tables/${i}`, place: { table: name } })
    })
}

/** A text that cannot be split is refused when its turn comes. */
function countStatements(parts: readonly SqlScriptPart[]): number {
  try {
    return parts.flatMap(({ script }) => script).reduce((count, text) => count + statementsOf(text).length, 0)
  } catch {
    return 0
  }
}

async function runPart(
  session: SqlSession,
  { block, code, script, pointer }: SqlScriptPart,
  request: Pick<SqlRun, 'say'> & { onStatement(): void },
  signal: AbortSignal,
): Promise<void> {
  request.say(`Running block "${block}", code "${code}".`)
  let number = 0
  for (const [at, text] of script.entries()) {
    const place = () => `Block "${block}", code "${code}", statement ${number}`
    const facts = () => ({ pointer: `${pointer}/${at}`, place: { block, code, statement: number } })
    try {
      for (const statement of statementsOf(text)) {
        number++
        await session.execute(statement.text, { signal })
        request.onStatement()
      }
    } catch (error) {
      throw named(error, place(), facts())
    }
  }
}

async function save(session: SqlSession, table: string, path: string, signal: AbortSignal): Promise<void> {
  try {
    const { bytes } = await session.copy(`FROM ${identifier(table)}`, 'csv', { signal })
    await saveText(path, bytes)
  } catch (error) {
    throw named(error, `Output table "${table}"`, { place: { table } })
  }
}

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
    { cause: error, facts: withCause(facts, error), ...(error.params && { params: error.params }) },
  )
}

/** What DuckDB says, by the words it begins with. */
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
      : code === 'sql.timeout' || code === 'sql.tooMuch'
        ? 'sql.tooMuch'
        : 'sql.syntax'
  const { line, column } = params ?? {}
  const position = typeof line === 'number' && typeof column === 'number' ? { line, character: column } : {}
  return { ...facts, kind, place: { ...facts.place, ...position } }
}
