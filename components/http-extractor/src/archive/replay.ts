// Answers requests from an archive instead of the network. Secrets were masked in the archive, so the request is masked the
// same way before it is compared. Equal requests are answered in the order they were recorded.

import { UserError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import { shownRequest } from '../http/confidential.ts'
import type { HttpRequest, Send } from '../http/exchange.ts'
import { headerValue } from '../http/headers.ts'
import type { Redactor } from '../redaction.ts'
import type { RecordedExchange, RecordedRequest } from './archive.ts'

export interface Replay {
  readonly send: Send
  /** Exchanges that were not requested. */
  unused(): readonly RecordedExchange[]
}

export function createReplay(exchanges: readonly RecordedExchange[], redactor: Redactor): Replay {
  const left = [...exchanges]

  const send: Send = async (request) => {
    const fits = (form: HttpRequest) => left.findIndex((exchange) => difference(exchange.request, form, redactor) === undefined)
    const exact = fits(request)
    // A recorded login has no values; one that was written by hand may have them.
    const at = exact < 0 && request.isLogin ? fits(shownRequest(request)) : exact
    if (at < 0) throw new UserError(notRecorded(request, left, redactor))
    return left.splice(at, 1)[0]!.response
  }

  return { send, unused: () => left }
}

/** What makes two requests differ, in words; undefined when they fit. */
function difference(recorded: RecordedRequest, request: HttpRequest, redactor: Redactor): string | undefined {
  const same = (a: string, b: string) => a === b || a === redactor.redact(b)
  if (recorded.method !== request.method) return `method ${recorded.method}`
  if (!same(recorded.url, addressText(request.address))) return `address ${recorded.url}`
  if (!same(recorded.body ?? '', request.body ?? '')) return `body ${recorded.body ?? '(none)'}`
  for (const [name, expected] of recorded.headers) {
    const sent = headerValue(request.headers, name)
    if (expected === null ? sent !== undefined : sent === undefined || !same(expected, sent)) return `header ${name}: ${expected}`
  }
  return undefined
}

function notRecorded(request: HttpRequest, left: readonly RecordedExchange[], redactor: Redactor): string {
  const next = left[0] && difference(left[0].request, request, redactor)
  return (
    `The archive holds no (further) answer for ${request.method} ${addressText(request.address)}` +
    `${request.body === undefined ? '' : ` with the body ${request.body}`}.${next === undefined ? '' : ` The next recorded request has ${next}.`}`
  )
}
