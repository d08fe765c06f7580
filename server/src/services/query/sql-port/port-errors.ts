// Errors of the stack as PostgreSQL's, with their SQLSTATE: clients decide by it what they do next.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import { PlatformError } from '../../../kit/errors.ts'

const BY_CODE: Readonly<Record<string, string>> = {
  'sql.invalid': '42601',
  'sql.manyStatements': '42601',
  'sql.notAllowed': '25006',
  'sql.tooLong': '54000',
  'sql.tooManyTables': '54000',
  'sql.tooManyNames': '54000',
  'sql.diskFull': '53100',
  'stack.diskFull': '53100',
  'sql.tooMuch': '53200',
  'sql.timeout': '57014',
  'sql.cancelled': '57014',
  'sql.busy': '53300',
  'sql.workerDied': '57P02',
  'sql.sessionInUse': '55006',
  'sql.ambiguousTable': '42P09',
  'workspace.full': '53100',
}

/** What DuckDB's kinds of errors are to PostgreSQL; the first that fits. */
const BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [/^Parser Error/, '42601'],
  [/^Catalog Error: (Table|View) .*already exists/, '42P07'],
  [/^Catalog Error: (Table|View) /, '42P01'],
  [/^Catalog Error: .*[Ff]unction/, '42883'],
  [/^Catalog Error: Schema .*already exists/, '42P06'],
  [/^Catalog Error: .*already exists/, '42P07'],
  [/^Catalog Error: Type /, '42704'],
  [/^Catalog Error/, '42P01'],
  [/^Binder Error: .*(not found|does not have a column)/, '42703'],
  [/^Binder Error: (Ambiguous|.*ambiguous)/, '42702'],
  [/^Binder Error: No function matches/, '42883'],
  [/^Binder Error: .*GROUP BY/, '42803'],
  [/^Binder Error/, '42804'],
  [/^Conversion Error: .*out of range/, '22003'],
  [/^Conversion Error/, '22P02'],
  [/^Out of Range Error/, '22003'],
  [/^Constraint Error: .*(Duplicate key|unique|primary key)/i, '23505'],
  [/^Constraint Error: .*NOT NULL/i, '23502'],
  [/^Constraint Error/, '23000'],
  [/^TransactionContext Error/, '25000'],
  [/^Invalid Input Error/, '22023'],
  [/^Not implemented Error/, '0A000'],
]

const BY_KIND: Readonly<Record<string, string>> = {
  forbidden: '42501',
  unauthorized: '28000',
  'not-found': '42P01',
  busy: '53300',
}

/** An error of an edited text, with its place in the text of the client. */
export function placedIn(error: unknown, originalPosition: (at: number) => number): unknown {
  const at = error instanceof PlatformError ? error.params?.position : undefined
  if (!(error instanceof PlatformError) || typeof at !== 'number') return error
  const { code, details, params, cause } = error
  return new PlatformError(code, details, { cause, params: { ...params, position: originalPosition(at) } })
}

/** The position of an error: the engine has it in the message, PostgreSQL in a field, counted from the start of the text that was sent. */
const withoutPlace = (message: string): string => message.replace(/ \(line \d+, character \d+\)$/, '')

/** `onBug` receives unexpected errors; the client gets a general message for them. */
export function wireErrorOf(error: unknown, onBug: (error: unknown) => void): WireError {
  if (error instanceof WireError) return error
  if (!(error instanceof PlatformError) || error.kind === 'bug') {
    onBug(error)
    return new WireError('XX000', 'An internal error occurred; see the log of the stack.')
  }
  const position = error.params?.position
  if (typeof position !== 'number') return new WireError(codeOf(error), error.message)
  return new WireError(codeOf(error), withoutPlace(error.message), { position: position + 1 })
}

function codeOf(error: PlatformError): string {
  if (error.code === 'sql.failed') return BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1] ?? '42000'
  return BY_CODE[error.code] ?? BY_KIND[error.kind] ?? '58000'
}
