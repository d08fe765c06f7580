// The output of a component. Its lines may state their own time and level, as loggers of the Monolog kind and those of Python write them:
//
//   [2026-11-16T00:01:16.123Z] WARNING: what happened {"job":"users"} []
//   2026-11-16 00:01:16,123 WARNING what happened
//   2026-11-16 00:01:16,123 - root - WARNING - what happened
//
// The event of such a line has that level and the message alone, for it has a time and a level of its own; a context becomes its fields.

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

export interface LogEvent {
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

const LEVEL = 'DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|ALERT|EMERGENCY'
const TIME = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?`
const BRACKETED = new RegExp(String.raw`^\[\d{4}-\d\d-\d\d[T ][^\]]*\] (?:[\w-]+\.)?(${LEVEL}): (.*)$`, 's')
const PLAIN = new RegExp(String.raw`^${TIME} (?:- )?(?:[\w.-]+ - )?\[?(${LEVEL})\]?(?: -|:)? +(.*)$`, 's')
const SYNONYMS: Readonly<Record<string, LogLevel>> = { warn: 'warning', fatal: 'critical' }
/** How many braces are tried as the start of the context. */
const MAX_STARTS = 20

export function eventOfLine(line: string): LogEvent {
  const match = BRACKETED.exec(line) ?? PLAIN.exec(line)
  if (match === null) return { level: 'info', message: line }
  const word = match[1]!.toLowerCase()
  const level = SYNONYMS[word] ?? (word as LogLevel) // one of those in the expression
  const text = match[2]!.replace(/(?: (?:\[\]|\{\}))+$/, '')
  let start = text.endsWith('}') ? text.indexOf(' {"') : -1
  for (let tried = 0; start !== -1 && tried < MAX_STARTS; tried++) {
    const fields = objectOrUndefined(text.slice(start + 1))
    if (fields !== undefined) return { level, message: text.slice(0, start), fields }
    start = text.indexOf(' {"', start + 1)
  }
  return { level, message: text }
}

function objectOrUndefined(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>> // it starts with a brace
  } catch {
    return undefined
  }
}
