// The log of a job, on its way into the events: collected for a moment and written many at a time, in order.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { LogEvent, LogLevel } from '../../../engines/runner/log-event.ts'
import type { EventType, NewEvent, RecordEvent } from '../../../model/event.ts'
import type { RunnableComponent, RunScope } from '../../../model/run-ports.ts'

export interface JobLog {
  /** A sentence of the platform about the run. */
  say(type: EventType, message: string, params?: Readonly<Record<string, unknown>>): void
  /** The output of a component, with the levels of its description. */
  component(component: RunnableComponent, event: LogEvent): void
  /** All lines so far are written when this resolves. */
  flush(): Promise<void>
}

export interface JobLogDeps {
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  /** New log lines of the job of this run can be read now. */
  readonly onSaid: (runId: string) => void
  readonly onError: (error: unknown) => void
}

const GATHER_MS = 150
const AT_ONCE = 200
const MESSAGE_CHARS = 4_000

type Visibility = 'none' | 'camouflage' | 'normal' | 'verbose'

const DEFAULT_VISIBILITY: Readonly<Record<LogLevel, Visibility>> = {
  debug: 'none',
  info: 'normal',
  notice: 'normal',
  warning: 'normal',
  error: 'normal',
  critical: 'camouflage',
  alert: 'camouflage',
  emergency: 'camouflage',
}
const TYPES: Readonly<Record<LogLevel, EventType>> = {
  debug: 'info',
  info: 'info',
  notice: 'warn',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
}

export function createJobLog(
  deps: JobLogDeps,
  scope: RunScope,
  place: { readonly componentId: string; readonly configurationId: string | null },
): JobLog {
  const waiting: NewEvent[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** A component reports its failure in its log, on standard error, and the platform in the result of the job: one event is enough. */
  let lastError: string | undefined

  function add(event: NewEvent): void {
    if (event.type === 'error' && event.message === lastError) return
    if (event.type === 'error') lastError = event.message
    waiting.push(event)
    timer ??= setTimeout(() => void flush(), GATHER_MS)
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write).catch(deps.onError)
    return writing
  }

  async function write(): Promise<void> {
    if (waiting.length === 0) return
    while (waiting.length > 0) {
      const batch = waiting.splice(0, AT_ONCE)
      await deps.inTransaction(async (trx) => {
        for (const event of batch)
          await deps.recordEvent(trx, scope.actor, event, { runId: scope.runId, remoteAddress: null, userAgent: null })
      })
    }
    deps.onSaid(scope.runId)
  }

  const eventOf = (type: EventType, message: string, more: Partial<NewEvent> = {}): NewEvent => ({
    event: `ext.${place.componentId}.${place.configurationId ?? ''}`,
    component: place.componentId,
    configurationId: place.configurationId,
    branchId: scope.branchId,
    type,
    message: shorten(message),
    ...more,
  })

  return {
    say: (type, message, params) => add(eventOf(type, message, params === undefined ? {} : { params })),
    component(component, { level, message, fields }) {
      const visibility = component.logging.verbosity[level] ?? DEFAULT_VISIBILITY[level]
      if (visibility === 'none' || message === '') return
      if (visibility === 'camouflage') add(eventOf(TYPES[level], 'The component met an internal error.'))
      else add(eventOf(TYPES[level], message, visibility === 'verbose' && fields ? { results: fields } : {}))
    },
    flush,
  }
}

const shorten = (message: string): string =>
  message.length <= MESSAGE_CHARS
    ? message
    : `${message.slice(0, MESSAGE_CHARS / 2 - 3)}\n...\n${message.slice(3 - MESSAGE_CHARS / 2)}`
