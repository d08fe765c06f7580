// What both listeners need for TLS.

import type { IncomingMessage } from 'node:http'

/** The certificate and key that are presented, and word of new ones. */
export interface TlsPair {
  current(): { readonly cert: string; readonly key: string }
  onChange(listener: (pair: { readonly cert: string; readonly key: string }) => void): void
}

/** HTTP/2 names the host in `:authority`; the rest of the code reads the header of HTTP/1.1. */
export function withHost(message: IncomingMessage): IncomingMessage {
  message.headers.host ??= message.headers[':authority'] as string | undefined // a pseudo header, always one text
  return message
}
