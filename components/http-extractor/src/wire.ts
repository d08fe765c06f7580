// The way out for one iteration: transport, SSH tunnel, AWS signature, recording. Everything below authentication.

import type { ApiSettings } from './configuration/api.ts'
import type { Configuration } from './configuration/configuration.ts'
import type { Egress } from './http/egress.ts'
import type { Send } from './http/exchange.ts'
import { createTransport } from './http/transport.ts'
import type { Log } from './log.ts'

export interface Wire {
  readonly send: Send
  close(): Promise<void>
}

export interface WireDeps {
  readonly egress: Egress
  readonly now: () => number
  readonly log: Log
}

export async function openWire(_configuration: Configuration, api: ApiSettings, { egress }: WireDeps): Promise<Wire> {
  const transport = createTransport({
    egress,
    connectTimeoutMs: api.connectTimeoutMs,
    requestTimeoutMs: api.requestTimeoutMs,
    maxBodyBytes: api.maxBodyBytes,
    tls: api.tls,
  })
  return transport
}
