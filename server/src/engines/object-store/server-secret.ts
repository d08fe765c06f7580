// The secret that sessions and links of the embedded store are signed with. Made at the first start, then kept.

import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing, nodeDisk } from './disk.ts'

const SECRET_BYTES = 32

/** Losing the file costs nothing but the links and credentials that are out: new ones are signed with a new secret. */
export async function loadServerSecret(path: string): Promise<Uint8Array> {
  const found = await readFile(path).catch((cause) => {
    if (isMissing(cause)) return undefined
    throw cause
  })
  if (found?.length === SECRET_BYTES) return found
  const secret = randomBytes(SECRET_BYTES)
  const file = await open(`${path}.new`, 'w', 0o600)
  await file.writeFile(secret)
  await file.sync().finally(() => file.close())
  await rename(`${path}.new`, path)
  await nodeDisk.syncDirectory(dirname(path))
  return secret
}
