// Who reads the rows of a table: the driver of the database, or DuckDB by an extension that an operator has added to the data folder.

import { existsSync } from 'node:fs'
import type { ExtensionName } from '../../../../contract/duckdb-extensions.ts'
import type { Database } from '../databases/database.ts'
import { missing, type ReaderContext } from './reader.ts'

const EXTENSION_OF = { postgresql: 'postgres', mysql: 'mysql', sqlite: 'sqlite' } as const satisfies Record<string, ExtensionName>

/** Where DuckDB takes less of the machine than the driver (docs/performance.md). */
const AUTO: readonly string[] = ['mysql', 'sqlite']

/** Work with the database, whose rows DuckDB reads where the row enables it and the extension is installed. */
export async function withReader<T>(context: ReaderContext, work: (database: Database) => Promise<T>): Promise<T> {
  const { settings, database, row, extensions, log } = context
  if (settings.type === 'duckdb' || row.reader === 'driver') return work(database)
  if (row.reader === 'auto' && !AUTO.includes(settings.type)) return work(database)
  const say = (why: string) => (row.reader === 'duckdb' ? log.warning : log.info)(`The driver reads the rows: ${why}.`)
  if (settings.type === 'clickhouse') {
    say('DuckDB has no reader for ClickHouse')
    return work(database)
  }
  const extension = EXTENSION_OF[settings.type]
  if (extensions === undefined || !existsSync(extensions)) {
    say(missing(extension))
    return work(database)
  }
  const { openReaders } = await import('./readers.ts') // it loads DuckDB
  const reading = await openReaders(context, extensions, extension, say)
  try {
    return await work(reading.database)
  } finally {
    reading.close()
  }
}
