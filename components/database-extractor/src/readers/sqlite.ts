// SQLite: whole tables whose columns have values of one kind, in the type that they are declared with. The file is the one that was checked before.

import type { FileSettings } from '../../../connector-kit/src/database/connection.ts'
import { fileOf } from '../../../connector-kit/src/database/files.ts'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from '../databases/columns.ts'
import type { ReadRequest } from '../databases/database.ts'
import { writeCsv } from './csv-of-duckdb.ts'
import type { Reader, ReaderContext } from './reader.ts'

/** Declared types that DuckDB reads as the type that the values have. */
const DECLARED: Readonly<Record<string, RegExp>> = {
  INTEGER: /^(INTEGER|INT|BIGINT)$/i,
  FLOAT: /^(REAL|DOUBLE|DOUBLE PRECISION|FLOAT)$/i,
  STRING: /^(TEXT|VARCHAR\(\d+\))$/i,
}

export const sqliteReader = ({ row, settings, folders, dataDir }: ReaderContext): Reader => ({
  unfit({ source, columns, increment, where }: ReadRequest) {
    if (source.kind === 'query' || source.filter !== undefined) return 'statements for SQLite are run by the driver'
    if (increment || where !== undefined) return 'parts of a table are read by the driver'
    if (row.deletes !== 'ignore') return 'deleted rows are looked for in the state that the driver sees'
    const odd = columns.find((column) => !isPlain(column))
    return odd && `column "${odd.name}" of type ${odd.native} has values that DuckDB reads differently`
  },
  async open(duckdb) {
    await duckdb.run('set threads = 1') // one connection to the file, so one state of it
  },
  read(request, duckdb) {
    const { source } = request
    if (source.kind === 'query') throw new Error('a query is not read by DuckDB') // refused above
    const file = fileOf(settings as FileSettings, folders, dataDir) // by its type
    const from = `sqlite_scan(${textLiteral(file)}, ${textLiteral(source.table.name)})`
    return writeCsv(
      duckdb.copy,
      request,
      request.columns.map(({ name }) => quoted(name)),
      from,
    )
  },
})

const isPlain = ({ base, native, asText }: SourceColumn): boolean =>
  asText === undefined && (DECLARED[base]?.test(native) ?? false)
