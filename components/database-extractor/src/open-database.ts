// Opens the database that the configuration names.

import { join } from 'node:path'
import type { EgressGuard } from '../../../contract/egress-guard.ts'
import { openWay } from '../../connector-kit/src/database/connect.ts'
import type { DatabaseSettings } from '../../connector-kit/src/database/connection.ts'
import { type Folders, fileOf } from '../../connector-kit/src/database/files.ts'
import type { Database } from './databases/database.ts'

export async function openDatabase(
  settings: DatabaseSettings,
  { guard, folders, dataDir }: { readonly guard: EgressGuard; readonly folders: Folders; readonly dataDir: string },
): Promise<Database> {
  if ('folder' in settings) {
    const file = fileOf(settings, folders, dataDir)
    if (settings.type === 'sqlite') return (await import('./databases/sqlite.ts')).openSqlite(file)
    return (await import('./databases/duckdb.ts')).openDuckdb(file, join(dataDir, 'out', 'tables'))
  }
  // Only the driver that is needed is loaded.
  if (settings.type === 'clickhouse') return (await import('./databases/clickhouse.ts')).openClickhouse(settings, guard)
  const way = await openWay(settings, guard)
  if (settings.type === 'postgresql') return (await import('./databases/postgresql.ts')).openPostgresql(settings, way)
  return (await import('./databases/mysql.ts')).openMysql(settings, way)
}
