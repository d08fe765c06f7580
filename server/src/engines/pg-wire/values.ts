// Values of PostgreSQL types between text and binary. Every engine returns text; clients request binary when they have run a
// statement several times, or always.

import { WireError } from './wire-session.ts'

/** Object ids of the types that results have, from PostgreSQL's pg_type. */
export const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  json: 114,
  float4: 700,
  float8: 701,
  oid: 26,
  unknown: 705,
  bpchar: 1042,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  interval: 1186,
  timetz: 1266,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
} as const

/** Types of arrays, and those of their elements. */
export const ARRAY_OF: Readonly<Record<number, number>> = {
  199: OID.json,
  1000: OID.bool,
  1001: OID.bytea,
  1005: OID.int2,
  1007: OID.int4,
  1009: OID.text,
  1015: OID.varchar,
  1016: OID.int8,
  1021: OID.float4,
  1022: OID.float8,
  1028: OID.oid,
  1014: OID.bpchar,
  1115: OID.timestamp,
  1182: OID.date,
  1183: OID.time,
  1185: OID.timestamptz,
  1187: OID.interval,
  1231: OID.numeric,
  1270: OID.timetz,
  2951: OID.uuid,
  3807: OID.jsonb,
}
const ARRAY_TYPES: Readonly<Record<number, number>> = Object.fromEntries(
  Object.entries(ARRAY_OF).map(([array, element]) => [element, Number(array)]),
)

/** The type of arrays of a type. */
export const arrayTypeOf = (element: number): number | undefined => ARRAY_TYPES[element]

/** Days and microseconds from 1970 to 2000, where PostgreSQL begins to count. */
const EPOCH_DAYS = 10_957
const EPOCH_MICROS = BigInt(EPOCH_DAYS) * 86_400_000_000n
const [MIN_INT32, MAX_INT32, MIN_INT64, MAX_INT64] = [-0x8000_0000, 0x7fff_ffff, -(2n ** 63n), 2n ** 63n - 1n]

// ------------------------------------------------------------------------------------------------------------------ to binary

type Encode = (text: string) => Buffer

/** A text as the binary value of a type; types that are not here are their text in both formats. */
export const ENCODERS: Readonly<Record<number, Encode>> = {
  [OID.bool]: (text) => Buffer.from([text === 't' ? 1 : 0]),
  [OID.int2]: (text) => write(2, (bytes) => bytes.writeInt16BE(Number(text))),
  [OID.int4]: (text) => write(4, (bytes) => bytes.writeInt32BE(Number(text))),
  [OID.int8]: (text) => int64(BigInt(text)),
  [OID.float4]: (text) => write(4, (bytes) => bytes.writeFloatBE(Number(text))),
  [OID.float8]: (text) => write(8, (bytes) => bytes.writeDoubleBE(Number(text))),
  [OID.bytea]: (text) => Buffer.from(text.slice(2), 'hex'),
  [OID.uuid]: (text) => Buffer.from(text.replaceAll('-', ''), 'hex'),
  [OID.date]: (text) => write(4, (bytes) => bytes.writeInt32BE(dateOf(text))),
  [OID.time]: (text) => int64(timeOf(text)),
  [OID.timetz]: timetz,
  [OID.timestamp]: (text) => int64(momentOf(text)),
  [OID.timestamptz]: (text) => int64(momentOf(text)),
  [OID.interval]: interval,
  [OID.numeric]: numeric,
}

/** Undefined for types that are their text in both formats. */
export function encoderOf(oid: number): Encode | undefined {
  const element = ARRAY_OF[oid]
  return element === undefined ? ENCODERS[oid] : (text) => array(text, element)
}

/** Dimensions, whether there are nulls, the type, the size and the first index, then the values with their lengths. */
function array(text: string, element: number): Buffer {
  const encode = ENCODERS[element] ?? Buffer.from
  const values = elementsOf(text) ?? []
  const hasNull = values.includes(null)
  const head = values.length === 0 ? [0, 0, element] : [1, hasNull ? 1 : 0, element, values.length, 1]
  const int32 = (value: number) => write(4, (bytes) => bytes.writeInt32BE(value))
  return Buffer.concat([
    ...head.map(int32),
    ...values.flatMap((value) => {
      const bytes = value === null ? undefined : encode(value)
      return bytes ? [int32(bytes.length), bytes] : [int32(-1)]
    }),
  ])
}

