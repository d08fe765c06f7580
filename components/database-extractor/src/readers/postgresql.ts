// PostgreSQL: rows arrive in the binary format of COPY over the driver's own connection, in its transaction, through its TLS and its tunnel, and
// DuckDB reads that file. Types that DuckDB would change (numeric without precision becomes a floating-point number) are texts in it already.

import { rmSync } from 'node:fs'
import { textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { writeCsv } from './csv-of-duckdb.ts'
import type { Reader, ReaderContext } from './reader.ts'

const TYPES = {
  ...{ STRING: 'VARCHAR', INTEGER: 'BIGINT', FLOAT: 'DOUBLE', BOOLEAN: 'BOOLEAN', DATE: 'DATE', TIMESTAMP: 'TIMESTAMP' },
} as const

const typeOf = ({ base, length }: SourceColumn): string => (base === 'NUMERIC' ? `DECIMAL(${length})` : TYPES[base])

export const postgresqlReader = ({ database }: ReaderContext): Reader => ({
  unfit: () => (database.copyBinary ? undefined : 'the connection has no binary format'),
  async read(request, duckdb) {
    const path = `${request.path}.binary`
    try {
      await database.copyBinary?.({ ...request, path })
      const columns = request.columns.map((column, at) => `'f${at}': '${typeOf(column)}'`)
      const from = `read_postgres_binary(${textLiteral(path)}, columns = {${columns.join(', ')}})`
      return await writeCsv(
        duckdb.copy,
        request,
        request.columns.map((_, at) => `f${at}`),
        from,
      )
    } finally {
      rmSync(path, { force: true })
    }
  },
})
