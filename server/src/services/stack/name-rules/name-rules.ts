// Names that are safe everywhere: what a display name or a column name becomes, and what is wrong with one (spec storage 2.12).

import { isSystemColumn, withoutMarks } from '../../../../../contract/column-name.ts'
import { validationError } from '../../../http/validation.ts'
import { type FieldError, PlatformError } from '../../../kit/errors.ts'

const MAX_DISPLAY_NAME = 96
const MAX_COLUMN_NAME = 64
const MAX_COLUMNS = 10_000

/** Letters lose their accents, runs of characters that are not kept become one `joint`, which is removed at both ends. */
function webalize(text: string, others: RegExp, joint: string): string {
  const plain = withoutMarks(text).normalize('NFKD').replace(/\p{M}/gu, '').replace(others, joint)
  const start = plain.replace(joint === '-' ? /^[-_]+/ : /^_+/, '')
  // By steps: /-+$/ takes the square of the length of a text with many dashes in it.
  let end = start.length
  while (end > 0 && start[end - 1] === joint) end--
  return start.slice(0, end)
}

export function webalizeDisplayName(displayName: string): string {
  const name = webalize(displayName, /[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_DISPLAY_NAME)
  if (name === '') throw new PlatformError('storage.webalize.displayName.invalid', { name })
  return name
}

/** A name that becomes empty is returned empty, so that the caller sees which one it was. */
export function webalizeColumnNames(columnNames: readonly string[]): string[] {
  refuseTooMany(columnNames)
  return columnNames.map((name) => webalize(name, /[^A-Za-z0-9_]+/g, '_').slice(0, MAX_COLUMN_NAME))
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
  if (name.length > MAX_COLUMN_NAME) return `Column name cannot be longer than ${MAX_COLUMN_NAME} characters.`
  if (isSystemColumn(name)) return `${shown} is a system column used by the database for internal purposes.`
  if (name.startsWith('_')) return `${shown} contains not allowed characters. Cannot start with underscore.`
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    return `${shown} contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.`
  if (seen.has(name.toLowerCase())) return `${shown} occurs twice; upper and lower case count as the same.`
  return undefined
}

function refuseTooMany(columnNames: readonly string[]): void {
  if (columnNames.length > MAX_COLUMNS)
    throw invalidColumns([{ key: 'columnNames', message: `A table has at most ${MAX_COLUMNS} columns.` }])
}

const invalidColumns = (errors: readonly FieldError[]) => validationError('storage.webalize.columnNames.invalid', errors)
