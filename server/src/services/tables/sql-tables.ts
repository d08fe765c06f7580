// Tables as SQL sees them: a select over the files of one state, with the columns and rows that its asker may see. Aliases and linked
// tables come out as they do everywhere else.

import type { SqlTable } from '../../engines/sql/sql-engine.ts'
import { outAs, query } from '../../engines/table-engine/relation.ts'
import { referencedKeys } from '../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Scope } from '../../model/scope.ts'
import type { Table, TableParts } from './table-catalog.ts'

export type SqlTables = ReturnType<typeof createSqlTables>

export function createSqlTables({ catalog }: Pick<TableParts, 'catalog'>) {
  /** Undefined when there is none; a table that the asker may not read throws. */
  async function find(scope: Scope, bucketId: string, name: string): Promise<SqlTable | undefined> {
    const table = await catalog.get(scope, `${bucketId}.${name}`).catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'storage.tables.notFound') return undefined
      throw error
    })
    return table && sqlTableOf(table)
  }

  async function sqlTableOf(table: Table): Promise<SqlTable> {
    const { snapshot, snapshotId } = await catalog.reading(table)
    const { columns, filters } = table
    return {
      version: JSON.stringify([snapshotId, columns, filters]),
      keys: referencedKeys(snapshot),
      select: (local) => {
        const { from, columns: read } = query({ snapshot, columns, filters }, local)
        return `SELECT ${read.map(outAs).join(', ')} ${from}`
      },
    }
  }

  return { find }
}
