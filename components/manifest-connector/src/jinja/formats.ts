// Python's two ways to format: `'%05.2f' % x` and `'{:>8,.2f}'.format(x)`, with the specifications of the latter.

import { ConnectorError, ValueError } from '../errors.ts'
import { Bytes } from '../python/bytes.ts'
import { exponential, fixed, general, truncated } from '../python/numbers.ts'
import { asNumber, type Dict, floatText, isDict, isFloat, isInt, isNumber, pyRepr, pyStr, Tuple } from '../python/values.ts'
import { PyDate, PyDatetime } from '../time/datetime.ts'
import { strftime } from '../time/strftime.ts'
import { plain } from './markup.ts'
import { hasMembers, PyFunction, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'

const MAX_WIDTH = 10_000
/** Of fields within each other, as Python limits them. */
const MAX_DEPTH = 2

function size(text: string): number {
  const value = Number(text)
  if (value > MAX_WIDTH) throw new ConnectorError(`The field width or precision ${text} is too large.`)
  return value
}

const cut = (text: string, length: number | undefined) => (length === undefined ? text : [...text].slice(0, length).join(''))
const asciiRepr = (value: unknown) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII
  pyRepr(value).replace(/[^\x00-\x7f]/gu, (char) => {
    const code = char.codePointAt(0)!
    const [letter, width] = code < 256 ? ['x', 2] : code < 65_536 ? ['u', 4] : ['U', 8]
    return `\\${letter}${code.toString(16).padStart(Number(width), '0')}`
  })

/** A number as the letters e, f, g and % show it, without its sign. */
function floatDigits(value: number, type: string, precision: number | undefined, isAlternate: boolean): string {
  const digits = precision ?? 6
  const magnitude = Math.abs(value)
  let text: string
  switch (type.toLowerCase()) {
    case 'e':
      text = exponential(magnitude, digits)
      if (isAlternate && digits === 0) text = text.replace('e', '.e')
      break
    case 'f':
      text = fixed(magnitude, digits)
      if (isAlternate && digits === 0) text += '.'
      break
    case '%':
      text = `${fixed(magnitude * 100, digits)}${isAlternate && digits === 0 ? '.' : ''}%`
      break
    default:
      text = general(magnitude, digits, isAlternate)
  }
  return /[EFG]/.test(type) ? text.toUpperCase() : text
}

function floatValue(value: unknown): number {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'boolean' && !isNumber(value)) throw new PyTypeError(`must be real number, not ${typeName(value)}`)
  const number = asNumber(value)
  if (isInt(value) && !Number.isFinite(number)) throw new ConnectorError('OverflowError: int too large to convert to float')
  return number
}

const isNegative = (value: number) => value < 0 || Object.is(value, -0)
const integerOf = (value: unknown): number | bigint =>
  typeof value === 'boolean' ? Number(value) : isFloat(value) ? truncated(asNumber(value)) : (value as number | bigint)
const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 }

/** The digits of an integer without its sign. */
function integerDigits(value: number | bigint, type: string): string {
  const text = BigInt(value < 0 ? -value : value).toString(BASES[type] ?? 10)
  return type === 'X' ? text.toUpperCase() : text
}

