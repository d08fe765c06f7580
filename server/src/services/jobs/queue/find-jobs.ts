// Jobs by their id, or by a part of the id of their configuration, newest first, as far as the token may see them.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../engines/metadata-db/like.ts'
import { type Actor, canUseComponent } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'
import { tables } from './queue.schema.ts'

/** Of what SQL finds, some belongs to components that the token may not use. */
const SPARE = 4
const MAX_CONFIGURATIONS = 200

export const createJobFinder =
  (db: Db, canonicalId: (componentId: string) => string) =>
  async ({ actor, branch }: Scope, text: string, limit: number) => {
    const id = /^\d{1,15}$/.test(text) ? Number(text) : undefined
    const ofProject = tables(db).selectFrom('queue_job').where('project_id', '=', actor.projectId)
    // Configurations are few and indexed; reading every job for its configuration would read all of their results.
    const configurations = await ofProject
      .select('configuration_id')
      .distinct()
      .where((e) => contains(db, e.ref('configuration_id'), text))
      .limit(MAX_CONFIGURATIONS)
      .execute()
    const ids = configurations.map(({ configuration_id }) => configuration_id)
    if (ids.length === 0 && id === undefined) return []
    const rows = await tables(db)
      .selectFrom('queue_job')
      .select(['id', 'component_id', 'configuration_id', 'status', 'token_id'])
      .where('project_id', '=', actor.projectId)
      .where('branch_id', '=', branch.id)
      .where((e) =>
        e.or([...(ids.length === 0 ? [] : [e('configuration_id', 'in', ids)]), ...(id === undefined ? [] : [e('id', '=', id)])]),
      )
      .orderBy('id', 'desc')
      .limit(SPARE * limit)
      .execute()
    return rows
      .filter((row) => maySee(actor, row.token_id, row.component_id, canonicalId))
      .slice(0, limit)
      .map((row) => ({
        kind: 'job' as const,
        id: String(row.id),
        name: `${row.component_id} ${row.status}`,
        componentId: row.component_id,
        ...(row.configuration_id !== null && { configurationId: row.configuration_id }),
      }))
  }

const maySee = (actor: Actor, tokenId: number, componentId: string, canonicalId: (id: string) => string): boolean =>
  tokenId === actor.tokenId || canUseComponent(actor, componentId, canonicalId)
