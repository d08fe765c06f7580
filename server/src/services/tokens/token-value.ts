// Token values look like the ones clients know, `{projectId}-{number}-{letters}`, and carry more than 256 random bits.
// Only their SHA-256 is kept: with that much chance in a value a slow hash adds nothing.

import { hash, randomBytes, randomInt } from 'node:crypto'

export function newTokenValue(projectId: number): string {
  const letters = randomBytes(45).toString('base64url').replace(/[-_]/g, '')
  return `${projectId}-${randomInt(100_000, 1_000_000)}-${letters}`
}

export const hashOf = (value: string): string => hash('sha256', value, 'hex')
