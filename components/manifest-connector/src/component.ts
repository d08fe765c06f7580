// What every component gets: the configuration, expressions, the clock and the way out.

import type { Clock } from './clock.ts'
import { ConnectorError } from './errors.ts'
import type { ResponseCache } from './http/cache.ts'
import type { HttpResponse } from './http/response.ts'
import type { Send } from './http/transport.ts'
import type { Interpolator } from './jinja/interpolate.ts'
import { type Dict, isDict } from './python/values.ts'

/** Good answers of an earlier run that did not succeed, and of this one. */
export interface KeptAnswers {
  wrap(send: Send): Send
  /** An answer that was received and is good. */
  accept(response: HttpResponse): void
}

export interface Deps {
  readonly config: Dict
  readonly expressions: Interpolator
  readonly clock: Clock
  readonly send: Send
  /** Learns which answers are good. */
  readonly accept?: KeptAnswers['accept'] | undefined
  readonly cache: ResponseCache
  /** From now on this value must not appear in logs. */
  readonly hide: (secret: unknown) => void
  /** A new configuration, after a refresh token was used up. */
  readonly saveConfig: (config: Dict) => void
  readonly warn?: (message: string) => void
}

export const parametersOf = (definition: Dict): Dict => (isDict(definition.$parameters) ? definition.$parameters : {})

export const contextOf = (definition: Dict, deps: Pick<Deps, 'config'>): Dict => ({
  config: deps.config,
  parameters: parametersOf(definition),
})

export function dictOf(value: unknown, what: string): Dict {
  if (!isDict(value)) throw new ConnectorError(`${what} must be an object.`)
  return value
}

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
