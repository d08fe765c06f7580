// HTTP for backups (spec platform 6.10): what was made, a backup now, and whether one becomes a stack again. Only for stack admins.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { BackupOrders } from './backup-orders.ts'
import type { BackupState } from './backups.ts'

const BackupView = Type.Object(
  {
    id: Type.Integer(),
    folder: Type.String({ description: 'A folder, or `s3:NAME`.' }),
    state: Type.String({ description: 'running, good, failed, interrupted, or removed by the retention.' }),
    isPlanned: Type.Boolean({ description: 'True: created by the plan, not on request.' }),
    startedAt: Timestamp,
    endedAt: Nullable(Timestamp),
    error: Nullable(Type.String()),
    restoreTest: Nullable(
      Type.Object({
        state: Type.String({
          description:
            'running, good, damaged, failed, interrupted, or filesOnly: all files are intact, but there was no database to restore the records into.',
        }),
        startedAt: Timestamp,
        endedAt: Nullable(Timestamp),
        note: Nullable(Type.String({ description: 'Result.' })),
      }),
    ),
  },
  { title: 'Backup' },
)
const BackupsView = Type.Object(
  {
    plan: Nullable(
      Type.Object(
        {
          place: Type.String({ description: 'The folder, or `s3`.' }),
          everyHours: Type.Number(),
          keep: Type.Integer({ description: 'Number of backups to keep.' }),
          withKey: Type.Boolean({ description: 'Whether the root key is included.' }),
        },
        { description: 'Location and interval; null if no location is configured.' },
      ),
    ),
    backups: Type.Array(BackupView, { description: 'The newest first.' }),
  },
  { title: 'Backups' },
)
const ById = Type.Object({ id: numberedId('backup') })

export function backupsRoutes(orders: BackupOrders): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string) =>
      ({ operation: `operations.${operation}`, summary, needs: 'person', role: 'stack admin' }) as const
    const all = async (): Promise<Static<typeof BackupsView>> => {
      const { plan, backups } = await orders.list()
      return { plan: plan ?? null, backups: backups.map(view) }
    }

    app.get(
      '/operations/backups',
      {
        config: config('backups', 'Backup plan and the last 50 backups (stack admin)'),
        schema: { response: { 200: BackupsView } },
      },
      all,
    )

    app.post(
      '/operations/backups',
      {
        config: config('backUp', 'Create a backup now, in the location of the plan (stack admin)'),
        schema: { response: { 202: BackupsView } },
      },
      async ({ person, origin }, reply) => {
        await orders.backUp(person, origin)
        return reply.code(202).send(await all())
      },
    )

    app.post(
      '/operations/backups/:id/restore-test',
      {
        config: {
          ...config('testRestore', 'Start a restore test of a backup in a temporary folder (stack admin)'),
          withoutId: 'resourceNotFound',
        },
        schema: { params: ById, response: { 202: BackupsView } },
      },
      async ({ person, params, origin }, reply) => {
        const id = idFrom(params.id, () => new PlatformError('notFound', { what: `Backup ${params.id.slice(0, 40)}` }))
        await orders.testRestore(person, id, origin)
        return reply.code(202).send(await all())
      },
    )
  }
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : formatTimestamp(new Date(Number(ms))))

const view = ({ row, state, drill }: BackupState): Static<typeof BackupView> => ({
  id: row.id,
  folder: row.folder,
  state,
  isPlanned: row.due_at !== null,
  startedAt: timeOf(row.started_at)!,
  endedAt: timeOf(row.ended_at),
  error: row.error,
  restoreTest:
    drill === undefined
      ? null
      : {
          state: drill,
          startedAt: timeOf(row.drill_started_at)!,
          endedAt: timeOf(row.drill_ended_at),
          note: row.drill_note,
        },
})
