// Jinja's filters of lists and dictionaries. Those that Python computes lazily are lazy: they have no text, no length and one pass.

import { ConnectorError } from '../errors.ts'
import { compare, type Dict, equals, isDict, pyRepr, pyStr, Tuple, truthy } from '../python/values.ts'
import { whole } from './arguments.ts'
import { hashable, ordered, sorted } from './collection-methods.ts'
import { named } from './date-methods.ts'
import { ANY, type Filter, type Filters, listOf } from './filter.ts'
import { attribute, memberOf, pathOf } from './members.ts'
import { binary } from './operators.ts'
import { backwards, hasMembers, iterate, Lazy, lengthOf, PyTypeError, type Run, typeName, Undefined, View } from './runtime.ts'
import { testOf } from './tests.ts'

const lowered = (value: unknown, caseSensitive: unknown) =>
  typeof value === 'string' && !truthy(caseSensitive) ? value.toLowerCase() : value

/** Several paths with commas between them; none is the value itself. */
function keysOf(given: unknown, caseSensitive: unknown): (value: unknown) => unknown[] {
  const paths = (typeof given === 'string' ? given.split(',') : [given]).map(pathOf)
  return (value) => paths.map((path) => lowered(path(value), caseSensitive))
}

const keyOf = (given: unknown, caseSensitive: unknown) => {
  const path = pathOf(given)
  return (value: unknown) => lowered(path(value), caseSensitive)
}

const argumentError = (message: string) => new ConnectorError(`FilterArgumentError: ${message}`)

function* limited(value: unknown, run: Run): Generator<unknown> {
  for (const each of iterate(value)) {
    run.step()
    yield each
  }
}

const lazily = (name: string, values: () => Generator<unknown>) => new Lazy(name, values())

function extreme(sign: number): (value: unknown, args: readonly unknown[], run: Run) => unknown {
  return (value, [caseSensitive, by = null], run) => {
    const items = listOf(value, run)
    if (items.length === 0) return new Undefined('No aggregated item, sequence was empty.')
    const key = keyOf(by, caseSensitive)
    let best = items[0]
    let found = key(best)
    for (const each of items.slice(1)) {
      const next = key(each)
      if (ordered(next, found) * sign > 0) [best, found] = [each, next]
    }
    return best
  }
}

/** select, reject, selectattr, rejectattr. */
function choosing(name: string, keeps: boolean, byAttribute: boolean): Filters[string] {
  return [
    ANY,
    (value, args, run, named) =>
      lazily(name, function* () {
        if (!truthy(value)) return
        if (byAttribute && args.length === 0) throw argumentError('Missing parameter for attribute name')
        const path = byAttribute ? pathOf(args[0]) : (each: unknown) => each
        const [test, ...values] = byAttribute ? args.slice(1) : args
        const accepts = test === undefined ? truthy : (each: unknown) => testOf(pyStr(test))(each, values, named, run)
        for (const each of limited(value, run)) if (accepts(path(each)) === keeps) yield each
      }),
  ]
}

function* mapped(value: unknown, args: readonly unknown[], named: Dict, run: Run, filterOf: (name: string) => Filter) {
  if (!truthy(value)) return
  if (args.length === 0 && Object.hasOwn(named, 'attribute')) {
    const { attribute: by, default: otherwise, ...others } = named
    const [unexpected] = Object.keys(others)
    if (unexpected !== undefined) throw argumentError(`Unexpected keyword argument '${unexpected}'`)
    const path = pathOf(by)
    for (const each of limited(value, run)) yield path(each, otherwise)
    return
  }
  if (args.length === 0) throw argumentError('map requires a filter argument')
  const items = limited(value, run)
  for (const each of items) yield filterOf(pyStr(args[0]))(each, args.slice(1), named, run)
}