function write(size: number, fill: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size)
  fill(bytes)
  return bytes
}

const int64 = (value: bigint): Buffer => write(8, (bytes) => bytes.writeBigInt64BE(value))

const INFINITE = /^(-?)infinity$/

function dateOf(text: string): number {
  const infinite = INFINITE.exec(text)
  if (infinite) return infinite[1] ? MIN_INT32 : MAX_INT32
  return daysOf(text.split(' ')[0] ?? '', text.endsWith('BC')) - EPOCH_DAYS
}

/** Days since 1970 of `YYYY-MM-DD`. */
function daysOf(date: string, isBeforeChrist: boolean): number {
  const [year = 1970, month = 1, day = 1] = date.split('-').map(Number)
  const moment = new Date(0)
  moment.setUTCFullYear(isBeforeChrist ? 1 - year : year, month - 1, day)
  return Math.floor(moment.getTime() / 86_400_000)
}

/** Microseconds of `HH:MM:SS.ffffff`, hours beyond a day included. */
function timeOf(text: string): bigint {
  const [, sign, hours, minutes, seconds, fraction = ''] = /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?/.exec(text) ?? []
  const whole = (BigInt(hours ?? 0) * 60n + BigInt(minutes ?? 0)) * 60n + BigInt(seconds ?? 0)
  const micros = whole * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
  return sign ? -micros : micros
}

