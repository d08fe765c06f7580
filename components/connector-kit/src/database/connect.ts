// The way to a database server: a socket that keeps to the egress policy, or a channel through an SSH server that does.

import { connect, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { hostKeyCheck } from '../host-key.ts'
import type { ServerSettings, SshSettings } from './connection.ts'

/** Ports that servers of databases and their poolers usually have. Others have to be in the operator's list. */
export const DATABASE_PORTS = [5432, 5433, 6432, 6543, 3306, 3307, 8123, 8443, 25_060, 26_257]
const SSH_PORTS = [22]
export const CONNECT_MS = 20_000

export interface Way {
  /** An open connection to the server. */
  readonly stream: Duplex
  close(): void
}

export async function openWay({ host, port, ssh }: ServerSettings, guard: EgressGuard): Promise<Way> {
  if (ssh) return openTunnel(host, port, ssh, guard)
  const stream = await openSocket(host, port, guard, DATABASE_PORTS)
  return { stream, close: () => stream.destroy() }
}

/** A socket to a server, if the egress policy permits it. `ports` are usual for its protocol. */
export function openSocket(host: string, port: number, guard: EgressGuard, ports: readonly number[]): Promise<Socket> {
  guard.check(host, port, ports)
  const lookup: LookupFunction = guard.lookupFor(port, ports)
  return new Promise((done, fail) => {
    const socket = connect({ host, port, lookup, keepAlive: true, noDelay: true })
    const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_MS / 1000} s`)), CONNECT_MS)
    socket.once('error', (error) => {
      clearTimeout(timer)
      fail(error instanceof UserError ? error : unreachable(host, port, error))
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      done(socket)
    })
  })
}

const unreachable = (host: string, port: number, error: Error): UserError =>
  new UserError(`The server ${host}:${port} cannot be reached: ${error.message}`, {}, error).withFacts({
    kind: (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? 'network.nameNotFound' : 'network.unreachable',
  })

/** What lies behind the SSH server is the other side's network, so only the connection to it is checked here. */
async function openTunnel(host: string, port: number, ssh: SshSettings, guard: EgressGuard): Promise<Way> {
  const { Client } = await import('ssh2') // most connections have no tunnel
  const socket = await openSocket(ssh.host, ssh.port, guard, SSH_PORTS)
  const client = new Client()
  const { options, problem: otherKey } = hostKeyCheck(ssh.hostKey, `${ssh.host}:${ssh.port}`)
  const problem = (reason: string, cause?: unknown) =>
    otherKey() ?? new UserError(`The SSH tunnel to ${ssh.host}:${ssh.port} could not be opened: ${reason}`, {}, cause)
  await new Promise<void>((done, fail) => {
    client.once('ready', done)
    client.once('error', (error) => fail(problem(error.message, error)))
    client.once('close', () => fail(problem('the SSH server closed the connection')))
    try {
      client.connect({
        sock: socket,
        username: ssh.user,
        privateKey: ssh.privateKey,
        ...options,
        readyTimeout: CONNECT_MS,
        keepaliveInterval: 15_000,
      })
    } catch {
      fail(
        new UserError(
          'The private key in db.ssh.keys.#private cannot be read. It must be in OpenSSH or PEM format without a passphrase.',
        ),
      )
    }
  }).catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  client.on('error', () => {}) // the channel ends with it and reports it
  const stream = await new Promise<Duplex>((done, fail) => {
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) =>
      error ? fail(problem(`${host}:${port} cannot be reached from there: ${error.message}`, error)) : done(channel),
    )
  }).catch((error: unknown) => {
    client.end()
    throw error
  })
  return {
    stream,
    close: () => {
      stream.destroy()
      client.end()
    },
  }
}
