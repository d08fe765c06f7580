// A server with FTP, or FTP over TLS. Both of its connections keep to the egress policy, and data comes from the server itself only.

import { Socket, type SocketConnectOpts } from 'node:net'
import { PassThrough } from 'node:stream'
import { Client } from 'basic-ftp'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Store } from './store.ts'

export interface FtpSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly isTls: boolean
}

const DEEPEST = 20
const QUIET_MS = 60_000

export async function connectFtp({ host, port, user, password, isTls }: FtpSettings, guard: EgressGuard): Promise<Client> {
  guard.check(host, port, [21])
  const [first] = await guard.resolve(host, port, [21])
  if (!first) throw new UserError(`The name ${host} does not resolve to an address.`)
  const client = new Client(QUIET_MS)
  // Every socket of the client is made by this function; whatever address the server names, it is connected to the checked one.
  const context = client.ftp as unknown as { _newSocket: () => Socket } // not among its types
  context._newSocket = () => {
    const socket = new Socket()
    const connect = socket.connect.bind(socket) as (options: SocketConnectOpts, onConnect?: () => void) => Socket
    socket.connect = ((options: { readonly port: number }, onConnect?: () => void) =>
      connect({ host: first.address, port: options.port }, onConnect)) as typeof socket.connect
    return socket
  }
  try {
    await client.access({ host, port, user: user || 'anonymous', password, secure: isTls })
  } catch (error) {
    client.close()
    throw new UserError(`The FTP server ${host}:${port} refused the connection: ${(error as Error).message}`, {}, error)
  }

  return client
}

export async function openFtp(settings: FtpSettings, guard: EgressGuard): Promise<Store> {
  const client = await connectFtp(settings, guard)

  async function walk(folder: string, depth: number, prefix: string, take: Parameters<Store['list']>[1]): Promise<void> {
    const entries = await client.list(folder === '' ? undefined : folder).catch((error: Error) => {
      if (depth > 0) return [] // it may not be read, or is gone
      throw new UserError(`The folder "${folder}" cannot be listed: ${error.message}`, {}, error)
    })
    for (const { name, isDirectory, isFile, size, modifiedAt, rawModifiedAt } of entries) {
      if (name === '.' || name === '..') continue
      const path = folder === '' ? name : `${folder.replace(/\/$/, '')}/${name}`
      if (isDirectory && depth < DEEPEST) await walk(path, depth + 1, prefix, take)
      else if (isFile && path.startsWith(prefix))
        take({ path, version: `${size}-${modifiedAt?.getTime() ?? rawModifiedAt}`, bytes: size })
    }
  }
  let last: Promise<void> = Promise.resolve()
  return {
    list: (prefix, take) => walk(prefix.slice(0, prefix.lastIndexOf('/') + 1), 0, prefix, take),
    async open({ path }) {
      await last // the server confirms a file after its bytes
      const through = new PassThrough()
      last = client.downloadTo(through, path).then(
        () => {},
        (error: Error) => void through.destroy(error),
      )
      return through
    },
    close: () => client.close(),
  }
}
