// Parameters of a statement, `$1`, `$2` ...: their positions, and the edits that replace them with literals.

import { elementsOf } from '../../../engines/pg-wire/values.ts'
import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import { MAX_SQL_BYTES, type Statement } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import { literalOf, literalsOf } from './port-types.ts'
import type { TextEdit } from './text-edits.ts'

interface Parameter {
  /** The token of its `$`. */
  readonly token: number
  readonly number: number
  /** `= ANY ($1)` or `$1::INTEGER[]` */
  readonly isList: boolean
  /** `= ANY ($1)`, `<> ALL ($1)`: the token of its comparison, and what is the same for single values. */
  readonly membership?: { readonly from: number; readonly operator: 'IN' | 'NOT IN' } | undefined
  /** ANY or ALL and nothing but the parameter in its brackets. */
  readonly isWhole: boolean
}

/** As many as the protocol can number, each used once. */
const MAX_PARAMETERS = 65_535

export async function parameterCount(statement: Statement): Promise<number> {
  const parameters = await parametersIn(statement)
  return parameters.reduce((max, { number }) => Math.max(max, number), 0)
}

/** Numbers of the parameters whose position takes a list of an unknown type. */
export async function untypedLists(statement: Statement): Promise<ReadonlySet<number>> {
  const parameters = await parametersIn(statement)
  return new Set(parameters.flatMap(({ number, isWhole }) => (isWhole ? [number] : [])))
}

/** Types that casts give to parameters, `$1::bigint[]`, by their numbers; only names of one word. */
export async function castTypes(statement: Statement): Promise<ReadonlyMap<number, string>> {
  const { tokens } = statement
  const found = new Map<number, string>()
  for (const { token: i, number, isList } of await parametersIn(statement)) {
    const isCast = tokens.isSymbol(i + 2, ':') && tokens.isSymbol(i + 3, ':') && tokens.kind(i + 4) === 'word'
    if (isCast && !LONGER_TYPES.has(tokens.lower(i + 5))) found.set(number, `${tokens.raw(i + 4)}${isList ? '[]' : ''}`)
  }
  return found
}

/** `double precision`, `timestamp with time zone`. */
const LONGER_TYPES = new Set(['precision', 'with', 'without', 'varying'])

/** Replaces parameters by literals. `type`: its object id, 0 if unknown. */
export async function literalEdits(
  statement: Statement,
  values: readonly (string | null)[],
  type: (number: number) => number,
): Promise<TextEdit[]> {
  const parameters = await parametersIn(statement)
  const edits: TextEdit[] = []
  const count = lengthCounter()
  const editOf = (parameter: Parameter): TextEdit => {
    const value = values[parameter.number - 1] ?? null
    const oid = type(parameter.number)
    const list = parameter.membership && value !== null ? elementsOf(value) : undefined
    // DuckDB compares a column with single literals of any type, and with a list of its own type only.
    if (parameter.membership && list && list.length > 0)
      return spanned(
        statement,
        parameter.membership.from,
        parameter.token + 2,
        ` ${parameter.membership.operator} (${literalsOf(list, oid).join(', ')}) `,
      )
    const literal = list && oid === 0 ? '[]' : literalOf(value, oid, parameter.isList)
    return spanned(statement, parameter.token, parameter.token + 1, ` ${literal} `)
  }
  await eachInTurns(parameters.length, (i) => {
    const parameter = parameters[i]
    if (!parameter) return
    const edit = editOf(parameter)
    count(edit.text)
    edits.push(edit)
  })
  return edits
}

/** Puts expressions in the place of parameters, as EXECUTE gives them. */
export async function expressionEdits(statement: Statement, expressions: readonly string[]): Promise<TextEdit[]> {
  const parameters = await parametersIn(statement)
  const count = lengthCounter()
  return parameters.map(({ token, number }) => {
    const text = ` (${expressions[number - 1] ?? 'NULL'}) `
    count(text)
    return spanned(statement, token, token + 1, text)
  })
}

/** A long value may occur many times: no text is built that would be refused afterwards. */
function lengthCounter(): (text: string) => void {
  let length = 0
  return (text) => {
    length += text.length
    if (length > MAX_SQL_BYTES) throw new PlatformError('sql.tooLong', { limit: MAX_SQL_BYTES })
  }
}

/** `id = ANY ($1)` as `id = ($1)`: DuckDB reports the type of a single value. */
export async function withoutAny(statement: Statement): Promise<TextEdit[]> {
  const parameters = await parametersIn(statement)
  return parameters.flatMap(({ token, isWhole }) => (isWhole ? [spanned(statement, token - 2, token - 2, '')] : []))
}

const spanned = ({ tokens, offset }: Statement, from: number, to: number, text: string): TextEdit => ({
  start: tokens.start(from) - offset,
  end: tokens.end(to) - offset,
  text,
})

async function parametersIn(statement: Statement): Promise<Parameter[]> {
  const { tokens } = statement
  const found: Parameter[] = []
  await eachInTurns(tokens.length - 1, (i) => {
    if (!tokens.isSymbol(i, '$') || tokens.kind(i + 1) !== 'symbol' || tokens.start(i + 1) !== tokens.end(i)) return
    const number = Number(tokens.raw(i + 1))
    if (!Number.isInteger(number) || number <= 0) return
    if (number > MAX_PARAMETERS || found.length === MAX_PARAMETERS) throw tooManyParameters()
    const isCast =
      tokens.isSymbol(i + 2, ':') && tokens.isSymbol(i + 3, ':') && tokens.isSymbol(i + 5, '[') && tokens.isSymbol(i + 6, ']')
    const isQuantified = tokens.isSymbol(i - 1, '(') && ['any', 'all'].includes(tokens.lower(i - 2))
    const isWhole = isQuantified && tokens.isSymbol(i + 2, ')')
    const membership = isWhole ? membershipBefore(statement, i - 2) : undefined
    found.push({ token: i, number, isList: isCast || isQuantified, isWhole, membership })
  })
  return found
}

const tooManyParameters = () =>
  new WireError('54000', `A statement has at most ${MAX_PARAMETERS} parameters, each use counted. Send the values in parts.`)

/** The comparison before ANY or ALL, where it means IN or NOT IN. */
export function membershipBefore({ tokens }: Statement, at: number): Parameter['membership'] {
  const isPair = tokens.end(at - 2) === tokens.start(at - 1)
  const before = isPair && tokens.kind(at - 2) === 'symbol' ? tokens.text(at - 2) : ''
  const sign = `${/^[<>!=]$/.test(before) ? before : ''}${tokens.text(at - 1)}`
  const word = tokens.lower(at)
  if (sign === '=' && word === 'any') return { from: at - 1, operator: 'IN' }
  if ((sign === '<>' || sign === '!=') && word === 'all') return { from: at - 2, operator: 'NOT IN' }
  return undefined
}
