// Configurations and rows by a part of their name, or of their content. The search index has lower-case text without secrets: words.store.ts.

import { containsSmall } from '../../../../engines/metadata-db/like.ts'
import type { MetadataDb } from '../../../../engines/metadata-db/metadata-db.ts'
import { searchable } from '../../../../kit/text/searchable-text.ts'
import type { Scope } from '../../../../model/scope.ts'
import { type ComponentLookup, mayUse } from '../access.ts'
import { tables } from './configurations.schema.ts'
import { refreshWords } from './words.store.ts'

/** Of what SQL finds, some is left out: components that the token may not use. */
const SPARE = 4

interface Row {
  readonly component_id: string
  readonly configuration_id: string
  readonly row_id: string
  readonly name: string
}

export function createConfigurationSearch(metadata: MetadataDb, components: ComponentLookup) {
  const { db } = metadata

  /** Words first, then what belongs to those that were found: SQLite joins a cross join in the order it is written. */
  const entries = ({ actor, branch }: Scope, isRow: 0 | 1, column: 'label' | 'words', text: string, limit: number) =>
    tables(db)
      .selectFrom('configuration_words as entry')
      .crossJoin('configuration')
      .whereRef('configuration.id', '=', 'entry.owner_id')
      .where('configuration.is_deleted', '=', 0)
      .where('entry.project_id', '=', actor.projectId)
      .where('entry.branch_id', '=', branch.id)
      .where('entry.is_row', '=', isRow)
      .where((e) => containsSmall(db, e.ref(`entry.${column}`), text))
      .select(['configuration.component_id', 'configuration.configuration_id', 'entry.row_id'])
      .orderBy('entry.owner_id')
      .orderBy('entry.row_id')
      .limit(SPARE * limit)

  async function find(scope: Scope, isRow: 0 | 1, column: 'label' | 'words', given: string, limit: number): Promise<Row[]> {
    const text = searchable(given)
    if (text === '' || text.includes('\n')) return [] // each name and value is on a line of its own
    if (!isRow) await refreshWords(metadata, scope.actor.projectId, scope.branch.id)
    const found = entries(scope, isRow, column, text, limit)
    const rows = isRow
      ? await found
          .crossJoin('configuration_row as row')
          .whereRef('row.owner_id', '=', 'entry.owner_id')
          .whereRef('row.row_id', '=', 'entry.row_id')
          .select('row.name as name')
          .execute()
      : await found.select('configuration.name as name').execute()
    return rows.filter(({ component_id }) => mayUse(components, scope.actor, component_id)).slice(0, limit)
  }

  async function configurations(scope: Scope, text: string, limit: number) {
    const found = await find(scope, 0, 'label', text, limit)
    return found.map((row) => ({
      kind: 'configuration' as const,
      id: row.configuration_id,
      name: row.name,
      componentId: row.component_id,
    }))
  }

  async function rows(scope: Scope, text: string, limit: number) {
    const found = await find(scope, 1, 'label', text, limit)
    return found.map((row) => ({
      kind: 'row' as const,
      id: row.row_id,
      name: row.name,
      componentId: row.component_id,
      configurationId: row.configuration_id,
    }))
  }

  async function contents(scope: Scope, text: string, limit: number) {
    const ofHeads = await find(scope, 0, 'words', text, limit)
    const ofRows = ofHeads.length < limit ? await find(scope, 1, 'words', text, limit - ofHeads.length) : []
    return [...ofHeads, ...ofRows].map((row) => ({
      kind: 'content' as const,
      id: row.row_id || row.configuration_id,
      name: row.name,
      componentId: row.component_id,
      configurationId: row.configuration_id,
      ...(row.row_id && { rowId: row.row_id }),
    }))
  }

  return { configurations, rows, contents }
}
