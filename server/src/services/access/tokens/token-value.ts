// Token values have the format that clients expect, `{projectId}-{tokenId}-{letters}`, and carry more than 256 random bits.
// Only their SHA-256 is kept: with that much chance in a value a slow hash adds nothing.

import { hash, randomBytes } from 'node:crypto'

export function newTokenValue(projectId: number, tokenId: number): string {
  const letters = randomBytes(45).toString('base64url').replace(/[-_]/g, '')
  return `${projectId}-${tokenId}-${letters}`
}

export const hashOf = (value: string): string => hash('sha256', value, 'hex')
