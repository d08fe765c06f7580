// The log: pino's JSON lines, one sink, and nothing secret in it. Every line passes maskLine, from any source: by value (secrets.ts),
// by key (`token`, `#password`, ...), and by shape (bearer tokens, signatures and passwords in addresses). The one exception is the line
// of a finished request, which holds nothing that a client or a user chose.

import pino, { type Logger } from 'pino'
import { isoTimes } from './clock.ts'
import { MASK, type Secrets } from './secrets.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface LogOptions {
  readonly level: LogLevel
  readonly secrets: Secrets
  /** Where lines go; standard output, unless a test reads them. */
  readonly write?: (line: string) => void
}

export interface FinishedRequest {
  readonly requestId: string
  readonly operation: string
  /** Of an address that has no route, which the operation does not name. */
  readonly path?: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
  readonly projectId?: number | undefined
  readonly tokenId?: number | undefined
  /** Counted, but without a line of its own. */
  readonly isQuiet?: boolean
}

export interface Log extends Logger {
  /** One line per request, written without pino's and the mask's work: they would be a sixth of what a small request costs. */
  request(finished: FinishedRequest): void
}

export function createLog({ level, secrets, write }: LogOptions): Log {
  const put: Sink = write ?? standardOutput()
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    {
      write: (line: string) => put(maskLine(line, secrets)),
      // Behind pino's own flush(), for the last lines before the process ends.
      flush: (done: (error?: Error | null) => void) => (put.flush ? put.flush(done) : done()),
    } as pino.DestinationStream,
  )
  const timeText = isoTimes()
  return Object.assign(log, {
    request(finished: FinishedRequest) {
      if (finished.isQuiet || !log.isLevelEnabled('info')) return
      const line = requestLine(finished, timeText())
      put(finished.path === undefined ? line : maskLine(line, secrets)) // all else in it is ours
    },
  })
}

const requestLine = (
  { requestId, operation, path, method, status, durationMs, projectId, tokenId }: FinishedRequest,
  time: string,
) =>
  `{"level":"info","time":"${time}","requestId":"${requestId}","operation":"${operation}","method":"${method}",` +
  `${path === undefined ? '' : `"path":${JSON.stringify(path)},`}"status":${status},` +
  `"durationMs":${Math.round(durationMs * 10) / 10}${projectId === undefined ? '' : `,"projectId":${projectId}`}` +
  `${tokenId === undefined ? '' : `,"tokenId":${tokenId}`},"msg":"request"}\n`

const LINES_WAIT_MS = 20
const BUFFER_BYTES = 64 * 1024

interface Sink {
  (line: string): void
  flush?: (done: (error?: Error | null) => void) => void
}

/**
 * Lines of a few milliseconds are written together: one write per line would cost a tenth of the requests per second. They wait here
 * and not in the sink, whose own buffer keeps what arrives during a slow write until the next write.
 */
function standardOutput(): Sink {
  const sink = pino.destination({ fd: 1, sync: false })
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const send = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting !== '') sink.write(waiting)
    waiting = ''
  }
  const put: Sink = (line) => {
    waiting += line
    if (waiting.length > BUFFER_BYTES) send()
    else timer ??= setTimeout(send, LINES_WAIT_MS)
  }
  put.flush = (done) => {
    send()
    sink.once('drain', () => done())
    sink.write('')
  }
  process.on('exit', () => {
    send()
    sink.flushSync()
  })
  return put
}

const SECRET_KEY =
  /^(#.*|.*(token|password|passwd|secret|authorization|cookie|credentials?|private_?key|api_?key|access_?key|signature))$/i
/** Names that end like those of secrets, but are none. */
const HARMLESS_KEY = /^(.*_?id|is.*|has.*|can.*)$|Id$/
/** The same check for a whole line, fast. */
const MAY_HOLD_SECRET_KEY =
  /"(?:#[^"]*|[^"]*(?:token|passw|secret|authorization|cookie|credential|private_?key|api_?key|access_?key|signature))":/i

const SHAPES: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\b(x-storageapi-token|x-storage-api-token|x-kbc-[\w-]*token)(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi, `$1$2${MASK}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${MASK}@`],
  [/([?&](?:x-amz-(?:signature|security-token|credential)|token|access_token|api_?key|password|secret)=)[^&\s"]+/gi, `$1${MASK}`],
]
const MAY_HOLD_SHAPE =
  /bearer\s|basic\s|-token|:\/\/[^\s/:@"]*:[^\s/@"]+@|[?&][\w-]*(?:token|signature|credential|key|password|secret)=/i

/** Almost every line passes the quick questions and is written as it is. */
function maskLine(line: string, secrets: Secrets): string {
  if (!MAY_HOLD_SECRET_KEY.test(line) && !MAY_HOLD_SHAPE.test(line) && !secrets.mayAppearIn(line)) return line
  return `${JSON.stringify(maskValue(JSON.parse(line), secrets))}\n`
}

function maskValue(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return maskText(value, secrets)
  if (typeof value === 'number') return secrets.mask(String(value)) === MASK ? MASK : value
  if (Array.isArray(value)) return value.map((entry) => maskValue(entry, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [secrets.mask(key), isSecretKey(key, entry) ? MASK : maskValue(entry, secrets)]),
  )
}

const isSecretKey = (key: string, value: unknown): boolean =>
  value !== null && typeof value !== 'boolean' && SECRET_KEY.test(key) && !HARMLESS_KEY.test(key)

const maskText = (text: string, secrets: Secrets): string => maskShapes(secrets.mask(text))

/** Without what looks like a credential: for texts on other ways out. */
export const maskShapes = (text: string): string =>
  SHAPES.reduce((masked, [shape, replacement]) => masked.replace(shape, replacement), text)
