// A server with SFTP. The socket to it keeps to the egress policy.

import type { FileEntryWithStats, SFTPWrapper, Client as SshClient } from 'ssh2'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { CONNECT_MS, openSocket } from '../../../connector-kit/src/database/connect.ts'
import { hostKeyCheck } from '../../../connector-kit/src/host-key.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Store } from './store.ts'

export interface SftpSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly privateKey: string
  /** Fingerprint; empty: any server. */
  readonly hostKey: string
}

const DEEPEST = 20

export async function openSftp(settings: SftpSettings, guard: EgressGuard): Promise<Store> {
  const { client, sftp } = await connectSftp(settings, guard)
  return storeOf(client, sftp)
}

export async function connectSftp(
  { host, port, user, password, privateKey, hostKey }: SftpSettings,
  guard: EgressGuard,
): Promise<{ readonly client: SshClient; readonly sftp: SFTPWrapper }> {
  const { Client } = await import('ssh2')
  const socket = await openSocket(host, port, guard, [22])
  const client = new Client()
  const { options, problem: otherKey } = hostKeyCheck(hostKey, `${host}:${port}`)
  const refused = (error: Error) =>
    otherKey() ??
    new UserError(
      `The SFTP server ${host}:${port} refused the connection: ${error.message}. Check user and password or key.`,
      {},
      error,
    )
  try {
    await new Promise<void>((done, fail) => {
      client.once('ready', done)
      client.once('error', (error) => fail(refused(error)))
      client.once('close', () => fail(refused(new Error('it was closed'))))
      client.connect({
        sock: socket,
        username: user,
        readyTimeout: CONNECT_MS,
        ...(privateKey === '' ? { password } : { privateKey }),
        ...options,
      })
    })
    client.on('error', () => {}) // what is read fails with it
    return { client, sftp: await sftpOf(client) }
  } catch (error) {
    client.end()
    socket.destroy()
    throw error instanceof UserError ? error : refused(error as Error)
  }
}

const sftpOf = (client: SshClient): Promise<SFTPWrapper> =>
  new Promise((done, fail) => client.sftp((error, sftp) => (error ? fail(error) : done(sftp))))

function storeOf(client: SshClient, sftp: SFTPWrapper): Store {
  const listOf = (path: string): Promise<FileEntryWithStats[]> =>
    new Promise((done, fail) => sftp.readdir(path, (error, list) => (error ? fail(error) : done(list))))

  async function walk(folder: string, depth: number, prefix: string, take: Parameters<Store['list']>[1]): Promise<void> {
    const entries = await listOf(folder === '' ? '.' : folder).catch((error: Error) => {
      if (depth > 0) return [] // it may not be read, or is gone
      throw new UserError(`The folder "${folder}" cannot be listed: ${error.message}.`, {}, error)
    })
    for (const { filename, attrs } of entries) {
      if (filename === '.' || filename === '..') continue
      const path = folder === '' ? filename : `${folder.replace(/\/$/, '')}/${filename}`
      if (attrs.isDirectory() && depth < DEEPEST) await walk(path, depth + 1, prefix, take)
      else if (attrs.isFile() && path.startsWith(prefix))
        take({ path, version: `${attrs.size}-${attrs.mtime}`, bytes: attrs.size })
    }
  }
  return {
    list: (prefix, take) => walk(prefix.slice(0, prefix.lastIndexOf('/') + 1), 0, prefix, take),
    open: async ({ path }) => sftp.createReadStream(path),
    close: () => client.end(),
  }
}
