// How long to wait before the next try. A strategy that finds nothing leaves it to the next one.

import type { Clock } from '../clock.ts'
import { ConnectorError } from '../errors.ts'
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
    const found = regex ? (pythonRegExp(pyStr(regex), true).exec(text)?.[0] ?? text) : text
    return found.trim() === '' || Number.isNaN(Number(found)) ? undefined : Number(found)
  }

  switch (definition.type) {
    case 'ConstantBackoffStrategy':
      return () => number(definition.backoff_time_in_seconds, 0)
    case 'ExponentialBackoffStrategy':
      return (_response, attempt) => number(definition.factor, 5) * 2 ** attempt
    case 'WaitTimeFromHeader':
      return (response) => {
        const seconds = numberFromHeader(response)
        const max = isNumber(definition.max_waiting_time_in_seconds)
          ? asNumber(definition.max_waiting_time_in_seconds)
          : undefined
        if (max && seconds && seconds >= max)
          throw new ConnectorError(`The API asks to wait ${seconds} seconds, more than the ${max} that the manifest allows.`)
        return seconds
      }
    case 'WaitUntilTimeFromHeader':
      return (response) => {
        const until = numberFromHeader(response)
        const min = number(definition.min_wait, 0)
        if (!until) return min || undefined
        const seconds = until - clock.now().timestamp()
        if (min) return Math.max(seconds, min)
        return seconds < 0 ? undefined : seconds
      }
    default:
      throw new ConnectorError(`The backoff strategy '${pyStr(definition.type)}' is not supported.`)
  }
}
