// The way out for one iteration, below authentication: signature, cache, record or replay, transport, tunnel.

import type { Configuration } from './configuration/configuration.ts'
import { readAwsCredentials, withAwsSignature } from './http/aws-signature.ts'
import type { Egress } from './http/egress.ts'
import type { Send } from './http/exchange.ts'
import { withCache } from './http/response-cache.ts'
import { openTunnel, readSshSettings } from './http/ssh-tunnel.ts'
import { createTransport } from './http/transport.ts'
import type { Log } from './log.ts'
import type { RunPlan } from './run-plan.ts'

export interface Wire {
  readonly send: Send
  close(): Promise<void>
}

export interface WireDeps {
  readonly dataDir: string
  readonly egress: Egress
  readonly now: () => number
  readonly sleep: (seconds: number) => Promise<void>
  readonly log: Log
  /** Around the transport: writes down every exchange, or answers from what was written down. */
  readonly tap?: (send: Send) => Send
}

/** What can be wrong with the settings of the wire, found before the first request. */
export function checkWire({ sshProxy, awsCredentials }: Configuration): void {
  if (sshProxy) readSshSettings(sshProxy)
  if (awsCredentials) readAwsCredentials(awsCredentials)
}

export async function openWire(
  configuration: Configuration,
  { api, concurrency }: Pick<RunPlan, 'api' | 'concurrency'>,
  deps: WireDeps,
): Promise<Wire> {
  const { dataDir, egress, now, sleep, log, tap = (send) => send } = deps
  const { sshProxy, awsCredentials, cache } = configuration
  const { connectTimeoutMs, requestTimeoutMs, maxBodyBytes, tls } = api
  const tunnel = sshProxy
    ? await openTunnel({ settings: readSshSettings(sshProxy), egress, timeoutMs: connectTimeoutMs, tls, sleep, log })
    : undefined
  const transport = createTransport({
    egress,
    connectTimeoutMs,
    requestTimeoutMs,
    maxBodyBytes,
    tls,
    connections: concurrency,
    ...(tunnel ? { connector: tunnel.connector } : {}),
  })
  const tapped = tap(transport.send)
  const cached = cache ? withCache(tapped, cache, dataDir, now) : tapped
  return {
    send: awsCredentials ? withAwsSignature(cached, readAwsCredentials(awsCredentials), now) : cached,
    close: async () => {
      await transport.close()
      tunnel?.close()
    },
  }
}
