// Messages of the output plugin pgoutput, protocol version 1: what PostgreSQL sends of each transaction, in the order of commits.

/** A value as the server writes it; null; undefined: not sent, because it is stored out of line and did not change. */
export type Value = string | null | undefined

export interface RelationMessage {
  readonly kind: 'relation'
  readonly id: number
  readonly schema: string
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly typeId: number; readonly modifier: number }[]
}

export type Message =
  | { readonly kind: 'begin'; readonly commitAt: bigint }
  | { readonly kind: 'commit'; readonly end: bigint }
  | RelationMessage
  | { readonly kind: 'insert'; readonly relation: number; readonly row: readonly Value[] }
  /** `old`: the row before, or its key where that has changed; `isWhole`: all columns of it. */
  | {
      readonly kind: 'update'
      readonly relation: number
      readonly row: readonly Value[]
      readonly old: readonly Value[] | undefined
      readonly isWhole: boolean
    }
  | { readonly kind: 'delete'; readonly relation: number; readonly old: readonly Value[]; readonly isWhole: boolean }
  | { readonly kind: 'truncate'; readonly relations: readonly number[] }
  | { readonly kind: 'other' }

export function readMessage(bytes: Buffer): Message {
  let at = 1
  const byte = (): string => String.fromCharCode(bytes[at++] ?? 0)
  const int = (): number => {
    at += 4
    return bytes.readInt32BE(at - 4)
  }
  const position = (): bigint => {
    at += 8
    return bytes.readBigUInt64BE(at - 8)
  }
  const text = (): string => {
    const end = bytes.indexOf(0, at)
    const found = bytes.toString('utf8', at, end)
    at = end + 1
    return found
  }
  const tuple = (): Value[] => {
    const count = bytes.readUInt16BE(at)
    at += 2
    return Array.from({ length: count }, () => {
      const kind = byte()
      if (kind === 'n') return null
      if (kind === 'u') return undefined
      const length = int()
      at += length
      return bytes.toString('utf8', at - length, at)
    })
  }
  switch (String.fromCharCode(bytes[0] ?? 0)) {
    case 'B':
      return { kind: 'begin', commitAt: position() }
    case 'C':
      at += 9 // flags and the place of the commit itself
      return { kind: 'commit', end: position() }
    case 'R': {
      const [id, schema, name] = [int() >>> 0, text(), text()]
      at += 1 // replica identity
      const count = bytes.readUInt16BE(at)
      at += 2
      const columns = Array.from({ length: count }, () => {
        at += 1 // part of the key
        return { name: text(), typeId: int() >>> 0, modifier: int() }
      })
      return { kind: 'relation', id, schema: schema === '' ? 'pg_catalog' : schema, name, columns }
    }
    case 'I': {
      const relation = int() >>> 0
      byte()
      return { kind: 'insert', relation, row: tuple() }
    }
    case 'U': {
      const relation = int() >>> 0
      const first = byte()
      if (first === 'N') return { kind: 'update', relation, row: tuple(), old: undefined, isWhole: false }
      const old = tuple()
      byte()
      return { kind: 'update', relation, row: tuple(), old, isWhole: first === 'O' }
    }
    case 'D': {
      const relation = int() >>> 0
      const isWhole = byte() === 'O'
      return { kind: 'delete', relation, old: tuple(), isWhole }
    }
    case 'T': {
      const count = int()
      at += 1 // whether sequences restart
      return { kind: 'truncate', relations: Array.from({ length: count }, () => int() >>> 0) }
    }
    default:
      return { kind: 'other' } // origins, types, messages
  }
}

/** `0/16B3748` and back. */
export function positionFrom(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
export const positionText = (position: bigint): string =>
  `${(position >> 32n).toString(16).toUpperCase()}/${(position & 0xffffffffn).toString(16).toUpperCase()}`