function* batches(value: unknown, size: unknown, fill: unknown, run: Run): Generator<unknown> {
  let batch: unknown[] = []
  for (const each of limited(value, run)) {
    if (equals(batch.length, size)) {
      yield batch
      batch = []
    }
    batch.push(each)
  }
  if (batch.length === 0) return
  if (fill !== null) {
    const order = compare(batch.length, size)
    if (order === undefined) throw new PyTypeError(`'<' not supported between instances of 'int' and '${typeName(size)}'`)
    if (order < 0) {
      const missing = whole(binary('-', size, batch.length, run))
      run.step(missing)
      for (let i = 0; i < missing; i++) batch.push(fill)
    }
  }
  yield batch
}

function* slices(value: unknown, count: unknown, fill: unknown, run: Run): Generator<unknown> {
  const items = listOf(value, run)
  const n = whole(count)
  if (n === 0) throw new ConnectorError('ZeroDivisionError: integer division or modulo by zero')
  const [size, longer] = [Math.floor(items.length / n), items.length % n]
  const startOf = (i: number) => i * size + Math.min(i, longer) // the first ones take what is left over
  for (let i = 0; i < n; i++) {
    run.step()
    const part = items.slice(startOf(i), startOf(i + 1))
    if (fill !== null && i >= longer) part.push(fill)
    yield part
  }
}

function grouped(value: unknown, by: unknown, otherwise: unknown, caseSensitive: unknown, run: Run): unknown[] {
  const path = pathOf(by)
  const key = (each: unknown) => lowered(path(each, otherwise), caseSensitive)
  const groups: { key: unknown; members: unknown[] }[] = []
  for (const each of sorted(listOf(value, run), false, key)) {
    const own = key(each)
    const last = groups.at(-1)
    if (last && equals(last.key, own)) last.members.push(each)
    else groups.push({ key: own, members: [each] })
  }
  return groups.map(({ key: own, members }) =>
    named({ grouper: truthy(caseSensitive) ? own : path(members[0], otherwise), list: members }),
  )
}

function pairsOf(value: unknown): Tuple[] {
  if (isDict(value)) return Object.entries(value).map(([key, member]) => Tuple.of<unknown>(key, member))
  const items = attribute(value, 'items')
  if (hasMembers(value) && !(items instanceof Undefined))
    return [...iterate(value)].map((key) => Tuple.of(key, attribute(value, pyStr(key))))
  throw new ConnectorError(`AttributeError: '${typeName(value)}' object has no attribute 'items'`)
}

function dictSorted(value: unknown, caseSensitive: unknown, by: unknown, reverse: unknown, run: Run): Tuple[] {
  const at = by === 'key' ? 0 : by === 'value' ? 1 : -1
  if (at < 0) throw argumentError('You can only sort by either "key" or "value"')
  const pairs = pairsOf(value)
  run.step(pairs.length)
  return sorted(pairs, truthy(reverse), (pair) => lowered(pair[at], caseSensitive))
}

/** sum() starts with a number. */
function sum(value: unknown, by: unknown, start: unknown, run: Run): unknown {
  if (typeof start === 'string') throw new PyTypeError("sum() can't sum strings [use ''.join(seq) instead]")
  const path = pathOf(by)
  let total = start
  for (const each of limited(value, run)) total = binary('+', total, path(each), run)
  return total
}

function* uniques(value: unknown, caseSensitive: unknown, by: unknown, run: Run): Generator<unknown> {
  const key = keyOf(by, caseSensitive)
  const seen = new Set<string>()
  for (const each of limited(value, run)) {
    const own = key(each)
    hashable(own)
    // Numbers that are equal are one key.
    const text = typeof own === 'boolean' ? String(Number(own)) : pyRepr(own).replace(/\.0$/, '')
    if (seen.has(text)) continue
    seen.add(text)
    yield each
  }
}

function random(value: unknown, run: Run): unknown {
  const length = lengthOf(value)
  if (length === 0) return new Undefined('No random item, sequence was empty.')
  if (isDict(value)) throw new ConnectorError('KeyError: random takes a list')
  if (value instanceof Set || value instanceof View) throw new PyTypeError(`'${typeName(value)}' object is not subscriptable`)
  return listOf(value, run)[Math.floor(Math.random() * length)]
}

