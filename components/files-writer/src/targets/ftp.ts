// A server with FTP, or FTP over TLS. A file is written under another name and renamed when it is whole.

import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { connectFtp, type FtpSettings } from '../../../files-extractor/src/stores/ftp.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Target } from './target.ts'

export async function openFtpTarget(settings: FtpSettings, guard: EgressGuard): Promise<Target> {
  const client = await connectFtp(settings, guard)
  const start = await client.pwd()
  return {
    check: async () => void (await client.list()),
    exists: (path) =>
      client.size(path).then(
        () => true,
        () => false,
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
