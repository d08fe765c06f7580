// A request that got no usable answer. The numbers are curl's, because `api.retryConfig.curl.codes` names them.

import type { CauseKind } from '../../../../contract/failure-causes.ts'
import { UserError } from '../errors.ts'

const BY_CURL: Readonly<Record<number, CauseKind>> = {
  6: 'network.nameNotFound',
  7: 'network.unreachable',
  8: 'response.unreadable',
  28: 'network.timeout',
  35: 'network.tls',
  60: 'network.tls',
  61: 'response.unreadable',
}

export class TransportError extends UserError {
  readonly curlCode: number

  constructor(curlCode: number, text: string, cause?: unknown) {
    super(`CURL error ${curlCode}: ${text}`, { curl: curlCode }, cause)
    this.name = 'TransportError'
    this.curlCode = curlCode
    this.withFacts({ kind: BY_CURL[curlCode] ?? 'network.interrupted' })
  }
}

const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME|PATH_LENGTH|CRL_)/

const BY_CODE: Readonly<Record<string, readonly [number, string]>> = {
  ENOTFOUND: [6, 'Could not resolve host'],
  EAI_AGAIN: [6, 'Could not resolve host (the name server did not answer)'],
  ENODATA: [6, 'Could not resolve host'],
  ECONNREFUSED: [7, 'Failed to connect: connection refused'],
  EHOSTUNREACH: [7, 'Failed to connect: no route to host'],
  ENETUNREACH: [7, 'Failed to connect: network is unreachable'],
  EADDRNOTAVAIL: [7, 'Failed to connect: address not available'],
  EACCES: [7, 'Failed to connect: not permitted'],
  ERR_ACCESS_DENIED: [7, 'Failed to connect: not permitted'],
  ETIMEDOUT: [28, 'Connection timed out'],
  UND_ERR_CONNECT_TIMEOUT: [28, 'Connection timed out'],
  UND_ERR_HEADERS_TIMEOUT: [28, 'Operation timed out: no answer'],
  UND_ERR_BODY_TIMEOUT: [28, 'Operation timed out: the answer stalled'],
  EPROTO: [35, 'TLS handshake failed'],
  UND_ERR_HEADERS_OVERFLOW: [56, 'The headers of the answer are too large'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: [18, 'The answer is longer or shorter than its Content-Length says'],
  ECONNRESET: [56, 'Connection reset by the server'],
  EPIPE: [56, 'Connection closed by the server while the request was being sent'],
}

/** Names a failure of the socket or of undici. `answerBegan`: the status line had arrived already. */
export function namedTransportError(error: unknown, where: string, answerBegan: boolean): Error {
  if (error instanceof UserError) return error
  const failure = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  if (!(failure instanceof Error)) return new TransportError(56, `${String(failure)} (${where})`)
  const code = (failure as NodeJS.ErrnoException).code ?? '' // not every error has one
  const named = (n: number, text: string) => new TransportError(n, `${text} (${where})`, failure)
  if (CERTIFICATE.test(code)) {
    return named(
      60,
      `The certificate of the server is not trusted: ${failure.message}. Set api.caCertificate if it has an authority of its own`,
    )
  }
  if (code === 'UND_ERR_SOCKET') {
    return answerBegan
      ? named(18, 'The connection was closed before the answer was complete')
      : named(52, 'The server closed the connection without an answer')
  }
  if (code === 'ECONNRESET' && /TLS|socket disconnected before secure/i.test(failure.message))
    return named(35, 'TLS handshake failed: connection reset')
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return named(35, `TLS handshake failed: ${failure.message}`)
  if (code.startsWith('HPE_')) return named(8, `The server does not speak HTTP as expected: ${failure.message}`)
  const known = BY_CODE[code]
  return known ? named(known[0], known[1]) : named(56, failure.message)
}
