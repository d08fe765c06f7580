// multipart/form-data (RFC 7578) as a stream of parts that the reader pulls: no events, no hidden buffers, so a part of any size
// passes through in the memory of one chunk, and whatever is wrong with the body is an exception where it is read.

import { setImmediate } from 'node:timers/promises'
import { PlatformError } from '../../kit/errors.ts'

export interface FormPart {
  readonly name: string
  /** Undefined for a plain field. */
  readonly filename: string | undefined
  /** Must be read before the next part; what is left of it is skipped. A chunk is valid until the reader requests the next. */
  readonly body: AsyncIterable<Buffer>
}

const MAX_HEADER_BYTES = 16 * 1024
const MAX_PARTS = 20_000
const PARTS_AT_ONCE = 200
const CRLF = Buffer.from('\r\n')
const HEADER_END = Buffer.from('\r\n\r\n')

const malformed = (reason: string) => new PlatformError('malformedRequest', { reason: `the multipart body ${reason}.` })

/** The boundary a content type names; undefined when it is not multipart/form-data at all. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  if (!/^\s*multipart\/form-data\b/i.test(contentType ?? '')) return undefined
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed('has no boundary in its Content-Type')
  return boundary
}

export async function* readParts(source: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<FormPart, void> {
  // The first delimiter has no line before it; with one put there, all are alike.
  const input = createInput(source, CRLF)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  await skip(input.until(delimiter)) // what precedes the first part
  for (let count = 0; await anotherPart(input); count++) {
    if (count === MAX_PARTS) throw malformed(`has more than ${MAX_PARTS} parts`)
    if (count % PARTS_AT_ONCE === PARTS_AT_ONCE - 1) await setImmediate() // others have their turn
    const { name, filename } = dispositionOf(await readHeader(input))
    const body = input.until(delimiter)
    yield { name, filename, body }
    await skip(body)
  }
  await skip(input.rest())
}

/** After a delimiter: `--` ends the form, the end of the line begins a part. */
async function anotherPart(input: Input): Promise<boolean> {
  const next = await input.line(2 + 100)
  if (next.startsWith('--')) return false
  if (next.trim() !== '') throw malformed('has something else than a line end after its boundary')
  return true
}

async function readHeader(input: Input): Promise<string> {
  // The line end before is part of what ends the header, so that a header of no lines is found as well.
  input.putBack(CRLF)
  let header = ''
  for await (const piece of input.until(HEADER_END)) {
    header += piece.toString('latin1')
    if (header.length > MAX_HEADER_BYTES) throw malformed(`has a part header of more than ${MAX_HEADER_BYTES} bytes`)
  }
  return Buffer.from(header, 'latin1').toString()
}

function dispositionOf(header: string): Pick<FormPart, 'name' | 'filename'> {
  const [, disposition = ''] = /^content-disposition:([^\r\n]*)$/im.exec(header) ?? []
  const name = parameter(disposition, 'name')
  if (!/^\s*form-data\b/i.test(disposition) || name === undefined) throw malformed('has a part without a name')
  return { name, filename: extended(disposition) ?? parameter(disposition, 'filename') }
}

/** `name="a \"b\""` or `name=a`. Browsers write quotes as %22, curl with a backslash. */
function parameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(disposition) ?? []
  return quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"')
}

/** `filename*=UTF-8''%C5%BE.csv` (RFC 5987), which some clients still send. */
function extended(disposition: string): string | undefined {
  const [, encoded] = /;\s*filename\*=utf-8''([^;\s]*)/i.exec(disposition) ?? []
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

interface Input {
  /** Everything up to the needle, which is swallowed. */
  until(needle: Buffer): AsyncGenerator<Buffer, void>
  /** Up to the end of the line; an error when it is longer. At the end of the input, what is left. */
  line(maxBytes: number): Promise<string>
  putBack(bytes: Buffer): void
  rest(): AsyncGenerator<Buffer, void>
}

function createInput(source: AsyncIterable<Uint8Array>, start: Buffer): Input {
  const chunks = source[Symbol.asyncIterator]()
  let held = start

  async function more(): Promise<boolean> {
    const kept = Buffer.from(held) // its chunk is invalid once the next is requested
    const { value, done } = await chunks.next()
    if (done) return false
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    held = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
    return true
  }

  return {
    async *until(needle) {
      for (;;) {
        const found = held.indexOf(needle)
        const clear = found >= 0 ? found : held.length - beginningAtEnd(held, needle)
        const passed = held.subarray(0, clear)
        held = held.subarray(found >= 0 ? found + needle.length : clear)
        if (passed.length > 0) yield passed
        if (found >= 0) return
        if (!(await more())) throw malformed('breaks off')
      }
    },
    async line(maxBytes) {
      for (;;) {
        const end = held.indexOf(CRLF)
        if (end >= 0) {
          const line = held.toString('latin1', 0, end)
          held = held.subarray(end + CRLF.length)
          return line
        }
        if (held.length > maxBytes) throw malformed('has something else than a line end after its boundary')
        if (!(await more())) return held.toString('latin1')
      }
    },
    putBack(bytes) {
      held = Buffer.concat([bytes, held])
    },
    async *rest() {
      do {
        yield held
        held = Buffer.alloc(0)
      } while (await more())
    },
  }
}

/** How many bytes at the end could be the beginning of the needle: they wait for the next chunk, the others need not be copied. */
function beginningAtEnd(bytes: Buffer, needle: Buffer): number {
  const tail = bytes.subarray(Math.max(0, bytes.length - needle.length + 1))
  for (let at = tail.indexOf(needle[0]!); at >= 0; at = tail.indexOf(needle[0]!, at + 1))
    if (tail.compare(needle, 0, tail.length - at, at) === 0) return tail.length - at
  return 0
}

async function skip(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}
