// What every authentication gets and gives.

import type { Address } from '../http/address.ts'
import type { HttpRequest, Send } from '../http/exchange.ts'
import type { JsonObject } from '../json/json.ts'
import type { Log } from '../log.ts'
import type { Redactor } from '../redaction.ts'

/** Signs one request. Called for every attempt: first tries, retries and redirects within the same origin. */
export interface Authentication {
  (request: HttpRequest): Promise<HttpRequest>
  /** The API refused this request. True when the next one is signed with new credentials, so that it is worth another try. */
  readonly renew?: (refused: HttpRequest) => boolean
}

export interface AuthDeps {
  /** api.authentication */
  readonly settings: JsonObject
  /** The `config` node: what `attr` references see. */
  readonly attributes: JsonObject
  /** authorization.oauth_api.credentials */
  readonly credentials: JsonObject | undefined
  readonly base: Address
  /** Sends a login request: with retries and redirects, without authentication. */
  readonly send: Send
  readonly now: () => number
  readonly redactor: Redactor
  readonly log: Log
}
