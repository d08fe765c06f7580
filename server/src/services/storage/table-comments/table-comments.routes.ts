// HTTP for comments on tables (spec storage 2.5.15).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId, TableId } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { scopeOf } from '../../../http/scope.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { CommentRow } from './table-comments.store.ts'
import type { TableComments } from './table-comments.ts'

const ByTable = Type.Object({ tableId: TableId })
const ById = Type.Object({ tableId: TableId, commentId: numberedId('comment') })
const Text = Type.Object({
  text: Type.String({
    minLength: 1,
    maxLength: 10_000,
    description: 'Text of the comment.',
    examples: ['Refunds are negative.'],
  }),
})
const CommentView = Type.Object(
  {
    id: Type.String(),
    text: Type.String(),
    author: Type.Object({
      id: Type.Integer({ description: 'Id of the token.' }),
      description: Type.String(),
    }),
    created: Timestamp,
    edited: Nullable(Timestamp),
  },
  { title: 'TableComment' },
)

export function tableCommentsRoutes(comments: TableComments): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/tables/:tableId/comments',
      {
        config: { operation: 'tableComments.list', summary: 'List comments on a table, oldest first', needs: 'bucketRead' },
        schema: { params: ByTable, response: { 200: Type.Array(CommentView) } },
      },
      async (req) => (await comments.list(scopeOf(req), req.params.tableId)).map(view),
    )

    app.post(
      '/v2/storage/tables/:tableId/comments',
      {
        config: { operation: 'tableComments.create', summary: 'Comment on a table', needs: 'bucketRead' },
        schema: { params: ByTable, body: Text, response: { 201: CommentView } },
      },
      async (req, reply) =>
        reply.code(201).send(view(await comments.create(scopeOf(req), req.params.tableId, req.body.text, req.origin))),
    )

    app.put(
      '/v2/storage/tables/:tableId/comments/:commentId',
      {
        config: { operation: 'tableComments.update', summary: 'Change your comment', needs: 'bucketRead' },
        schema: { params: ById, body: Text, response: { 200: CommentView } },
      },
      async (req) =>
        view(await comments.change(scopeOf(req), req.params.tableId, commentId(req.params.commentId), req.body.text, req.origin)),
    )

    app.delete(
      '/v2/storage/tables/:tableId/comments/:commentId',
      {
        config: {
          operation: 'tableComments.delete',
          summary: 'Delete your comment; admins can delete any comment',
          needs: 'bucketRead',
        },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await comments.remove(scopeOf(req), req.params.tableId, commentId(req.params.commentId), req.origin)
        return reply.code(204).send(null)
      },
    )
  }
}

const commentId = (text: string): number =>
  idFrom(text, () => new PlatformError('notFound', { what: `Comment ${text.slice(0, 40)}` }))

const view = ({ id, text, author, author_token_id, created_at, edited_at }: CommentRow): Static<typeof CommentView> => ({
  id: String(id),
  text,
  author: { id: Number(author_token_id), description: author },
  created: formatTimestamp(new Date(Number(created_at))),
  edited: edited_at === null ? null : formatTimestamp(new Date(Number(edited_at))),
})
