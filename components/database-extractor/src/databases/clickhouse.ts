// ClickHouse over HTTP. It has no transactions: each statement sees a state of its own, so a table is read by one statement.

import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { createCsvFile } from '../../../connector-kit/src/csv-file.ts'
import {
  type Clickhouse,
  clickhouseLiteral,
  createClickhouse,
  fractionOf,
  NotUtf8,
} from '../../../connector-kit/src/database/clickhouse.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { clickhouseDialect } from '../compare/clickhouse-dialect.ts'
import { columnOf, literalOf, selected } from './clickhouse-values.ts'
import type { Source, SourceColumn } from './columns.ts'
import type { Database, Description, ListedTable } from './database.ts'
import { chosen, conditionOf, incrementOf, relation } from './statements.ts'

export function openClickhouse(settings: ServerSettings, guard: EgressGuard): Database {
  return databaseOf(createClickhouse(settings, guard))
}

function databaseOf({ ask, read }: Clickhouse): Database {
  async function describe(source: Source): Promise<Description> {
    const [names = [], types = []] = await ask(`select * from ${relation(source)} limit 0`, 'TabSeparatedWithNamesAndTypes')
    const columns = names.map((name, at) => columnOf(name ?? '', types[at] ?? ''))
    const odd = [...(source.kind === 'table' ? [source.table.name, source.table.schema] : []), ...names].find((name) =>
      /["\\]/.test(name ?? ''),
    )
    if (odd !== undefined)
      throw new UserError(`The name ${odd} has a quotation mark or a backslash. Read it by a query that gives it another name.`)
    return { columns: chosen(source, columns), primaryKey: [] } // keys of ClickHouse order rows; several rows may have the same
  }

  return {
    describe,
    isReadWhole: true,
    async listSchemas() {
      const rows = await ask(
        `select name from system.databases where lower(name) not in ('system', 'information_schema') order by 1`,
      )
      return rows.map(([name]) => name ?? '')
    },
    async listTables(schema) {
      const database = schema === undefined ? 'currentDatabase()' : clickhouseLiteral(schema)
      const tables = await ask(
        `select database, name, engine from system.tables where database = ${database} and name not like '.inner%' order by 1, 2`,
      )
      const counts = await ask(`select table, sum(rows) from system.parts where active and database = ${database} group by table`)
      const estimates = new Map(counts.map(([table, rows]) => [table, Number(rows)]))
      return tables.map(([owner, name, engine]): ListedTable => {
        const estimatedRows = estimates.get(name ?? '') ?? (engine?.endsWith('MergeTree') ? 0 : undefined)
        return {
          ...{ schema: owner ?? '', name: name ?? '', kind: engine?.endsWith('View') ? 'view' : 'table' },
          ...(estimatedRows !== undefined && { estimatedRows }),
        }
      })
    },
    async greatest(source, column) {
      const greatest =
        column.base === 'TIMESTAMP' ? `toTimeZone(max(${quoted(column.name)}), 'UTC')` : `max(${quoted(column.name)})`
      const [[value, count] = []] = await ask(`select toString(${greatest}), count() from ${relation(source)}`)
      return count === '0' ? undefined : (value ?? undefined) // of no rows, the greatest number is 0
    },
    async read({ source, columns, increment, path, nullMarker, invalidAsNull, where, constants = [], isAppended }) {
      const csv = await createCsvFile(path, nullMarker, { isAppended })
      const from = `${relation(source)}${conditionOf(incrementOf(increment, LITERALS), where)}`
      const dates = invalidAsNull ? columns.flatMap(({ base }, at) => (base === 'DATE' || base === 'TIMESTAMP' ? [at] : [])) : []
      let count = 0
      try {
        for await (const rows of read(columns.map(selected), from)) {
          for (const row of rows) {
            for (const at of dates) if (row[at]?.startsWith('0000')) row[at] = null
            await csv.write([...row, ...constants])
          }
          count += rows.length
        }
      } catch (error) {
        throw error instanceof NotUtf8 ? notUtf8(columns[error.at], error) : error
      } finally {
        await csv.close()
      }
      return count
    },
    preview: (source, columns, limit) =>
      ask(`select ${columns.map(selected).join(', ')} from ${relation(source)} limit ${limit}`),
    ask: (sql) => ask(sql),
    relation,
    dialect: clickhouseDialect,
    close: async () => {},
  }
}

const notUtf8 = (column: SourceColumn | undefined, cause: Error): UserError =>
  new UserError(
    `A value of the column "${column?.name}" is not UTF-8. Read it by a query with hex("${column?.name}"), or leave the column out.`,
    {},
    cause,
  )

const LITERALS = {
  value: literalOf,
  back: ({ base, native }: SourceColumn, lookback: number) => {
    if (base === 'DATE') return `- ${Math.ceil(lookback / 86_400)}`
    return fractionOf(native) === undefined ? `- ${lookback}` : `- interval ${Math.ceil(lookback)} second`
  },
}