/** Seconds east of UTC of `+02` or `-03:30`. */
function zoneOf(text: string): number {
  const [, sign, hours, minutes = '0', seconds = '0'] = /([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?$/.exec(text) ?? []
  const total = Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -total : total
}

function momentOf(text: string): bigint {
  const infinite = INFINITE.exec(text)
  if (infinite) return infinite[1] ? MIN_INT64 : MAX_INT64
  const isBeforeChrist = text.endsWith(' BC')
  const [date = '', time = '00:00:00'] = (isBeforeChrist ? text.slice(0, -3) : text).split(' ')
  const micros = BigInt(daysOf(date, isBeforeChrist)) * 86_400_000_000n + timeOf(time)
  return micros - BigInt(zoneOf(time)) * 1_000_000n - EPOCH_MICROS
}

function timetz(text: string): Buffer {
  return Buffer.concat([int64(timeOf(text)), write(4, (bytes) => bytes.writeInt32BE(-zoneOf(text)))])
}

const MONTHS: Readonly<Record<string, number>> = { year: 12, mon: 1 }

/** `1 year 2 mons 3 days 04:05:06`. */
function interval(text: string): Buffer {
  let months = 0
  let days = 0
  for (const [, count, unit = ''] of text.matchAll(/(-?\d+) (year|mon|day)s?/g)) {
    if (unit === 'day') days += Number(count)
    else months += Number(count) * (MONTHS[unit] ?? 0)
  }
  const time = /-?\d+:\d\d:\d\d(\.\d+)?$/.exec(text)
  const rest = write(8, (bytes) => {
    bytes.writeInt32BE(days)
    bytes.writeInt32BE(months, 4)
  })
  return Buffer.concat([int64(time ? timeOf(time[0]) : 0n), rest])
}

const NOT_A_NUMBER = 0xc000

/** Groups of four digits, the weight of the first one, the sign and the digits behind the point. */
function numeric(text: string): Buffer {
  if (text === 'NaN') return words([0, 0, NOT_A_NUMBER, 0])
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = text.slice(isNegative ? 1 : 0).split('.')
  const digits = whole.replace(/^0+/, '')
  const left = digits.padStart(Math.ceil(digits.length / 4) * 4, '0')
  const right = fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')
  const groups = (left + right).match(/\d{4}/g)?.map(Number) ?? []
  let weight = left.length / 4 - 1
  while (groups[0] === 0) {
    groups.shift()
    weight--
  }
  while (groups.at(-1) === 0) groups.pop()
  if (groups.length === 0) weight = 0
  return words([groups.length, weight & 0xffff, isNegative && groups.length > 0 ? 0x4000 : 0, fraction.length, ...groups])
}

const words = (values: readonly number[]): Buffer =>
  write(values.length * 2, (bytes) => {
    for (const [i, value] of values.entries()) bytes.writeUInt16BE(value, i * 2)
  })

/** The bytes of a text of bytea, in hex (`\x6162`) or in the older form (`a\\b\000`); undefined when it is neither. */
export function bytesOf(text: string): Buffer | undefined {
  if (/^\\x/i.test(text)) {
    const hex = text.slice(2).replaceAll(/\s/g, '')
    return hex.length % 2 === 0 && /^[0-9a-f]*$/i.test(hex) ? Buffer.from(hex, 'hex') : undefined
  }
  const bytes = Buffer.from(text)
  let size = 0
  for (let i = 0; i < bytes.length; i++, size++) {
    if (bytes[i] !== BACKSLASH) {
      bytes[size] = bytes[i] as number // i < length
      continue
    }
    const octal = /^[0-3][0-7]{2}$/.exec(bytes.toString('latin1', i + 1, i + 4))
    if (!octal && bytes[i + 1] !== BACKSLASH) return undefined
    bytes[size] = octal ? Number.parseInt(octal[0], 8) : BACKSLASH
    i += octal ? 3 : 1
  }
  return bytes.subarray(0, size)
}

const BACKSLASH = 92

// ---------------------------------------------------------------------------------------------------------------- from binary

type Decode = (bytes: Buffer) => string

const DECODERS: Readonly<Record<number, Decode>> = {
  [OID.bool]: (bytes) => (bytes.readUInt8(0) ? 't' : 'f'),
  [OID.int2]: (bytes) => String(bytes.readInt16BE(0)),
  [OID.int4]: (bytes) => String(bytes.readInt32BE(0)),
  [OID.int8]: (bytes) => String(bytes.readBigInt64BE(0)),
  [OID.oid]: (bytes) => String(bytes.readUInt32BE(0)),
  [OID.float4]: (bytes) => String(bytes.readFloatBE(0)),
  [OID.float8]: (bytes) => String(bytes.readDoubleBE(0)),
  [OID.bytea]: (bytes) => `\\x${bytes.toString('hex')}`,
  [OID.uuid]: (bytes) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  [OID.date]: (bytes) => dateText(bytes.readInt32BE(0) + EPOCH_DAYS),
  [OID.time]: (bytes) => timeText(bytes.readBigInt64BE(0)),
  [OID.timestamp]: momentText,
  [OID.timestamptz]: (bytes) => `${momentText(bytes)}+00`,
  [OID.timetz]: timetzText,
  [OID.interval]: intervalText,
  [OID.numeric]: numericText,
  [OID.jsonb]: (bytes) => bytes.toString('utf8', 1),
  ...Object.fromEntries(
    [0, OID.text, OID.varchar, OID.bpchar, OID.unknown, OID.json].map((oid) => [oid, (bytes: Buffer) => bytes.toString()]),
  ),
}

/** A binary value of a type as text. Throws for types that clients do not send and for values that are too short. */
export function textOf(oid: number, bytes: Buffer): string {
  const element = ARRAY_OF[oid]
  const decode = element === undefined ? DECODERS[oid] : (value: Buffer) => arrayText(value, element)
  if (!decode)
    throw new WireError(
      '0A000',
      `Parameters of type ${oid} are not taken in binary. Send them as text, or cast them in the statement.`,
    )
  try {
    return decode(bytes)
  } catch {
    throw new WireError('22P03', `A binary parameter of type ${oid} is shorter than values of its type are.`)
  }
}

const dateText = (days: number): string => new Date(days * 86_400_000).toISOString().slice(0, -14)

function timeText(micros: bigint): string {
  const pad = (value: bigint, size = 2) => String(value).padStart(size, '0')
  const seconds = micros / 1_000_000n
  return `${pad(seconds / 3600n)}:${pad((seconds / 60n) % 60n)}:${pad(seconds % 60n)}.${pad(micros % 1_000_000n, 6)}`
}

function timetzText(bytes: Buffer): string {
  const west = bytes.readInt32BE(8)
  const pad = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(Math.abs(west) / 3600), Math.floor((Math.abs(west) % 3600) / 60)]
  return `${timeText(bytes.readBigInt64BE(0))}${west > 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
}

/** `14 mons 3 days 04:05:06.500000` */
function intervalText(bytes: Buffer): string {
  const [micros, days, months] = [bytes.readBigInt64BE(0), bytes.readInt32BE(8), bytes.readInt32BE(12)]
  return `${months} mons ${days} days ${micros < 0n ? '-' : ''}${timeText(micros < 0n ? -micros : micros)}`
}

function momentText(bytes: Buffer): string {
  const raw = bytes.readBigInt64BE(0)
  if (raw === MAX_INT64 || raw === MIN_INT64) return raw > 0n ? 'infinity' : '-infinity'
  const micros = raw + EPOCH_MICROS
  const ofDay = ((micros % 86_400_000_000n) + 86_400_000_000n) % 86_400_000_000n
  return `${dateText(Number((micros - ofDay) / 86_400_000_000n))} ${timeText(ofDay)}`
}

function numericText(bytes: Buffer): string {
  const [count, weight, sign, scale] = [bytes.readUInt16BE(0), bytes.readInt16BE(2), bytes.readUInt16BE(4), bytes.readUInt16BE(6)]
  if (sign === NOT_A_NUMBER) return 'NaN'
  const group = (i: number) => (i >= 0 && i < count ? String(bytes.readUInt16BE(8 + i * 2)).padStart(4, '0') : '0000')
  const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => group(from + i)).join('')
  const whole = range(0, weight + 1).replace(/^0+(?=\d)/, '') || '0'
  const fraction = range(weight + 1, weight + 1 + Math.ceil(scale / 4)).slice(0, scale)
  return `${sign === 0x4000 ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

/** `{1,NULL,"a,b"}`: dimensions, whether there are nulls, the type, then per dimension its size and first index, then the values. */
function arrayText(bytes: Buffer, element: number): string {
  const dimensions = bytes.readInt32BE(0)
  if (dimensions === 0) return '{}'
  if (dimensions > 1) throw new RangeError('one dimension only')
  let at = 20
  const values = Array.from({ length: bytes.readInt32BE(12) }, () => {
    const length = bytes.readInt32BE(at)
    const from = at + 4
    at = from + Math.max(0, length)
    return length === -1 ? 'NULL' : quotedElement(textOf(element, bytes.subarray(from, at)))
  })
  return `{${values.join()}}`
}

const quotedElement = (text: string): string =>
  /^[\w.:+-]+$/.test(text) && !/^null$/i.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`

/** The values of `{1,NULL,"a,b"}`; undefined when it is no array of one dimension. Each character is looked at once. */
export function elementsOf(text: string): (string | null)[] | undefined {
  if (!text.startsWith('{') || !text.endsWith('}') || text.length < 2) return undefined
  const end = text.length - 1
  const values: (string | null)[] = []
  for (let at = 1; ; at++) {
    at = afterSpaces(text, at, end)
    if (at === end && values.length === 0) return values
    const found = text[at] === '"' ? quotedAt(text, at, end) : plainAt(text, at, end)
    if (!found) return undefined
    values.push(found.value)
    at = afterSpaces(text, found.end, end)
    if (at === end) return values
    if (text[at] !== ',') return undefined
  }
}

function afterSpaces(text: string, from: number, end: number): number {
  let at = from
  while (at < end && /\s/.test(text[at] ?? '')) at++
  return at
}

interface Element {
  readonly value: string | null
  readonly end: number
}

function quotedAt(text: string, start: number, end: number): Element | undefined {
  const pieces: string[] = []
  let from = start + 1
  for (let at = from; at < end; at++) {
    if (text[at] === '"') return { value: pieces.join('') + text.slice(from, at), end: at + 1 }
    if (text[at] !== '\\') continue
    pieces.push(text.slice(from, at))
    from = ++at
  }
  return undefined
}

function plainAt(text: string, start: number, end: number): Element | undefined {
  let at = start
  while (at < end && text[at] !== ',') if ('"{}'.includes(text[at++] ?? '')) return undefined
  const value = text.slice(start, at).trim()
  return { value: /^null$/i.test(value) ? null : value, end: at }
}
