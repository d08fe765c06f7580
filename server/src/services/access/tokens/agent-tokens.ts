// The token that an agent has whom a person signed in (services/access/agent-sign-in). Its value is unknown.

import { randomUUID } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Actor } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import { EVERYTHING } from './token-permissions.ts'
import { hashOf } from './token-value.ts'
import type { createTokensStore, Permissions } from './tokens.store.ts'

export interface AgentTokensDeps {
  readonly store: ReturnType<typeof createTokensStore>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
}

interface AgentToken {
  readonly description: string
  /** It changes nothing. */
  readonly isReader: boolean
  readonly onlyProposes: boolean
}

/** Agents manage no tokens. */
const AGENT: Permissions = { ...EVERYTHING, canManageTokens: false }
const READER: Permissions = {
  ...AGENT,
  canManageBuckets: false,
  canPurgeTrash: false,
  canManageProtectedDefaultBranch: false,
  canCreateJobs: false,
  canManageDevBranches: false,
}

export function createAgentTokens({ store, clock, recordEvent }: AgentTokensDeps) {
  /** The token that an agent is named by, when a person signs it in, and that its jobs run with; its value is unknown. */
  async function issueForAgent(
    trx: Trx,
    owner: Actor,
    { description, isReader, onlyProposes }: AgentToken,
    origin: Origin,
  ): Promise<number> {
    const token = await store.insert(trx, {
      projectId: owner.projectId,
      hash: hashOf(randomUUID()),
      description: description,
      permissions: { ...(isReader ? READER : AGENT), ...(onlyProposes && { onlyProposes: true as const }) },
      isMasterToken: false,
      creatorToken: { id: owner.tokenId, description: owner.tokenDescription },
      makerPersonId: owner.personId,
      createdAt: clock.now(),
      expiresAt: undefined,
    })
    await recordEvent(
      trx,
      owner,
      eventOf('storage.tokenCreated', {}, { objectId: String(token.id), objectName: token.description }),
      origin,
    )
    return token.id
  }

  /** Without a word when it is gone already. */
  async function revokeOfAgent(trx: Trx, by: Actor | undefined, projectId: number, id: number, origin: Origin): Promise<void> {
    const token = await store.find(projectId, id)
    if (!token || !(await store.remove(trx, projectId, id))) return
    const source = by ?? { projectId, tokenId: id, tokenDescription: token.description }
    await recordEvent(
      trx,
      source,
      eventOf('storage.tokenDeleted', {}, { objectId: String(id), objectName: token.description }),
      origin,
    )
  }

  return { issueForAgent, revokeOfAgent }
}
