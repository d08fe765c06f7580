// One mail with the files attached, sent after the last of them was made.

import { basename } from 'node:path'
import { counted } from '../../../../contract/counted.ts'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { type MailSettings, openMail } from '../../../connector-kit/src/mail.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { LocalFile } from '../file-parts.ts'
import type { Target } from './target.ts'

/** What most servers take. */
const MAX_BYTES = 20 * 2 ** 20

export async function openMailTarget(
  settings: MailSettings,
  words: { readonly subject: string; readonly text: string },
  guard: EgressGuard,
): Promise<Target> {
  const mail = await openMail(settings, guard)
  const files: LocalFile[] = []
  return {
    check: mail.check,
    exists: async () => false,
    async put(file) {
      files.push(file)
      if (files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES)
        throw new UserError(
          `The files have more than ${MAX_BYTES / 2 ** 20} MiB, which is too much for a mail; nothing was sent.`,
        )
    },
    async finish() {
      if (files.length === 0) return
      const rows = files.reduce((sum, file) => sum + file.rows, 0)
      await mail.send({
        to: settings.to,
        subject: words.subject,
        text:
          words.text ||
          `${files.length === 1 ? basename(files[0]?.path ?? '') : `${files.length} files`}, ${counted(rows, 'row')}.`,
        attachments: files.map(({ path, local }) => ({ filename: basename(path), path: local })),
      })
    },
    close: mail.close,
  }
}
