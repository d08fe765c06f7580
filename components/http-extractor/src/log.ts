// One line per event on standard output: time, level, message, context as JSON (spec extractor 1.7).
// Invariant: no secret value leaves this file. Every line passes the redactor, also errors and also addresses.

import type { Redactor } from './redaction.ts'

export type Level = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'
export type Context = Readonly<Record<string, unknown>>

export interface Log {
  debug(message: string, context?: Context): void
  info(message: string, context?: Context): void
  warning(message: string, context?: Context): void
  error(message: string, context?: Context): void
  /** True when DEBUG lines are written: lets callers skip building an expensive context. */
  readonly isDebug: boolean
}

export interface LogOptions {
  readonly debug: boolean
  readonly redactor: Redactor
  readonly write: (line: string) => void
  readonly now?: () => Date
}

// A hostile answer may carry line breaks or terminal escapes into a message: a line stays one line of plain text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
const oneLine = (text: string) =>
  text.replace(UNPRINTABLE, (c) =>
    c === '\n' ? '\\n' : c === '\t' ? ' ' : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export function createLog({ debug, redactor, write, now = () => new Date() }: LogOptions): Log {
  const line = (level: Level, message: string, context: Context) => {
    const text = oneLine(`${message} ${JSON.stringify(context)}`)
    write(`[${now().toISOString()}] ${level}: ${redactor.redact(text)}\n`)
  }
  return {
    isDebug: debug,
    debug: (message, context = {}) => {
      if (debug) line('DEBUG', message, context)
    },
    info: (message, context = {}) => line('INFO', message, context),
    warning: (message, context = {}) => line('WARNING', message, context),
    error: (message, context = {}) => line('ERROR', message, context),
  }
}