function reversed(value: unknown, run: Run): unknown {
  if (typeof value === 'string') return [...value].reverse().join('')
  if (value instanceof Set || value instanceof Lazy) return listOf(value, run).reverse()
  try {
    return new Lazy('reverse', backwards(value))
  } catch (error) {
    if (error instanceof PyTypeError) throw argumentError('argument must be iterable')
    throw error
  }
}

function first(value: unknown): unknown {
  for (const each of iterate(value)) return each
  return new Undefined('No first item, sequence was empty.')
}

function last(value: unknown): unknown {
  const items = backwards(value)
  return items.length === 0 ? new Undefined('No last item, sequence was empty.') : items[0]
}

function attributeOf(value: unknown, name: unknown): unknown {
  if (typeof name !== 'string') throw new PyTypeError('attribute name must be string')
  if (value instanceof Undefined) return value.fail()
  return (
    (name.startsWith('_') ? undefined : memberOf(value, name)) ?? new Undefined(`the object has no attribute ${pyRepr(name)}`)
  )
}

const length: Filters[string] = ['', (v) => lengthOf(v)]
const otherwise: Filters[string] = [
  'default_value? boolean?',
  (v, [value = '', boolean = false]) => (v instanceof Undefined || (truthy(boolean) && !truthy(v)) ? value : v),
]

/** `filterOf` finds the filters that map applies. */
export const listFilters = (filterOf: (name: string) => Filter): Filters => ({
  attr: ['name', (v, [name]) => attributeOf(v, name)],
  batch: ['linecount fill_with?', (v, [size, fill = null], run) => lazily('batch', () => batches(v, size, fill, run))],
  count: length,
  d: otherwise,
  default: otherwise,
  dictsort: [
    'case_sensitive? by? reverse?',
    (v, [caseSensitive = false, by = 'key', reverse = false], run) => dictSorted(v, caseSensitive, by, reverse, run),
  ],
  first: ['', first],
  groupby: [
    'attribute default? case_sensitive?',
    (v, [by, value = null, caseSensitive = false], run) => grouped(v, by, value, caseSensitive, run),
  ],
  items: [
    '',
    (v) =>
      lazily('items', function* () {
        if (v instanceof Undefined) return
        if (!isDict(v) && !hasMembers(v)) throw new PyTypeError('Can only get item pairs from a mapping.')
        yield* pairsOf(v)
      }),
  ],
  join: [
    'd? attribute?',
    (v, [by = '', attribute = null], run) => {
      const path = pathOf(attribute)
      const out = listOf(v, run)
        .map((each) => pyStr(path(each)))
        .join(pyStr(by))
      run.grow(out.length)
      return out
    },
  ],
  last: ['', last],
  length,
  list: ['', (v, _args, run) => listOf(v, run)],
  map: [ANY, (v, args, run, named) => lazily('map', () => mapped(v, args, named, run, filterOf))],
  max: ['case_sensitive? attribute?', extreme(1)],
  min: ['case_sensitive? attribute?', extreme(-1)],
  random: ['', (v, _args, run) => random(v, run)],
  reject: choosing('reject', false, false),
  rejectattr: choosing('rejectattr', false, true),
  reverse: ['', (v, _args, run) => reversed(v, run)],
  select: choosing('select', true, false),
  selectattr: choosing('selectattr', true, true),
  slice: ['slices fill_with?', (v, [count, fill = null], run) => lazily('slice', () => slices(v, count, fill, run))],
  sort: [
    'reverse? case_sensitive? attribute?',
    (v, [reverse = false, caseSensitive = false, by = null], run) =>
      sorted(listOf(v, run), truthy(reverse), keysOf(by, caseSensitive)),
  ],
  sum: ['attribute? start?', (v, [by = null, start = 0], run) => sum(v, by, start, run)],
  unique: [
    'case_sensitive? attribute?',
    (v, [caseSensitive = false, by = null], run) => lazily('unique', () => uniques(v, caseSensitive, by, run)),
  ],
})
