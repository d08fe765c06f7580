// What a component says. Its lines may state their own time and level, as loggers of the Monolog kind write them:
//
//   [2026-11-16T00:01:16.123Z] WARNING: what happened {"job":"users"} []
//
// The event of such a line has that level, the message alone, and the context as its fields.

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

export interface LogEvent {
  readonly level: LogLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

const LINE = /^\[\d{4}-\d\d-\d\d[T ][^\]]*\] (?:[\w-]+\.)?(DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY): (.*)$/s
/** How many braces are tried as the start of the context. */
const MOST_STARTS = 20

export function eventOfLine(line: string): LogEvent {
  const match = LINE.exec(line)
  if (match === null) return { level: 'info', message: line }
  const level = match[1]!.toLowerCase() as LogLevel // one of those in the expression
  const text = match[2]!.replace(/(?: (?:\[\]|\{\}))+$/, '')
  let start = text.endsWith('}') ? text.indexOf(' {"') : -1
  for (let tried = 0; start !== -1 && tried < MOST_STARTS; tried++) {
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