const ONE = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([-+ 0#]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?([\s\S]|$)/gu

export function percentFormat(format: string, values: unknown, run: Run): string {
  const list = values instanceof Tuple ? [...values] : [values]
  const isMapping =
    isDict(values) ||
    hasMembers(values) ||
    values instanceof Undefined ||
    values instanceof Bytes ||
    (Array.isArray(values) && !(values instanceof Tuple))
  let at = 0
  const next = () => {
    if (at >= list.length) throw new PyTypeError('not enough arguments for format string')
    return list[at++]
  }
  const number = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    if (text !== '*') return size(text)
    const given = next()
    if (!isInt(given)) throw new PyTypeError('* wants int')
    return size(String(given))
  }
  const out = format.replace(ONE, (...[, key, flags = '', width, precision, type = '']: (string | undefined)[]) => {
    if (key !== undefined && values instanceof Undefined) values.fail()
    if (key !== undefined && !isDict(values)) throw new PyTypeError('format requires a mapping')
    const columns = number(width) ?? 0
    const digits = number(precision)
    if (type === '') throw new ValueError('incomplete format')
    if (type === '%') return '%'
    if (key !== undefined && !Object.hasOwn(values as Dict, key)) throw new ConnectorError(`KeyError: ${pyRepr(key)}`)
    const value = key === undefined ? next() : (values as Dict)[key]
    if (!'sradiuoxXeEfFgGc'.includes(type)) throw new ValueError(`unsupported format character '${type}'`)
    return percentValue(value, type, flags, columns, digits)
  })
  if (at < list.length && !isMapping) throw new PyTypeError('not all arguments converted during string formatting')
  run.grow(out.length)
  return out
}

function percentValue(value: unknown, type: string, flags: string, width: number, precision: number | undefined): string {
  const isLeft = flags.includes('-')
  const padded = (text: string) => {
    const missing = ' '.repeat(Math.max(0, width - [...text].length))
    return isLeft ? text + missing : missing + text
  }
  if (type === 's') return padded(cut(pyStr(value), precision))
  if (type === 'r') return padded(cut(pyRepr(value), precision))
  if (type === 'a') return padded(cut(asciiRepr(value), precision))
  if (type === 'c') return padded(character(value))
  let digits: string
  let prefix = ''
  let negative: boolean
  if ('eEfFgG'.includes(type)) {
    const number = floatValue(value)
    negative = isNegative(number)
    digits = floatDigits(number, type, precision, flags.includes('#'))
  } else {
    const wantsInteger = 'oxX'.includes(type)
    if (value instanceof Undefined && !wantsInteger) value.fail()
    if (typeof value !== 'boolean' && (!isNumber(value) || (wantsInteger && isFloat(value))))
      throw new PyTypeError(`%${type} format: a real number is required, not ${typeName(value)}`)
    const number = integerOf(value)
    negative = number < 0
    digits = integerDigits(number, type).padStart(precision ?? 0, '0')
    if (wantsInteger && flags.includes('#')) prefix = `0${type}`
  }
  const sign = negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  const start = sign + prefix
  if (flags.includes('0') && !isLeft) digits = digits.padStart(width - start.length, '0')
  return padded(start + digits)
}

function character(value: unknown): string {
  if (typeof value === 'string' && [...value].length === 1) return value
  if (typeof value !== 'boolean' && !isInt(value)) throw new PyTypeError('%c requires int or char')
  const code = asNumber(value)
  if (code < 0 || code > 0x10ffff) throw new ConnectorError('OverflowError: %c arg not in range(0x110000)')
  return String.fromCodePoint(code)
}

interface Spec {
  readonly fill: string
  readonly align: string
  readonly sign: string
  readonly isAlternate: boolean
  readonly width: number
  readonly grouping: string
  readonly precision: number | undefined
  readonly type: string
}

const SPEC = /^(?:([\s\S])?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d*)([,_])?(?:\.(\d+))?([\s\S])?$/u

function specOf(text: string, isNumeric: boolean): Spec {
  const match = SPEC.exec(text)
  if (!match) throw new ValueError(`Invalid format specifier '${text}'`)
  const [, fill, align, sign = '', z, alternate, zero, width, grouping = '', precision, type = ''] = match
  if (z !== undefined) throw new ConnectorError(`The option z of the format '${text}' is not supported.`)
  return {
    fill: fill ?? (zero && align === undefined ? '0' : zero ? '0' : ' '),
    align: align ?? (isNumeric ? (zero ? '=' : '>') : '<'),
    sign,
    isAlternate: alternate !== undefined,
    width: size(width || '0'),
    grouping,
    precision: precision === undefined ? undefined : size(precision),
    type,
  }
}

/** format(value, spec) */
export function formatted(given: unknown, spec: string): string {
  const value = plain(given)
  if (value instanceof PyDatetime) return spec === '' ? pyStr(value) : strftime(value, spec)
  if (value instanceof PyDate) return spec === '' ? pyStr(value) : strftime(value.midnight(), spec)
  if (spec === '') return pyStr(value)
  if (typeof value === 'string') return formattedText(value, spec)
  if (typeof value !== 'boolean' && !isNumber(value))
    throw new PyTypeError(`unsupported format string passed to ${typeName(value)}.__format__`)
  const parts = specOf(spec, true)
  const type = parts.type || (isFloat(value) ? '' : 'd')
  const isWhole = 'bcdnoxX'.includes(type) && !isFloat(value)
  if (!isWhole && (type !== '' || !isFloat(value)) && !'eEfFgGn%'.includes(type))
    throw new ValueError(`Unknown format code '${type}' for object of type '${typeName(value)}'`)
  if (parts.grouping !== '' && (type === 'n' || type === 'c' || (parts.grouping === ',' && 'boxX'.includes(type) && isWhole)))
    throw new ValueError(`Cannot specify '${parts.grouping}' with '${type}'.`)
  return isWhole ? formattedInteger(integerOf(value), parts, type) : formattedFloat(floatValue(value), parts, type)
}

function formattedText(value: string, spec: string): string {
  const parts = specOf(spec, false)
  if (parts.type !== '' && parts.type !== 's')
    throw new ValueError(`Unknown format code '${parts.type}' for object of type 'str'`)
  if (parts.sign !== '' || parts.isAlternate || parts.align === '=' || parts.grouping !== '')
    throw new ValueError(`The format '${spec}' is not allowed for a text.`)
  return aligned('', cut(value, parts.precision), parts)
}

function formattedInteger(value: number | bigint, parts: Spec, type: string): string {
  if (parts.precision !== undefined) throw new ValueError('Precision not allowed in integer format specifier')
  if (type === 'c') {
    if (parts.sign !== '' || parts.isAlternate) throw new ValueError("Sign or alternate form not allowed with 'c'")
    return aligned('', character(value), parts)
  }
  const prefix = parts.isAlternate && type in BASES ? `0${type}` : ''
  const start = signOf(value < 0, parts) + prefix
  return aligned(start, grouped(integerDigits(value, type), '', start.length, parts, type in BASES ? 4 : 3), parts)
}

function formattedFloat(value: number, parts: Spec, type: string): string {
  const { precision, isAlternate } = parts
  const magnitude = Math.abs(value)
  const text =
    type !== ''
      ? floatDigits(value, type, precision, isAlternate)
      : precision === undefined
        ? floatText(magnitude)
        : general(magnitude, precision, isAlternate, true)
  const [whole = ''] = /^\d*/.exec(text)!
  const start = signOf(isNegative(value), parts)
  return aligned(start, grouped(whole, text.slice(whole.length), start.length, parts, 3), parts)
}

const signOf = (negative: boolean, { sign }: Spec) => (negative ? '-' : sign === '-' ? '' : sign)

/** Digits in groups; zeros that fill up are grouped, too. */
function grouped(digits: string, rest: string, before: number, { grouping, fill, align, width }: Spec, count: number): string {
  if (grouping === '') return digits + rest
  const groups = (text: string) => text.replace(new RegExp(`\\B(?=(?:[\\da-fA-F]{${count}})+$)`, 'g'), grouping)
  let text = digits
  if (fill === '0' && align === '=') {
    const room = width - before - rest.length
    const zeros = Math.ceil((room * count) / (count + 1))
    text = text.padStart(Math.max(zeros, 0), '0')
    while (text.length > digits.length && groups(text.slice(1)).length >= room) text = text.slice(1)
    if (groups(text).length < room) text = `0${text}`
  }
  return groups(text) + rest
}

function aligned(start: string, body: string, { fill, align, width }: Spec): string {
  const missing = Math.max(0, width - [...start].length - [...body].length)
  const left = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing
  if (align === '=') return start + fill.repeat(missing) + body
  return fill.repeat(left) + start + body + fill.repeat(missing - left)
}

/** How names and members of fields are found. */
export interface Lookup {
  attribute(value: unknown, name: string): unknown
  item(value: unknown, key: unknown): unknown
}

/** str.format; fields may stand in specifications, one level deep. */
export function braceFormat(
  format: string,
  args: readonly unknown[],
  named: Dict,
  run: Run,
  { attribute, item }: Lookup,
): string {
  let automatic = 0
  let isManual = false

  function field(name: string): unknown {
    const [first = ''] = /^[^.[]*/.exec(name)!
    let key = first
    if (name === '') {
      if (isManual) throw new ValueError('cannot switch from manual field specification to automatic field numbering')
      key = String(automatic++)
    } else if (/^\d+$/.test(first)) {
      if (automatic > 0) throw new ValueError('cannot switch from automatic field numbering to manual field specification')
      isManual = true
    }
    const isNumber = /^\d+$/.test(key)
    if (isNumber ? Number(key) >= args.length : !Object.hasOwn(named, key))
      throw new ConnectorError(isNumber ? `IndexError: Replacement index ${key} out of range` : `KeyError: ${pyRepr(key)}`)
    let value = isNumber ? args[Number(key)] : named[key]
    const rest = name.slice(first.length)
    const MEMBER = /\.([^.[]+)|\[([^\]]+)\]/y
    while (MEMBER.lastIndex < rest.length) {
      const match = MEMBER.exec(rest)
      if (!match) throw new ValueError(`Empty attribute in format string '${name}'`)
      const [, member, index = ''] = match
      value = member === undefined ? item(value, /^\d+$/.test(index) ? Number(index) : index) : attribute(value, member)
    }
    return value
  }

  function expand(text: string, depth: number): string {
    if (depth < 0) throw new ValueError('Max string recursion exceeded')
    let out = ''
    let at = 0
    while (at < text.length) {
      const char = text[at]!
      if (char !== '{' && char !== '}') {
        const end = text.slice(at).search(/[{}]/)
        const to = end < 0 ? text.length : at + end
        out += text.slice(at, to)
        at = to
      } else if (text[at + 1] === char) {
        out += char
        at += 2
      } else {
        if (char === '}') throw new ValueError("Single '}' encountered in format string")
        const end = closing(text, at)
        out += replacement(text.slice(at + 1, end), depth)
        at = end + 1
      }
    }
    return out
  }

  function replacement(inside: string, depth: number): string {
    const [, name = '', mark, rest = ''] = /^((?:[^[!:{]|\[[^\]]*\]?)*)([!:{])?([\s\S]*)$/.exec(inside)!
    if (mark === '{') throw new ValueError("unexpected '{' in field name")
    let spec = rest
    let conversion: string | undefined
    if (mark === '!') {
      const [, letter, colon, more = ''] = /^([\s\S]?)(:?)([\s\S]*)$/u.exec(rest)!
      if (!letter || (!colon && more !== '')) throw new ValueError("expected ':' after conversion specifier")
      conversion = letter
      spec = more
    }
    let value = field(name)
    if (value instanceof PyFunction) throw new ConnectorError(`'${value.name}' is a function, which has no text.`)
    if (conversion === 'r') value = pyRepr(value)
    else if (conversion === 'a') value = asciiRepr(value)
    else if (conversion === 's') value = pyStr(value)
    else if (conversion !== undefined) throw new ValueError(`Unknown conversion specifier ${conversion}`)
    return formatted(value, expand(spec, depth - 1))
  }

  const out = expand(format, MAX_DEPTH)
  run.grow(out.length)
  return out
}

function closing(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  throw new ValueError("expected '}' before end of string")
}
