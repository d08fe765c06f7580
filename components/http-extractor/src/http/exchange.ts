// What is sent and what comes back. Everything about HTTP is a wrapper around one function, `Send`: redirects, retries,
// authentication, signatures, recording. client.ts puts them in order.

import type { Address } from './address.ts'
import type { Headers } from './headers.ts'

export interface HttpRequest {
  /** The extractor sends the first two; writers also the others. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly address: Address
  readonly headers: Headers
  readonly body?: string
  /** Its values are credentials, and shown nowhere. */
  readonly isLogin?: true
}

export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  /** Lower-case names; a repeated field is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded (content-encoding undone), within the size limit. */
  readonly body: Buffer
}

export type Send = (request: HttpRequest) => Promise<HttpResponse>
