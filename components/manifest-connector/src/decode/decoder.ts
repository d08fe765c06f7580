// Bodies as values. Each decoder gives the documents of an answer one by one.

import { gunzipSync, inflateRawSync } from 'node:zlib'
import { ConnectorError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import * as dpath from '../python/dpath.ts'
import { parseJson } from '../python/json.ts'
import { type Dict, isDict, pyStr } from '../python/values.ts'
import { csvRows } from './csv.ts'
import { xmlObject } from './xml.ts'
import { zipEntries } from './zip.ts'

export interface Decoder {
  /** Each list of the top level item by item. An answer without any document gives none. */
  decode(response: HttpResponse): Iterable<unknown>
  /** Whether paginators see the body; for the others it is an empty object. */
  readonly forPaginator: boolean
}

const MAX_UNPACKED = 1024 * 1024 * 1024

type Parse = (body: Buffer, text: () => string) => Iterable<unknown>

function* jsonItems(text: string): Iterable<unknown> {
  const value = parseJson(text)
  if (Array.isArray(value)) yield* value
  else yield value
}

function* jsonLines(text: string): Iterable<unknown> {
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    let value: unknown
    try {
      value = parseJson(line)
    } catch {
      continue
    }
    yield value
  }
}

const encodingOf = (definition: Dict): string => {
  const name = pyStr(definition.encoding ?? 'utf-8').toLowerCase()
  return (
    ({ latin1: 'latin1', 'latin-1': 'latin1', cp1252: 'windows-1252' } as Record<string, string>)[name] ?? name.replace(/_/g, '-')
  )
}

/** The inside of gzip and zip: one of the formats of text. */
function parserOf(definition: Dict): Parse {
  const encoding = encodingOf(definition)
  const decode = (body: Buffer) =>
    encoding === 'utf-8-sig' ? new TextDecoder().decode(body) : new TextDecoder(encoding, { ignoreBOM: true }).decode(body)
  switch (definition.type) {
    case 'JsonDecoder':
    case undefined:
      return (body) => jsonItems(decode(body))
    case 'JsonlDecoder':
      return (body) => jsonLines(decode(body))
    case 'CsvDecoder':
      return (body) => csvRows(decode(body), definition)
    case 'GzipDecoder': {
      const inner = parserOf(isDict(definition.decoder) ? definition.decoder : {})
      // Some servers unpack on the way, some send gzip within gzip: the first two bytes identify it.
      return (body) => {
        const unpacked = isGzip(body) ? gunzipSync(body, { maxOutputLength: MAX_UNPACKED }) : body
        return inner(unpacked, () => unpacked.toString('utf8'))
      }
    }
    case 'JsonItemsDecoder':
      return (body) => {
        const found = dpath.get(parseJson(decode(body)), pyStr(definition.items_path).split('.'))
        return Array.isArray(found) ? found : []
      }
    case 'XmlDecoder':
      return (body) => [xmlObject(decode(body))]
    case 'ZipfileDecoder': {
      const inner = parserOf(isDict(definition.decoder) ? definition.decoder : {})
      return function* (body) {
        for (const entry of zipEntries(body, (data, size) =>
          inflateRawSync(data, { maxOutputLength: Math.min(MAX_UNPACKED, size) }),
        ))
          yield* inner(entry, () => entry.toString('utf8'))
      }
    }
    case 'IterableDecoder':
      return function* (_body, text) {
        const all = text()
        for (const line of all === '' ? [] : all.replace(/\r?\n$/, '').split(/\r\n|\n|\r/)) yield { record: line }
      }
    default:
      throw new ConnectorError(`The decoder '${pyStr(definition.type)}' is not supported.`)
  }
}

const isGzip = (body: Buffer) => body[0] === 0x1f && body[1] === 0x8b

export function createDecoder(definition: unknown): Decoder {
  const type = isDict(definition) ? definition.type : undefined
  if (type === undefined || type === 'JsonDecoder') return JSON_DECODER
  const parse = parserOf(definition as Dict)
  return { decode: (response) => parse(response.body, () => response.text()), forPaginator: type === 'XmlDecoder' }
}

/** A body that is not JSON is an empty object; an empty list as well. */
export const JSON_DECODER: Decoder = {
  *decode(response) {
    const value = response.json()
    if (Array.isArray(value) && value.length > 0) yield* value
    else yield value === undefined || Array.isArray(value) ? {} : value
  },
  forPaginator: true,
}

/** What paginators and expressions call `response`. */
export function firstDecoded(response: HttpResponse, decoder: Decoder = JSON_DECODER): unknown {
  if (!decoder.forPaginator) return {}
  for (const value of decoder.decode(response)) return value
  return {}
}
