// Comments on tables. All readers of a table read and write its comments; the author changes one, the author and admins delete it.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { isAdmin } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { type CommentPlace, type CommentRow, createTableCommentsStore } from './table-comments.store.ts'

export interface TableCommentsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** Refuses a table that does not exist or that the caller may not read. */
  readonly getTable: (scope: Scope, tableId: string) => Promise<unknown>
}

type CommentEvent = 'storage.tableCommentCreated' | 'storage.tableCommentChanged' | 'storage.tableCommentDeleted'

/** Of a table. */
const MAX_COMMENTS = 500

export type TableComments = ReturnType<typeof createTableComments>

export function createTableComments({ db, inTransaction, clock, recordEvent, getTable }: TableCommentsDeps) {
  const store = createTableCommentsStore(db)
  const now = () => clock.now().getTime()

  async function placeOf(scope: Scope, tableId: string): Promise<CommentPlace> {
    await getTable(scope, tableId)
    return { projectId: scope.actor.projectId, branchId: scope.branch.id, tableId }
  }

  async function find(scope: Scope, tableId: string, id: number): Promise<CommentRow> {
    const found = await store.find(await placeOf(scope, tableId), id)
    if (!found) throw new PlatformError('notFound', { what: `Comment ${id}` })
    return found
  }

  /** The event has no text: events are read by more callers than the table. */
  const record = (trx: Trx, { actor, branch }: Scope, name: CommentEvent, tableId: string, origin: Origin) =>
    recordEvent(trx, actor, eventOf(name, {}, { objectId: tableId, objectName: tableId, branchId: branch.id }), origin)

  const textFrom = (text: string): string => {
    const trimmed = text.trim()
    if (trimmed === '') throw new PlatformError('storage.validation', { field: 'text', reason: 'It is empty.' })
    return trimmed
  }

  return {
    store,
    list: async (scope: Scope, tableId: string) => store.list(await placeOf(scope, tableId)),

    async create(scope: Scope, tableId: string, text: string, origin: Origin): Promise<CommentRow> {
      const { projectId, branchId } = await placeOf(scope, tableId)
      const { tokenId, tokenDescription } = scope.actor
      if ((await store.list({ projectId, branchId, tableId })).length >= MAX_COMMENTS)
        throw new PlatformError('storage.validation', {
          field: 'text',
          reason: `The table has ${MAX_COMMENTS} comments. Delete some first.`,
        })
      return inTransaction(async (trx) => {
        await record(trx, scope, 'storage.tableCommentCreated', tableId, origin)
        return store.insert(trx, {
          ...{ project_id: projectId, branch_id: branchId, table_id: tableId },
          ...{ author: tokenDescription, author_token_id: tokenId, text: textFrom(text), created_at: now(), edited_at: null },
        })
      })
    },

    async change(scope: Scope, tableId: string, id: number, text: string, origin: Origin): Promise<CommentRow> {
      const found = await find(scope, tableId, id)
      if (found.author_token_id !== scope.actor.tokenId) throw new PlatformError('storage.comments.notAuthor', { id })
      const changed = await inTransaction(async (trx) => {
        await record(trx, scope, 'storage.tableCommentChanged', tableId, origin)
        return store.change(trx, scope.actor.projectId, id, textFrom(text), now())
      })
      if (!changed) throw new PlatformError('notFound', { what: `Comment ${id}` })
      return changed
    },

    async remove(scope: Scope, tableId: string, id: number, origin: Origin): Promise<void> {
      const found = await find(scope, tableId, id)
      if (found.author_token_id !== scope.actor.tokenId && !isAdmin(scope.actor))
        throw new PlatformError('storage.comments.notAuthor', { id })
      await inTransaction(async (trx) => {
        await store.remove(trx, scope.actor.projectId, id)
        await record(trx, scope, 'storage.tableCommentDeleted', tableId, origin)
      })
    },
  }
}
