// Names that are safe everywhere: what a display name or a column name becomes, and what is wrong with one (spec storage 2.12).

import { type FieldError, PlatformError } from '../../kit/errors.ts'

const MAX_DISPLAY_NAME = 96
const MAX_COLUMN_NAME = 64
const MAX_COLUMNS = 10_000

/** Letters lose their accents, everything that is no letter, digit or one of `kept` becomes `joint`; none at either end. */
function webalize(text: string, joint: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, joint)
  const [start, end] = joint === '-' ? [/^[-_]+/, /-+$/] : [/^_+/, /_+$/]
  return plain.replace(start, '').replace(end, '')
}

export function webalizeDisplayName(displayName: string): string {
  const name = webalize(displayName, '-').slice(0, MAX_DISPLAY_NAME)
  if (name === '') throw new PlatformError('storage.webalize.displayName.invalid', { name: displayName.slice(0, 100) })
  return name
}

export function webalizeColumnNames(columnNames: readonly string[]): string[] {
  refuseTooMany(columnNames)
  const errors: FieldError[] = []
  const names = columnNames.map((columnName, i) => {
    const name = webalize(columnName.replaceAll('-', '_'), '_').slice(0, MAX_COLUMN_NAME)
    if (name === '') errors.push({ key: `columnNames[${i}]`, message: 'It holds no letter or digit to make a name of.' })
    return name
  })
  if (errors.length > 0) throw invalidColumns(errors)
  return names
}

export function checkColumnNames(columnNames: readonly string[]): void {
  refuseTooMany(columnNames)
  const seen = new Set<string>()
  const errors = columnNames.flatMap((name, i) => {
    const message = problemOf(name, seen)
    seen.add(name.toLowerCase())
    return message === undefined ? [] : [{ key: `columnNames[${i}]`, message }]
  })
  if (errors.length > 0) throw invalidColumns(errors)
}

function problemOf(name: string, seen: ReadonlySet<string>): string | undefined {
  const shown = `"${name.slice(0, 80)}"`
  if (name === '') return 'A column needs a name.'
  if (name.length > MAX_COLUMN_NAME) return `${shown} is longer than ${MAX_COLUMN_NAME} characters.`
  if (!/^[A-Za-z0-9][A-Za-z0-9_]*$/.test(name))
    return `${shown} may hold only letters, digits and underscores, and may not begin with an underscore.`
  if (seen.has(name.toLowerCase())) return `${shown} occurs twice; upper and lower case count as the same.`
  return undefined
}

function refuseTooMany(columnNames: readonly string[]): void {
  if (columnNames.length > MAX_COLUMNS)
    throw invalidColumns([{ key: 'columnNames', message: `A table has at most ${MAX_COLUMNS} columns.` }])
}

const invalidColumns = (errors: readonly FieldError[]) =>
  new PlatformError('storage.webalize.columnNames.invalid', { reason: errors[0]?.message ?? '' }, { errors })
