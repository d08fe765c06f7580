// ClickHouse over its HTTP interface. Each statement has a connection of its own, opened like those of the drivers: through the egress guard,
// with TLS and SSH as configured. No settings are sent, because users who may only read cannot change any.

import { type IncomingMessage, request } from 'node:http'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { connect as connectTls } from 'node:tls'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { asSocket } from './as-socket.ts'
import { openWay } from './connect.ts'
import type { ServerSettings } from './connection.ts'

type Cells = (string | null)[]

export interface Clickhouse {
  /** Rows of a small result. The server sends it when it is complete, so an error is never part of it. */
  ask(select: string, format?: string): Promise<Cells[]>
  /** Rows of a large result, many at a time. */
  read(fields: readonly string[], from: string): AsyncGenerator<Cells[]>
  /** A statement without a result; `lines` follow an INSERT. */
  execute(sql: string, lines?: AsyncIterable<string>): Promise<void>
}

/** With `session`, all statements see the same temporary tables. */
export function createClickhouse(settings: ServerSettings, guard: EgressGuard, session?: string): Clickhouse {
  const { host, port, user, password, database, tls } = settings
  const headers = {
    host: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    connection: 'close',
  }

  async function send<T>(
    body: string | AsyncIterable<string>,
    parameters: Readonly<Record<string, string>>,
    receive: (response: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const way = await openWay(settings, guard)
    try {
      const plain = asSocket(way.stream)
      const socket = tls
        ? connectTls({
            ...{ socket: plain, host, ca: tls.ca, cert: tls.cert, key: tls.key, rejectUnauthorized: tls.verify },
            ...(isIP(host) === 0 && { servername: host }),
          })
        : plain
      const path = `/?${new URLSearchParams({ database, ...(session && { session_id: session, session_timeout: '600' }), ...parameters })}`
      const outgoing = request({ method: 'POST', path, headers, createConnection: () => socket })
      const answered = new Promise<IncomingMessage>((done, fail) => {
        outgoing.once('response', done)
        outgoing.once('error', fail)
      })
      const isText = typeof body === 'string'
      // A server that refuses rows answers before it has all of them; its answer has the reason, the broken connection has not.
      const sent = isText ? outgoing.end(body) : pipeline(Readable.from(body), outgoing).catch(() => {})
      const response = await answered
      if (response.statusCode !== 200) throw problemOf(await textOf(response), response.statusCode)
      const result = await receive(response)
      await sent
      return result
    } finally {
      way.close()
    }
  }

  return {
    ask: (select, format = 'TabSeparated') =>
      send(`${select}\nformat ${format}`, { wait_end_of_query: '1' }, async (response) => {
        const text = await textOf(response, MAX_ROW)
        return text === ''
          ? []
          : text
              .slice(0, -1)
              .split('\n')
              .map((line) => line.split('\t').map(textOfField)) // each line ends with a break
      }),
    async *read(fields, from) {
      // An error after the first rows is text at the end of them. Rows end with a field that no text of the server has.
      const mark = `end${crypto.randomUUID().slice(0, 8)}`
      const opened = Promise.withResolvers<IncomingMessage>()
      const done = Promise.withResolvers<void>()
      const sql = `select ${[...fields, `'${mark}'`].join(', ')} from ${from}\nformat TabSeparated`
      const sending = send(sql, {}, (response) => {
        opened.resolve(response)
        return done.promise
      })
      sending.catch(opened.reject)
      try {
        yield* rowsOf(await opened.promise, mark)
      } finally {
        done.resolve()
        await sending.catch(() => {}) // reported by what is read
      }
    },
    async execute(sql, lines) {
      let unread: unknown
      async function* body(): AsyncGenerator<string> {
        yield `${sql} format TabSeparated\n`
        try {
          yield* lines ?? []
        } catch (error) {
          unread = error // the request reports a closed connection only
          throw error
        }
      }
      try {
        await send(lines ? body() : sql, { wait_end_of_query: '1' }, async (response) => void (await textOf(response)))
      } catch (error) {
        throw unread ?? error
      }
    },
  }
}

const LINE_FEED = 10
const MAX_ANSWER = 2 ** 16
/** Characters of a row, or of a small result. */
const MAX_ROW = 2 ** 28

async function textOf(response: IncomingMessage, max = MAX_ANSWER): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > max && max !== MAX_ANSWER) throw new UserError('A result of the database is too large.')
    if (size <= max) chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A text that cannot be read, because ClickHouse keeps any bytes as text. */
