// What an answer means: good, ignored, to be tried again, or a failure.

import { ConnectorError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import { asNumber, type Dict, isDict, isNumber, truthy } from '../python/values.ts'
import { type Backoff, createBackoff, type ErrorHandlerDeps } from './backoff.ts'

export type Action =
  | 'SUCCESS'
  | 'RETRY'
  | 'FAIL'
  | 'IGNORE'
  | 'RATE_LIMITED'
  | 'RESET_PAGINATION'
  | 'REFRESH_TOKEN_THEN_RETRY'
  | 'REDUCE_PAGE_SIZE'
  | 'SPLIT_REQUEST_WINDOW'

export interface Resolution {
  readonly action: Action
  readonly message?: string | undefined
}

export interface ErrorHandler {
  readonly maxRetries: number
  readonly maxTime: number
  /** Without a response: the connection failed. */
  interpret(response: HttpResponse | undefined): Resolution | Promise<Resolution>
  backoff(response: HttpResponse | undefined, attempt: number): number | undefined | Promise<number | undefined>
}

const DEFAULT_RETRIES = 5
const DEFAULT_TIME = 600

const DEFAULTS: Readonly<Record<number, Resolution>> = {
  400: { action: 'FAIL', message: 'Bad request. Please check your request parameters.' },
  401: { action: 'FAIL', message: 'Unauthorized. Please ensure you are authenticated correctly.' },
  403: { action: 'FAIL', message: 'Forbidden. You do not have permission to access this resource.' },
  404: { action: 'FAIL', message: 'Not found. The requested resource was not found on the server.' },
  405: { action: 'FAIL', message: 'Method not allowed. Please check your request method.' },
  408: { action: 'RETRY', message: 'Request timeout.' },
  429: { action: 'RATE_LIMITED', message: 'Too many requests.' },
}

const byDefault = (response: HttpResponse | undefined): Resolution =>
  response ? (DEFAULTS[response.status] ?? { action: 'RETRY' }) : { action: 'RETRY' }

export function createErrorHandler(definition: unknown, deps: ErrorHandlerDeps): ErrorHandler {
  if (!isDict(definition)) return defaultHandler({}, deps)
  if (definition.type === 'CompositeErrorHandler') return composite(definition, deps)
  return defaultHandler(definition, deps)
}

/** These end the search of a composite; FAIL and the rest leave it to the handlers after. */
const FINAL: ReadonlySet<Action> = new Set([
  'SUCCESS',
  'RETRY',
  'IGNORE',
  'RESET_PAGINATION',
  'REDUCE_PAGE_SIZE',
  'SPLIT_REQUEST_WINDOW',
])

function composite(definition: Dict, deps: ErrorHandlerDeps): ErrorHandler {
  const handlers = (definition.error_handlers as unknown[]).map((each) => createErrorHandler(each, deps))
  if (handlers.length === 0) throw new ConnectorError('CompositeErrorHandler expects at least 1 underlying error handler.')
  return {
    maxRetries: handlers[0]!.maxRetries,
    maxTime: Math.max(...handlers.map(({ maxTime }) => maxTime)),
    async interpret(response) {
      let resolution: Resolution = byDefault(response)
      for (const handler of handlers) {
        resolution = await handler.interpret(response)
        if (FINAL.has(resolution.action)) return resolution
      }
      return resolution
    },
    async backoff(response, attempt) {
      for (const handler of handlers) {
        const seconds = await handler.backoff(response, attempt)
        if (seconds) return seconds
      }
      return undefined
    },
  }
}

function defaultHandler(definition: Dict, deps: ErrorHandlerDeps): ErrorHandler {
  const context = { config: deps.config, parameters: isDict(definition.$parameters) ? definition.$parameters : {} }
  const filters = (Array.isArray(definition.response_filters) ? definition.response_filters : []).map((each) =>
    responseFilter(each as Dict, deps),
  )
  const strategies: Backoff[] = (Array.isArray(definition.backoff_strategies) ? definition.backoff_strategies : []).map((each) =>
    createBackoff(each as Dict, deps),
  )
  const retries =
    definition.max_retries === undefined || definition.max_retries === null
      ? DEFAULT_RETRIES
      : deps.expressions.value(definition.max_retries, context)
  return {
    maxRetries: isNumber(retries) ? asNumber(retries) : DEFAULT_RETRIES,
    maxTime: isNumber(definition.max_time) ? asNumber(definition.max_time) : DEFAULT_TIME,
    interpret(response) {
      if (!response) return byDefault(response)
      for (const filter of filters) {
        const resolution = filter(response)
        if (resolution) return resolution
      }
      return response.ok ? { action: 'SUCCESS' } : byDefault(response)
    },
    backoff(response, attempt) {
      for (const strategy of strategies) {
        const seconds = strategy(response, attempt)
        if (seconds) return seconds
      }
      return undefined
    },
  }
}

/** Whether a response filter of the handler has this action. */
export function usesAction(definition: unknown, action: Action): boolean {
  if (!isDict(definition)) return false
  if (definition.type === 'CompositeErrorHandler')
    return Array.isArray(definition.error_handlers) && definition.error_handlers.some((each) => usesAction(each, action))
  const filters = Array.isArray(definition.response_filters) ? definition.response_filters : []
  return filters.some((each) => isDict(each) && each.action === action)
}

function responseFilter(
  filter: Dict,
  { config, expressions }: ErrorHandlerDeps,
): (response: HttpResponse) => Resolution | undefined {
  const codes = new Set(Array.isArray(filter.http_codes) ? filter.http_codes.map(Number) : [])
  const parameters = isDict(filter.$parameters) ? filter.$parameters : {}
  const action = typeof filter.action === 'string' ? (filter.action.toUpperCase() as Action) : undefined // one of the schema
  const contextOf = (response: HttpResponse) => ({
    config,
    parameters,
    response: response.json() ?? {},
    headers: response.headersView(),
  })
  return (response) => {
    const matched =
      codes.has(response.status) ||
      (typeof filter.predicate === 'string' &&
        filter.predicate !== '' &&
        expressions.truth(filter.predicate, { ...contextOf(response), config: null })) ||
      (typeof filter.error_message_contains === 'string' &&
        filter.error_message_contains !== '' &&
        errorMessageOf(response).includes(filter.error_message_contains))
    if (!matched || action === undefined) return undefined
    const message =
      typeof filter.error_message === 'string' ? expressions.optional(filter.error_message, contextOf(response)) : undefined
    return { action, message: message === null || message === undefined ? byDefault(response).message : String(message) }
  }
}

/** The error text of an answer, as the reference finds it: the first known key, at any depth. */
function errorMessageOf(response: HttpResponse): string {
  const body = response.json()
  return body === undefined ? response.text() : (messageIn(body, 0) ?? '')
}

const MESSAGE_KEYS = [
  'message',
  'messages',
  'error',
  'errors',
  'failures',
  'failure',
  'details',
  'detail',
  'err',
  'error_message',
  'msg',
  'reason',
  'status_message',
]

function messageIn(value: unknown, depth: number): string | undefined {
  if (depth > 20 || typeof value === 'string') return typeof value === 'string' ? value : undefined
  if (Array.isArray(value))
    return value
      .map((each) => messageIn(each, depth + 1))
      .filter((each) => each !== undefined)
      .join(', ')
  if (!isDict(value)) return undefined
  const key = MESSAGE_KEYS.find((each) => truthy(value[each]))
  return key === undefined ? undefined : messageIn(value[key], depth + 1)
}
