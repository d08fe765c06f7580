// Names of configurations and rows, for the search over everything. Contents are never searched: they hold secrets and other people's data.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { type Caller, type ComponentLookup, mayUse } from './access.ts'
import { tables } from './records/configurations.schema.ts'

export interface NamedConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  /** Undefined for the configuration itself. */
  readonly row: { readonly id: string; readonly name: string } | undefined
  readonly createdAt: number
}

export async function listNames(
  db: Db,
  components: ComponentLookup,
  caller: Pick<Caller, 'actor' | 'branch'>,
): Promise<readonly NamedConfiguration[]> {
  const heads = await tables(db)
    .selectFrom('configuration')
    .select(['id', 'component_id', 'listed_as', 'configuration_id', 'name', 'created_at'])
    .where('project_id', '=', caller.actor.projectId)
    .where('branch_id', '=', caller.branch.id)
    .where('is_deleted', '=', 0)
    .orderBy('id')
    .execute()
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .innerJoin('configuration', 'configuration.id', 'configuration_row.owner_id')
    .select(['configuration_row.owner_id', 'configuration_row.row_id', 'configuration_row.name', 'configuration_row.created_at'])
    .where('configuration.project_id', '=', caller.actor.projectId)
    .where('configuration.branch_id', '=', caller.branch.id)
    .where('configuration.is_deleted', '=', 0)
    .where('configuration_row.is_deleted', '=', 0)
    .orderBy('configuration_row.owner_id')
    .orderBy('configuration_row.row_id')
    .execute()
  const rowsOf = Map.groupBy(rows, (row) => row.owner_id)
  return heads
    .filter((head) => mayUse(components, caller.actor, head.component_id))
    .flatMap((head) => {
      const own = { componentId: head.listed_as ?? head.component_id, configurationId: head.configuration_id, name: head.name }
      return [
        { ...own, row: undefined, createdAt: head.created_at },
        ...(rowsOf.get(head.id) ?? []).map((row) => ({
          ...own,
          row: { id: row.row_id, name: row.name },
          createdAt: row.created_at,
        })),
      ]
    })
}