export class NotUtf8 extends Error {
  /** Place of the field. */
  readonly at: number
  constructor(at: number) {
    super(`the text of field ${at + 1} is not UTF-8`)
    this.at = at
  }
}

async function* rowsOf(response: IncomingMessage, mark: string): AsyncGenerator<Cells[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const decoded = (chunk: Buffer): string => {
    try {
      return decoder.decode(chunk, { stream: true })
    } catch {
      const line = `${rest}${chunk.toString('utf8')}`.split('\n').find((one) => one.includes('\ufffd')) ?? ''
      throw new NotUtf8(line.split('\t').findIndex((one) => one.includes('\ufffd')))
    }
  }
  let rest = ''
  let isWhole = true // `rest` lacks the first bytes of a character whose last ones are missing
  for await (const chunk of response as AsyncIterable<Buffer>) {
    isWhole = chunk.at(-1) === LINE_FEED
    const text = decoded(chunk)
    const end = text.lastIndexOf('\n')
    if (end === -1) {
      rest += text // not looked at before the line is complete
      if (rest.length > MAX_ROW) throw new UserError(`A row has more than ${MAX_ROW / 2 ** 20} million characters.`)
      continue
    }
    const lines = (rest + text.slice(0, end)).split('\n')
    rest = text.slice(end + 1)
    yield lines.map((line, at) => {
      const fields = line.split('\t')
      if (fields.pop() !== mark) throw problemOf(lines.slice(at).join('\n') + rest)
      return fields.map(textOfField)
    })
  }
  if (!isWhole) throw problemOf(rest)
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', 0: '\0' }

const textOfField = (field: string): string | null => {
  if (field === '\\N') return null
  return field.includes('\\') ? field.replace(/\\(.)/gs, (_, one: string) => ESCAPED[one] ?? one) : field
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' }

/** A field of TabSeparated. The text of a list has escapes of its own (`isList`). */
export const fieldOf = (value: string | null, isList = false): string =>
  value === null ? '\\N' : value.replace(isList ? /[\t\n\r\0]/g : /[\\\t\n\r\0]/g, (one) => ESCAPES[one] ?? one)

/** Unlike elsewhere, a backslash escapes. */
export const clickhouseLiteral = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

/** Digits of a fraction of DateTime64; 0 of DateTime, undefined of other types. */
export function fractionOf(native: string): number | undefined {
  const [, digits] = /^DateTime(?:64\((\d)\b.*\)|\(.*\))?$/.exec(native) ?? [undefined, undefined]
  return native.startsWith('DateTime') ? Number(digits ?? 0) : undefined
}

/** The type without what changes only how values are kept. */
export function plainType(type: string): string {
  const [, inner] = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type) ?? []
  return inner === undefined ? type : plainType(inner)
}

/** Its number follows `CLICKHOUSE_` in the code of the error. */
function problemOf(text: string, status?: number): Error {
  // Newer versions put a line before it.
  const [, number, words = ''] =
    /^(?:__exception__\s+\S+\s+)?Code: (\d+)[.,] (?:e\.displayText\(\) = )?(?:DB::Exception: )?(.*)/s.exec(text.trim()) ?? []
  if (number === undefined && status !== 401)
    return status === undefined
      ? Object.assign(new Error('Connection lost in the middle of a row'), { code: 'ECONNRESET' })
      : new UserError(
          `The server answered with status ${status}, but not as ClickHouse does. db.port is the port of its HTTP interface: 8123, or 8443 with TLS.`,
        )
  const message = words
    .replace(/(, e\.what\(\) =| \(version |Stack trace:).*/s, '')
    .slice(0, 1000)
    .trim()
  return Object.assign(new Error(message || 'the user or the password is wrong'), { code: `CLICKHOUSE_${number ?? '516'}` })
}
