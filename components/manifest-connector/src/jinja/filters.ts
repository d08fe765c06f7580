// All filters: Jinja's, and those that the format adds.

import { createHash, createHmac } from 'node:crypto'
import { ConnectorError, ValueError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { pyStr, truthy } from '../python/values.ts'
import { textOf } from './arguments.ts'
import { bound, type Filter, type Filters } from './filter.ts'
import { listFilters } from './list-filters.ts'
import { allPlain, Markup } from './markup.ts'
import { NUMBER_FILTERS } from './number-filters.ts'
import { type PythonRegExp, pythonRegExp } from './python-regexp.ts'
import { PyTypeError, typeName, Undefined } from './runtime.ts'
import { TEXT_FILTERS } from './text-filters.ts'

/** Python's names of hash functions, and Node's. */
const HASHES: Readonly<Record<string, string>> = {
  blake2b: 'blake2b512',
  blake2s: 'blake2s256',
  md5: 'md5',
  sha1: 'sha1',
  sha224: 'sha224',
  sha256: 'sha256',
  sha384: 'sha384',
  sha512: 'sha512',
  sha3_224: 'sha3-224',
  sha3_256: 'sha3-256',
  sha3_384: 'sha3-384',
  sha3_512: 'sha3-512',
}
/** Other members of the module, which cannot be called like this. */
const OTHERS = new Set(['new', 'pbkdf2_hmac', 'scrypt', 'shake_128', 'shake_256', 'file_digest'])

function hashOf(name: string): string {
  if (OTHERS.has(name)) throw new PyTypeError(`${name}() missing required argument`)
  if (!Object.hasOwn(HASHES, name)) throw new ConnectorError(`No hashing function named ${name}`)
  return HASHES[name]!
}

/** The text whose method `encode` is called. */
function encodable(value: unknown): string {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'string') throw new ConnectorError(`AttributeError: '${typeName(value)}' object has no attribute 'encode'`)
  return value
}

function expression(value: unknown): PythonRegExp {
  if (typeof value !== 'string') throw new PyTypeError('first argument must be string or compiled pattern')
  return pythonRegExp(value)
}

function searchable(value: unknown): string {
  if (value instanceof Bytes) throw new PyTypeError('cannot use a string pattern on a bytes-like object')
  if (typeof value !== 'string') throw new PyTypeError(`expected string or bytes-like object, got '${typeName(value)}'`)
  return value
}

/** Jinja's filters that this engine does not have. */
const REFUSED = new Set(['urlize'])

const OWN: Filters = {
  hash: [
    'hash_type? salt?',
    (v, [type = 'md5', salt = null], run) => {
      const hash = createHash(hashOf(textOf(type))).update(run.text(v))
      return (truthy(salt) ? hash.update(pyStr(salt)) : hash).digest('hex')
    },
  ],
  hmac: [
    'key hash_type?',
    (v, [key, type = 'sha256'], run) => {
      if (type !== 'sha256') throw new ValueError(`Hash type '${pyStr(type)}' is not allowed. Allowed types: sha256`)
      return createHmac('sha256', pyStr(key)).update(run.text(v)).digest('hex')
    },
  ],
  base64encode: ['', (v) => Buffer.from(encodable(v)).toString('base64')],
  base64decode: ['', (v) => decodedBase64(encodable(v))],
  // The reference encodes here, despite its name.
  base64binascii_decode: [
    '',
    (v) => {
      const text = encodable(v)
      if (Buffer.byteLength(text) !== text.length) throw new ValueError('base64binascii_decode: the text is not ASCII.')
      return Buffer.from(text).toString('base64')
    },
  ],
  regex_search: [
    'regex',
    (v, [regex]) => {
      const match = expression(regex).exec(searchable(v))
      return match && match.length > 1 ? (match[1] ?? null) : ''
    },
  ],
  regex_replace: [
    'regex replacement',
    (v, [regex, replacement], run) => {
      const pattern = expression(regex)
      const by = textOf(replacement)
      const text = pattern.replace(searchable(v), (match) => replaced(by, match))
      run.grow(text.length)
      return text
    },
  ],
}

/** Python's replacement text: \\1, \\g<1> and \\g<name> stand for groups. */
function replaced(replacement: string, match: RegExpExecArray): string {
  return replacement.replace(
    /\\(?:g<(\w+)>|(\d{1,2})|(.))/gs,
    (_, name: string | undefined, digits: string | undefined, other: string) => {
      if (name === undefined && digits === undefined) return ESCAPES[other] ?? `\\${other}`
      const group = name ?? digits!
      return (/^\d+$/.test(group) ? match[Number(group)] : match.groups?.[group]) ?? ''
    },
  )
}
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' }

/** As Python decodes: other characters are passed over, the padding must be whole, the result is UTF-8. */
function decodedBase64(text: string): string {
  const digits = text.replace(/[^A-Za-z0-9+/=]/g, '')
  if (digits.length % 4 !== 0) throw new ValueError('base64decode: incorrect padding.')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(digits, 'base64'))
  } catch (cause) {
    throw new ConnectorError('base64decode: the result is not UTF-8.', cause)
  }
}

/** Filters that give marked text, and those that leave it marked. */
const MARKS = new Set(['e', 'escape', 'forceescape', 'safe', 'tojson'])
const KEEPS = new Set(['capitalize', 'center', 'd', 'default', 'indent', 'lower', 'trim', 'truncate', 'upper'])

function withMarkup([name, filter]: [string, Filter]): [string, Filter] {
  const isDone = name === 'e' || name === 'escape' || name === 'safe'
  return [
    name,
    (value, args, named, run) => {
      const isMarked = value instanceof Markup
      if (isMarked && isDone) return value
      const result = filter(isMarked ? value.text : value, allPlain(args), named, run)
      const marks = MARKS.has(name) || (isMarked && KEEPS.has(name))
      return marks && typeof result === 'string' ? new Markup(result) : result
    },
  ]
}

const FILTERS: ReadonlyMap<string, Filter> = new Map(
  [...bound(TEXT_FILTERS), ...bound(NUMBER_FILTERS), ...bound(listFilters(filterOf)), ...bound(OWN)].map(withMarkup),
)

export function filterOf(name: string): Filter {
  const filter = FILTERS.get(name)
  if (filter) return filter
  throw new ConnectorError(REFUSED.has(name) ? `The filter '${name}' is not supported.` : `No filter named '${name}'.`)
}
