// How long to wait before the next try. A strategy that finds nothing leaves it to the next one.

import type { Clock } from '../clock.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Interpolator } from '../jinja/interpolate.ts'
import { pythonRegExp } from '../jinja/python-regexp.ts'
import { asNumber, type Dict, isDict, isNumber, pyStr } from '../python/values.ts'

export interface ErrorHandlerDeps {
  readonly config: Dict
  readonly expressions: Interpolator
  readonly clock: Clock
}

export type Backoff = (response: HttpResponse | undefined, attempt: number) => number | undefined

export function createBackoff(definition: Dict, { config, expressions, clock }: ErrorHandlerDeps): Backoff {
  const context = { config, parameters: isDict(definition.$parameters) ? definition.$parameters : {} }
  const evaluated = (value: unknown) => (value === undefined || value === null ? undefined : expressions.value(value, context))
  const number = (value: unknown, otherwise: number): number => {
    const result = evaluated(value)
    return result === undefined || result === '' || result === null ? otherwise : asNumber(result)
  }
  const numberFromHeader = (response: HttpResponse | undefined): number | undefined => {
    const text = response?.header(pyStr(evaluated(definition.header)))
    if (!text) return undefined
    const regex = evaluated(definition.regex)
    const found = regex ? (pythonRegExp(pyStr(regex), { anchored: true }).exec(text)?.[0] ?? text) : text
    return found.trim() === '' || Number.isNaN(Number(found)) ? undefined : Number(found)
  }

  /** The wait, unless the manifest allows none so long. */
  const capped = (seconds: number): number => {
    const max =
      definition.max_waiting_time_in_seconds === undefined
        ? undefined
        : number(definition.max_waiting_time_in_seconds, Number.POSITIVE_INFINITY)
    if (max !== undefined && seconds >= max)
      throw new ConnectorError(`The API asks to wait ${seconds} seconds, and the manifest allows less than ${max}.`)
    return seconds
  }
  const jittered = (seconds: number): number =>
    isNumber(definition.jitter_range_in_seconds)
      ? seconds + Math.random() * 2 * asNumber(definition.jitter_range_in_seconds)
      : seconds

  switch (definition.type) {
    case 'ConstantBackoffStrategy':
      return () => jittered(number(definition.backoff_time_in_seconds, 0))
    case 'ExponentialBackoffStrategy':
      return (_response, attempt) => jittered(number(definition.factor, 5) * 2 ** attempt)
    case 'WaitTimeFromHeader':
      return (response) => {
        const seconds = numberFromHeader(response)
        return seconds ? capped(seconds) : seconds
      }
    case 'WaitUntilTimeFromHeader':
      return (response) => {
        const until = numberFromHeader(response)
        const min = number(definition.min_wait, 0)
        if (!until) return min ? capped(min) : undefined
        const seconds = until - clock.instant().timestamp()
        if (min) return capped(Math.max(seconds, min))
        return seconds < 0 ? undefined : capped(seconds)
      }
    case 'WaitTimeFromResponse':
      return (response) => {
        const variables = { ...context, response: response?.json() ?? {}, headers: response?.headers() ?? {} }
        let seconds: unknown
        try {
          seconds = expressions.value(definition.wait_time_in_seconds, variables)
        } catch (error) {
          if (error instanceof ConnectorError || error instanceof ValueError) return undefined
          throw error
        }
        const wait = typeof seconds === 'string' ? Number(seconds.trim() || 'none') : isNumber(seconds) ? asNumber(seconds) : 0
        return Number.isFinite(wait) && wait > 0 ? capped(wait) : undefined
      }
    default:
      throw new ConnectorError(`The backoff strategy '${pyStr(definition.type)}' is not supported.`)
  }
}
