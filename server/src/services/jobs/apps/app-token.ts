// The token that an app reads tables with: read access of the deployer, and no write access.

import { createHash } from 'node:crypto'
import { type Actor, bucketPermissionOf } from '../../../model/actor.ts'

export interface ReadingTokenDeps {
  readonly bucketIds: (projectId: number) => Promise<readonly string[]>
  readonly create: (
    actor: Actor,
    request: {
      readonly description: string
      readonly expiresIn: number
      readonly bucketPermissions: Readonly<Record<string, string>>
    },
  ) => Promise<{ readonly token: { readonly id: number }; readonly value: string }>
}

export const readingToken =
  ({ bucketIds, create }: ReadingTokenDeps) =>
  async (actor: Actor, description: string, seconds: number): Promise<{ readonly id: number; readonly value: string }> => {
    const readable = (await bucketIds(actor.projectId)).filter((id) => bucketPermissionOf(actor, id) !== undefined)
    const bucketPermissions = Object.fromEntries(readable.map((id) => [id, 'read']))
    // The deployer of an app need not be allowed to create tokens: this one may do less than they do.
    const { token, value } = await create(
      { ...actor, canManageTokens: true },
      { description, expiresIn: seconds, bucketPermissions },
    )
    return { id: token.id, value }
  }

/** What is kept of the secret of a link or a credential. */
export const hashOf = (value: string): string => createHash('sha256').update(value).digest('hex')

/** Do not wait for it at the end of a run: a token that cannot be revoked expires. */
export const revokeQuietly =
  (
    revoke: (projectId: number, tokenId: number) => Promise<void>,
    forget: () => void,
    onError: (error: unknown) => void,
  ): ((projectId: number, tokenId: number) => Promise<void>) =>
  async (projectId, tokenId) => {
    await revoke(projectId, tokenId).then(forget, onError)
  }
