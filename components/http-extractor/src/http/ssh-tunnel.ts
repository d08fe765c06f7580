// parameters.sshProxy (spec extractor 19): all traffic through an SSH connection, names resolved at the other end. The
// connection to the SSH server itself passes the egress policy; what lies behind it is the other side's network.
//
// A dead tunnel is opened again with the next connection, so the retries of a request bring it back.

import { connect as connectSocket, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ClientChannel, Client as SshClient } from 'ssh2'
import type { buildConnector } from 'undici'
import { at, integerAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, type JsonObject } from '../json/json.ts'
import type { Log } from '../log.ts'
import type { Egress } from './egress.ts'
import { hostKeyFingerprint } from './host-key-fingerprint.ts'
import { TransportError } from './transport-error.ts'

export const sshSchema = {
  type: 'object',
  title: 'SSH tunnel',
  description: 'All requests pass through an SSH server.',
  properties: {
    host: { type: 'string' },
    port: { type: ['integer', 'string'], default: 22 },
    user: { type: 'string' },
    '#privateKey': { type: 'string', description: 'The private key; passwords are not supported.' },
  },
  required: ['host', 'port', 'user', '#privateKey'],
} as const

export interface SshSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly privateKey: string
}

export function readSshSettings(value: JsonObject): SshSettings {
  const missing = ['host', 'port', 'user', '#privateKey'].filter((key) => isEmpty(at(value, key)))
  if (missing.length > 0) throw new UserError(`Missing parameters '${missing.join(', ')}' in SSH config.`)
  return {
    host: textAt(at(value, 'host'), 'sshProxy.host', ''),
    port: integerAt(at(value, 'port'), 'sshProxy.port') ?? 22,
    user: textAt(at(value, 'user'), 'sshProxy.user', ''),
    privateKey: textAt(at(value, '#privateKey'), 'sshProxy.#privateKey', ''),
  }
}

const ATTEMPTS = 5
const SSH_PORT = 22

export interface Tunnel {
  readonly connector: buildConnector.connector
  close(): void
}

export interface TunnelDeps {
  readonly settings: SshSettings
  readonly egress: Egress
  readonly timeoutMs: number
  readonly tls: { readonly ca?: string; readonly certificate?: string }
  readonly sleep: (seconds: number) => Promise<void>
  readonly log: Log
}

export async function openTunnel({ settings, egress, timeoutMs, tls, sleep, log }: TunnelDeps): Promise<Tunnel> {
  // Most runs have no tunnel and need not wait for the module.
  const { Client } = await import('ssh2')
  let current: SshClient | undefined
  let hostKey = ''

  async function open(): Promise<SshClient> {
    if (current) return current
    for (let attempt = 1; ; attempt++) {
      try {
        current = await openOnce()
        log.debug('SSH tunnel opened.', { host: settings.host, port: settings.port })
        return current
      } catch (cause) {
        if (cause instanceof UserError) throw cause
        if (attempt === ATTEMPTS) {
          throw new UserError(
            `Unable to open the SSH tunnel to ${settings.host}:${settings.port}: ${(cause as Error).message}`,
            { attempts: ATTEMPTS },
            cause,
          )
        }
        await sleep(2 ** (attempt - 3))
      }
    }
  }

  /** Any server is accepted; its key is logged, so that a change can be seen. */
  function noteKey(key: Buffer): boolean {
    const found = hostKeyFingerprint(key)
    if (found !== hostKey)
      log.info(`The SSH server ${settings.host}:${settings.port} has the host key ${found}; it is not checked.`)
    hostKey = found
    return true
  }

  function openOnce(): Promise<SshClient> {
    egress.check(settings.host, settings.port, [SSH_PORT])
    const socket = connectSocket({
      host: settings.host,
      port: settings.port,
      lookup: egress.lookupFor(settings.port, [SSH_PORT]),
    })
    const client = new Client()
    return new Promise((done, fail) => {
      const forget = () => {
        if (current === client) current = undefined
      }
      client.once('ready', () => done(client))
      client.on('error', (error) => {
        forget()
        fail(error)
      })
      client.on('close', () => {
        forget()
        fail(new Error('the SSH server closed the connection'))
      })
      socket.once('error', fail)
      try {
        client.connect({
          sock: socket,
          username: settings.user,
          privateKey: settings.privateKey,
          hostVerifier: noteKey,
          readyTimeout: timeoutMs,
          keepaliveInterval: 15_000,
        })
      } catch {
        socket.destroy()
        fail(
          new UserError(
            "The private key in 'sshProxy.#privateKey' cannot be read. It must be a key in OpenSSH or PEM format without passphrase.",
          ),
        )
      }
    })
  }

  async function channelTo(host: string, port: number): Promise<ClientChannel> {
    const client = await open()
    return new Promise((done, fail) => {
      client.forwardOut('127.0.0.1', 0, host.replace(/^\[|\]$/g, ''), port, (error, channel) => {
        if (error) fail(new TransportError(7, `Failed to connect to ${host}:${port} through the SSH tunnel: ${error.message}`))
        else done(channel)
      })
    })
  }

  const connector: buildConnector.connector = (options, callback) => {
    const isTls = options.protocol === 'https:'
    const port = Number(options.port || (isTls ? 443 : 80))
    channelTo(options.hostname, port).then(
      (channel) => {
        const plain = asSocket(channel)
        if (!isTls) return callback(null, plain)
        const secure = connectTls({
          socket: plain,
          servername: options.servername ?? options.hostname,
          ALPNProtocols: ['http/1.1'],
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
          ...(tls.certificate === undefined ? {} : { cert: tls.certificate, key: tls.certificate }),
        })
        secure.once('secureConnect', () => callback(null, secure))
        secure.once('error', (error) => callback(error, null))
      },
      (error: Error) => callback(error, null),
    )
  }

  await open()
  return { connector, close: () => current?.end() }
}

/** undici calls a few methods of a socket that a channel of SSH does not need. */
function asSocket(channel: ClientChannel): Socket {
  const nothing = () => channel
  return Object.assign(channel, {
    setNoDelay: nothing,
    setKeepAlive: nothing,
    setTimeout: nothing,
    ref: nothing,
    unref: nothing,
  }) as unknown as Socket
}
