// Messages of the PostgreSQL protocol, version 3: what the server sends, and readers for what it receives.

import type { Format, WireColumn, WireError } from './wire-session.ts'

/** A frame: kind, length of the rest with itself, content. */
export function frame(kind: string, ...parts: readonly Buffer[]): Buffer {
  const head = Buffer.allocUnsafe(5)
  head.write(kind, 0, 'latin1')
  head.writeInt32BE(4 + parts.reduce((sum, { length }) => sum + length, 0), 1)
  return Buffer.concat([head, ...parts])
}

const text = (value: string): Buffer => Buffer.from(`${value.replaceAll('\0', '')}\0`)

export const int16 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export const int32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value | 0)
  return bytes
}

export const authenticationOk = (): Buffer => frame('R', int32(0))
export const askForPassword = (): Buffer => frame('R', int32(3))
export const parameterStatus = (name: string, value: string): Buffer => frame('S', text(name), text(value))
export const backendKey = (id: number, key: number): Buffer => frame('K', int32(id), int32(key))
export const readyForQuery = (status: string): Buffer => frame('Z', Buffer.from(status))
export const parseComplete = (): Buffer => frame('1')
export const bindComplete = (): Buffer => frame('2')
export const closeComplete = (): Buffer => frame('3')
export const noData = (): Buffer => frame('n')
export const portalSuspended = (): Buffer => frame('s')
export const emptyQuery = (): Buffer => frame('I')
export const copyDone = (): Buffer => frame('c')
export const commandComplete = (tag: string): Buffer => frame('C', text(tag))

export const parameterDescription = (types: readonly number[]): Buffer => frame('t', int16(types.length), ...types.map(int32))

/** An unsupported version: the client receives the newest supported minor version, and the options that were not recognized. */
export const negotiateVersion = (options: readonly string[]): Buffer =>
  frame('v', int32(0), int32(options.length), ...options.map(text))

export const rowDescription = (columns: readonly WireColumn[], formats: readonly Format[]): Buffer =>
  frame(
    'T',
    int16(columns.length),
    ...columns.map(({ name, oid, modifier }, i) =>
      Buffer.concat([
        text(name),
        int32(0),
        int16(0),
        int32(oid),
        int16(sizeOf(oid) & 0xffff),
        int32(modifier),
        int16(formatOf(formats, i)),
      ]),
    ),
  )

export const copyOut = (format: Format, columns: number): Buffer => copyStart('H', format, columns)
export const copyIn = (format: Format, columns: number): Buffer => copyStart('G', format, columns)

const copyStart = (kind: string, format: Format, columns: number): Buffer =>
  frame(kind, Buffer.from([format]), int16(columns), ...Array.from({ length: columns }, () => int16(format)))

/** One format for all, one for each, or none: text. */
export const formatOf = (formats: readonly Format[], i: number): Format =>
  formats.length === 1 ? (formats[0] ?? 0) : (formats[i] ?? 0)

const SIZES: Readonly<Record<number, number>> = { 16: 1, 21: 2, 23: 4, 20: 8, 700: 4, 701: 8, 1082: 4, 1083: 8, 1114: 8, 1184: 8 }
/** -1: as long as the value. */
const sizeOf = (oid: number): number => SIZES[oid] ?? -1

export function errorResponse(error: WireError, severity: 'ERROR' | 'FATAL' = 'ERROR'): Buffer {
  const field = (kind: string, value: string | undefined) => (value === undefined ? [] : [Buffer.from(kind), text(value)])
  return frame(
    'E',
    ...field('S', severity),
    ...field('V', severity),
    ...field('C', error.code),
    ...field('M', error.message),
    ...field('H', error.hint),
    ...field('P', error.position === undefined ? undefined : String(error.position)),
    Buffer.from([0]),
  )
}

/** Reads the content of a frame; a frame that is too short throws a RangeError. */
export function reader(content: Buffer) {
  let at = 0
  const step = (size: number): number => {
    if (size < 0 || at + size > content.length) throw new RangeError('The message is shorter than its length field.')
    at += size
    return at - size
  }
  return {
    isEnd: () => at >= content.length,
    int16: () => content.readUInt16BE(step(2)),
    int32: () => content.readInt32BE(step(4)),
    byte: () => content.toString('latin1', step(1), at),
    bytes: (size: number) => content.subarray(step(size), at),
    text: () => {
      const end = content.indexOf(0, at)
      if (end === -1) throw new RangeError('A text in the message has no end.')
      const value = content.toString('utf8', at, end)
      at = end + 1
      return value
    },
  }
}

export const listOf = <T>(count: number, item: () => T): T[] => Array.from({ length: count }, item)
