// Which configurations and rows name something, by their text: a value that is exactly the text that is looked for.

import { sql } from 'kysely'
import type { Db } from '../../../../engines/metadata-db/dialects.ts'
import type { NamingConfiguration } from '../../../../model/dry-run.ts'
import { tables } from './configurations.schema.ts'

/** A person reads the list. */
const MAX_FOUND = 100
/** Texts in one question. */
const PIECE = 50

export async function listNaming(
  db: Db,
  projectId: number,
  branchId: number,
  texts: readonly string[],
): Promise<readonly NamingConfiguration[]> {
  const found = new Map<string, NamingConfiguration>()
  for (let i = 0; i < texts.length && found.size < MAX_FOUND; i += PIECE) {
    const piece = texts.slice(i, i + PIECE)
    for (const one of [...(await heads(db, projectId, branchId, piece)), ...(await rows(db, projectId, branchId, piece))])
      found.set([one.componentId, one.configurationId, one.rowId].join('\0'), one)
  }
  return [...found.values()].slice(0, MAX_FOUND)
}

const heads = async (db: Db, projectId: number, branchId: number, texts: readonly string[]): Promise<NamingConfiguration[]> =>
  (
    await tables(db)
      .selectFrom('configuration')
      .innerJoin('configuration_version as content', (join) =>
        join.onRef('content.owner_id', '=', 'configuration.id').onRef('content.version', '=', 'configuration.content_version'),
      )
      .select(['component_id', 'configuration_id', 'configuration.name as name'])
      .where('configuration.project_id', '=', projectId)
      .where('configuration.branch_id', '=', branchId)
      .where('configuration.is_deleted', '=', 0)
      .where(({ or }) => or(texts.map((text) => holds('content.content', text))))
      .orderBy('configuration.id')
      .limit(MAX_FOUND)
      .execute()
  ).map((row) => ({ componentId: row.component_id, configurationId: row.configuration_id, rowId: null, name: row.name }))

const rows = async (db: Db, projectId: number, branchId: number, texts: readonly string[]): Promise<NamingConfiguration[]> =>
  (
    await tables(db)
      .selectFrom('configuration_row as row')
      .innerJoin('configuration', 'configuration.id', 'row.owner_id')
      .select(['component_id', 'configuration_id', 'row.row_id', 'row.name as name'])
      .where('configuration.project_id', '=', projectId)
      .where('configuration.branch_id', '=', branchId)
      .where('configuration.is_deleted', '=', 0)
      .where('row.is_deleted', '=', 0)
      .where(({ or }) => or(texts.map((text) => holds('row.content', text))))
      .orderBy('configuration.id')
      .limit(MAX_FOUND)
      .execute()
  ).map((row) => ({ componentId: row.component_id, configurationId: row.configuration_id, rowId: row.row_id, name: row.name }))

/** As a JSON string: quotes on both sides keep longer ids out. */
const holds = (column: string, text: string) => {
  const pattern = `%${JSON.stringify(text).replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`
}
