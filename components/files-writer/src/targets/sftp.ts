// A server with SFTP. A file is written under another name and renamed when it is whole.

import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { SFTPWrapper } from 'ssh2'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { connectSftp, type SftpSettings } from '../../../files-extractor/src/stores/sftp.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Target } from './target.ts'

/** SSH_FX_NO_SUCH_FILE of the protocol. */
const NO_SUCH_FILE = 2

type Done = (error?: Error | null | undefined) => void

export async function openSftpTarget(settings: SftpSettings, guard: EgressGuard): Promise<Target> {
  const { client, sftp } = await connectSftp(settings, guard)
  const call = (work: (sftp: SFTPWrapper, done: Done) => void): Promise<void> =>
    new Promise((done, fail) => work(sftp, (error) => (error ? fail(error) : done())))
  const exists = (path: string): Promise<boolean> =>
    call((one, done) => one.stat(path, done)).then(
      () => true,
      (error: Error & { readonly code?: number }) => {
        if (error.code === NO_SUCH_FILE) return false
        throw new UserError(`It is not known whether ${path} exists: ${error.message}.`, {}, error)
      },
    )
  return {
    check: () => call((one, done) => one.readdir('.', (error) => done(error))),
    exists,
    async put({ path, local }, { append }) {
      try {
        const folders = path.split('/').slice(0, -1)
        for (const [at] of folders.entries()) {
          const folder = folders.slice(0, at + 1).join('/')
          if (!(await exists(folder))) await call((one, done) => one.mkdir(folder, done))
        }
        if (append) return await pipeline(createReadStream(local), sftp.createWriteStream(path, { flags: 'a' }))
        const part = `${path}.part`
        await pipeline(createReadStream(local), sftp.createWriteStream(part))
        if (await exists(path)) await call((one, done) => one.unlink(path, done))
        await call((one, done) => one.rename(part, path, done))
      } catch (error) {
        if (error instanceof UserError) throw error
        throw new UserError(`${path} cannot be written: ${(error as Error).message}.`, {}, error)
      }
    },
    close: () => client.end(),
  }
}
