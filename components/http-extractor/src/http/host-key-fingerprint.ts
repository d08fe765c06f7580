// The key of an SSH server as `ssh-keygen -l` prints it.

import { createHash } from 'node:crypto'

export const hostKeyFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
