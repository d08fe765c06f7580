// The methods of lists, tuples and dictionaries.

import { ConnectorError, ValueError } from '../errors.ts'
import { compare, type Dict, equals, getKey, isDict, pyRepr, pyStr, setKey, Tuple, truthy } from '../python/values.ts'
import { whole } from './arguments.ts'
import { ANY, type Methods, methodsOf } from './methods.ts'
import { iterate, PyTypeError, type Run, typeName, Undefined, View } from './runtime.ts'

/** Refuses what cannot be the key of a dictionary. */
export function hashable(value: unknown): unknown {
  if (value instanceof Tuple) for (const each of value) hashable(each)
  else if (Array.isArray(value) || isDict(value) || value instanceof Set || (value instanceof View && value.kind !== 'values'))
    throw new PyTypeError(`unhashable type: '${typeName(value)}'`)
  return value
}

/** Sorted by keys that are compared only where there are two of them. */
export function sorted<T>(items: readonly T[], reverse: boolean, key: (item: T) => unknown): T[] {
  const keyed = items.map((each) => [key(each), each] as const)
  keyed.sort(([a], [b]) => (reverse ? -ordered(a, b) : ordered(a, b)))
  return keyed.map(([, each]) => each)
}

export function ordered(a: unknown, b: unknown): number {
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    for (let i = 0; i < a.length && i < b.length; i++) if (!equals(a[i], b[i])) return ordered(a[i], b[i])
    return a.length - b.length
  }
  if (a instanceof Undefined) a.fail()
  if (b instanceof Undefined) b.fail()
  const order = compare(a, b)
  if (order === undefined) throw new PyTypeError(`'<' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`)
  return order
}

/** The pairs of a mapping, or of a list of pairs. */
function pairs(from: unknown): (readonly [string, unknown])[] {
  if (isDict(from)) return Object.entries(from)
  return [...iterate(from)].map((pair, i) => {
    const [...items] = iterate(pair)
    if (items.length !== 2)
      throw new ValueError(`dictionary update sequence element #${i} has length ${items.length}; 2 is required`)
    return [pyStr(hashable(items[0])), items[1]] as const
  })
}

/** dict(...) and update(...) */
export function updated(target: Dict, name: string, args: readonly unknown[], named: Dict, run: Run): Dict {
  if (args.length > 1) throw new PyTypeError(`${name} expected at most 1 argument, got ${args.length}`)
  if (args[0] instanceof Undefined) args[0].fail()
  const all = [...(args.length > 0 ? pairs(args[0]) : []), ...Object.entries(named)]
  run.step(all.length)
  for (const [key, value] of all) setKey(target, key, value)
  return target
}

function place(list: readonly unknown[], item: unknown, from: unknown = 0, to: unknown = list.length): number {
  const bound = (given: unknown) => {
    const at = whole(given)
    return at < 0 ? Math.max(0, list.length + at) : at
  }
  const end = bound(to)
  for (let i = bound(from); i < Math.min(end, list.length); i++) if (equals(list[i], item)) return i
  throw new ValueError(`${pyRepr(item)} is not in list`)
}

const SEQUENCE: Methods<readonly unknown[]> = {
  index: ['/ value start? stop?', (l, [item, from, to]) => place(l, item, from, to)],
  count: ['/ value', (l, [item]) => l.filter((each) => equals(each, item)).length],
}

const LIST: Methods<unknown[]> = {
  ...SEQUENCE,
  append: [
    '/ object',
    (l, [item], run) => {
      run.step()
      l.push(item)
      return null
    },
  ],
  extend: [
    '/ iterable',
    (l, [items], run) => {
      for (const item of [...iterate(items)]) {
        run.step()
        l.push(item)
      }
      return null
    },
  ],
  insert: [
    '/ index object',
    (l, [at, item], run) => {
      run.step()
      l.splice(whole(at), 0, item)
      return null
    },
  ],
  pop: [
    '/ index?',
    (l, [given = -1]) => {
      const at = whole(given)
      const index = at < 0 ? at + l.length : at
      if (l.length === 0) throw new ConnectorError('IndexError: pop from empty list')
      if (index < 0 || index >= l.length) throw new ConnectorError('IndexError: pop index out of range')
      return l.splice(index, 1)[0]
    },
  ],
  copy: ['', (l) => [...l]],
  clear: [
    '',
    (l) => {
      l.length = 0
      return null
    },
  ],
  remove: [
    '/ value',
    (l, [item]) => {
      l.splice(place(l, item), 1)
      return null
    },
  ],
  reverse: [
    '',
    (l) => {
      l.reverse()
      return null
    },
  ],
  sort: [
    ANY,
    (l, args, run, { reverse = false, key = null, ...others }) => {
      if (args.length > 0 || Object.keys(others).length > 0) throw new PyTypeError('sort() takes no positional arguments')
      if (key !== null) throw new ConnectorError("The argument 'key' of sort() is not supported. Use the filter sort.")
      run.step(l.length)
      l.splice(0, l.length, ...sorted(l, truthy(reverse), (each) => each))
      return null
    },
  ],
}

function missing(key: unknown): never {
  throw new ConnectorError(`KeyError: ${pyRepr(key)}`)
}

const own = (d: Dict, key: unknown): boolean => Object.hasOwn(d, pyStr(hashable(key)))

const DICT: Methods<Dict> = {
  get: ['/ key default?', (d, [key, otherwise = null]) => (own(d, key) ? getKey(d, pyStr(key)) : otherwise)],
  keys: ['', (d) => new View('keys', d)],
  values: ['', (d) => new View('values', d)],
  items: ['', (d) => new View('items', d)],
  copy: ['', (d, _args, run) => updated({}, 'copy', [d], {}, run)],
  clear: [
    '',
    (d) => {
      for (const key of Object.keys(d)) delete d[key]
      return null
    },
  ],
  popitem: [
    '',
    (d) => {
      const last = Object.entries(d).at(-1)
      if (!last) throw new ConnectorError("KeyError: 'popitem(): dictionary is empty'")
      delete d[last[0]]
      return Tuple.of<unknown>(...last)
    },
  ],
  update: [
    ANY,
    (d, args, run, named) => {
      updated(d, 'update', args, named, run)
      return null
    },
  ],
  pop: [
    '/ key default?',
    (d, [key, otherwise]) => {
      if (!own(d, key)) return otherwise === undefined ? missing(key) : otherwise
      const value = getKey(d, pyStr(key))
      delete d[pyStr(key)]
      return value
    },
  ],
  setdefault: [
    '/ key default?',
    (d, [key, value = null], run) => {
      run.step()
      if (!own(d, key)) setKey(d, pyStr(key), value)
      return getKey(d, pyStr(key))
    },
  ],
  fromkeys: [
    '/ iterable value?',
    (_d, [keys, value = null], run) => {
      const out: Dict = {}
      for (const key of iterate(keys)) {
        run.step()
        setKey(out, pyStr(hashable(key)), value)
      }
      return out
    },
  ],
}

export const tupleMethod = methodsOf(SEQUENCE)
export const listMethod = methodsOf(LIST)
export const dictMethod = methodsOf(DICT)
