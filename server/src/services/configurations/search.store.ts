// Configurations and rows by a part of their name, or of what stands in them. Values of names with # are never looked at.

import type { Db } from '../../engines/metadata-db/dialects.ts'
import { contains } from '../../engines/metadata-db/like.ts'
import { visitScalars } from '../../kit/json-text.ts'
import type { Scope } from '../../model/scope.ts'
import { type ComponentLookup, mayUse } from './access.ts'
import { tables } from './configurations.schema.ts'

/** Of what SQL finds, some is left out: values of secrets, components that the token may not use. */
const SPARE = 4

export function createConfigurationSearch(db: Db, components: ComponentLookup) {
  const heads = ({ actor, branch }: Scope) =>
    tables(db)
      .selectFrom('configuration')
      .where('configuration.project_id', '=', actor.projectId)
      .where('configuration.branch_id', '=', branch.id)
      .where('configuration.is_deleted', '=', 0)
      .orderBy('configuration.id')

  const rowsOf = (scope: Scope) =>
    heads(scope)
      .innerJoin('configuration_row as row', 'row.owner_id', 'configuration.id')
      .where('row.is_deleted', '=', 0)
      .select(['component_id', 'configuration_id', 'row.row_id', 'row.name as name'])

  const visible = <T extends { readonly component_id: string }>({ actor }: Scope, rows: readonly T[]): T[] =>
    rows.filter(({ component_id }) => mayUse(components, actor, component_id))

  async function configurations(scope: Scope, text: string, limit: number) {
    const rows = await heads(scope)
      .select(['component_id', 'configuration_id', 'name'])
      .where((e) => e.or([contains(db, e.ref('name'), text), contains(db, e.ref('configuration_id'), text)]))
      .limit(SPARE * limit)
      .execute()
    return visible(scope, rows)
      .slice(0, limit)
      .map((row) => ({ kind: 'configuration' as const, id: row.configuration_id, name: row.name, componentId: row.component_id }))
  }

  async function rows(scope: Scope, text: string, limit: number) {
    const found = await rowsOf(scope)
      .where((e) => e.or([contains(db, e.ref('row.name'), text), contains(db, e.ref('row.row_id'), text)]))
      .limit(SPARE * limit)
      .execute()
    return visible(scope, found)
      .slice(0, limit)
      .map((row) => ({
        kind: 'row' as const,
        id: row.row_id,
        name: row.name,
        componentId: row.component_id,
        configurationId: row.configuration_id,
      }))
  }

  async function contents(scope: Scope, text: string, limit: number) {
    const ofHeads = await heads(scope)
      .innerJoin('configuration_version as content', (join) =>
        join.onRef('content.owner_id', '=', 'configuration.id').onRef('content.version', '=', 'configuration.content_version'),
      )
      .select(['component_id', 'configuration_id', 'configuration.name as name', 'content.content as text'])
      .where((e) => contains(db, e.ref('content.content'), text))
      .limit(SPARE * limit)
      .execute()
    const ofRows = await rowsOf(scope)
      .select('row.content as text')
      .where((e) => contains(db, e.ref('row.content'), text))
      .limit(SPARE * limit)
      .execute()
    const wanted = text.toLowerCase()
    return visible(scope, [...ofHeads.map((row) => ({ ...row, row_id: undefined })), ...ofRows])
      .filter((row) => holds(row.text ?? '{}', wanted))
      .slice(0, limit)
      .map((row) => ({
        kind: 'content' as const,
        id: row.row_id ?? row.configuration_id,
        name: row.name,
        componentId: row.component_id,
        configurationId: row.configuration_id,
        ...(row.row_id !== undefined && { rowId: row.row_id }),
      }))
  }

  return { configurations, rows, contents }
}

/** In a value or in a name; what stands under a name with # does not count. */
function holds(text: string, wanted: string): boolean {
  let isFound = false
  visitScalars(text, (scalar) => {
    if (isFound || !`${scalar.name ?? ''} ${text.slice(scalar.start, scalar.end)}`.toLowerCase().includes(wanted)) return
    isFound = !scalar.path().some((part) => typeof part === 'string' && part.startsWith('#'))
  })
  return isFound
}
