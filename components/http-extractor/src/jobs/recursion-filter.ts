// recursionFilter (spec extractor 8.3): `<path><operator><value>` joined by `&` and `|`; decides for which items of a page
// a child runs.

import { UserError } from '../errors.ts'
import { isScalar, type JsonValue, valueAt } from '../json/json.ts'
import { compareNumeric } from '../json/numbers.ts'
import { serialize, toText } from '../json/text.ts'

export type ItemFilter = (item: JsonValue) => boolean

type Compare = (value: string, expected: string) => boolean

/** As numbers when both sides are numeric, otherwise as texts. */
const ordered = (left: string, right: string) => compareNumeric(left, right) ?? (left < right ? -1 : left > right ? 1 : 0)

/** `%` stands for any text without line breaks; everything else is literal. */
function like(value: string, pattern: string): boolean {
  const source = pattern.split('%').map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('.*')}$`).test(value)
}

// Those of two characters first: `>=` is not `>` followed by `=`.
const OPERATORS: Readonly<Record<string, Compare>> = {
  '==': (value, expected) => value === expected,
  '!=': (value, expected) => value !== expected,
  '>=': (value, expected) => ordered(value, expected) >= 0,
  '<=': (value, expected) => ordered(value, expected) <= 0,
  '~~': like,
  '!~': (value, expected) => !like(value, expected),
  '>': (value, expected) => ordered(value, expected) > 0,
  '<': (value, expected) => ordered(value, expected) < 0,
}

export function createRecursionFilter(text: string): ItemFilter {
  const alternatives = text.split('|').map((part) => part.split('&').map(comparison))
  return (item) => alternatives.some((all) => all.every((holds) => holds(item)))
}

function comparison(text: string): ItemFilter {
  const operator = Object.keys(OPERATORS).find((candidate) => text.includes(candidate))
  if (operator === undefined) {
    throw new UserError(
      `Error creating a filter from ${text}: Operator couldn't be determined. Please use one of [${Object.keys(OPERATORS).join(', ')}]`,
    )
  }
  const at = text.indexOf(operator)
  const path = text.slice(0, at)
  const expected = text.slice(at + operator.length)
  return (item) => OPERATORS[operator]!(textOf(valueAt(item, path)), expected)
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return isScalar(value) ? toText(value) : serialize(value)
}
