// Jinja's tests: `x is defined`, `x is number`, `x is in [1, 2]`.

import { ConnectorError } from '../errors.ts'
import { isLower, isUpper } from '../python/text.ts'
import { type Dict, equals, isDict, isFloat, isInt, isNumber, pyStr } from '../python/values.ts'
import { parameters } from './arguments.ts'
import { hashable } from './collection-methods.ts'
import { Markup, plain } from './markup.ts'
import { binary, comparison, contains } from './operators.ts'
import { hasMembers, isIterable, PyFunction, type Run, Undefined } from './runtime.ts'

const leaves = (rest: number, value: unknown, by: unknown, run: Run) => equals(binary('%', value, by, run), rest)
const isSequence = (value: unknown) =>
  typeof plain(value) === 'string' || Array.isArray(value) || isDict(value) || hasMembers(value) || value instanceof Undefined

const PLAIN: Readonly<Record<string, (value: unknown, run: Run) => boolean>> = {
  boolean: (v) => typeof v === 'boolean',
  callable: (v) => v instanceof PyFunction || v instanceof Undefined,
  defined: (v) => !(v instanceof Undefined),
  escaped: (v) => v instanceof Markup,
  even: (v, run) => leaves(0, v, 2, run),
  false: (v) => v === false,
  float: (v) => isFloat(v),
  integer: (v) => isInt(v),
  iterable: isIterable,
  lower: (v) => isLower(pyStr(v)),
  mapping: (v) => isDict(v) || (hasMembers(v) && isIterable(v)),
  none: (v) => v === null,
  number: (v) => isNumber(v) || typeof v === 'boolean',
  odd: (v, run) => leaves(1, v, 2, run),
  sequence: isSequence,
  string: (v) => typeof plain(v) === 'string',
  test: (v) => typeof hashable(plain(v)) === 'string' && TESTS.has(pyStr(v)),
  true: (v) => v === true,
  undefined: (v) => v instanceof Undefined,
  upper: (v) => isUpper(pyStr(v)),
}

const COMPARING: Readonly<Record<string, (value: unknown, other: unknown, run: Run) => boolean>> = {
  divisibleby: (v, by, run) => leaves(0, v, by, run),
  eq: (v, other) => equals(v, other),
  ge: (v, other) => comparison('>=', v, other),
  gt: (v, other) => comparison('>', v, other),
  in: (v, container) => contains(container, v),
  le: (v, other) => comparison('<=', v, other),
  lt: (v, other) => comparison('<', v, other),
  ne: (v, other) => !equals(v, other),
  sameas: (v, other) => v === other,
}

const ALSO: Readonly<Record<string, string>> = {
  equalto: 'eq',
  '==': 'eq',
  '!=': 'ne',
  '<': 'lt',
  lessthan: 'lt',
  '>': 'gt',
  greaterthan: 'gt',
  '<=': 'le',
  '>=': 'ge',
}

export type Test = (value: unknown, args: readonly unknown[], named: Dict, run: Run) => boolean

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ...Object.entries(PLAIN).map(([name, test]): [string, Test] => {
    const bind = parameters(name, '')
    return [name, (value, args, named, run) => bind(args, named).length === 0 && test(value, run)]
  }),
  ...[...Object.keys(COMPARING).map((name) => [name, name] as const), ...Object.entries(ALSO)].map(
    ([name, own]): [string, Test] => {
      const bind = parameters(name, '/ other')
      return [name, (value, args, named, run) => COMPARING[own]!(value, bind(args, named)[0], run)]
    },
  ),
])

export function testOf(name: string): Test {
  const test = TESTS.get(name)
  if (!test) throw new ConnectorError(name === 'filter' ? `The test 'filter' is not supported.` : `No test named '${name}'.`)
  return test
}
