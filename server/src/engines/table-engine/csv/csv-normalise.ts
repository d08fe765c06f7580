// Writes CSV that every reader agrees on: no header, commas, every value quoted (an empty one without quotes stays without), LF. Only for files the scanner has found valid and
// DuckDB would read differently (mixed line ends, blank lines that are rows, escape characters), so it is simple rather than fast.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { type InflateLimits, type LocalSlice, readSlice } from './csv-bytes.ts'
import type { DialectBytes } from './csv-dialect.ts'

const LF = 10
const CR = 13
const QUOTE = 34
const COMMA = 44

export interface NormaliseRequest {
  readonly slices: readonly LocalSlice[]
  readonly dialect: DialectBytes
  readonly columns: number
  readonly skipLines: number
  readonly limits: InflateLimits
}

export const NORMALISED: DialectBytes = { delimiter: COMMA, enclosure: QUOTE, escaper: -1 }

export async function normaliseCsv(request: NormaliseRequest, path: string): Promise<void> {
  const out = createWriteStream(path, { highWaterMark: 1 << 20 })
  const done = finished(out)
  done.catch(() => {}) // reported by the await below
  try {
    for (const slice of request.slices) {
      const records = createRecordReader(request.dialect, request.skipLines, request.columns, (bytes) => out.write(bytes), true)
      for await (const chunk of readSlice(slice, request.limits)) if (!records.write(chunk)) await once(out, 'drain')
      records.end()
    }
    out.end()
    await done
  } catch (error) {
    out.destroy()
    throw error
  }
}

/** Bytes of a valid file in, normalised bytes out. `write` returns whether the sink accepts more; `keepsBare`: empty fields without quotes get none. */
export function createRecordReader(
  { delimiter, enclosure, escaper }: DialectBytes,
  skipLines: number,
  columns: number,
  sink: (bytes: Buffer) => boolean,
  keepsBare = false,
): { write(chunk: Uint8Array): boolean; end(): void } {
  let out = Buffer.allocUnsafe(1 << 16)
  let used = 0
  let wantsMore = true
  let atStart = true
  let skipRaw = skipLines > 1 ? skipLines : 0
  let skipRecords = skipLines === 1 ? 1 : 0
  let inRecord = false // any byte of the record seen
  let fieldOpen = false // its opening quote is written
  let quoted = false
  let quoteSeen = false
  let crSeen = false
  let escaped = false

  const flush = () => {
    if (used > 0) wantsMore = sink(Buffer.from(out.subarray(0, used)))
    used = 0
  }
  const put = (byte: number) => {
    if (skipRecords > 0) return
    if (used === out.length) {
      flush()
      out = Buffer.allocUnsafe(1 << 16)
    }
    out[used++] = byte
  }
  const openField = () => {
    if (!fieldOpen) put(QUOTE)
    fieldOpen = true
  }
  const closeField = () => {
    // An empty field without quotes stays one: it may mean null.
    const isBare = keepsBare && !fieldOpen && !quoted && !quoteSeen && columns > 1
    if (!isBare) {
      openField()
      put(QUOTE)
    }
    fieldOpen = false
    quoted = quoteSeen = false
  }
  const text = (byte: number) => {
    openField()
    put(byte)
    if (byte === QUOTE) put(QUOTE)
  }
  const endRecord = () => {
    if (inRecord || columns === 1 || skipRecords > 0) {
      closeField()
      put(LF)
      if (skipRecords > 0) skipRecords--
    }
    inRecord = fieldOpen = quoted = quoteSeen = crSeen = false
  }

  function write(chunk: Uint8Array): boolean {
    wantsMore = true
    let i = 0
    if (atStart && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) i = 3
    atStart = false
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (skipRaw > 0) {
        if (byte === LF) skipRaw--
      } else if (escaped) {
        text(byte)
        escaped = false
      } else if (quoted && !quoteSeen) {
        if (byte === enclosure) quoteSeen = true
        else text(byte)
      } else if (quoteSeen && byte === enclosure) {
        text(byte)
        quoteSeen = false
      } else if (byte === delimiter) {
        closeField()
        put(COMMA)
        inRecord = true
      } else if (byte === LF) endRecord()
      else if (byte === CR) crSeen = true
      else if (byte === enclosure) {
        quoted = inRecord = true
        openField()
      } else if (byte === escaper) {
        escaped = inRecord = true
      } else {
        inRecord = true
        text(byte)
      }
    }
    flush()
    return wantsMore
  }

  function end(): void {
    if (inRecord || crSeen) endRecord()
    flush()
  }
  return { write, end }
}
