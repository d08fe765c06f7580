// A server with FTP, or FTP over TLS. A file is written under another name and renamed when it is whole.

import { FTPError } from 'basic-ftp'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { connectFtp, type FtpSettings } from '../../../files-extractor/src/stores/ftp.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Target } from './target.ts'

/** Of a command about a file. */
const NOT_THERE = 550

export async function openFtpTarget(settings: FtpSettings, guard: EgressGuard): Promise<Target> {
  const client = await connectFtp(settings, guard)
  const start = await client.pwd()
  return {
    check: async () => void (await client.list()),
    exists: (path) =>
      client.size(path).then(
        () => true,
        (error: Error) => {
          if (error instanceof FTPError && error.code === NOT_THERE) return false
          throw new UserError(`It is not known whether ${path} exists: ${error.message}`, {}, error)
        },
      ),
    async put({ path, local }, { append }) {
      const [name = '', ...folders] = path.split('/').toReversed()
      try {
        if (folders.length > 0) await client.ensureDir(folders.toReversed().join('/'))
        if (append) await client.appendFrom(local, name)
        else {
          await client.uploadFrom(local, `${name}.part`)
          await client.remove(name, true)
          await client.rename(`${name}.part`, name)
        }
      } catch (error) {
        throw new UserError(`${path} cannot be written: ${(error as Error).message}`, {}, error)
      } finally {
        await client.cd(start).catch(() => {}) // the connection may be lost
      }
    },
    close: () => client.close(),
  }
}
