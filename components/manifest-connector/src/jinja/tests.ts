// Jinja's tests: `x is defined`, `x is number`, `x is in [1, 2]`.

import { ConnectorError } from '../errors.ts'
import { asNumber, equals, isDict, isFloat, isInt, isNumber, pyStr } from '../python/values.ts'
import { comparison, contains } from './operators.ts'
import { hasMembers, PyFunction, Undefined } from './runtime.ts'

type Test = (value: unknown, args: readonly unknown[]) => boolean

const TESTS: Readonly<Record<string, Test>> = {
  defined: (v) => !(v instanceof Undefined),
  undefined: (v) => v instanceof Undefined,
  none: (v) => v === null,
  boolean: (v) => typeof v === 'boolean',
  true: (v) => v === true,
  false: (v) => v === false,
  integer: (v) => isInt(v),
  float: (v) => isFloat(v),
  number: (v) => isNumber(v) || typeof v === 'boolean',
  string: (v) => typeof v === 'string',
  mapping: (v) => isDict(v) || hasMembers(v),
  sequence: (v) => typeof v === 'string' || Array.isArray(v) || isDict(v),
  iterable: (v) => typeof v === 'string' || Array.isArray(v) || isDict(v) || v instanceof Set || v instanceof Undefined,
  callable: (v) => v instanceof PyFunction,
  odd: (v) => asNumber(v) % 2 !== 0,
  even: (v) => asNumber(v) % 2 === 0,
  divisibleby: (v, [by]) => asNumber(v) % asNumber(by) === 0,
  in: (v, [container]) => contains(container, v),
  sameas: (v, [other]) => v === other,
  lower: (v) => pyStr(v) !== pyStr(v).toUpperCase() && pyStr(v) === pyStr(v).toLowerCase(),
  upper: (v) => pyStr(v) !== pyStr(v).toLowerCase() && pyStr(v) === pyStr(v).toUpperCase(),
  eq: (v, [other]) => equals(v, other),
  ne: (v, [other]) => !equals(v, other),
  lt: (v, [other]) => comparison('<', v, other),
  gt: (v, [other]) => comparison('>', v, other),
  le: (v, [other]) => comparison('<=', v, other),
  ge: (v, [other]) => comparison('>=', v, other),
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

export function testOf(name: string): Test {
  const own = Object.hasOwn(ALSO, name) ? ALSO[name]! : name
  const test = Object.hasOwn(TESTS, own) ? TESTS[own] : undefined
  if (!test) throw new ConnectorError(`No test named '${name}'.`)
  return test
}
