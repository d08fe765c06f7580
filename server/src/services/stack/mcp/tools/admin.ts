// Tools that show who may do what, what was done, and what waits for a decision. They change nothing.

import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import { Anything, asData, defineTool, Items, Next, offsetOf, optionalText, type Tool } from '../tool.ts'
import { page } from './look.ts'

const PAGE = 50

interface Event {
  readonly id: string | number
  readonly event: string
  readonly component: string
  readonly message: string
  readonly type: string
  readonly created: string
  readonly token?: { readonly name?: string }
}

interface Token {
  readonly id: string
  readonly description: string
  readonly expires: string | null
  readonly lastUsed?: string | null
  readonly isMasterToken: boolean
  readonly onlyProposes?: boolean
}

export const adminTools: readonly Tool[] = [
  defineTool('admin', 'list_events', {
    description: 'What happened in the project, the newest first, also the calls of agents (event:storage.agentToolCalled).',
    input: { search: optionalText('Such as event:storage.tableDeleted or a word.'), next: Next },
    output: { notice: Type.String(), items: Items },
    kind: 'reads',
    run: async ({ search, next }, api) => {
      const offset = offsetOf(next)
      const events = await api.get<readonly Event[]>('/v2/storage/events', { q: search, limit: PAGE, offset })
      const items = events.map(({ id, event, component, message, type, created, token }) => ({
        ...{ id: String(id), event, component, message, type, created, by: token?.name },
      }))
      const hasMore = events.length === PAGE
      return { ...asData({}), items, offset, total: hasMore ? null : offset + items.length, hasMore }
    },
  }),

  defineTool('admin', 'list_tokens', {
    description: 'Tokens of the project with expiry and last use, without their values.',
    input: { next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ next }, api) => {
      const tokens = await api.get<readonly Token[]>('/v2/storage/tokens')
      const shown = tokens.map(({ id, description, expires, lastUsed, isMasterToken, onlyProposes = false }) => ({
        ...{ id, description, expires, lastUsed, isMasterToken, onlyProposes },
      }))
      return page(shown, next)
    },
  }),

  defineTool('admin', 'review_proposals', {
    description: 'Proposals of agents, or one of them with what it changes and touches. A person decides, not a tool.',
    input: { proposal: optionalText('Proposal id.'), next: Next },
    output: { proposal: Type.Optional(Anything), items: Items },
    kind: 'reads',
    run: async ({ proposal, next }, api) => {
      if (proposal === undefined) return page(await api.get<readonly unknown[]>('/v2/storage/proposals'), next)
      const { changes, storageChanges, ...rest } = await api.get<{
        changes: readonly unknown[]
        storageChanges: readonly unknown[]
      }>(path`/v2/storage/proposals/${proposal}`)
      return { proposal: rest, ...page([...changes, ...storageChanges], next) }
    },
  }),
]
