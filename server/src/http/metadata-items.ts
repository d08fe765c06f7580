// The list of key-value pairs that metadata routes take, whichever thing the metadata is on (spec storage 2.5.9).

import { formatTimestamp } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'

const KEY = /^[A-Za-z0-9._-]{1,255}$/
const MAX_ITEMS = 1000
const MAX_VALUE = 65_536

export interface MetadataPair {
  readonly key: string
  readonly value: string
}

/** Pairs to set, by whom and when. */
export interface MetadataWrite {
  readonly provider: string
  readonly pairs: readonly MetadataPair[]
  readonly at: Date
}

/** `value` is the member `metadata` of a body: a list, a map of a form, or a string holding the JSON of one. */
export function readMetadataItems(value: unknown): readonly MetadataPair[] {
  const list = typeof value === 'string' ? parse(value) : value
  if (!Array.isArray(list)) throw notAList(list)
  if (list.length === 0 || list.length > MAX_ITEMS) {
    throw new PlatformError('storage.metadata.invalidStructure', {
      reason: `it must be a list of 1 to ${MAX_ITEMS} objects with key and value.`,
    })
  }
  return list.map(readItem)
}

const STRUCTURE = "Invalid structure. Metadata must be provided as an array of objects with 'key' and 'value' members"

/** One object, as clients send by mistake, has a text of its own (corrections-2, A11). */
export const notAList = (value: unknown): PlatformError =>
  typeof value === 'object' && value !== null
    ? new PlatformError('storage.metadata.invalidStructure', {}, { text: STRUCTURE })
    : new PlatformError('storage.metadata.invalidParameter')

const PROVIDER = /^[\w.:/ -]{1,255}$/

/** Who the metadata is from, as the request names it. */
export function readProvider(provider: string | undefined): string {
  if (!provider) throw new PlatformError('storage.metadata.invalidProvider')
  if (!PROVIDER.test(provider))
    throw new PlatformError('storage.metadata.invalidProvider', {}, { text: 'Invalid metadata provider.' })
  return provider
}

function readItem(item: unknown, i: number): MetadataPair {
  const { key, value } = (typeof item === 'object' && item !== null ? item : {}) as { key?: unknown; value?: unknown } // checked below
  if (typeof key !== 'string' || !['string', 'number', 'boolean'].includes(typeof value)) {
    throw new PlatformError('storage.metadata.invalidStructure', { reason: `item ${i} needs a key and a value, both strings.` })
  }
  if (!KEY.test(key)) throw new PlatformError('storage.metadata.invalidKey', { place: `metadata[${i}][key]` })
  const text = String(value)
  if (text.length > MAX_VALUE || text.includes('\u0000')) {
    throw new PlatformError('storage.metadata.invalidStructure', {
      reason: `the value of ${key} is longer than ${MAX_VALUE} characters or contains NUL.`,
    })
  }
  return { key, value: text.toWellFormed() }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export interface MetadataItem extends MetadataPair {
  readonly id: number
  readonly provider: string
  readonly updatedAt: Date
}

export const metadataView = (item: MetadataItem) => ({
  id: String(item.id), // a string: the Go client decodes it as one
  key: item.key,
  value: item.value,
  provider: item.provider,
  timestamp: formatTimestamp(item.updatedAt),
})
