// The table in the project: its columns, and checksums of its rows by the SQL of the stack, with the token of the run.

import { setTimeout as wait } from 'node:timers/promises'
import { columnNameFrom } from '../../../../contract/column-name.ts'
import { quoted, textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { BaseType, SourceColumn } from '../databases/columns.ts'
import type { Dialect } from './dialect.ts'
import { duckdbSums, duckdbText } from './duckdb-dialect.ts'

export interface HereColumn {
  readonly name: string
  readonly base: BaseType
  readonly length: string | undefined
}

export interface HereTable {
  readonly id: string
  readonly columns: readonly HereColumn[]
  readonly primaryKey: readonly string[]
  readonly rowsCount: number
  /** For FROM. */
  readonly relation: string
}

export type Rows = readonly (readonly (string | null)[])[]

export interface Here {
  /** Undefined: it does not exist yet. */
  findTable(id: string): Promise<HereTable | undefined>
  ask(sql: string): Promise<Rows>
  /** Rewrites the values of a column; ends when it is done. */
  changeType(
    tableId: string,
    column: string,
    type: { readonly base: BaseType; readonly length?: string | undefined },
  ): Promise<void>
  /** Configurations that read the table, with what they compute from its columns, as far as lineage has it. */
  readersOf(tableId: string): Promise<readonly Reader[]>
}

export interface Reader {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string | null
  readonly rowId: string | null
  /** Columns of other tables (`out.c-main.sums.total`) by the column of this table that they are computed from. */
  readonly computed: Readonly<Record<string, readonly string[]>>
}

const MAX_ROWS = 1_000_000
const POLL_MS = 200

interface StorageJob {
  readonly id: number
  readonly status: string
  readonly error?: { readonly message: string }
}

/** What the platform passes to a component that its description gives a token. */
export function openHere({ KBC_URL, KBC_TOKEN, KBC_BRANCHID }: Readonly<Record<string, string | undefined>>): Here {
  if (!KBC_URL || !KBC_TOKEN) throw new UserError('This needs the stack: KBC_URL and KBC_TOKEN are not set.')
  const storage = `${KBC_URL.replace(/\/$/, '')}/v2/storage`
  const branch = KBC_BRANCHID ? `branch/${KBC_BRANCHID}/` : ''
  async function request(method: string, path: string, json?: object): Promise<Response> {
    return fetch(`${storage}/${path}`, {
      method,
      headers: { 'X-StorageApi-Token': KBC_TOKEN ?? '', 'Content-Type': 'application/json' },
      ...(json && { body: JSON.stringify(json) }),
    }).catch((error: unknown) => {
      const { cause } = error as { cause?: Error }
      throw new Error(`the stack could not be reached: ${cause?.message ?? String(error)}`, { cause: error })
    })
  }
  const refusal = async (answer: Response, what: string): Promise<Error> => {
    const { error } = (await answer.json().catch(() => ({}))) as { error?: string }
    const sentence = `${what}: ${error ?? `status ${answer.status}`}`
    return answer.status < 500 ? new UserError(sentence) : new Error(sentence)
  }
  return {
    async findTable(id) {
      const answer = await request('GET', `${branch}tables/${encodeURIComponent(id)}`)
      if (answer.status === 404) return undefined
      if (!answer.ok) throw await refusal(answer, `The table ${id} cannot be read`)
      return tableOf(id, (await answer.json()) as TableView)
    },
    async changeType(tableId, column, { base: type, length }) {
      const path = `${branch}tables/${encodeURIComponent(tableId)}/columns/${encodeURIComponent(column)}/type`
      const answer = await request('PUT', path, { type, ...(length !== undefined && { length }) })
      if (!answer.ok) throw await refusal(answer, `The type of column "${column}" cannot be changed`)
      for (let job = (await answer.json()) as StorageJob; job.status !== 'success'; ) {
        if (job.status === 'error')
          throw new UserError(`The type of column "${column}" cannot be changed: ${job.error?.message ?? 'no reason was given'}`)
        await wait(POLL_MS)
        job = (await (await request('GET', `jobs/${job.id}`)).json()) as StorageJob
      }
    },
    async readersOf(tableId) {
      const id = encodeURIComponent(tableId)
      const [used, graph] = await Promise.all([
        request('GET', `${branch}tables/${id}/used-by`),
        request('GET', `${branch}lineage?tableId=${id}&direction=downstream&depth=2`),
      ])
      if (!used.ok) return [] // the token may not see them
      const { readBy } = (await used.json()) as { readBy: readonly Omit<Reader, 'computed'>[] }
      const { edges } = graph.ok ? ((await graph.json()) as { edges: readonly LineageEdge[] }) : { edges: [] }
      return readBy.map(({ componentId, configurationId, name, rowId }) => ({
        ...{ componentId, configurationId, name, rowId },
        computed: computedBy(`configuration:${componentId}/${configurationId}`, tableId, edges),
      }))
    },
    async ask(sql) {
      const answer = await request('POST', `${branch}query`, { sql, limit: MAX_ROWS })
      if (!answer.ok) throw await refusal(answer, 'The query over the table failed')
      const { rows } = (await answer.json()) as { rows: (string | number | null)[][] }
      return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
    },
  }
}

interface LineageEdge {
  readonly from: string
  readonly to: string
  readonly columns?:
    | readonly { readonly column: string; readonly from: readonly { readonly tableId: string; readonly column: string }[] }[]
    | null
}

function computedBy(node: string, tableId: string, edges: readonly LineageEdge[]): Readonly<Record<string, readonly string[]>> {
  const pairs = edges
    .filter(({ from }) => from === node)
    .flatMap(({ to, columns }) =>
      (columns ?? []).flatMap(({ column, from }) =>
        from
          .filter((one) => one.tableId === tableId)
          .map((one) => ({ from: one.column, to: `${to.replace(/^table:/, '')}.${column}` })),
      ),
    )
  const grouped = Map.groupBy(pairs, ({ from }) => from)
  return Object.fromEntries([...grouped].map(([column, list]) => [column, [...new Set(list.map(({ to }) => to))]]))
}

interface TableView {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly rowsCount: number
  readonly definition?: {
    readonly columns: readonly {
      readonly name: string
      readonly basetype?: BaseType
      readonly definition: { readonly length?: string }
    }[]
  }
}

function tableOf(id: string, { columns, primaryKey, rowsCount, definition }: TableView): HereTable {
  const [, bucket = '', name = ''] = /^(.*)\.([^.]+)$/.exec(id) ?? []
  return {
    ...{ id, primaryKey, rowsCount, relation: `${quoted(bucket)}.${quoted(name)}` },
    columns: columns.map((column) => {
      const typed = definition?.columns.find((one) => one.name === column)
      return { name: column, base: typed?.basetype ?? 'STRING', length: typed?.definition.length }
    }),
  }
}

/** Types of the SQL of the stack. */
const typeOf = ({ base, length }: { readonly base: BaseType; readonly length?: string | undefined }): string =>
  ({
    STRING: 'VARCHAR',
    INTEGER: 'BIGINT',
    NUMERIC: `DECIMAL(${length ?? '38,9'})`,
    FLOAT: 'DOUBLE',
    BOOLEAN: 'BOOLEAN',
    DATE: 'DATE',
    TIMESTAMP: 'TIMESTAMP',
  })[base]

/** The name of a column in the table, in a statement. */
export const hereName = ({ name }: SourceColumn): string => quoted(columnNameFrom(name))

/** Values as the source has them: where the table has another type, they are read as the type of the source. */
export function hereDialect({ columns }: HereTable): Dialect {
  const hereOf = (column: SourceColumn) => columns.find(({ name }) => name === columnNameFrom(column.name))
  const isSame = (column: SourceColumn) => {
    const here = hereOf(column)
    return here?.base === column.base && (column.base !== 'NUMERIC' || here.length === column.length)
  }
  const text = (column: SourceColumn): string => {
    const name = hereName(column)
    if (isSame(column)) return column.base === 'STRING' ? name : duckdbText(name, column)
    const read = `try_cast(${name} as ${typeOf(column)})`
    return `case when ${name} is not null and ${read} is null then '?' || ${name}::varchar else ${duckdbText(read, column)} end`
  }
  return {
    text,
    ...duckdbSums,
    order(column) {
      if (column.base === 'STRING' || column.base === 'FLOAT' || column.base === 'BOOLEAN')
        return { value: `(${text(column)})`, literal: textLiteral }
      const type = typeOf(column)
      const name = hereName(column)
      return {
        value: isSame(column) ? name : `try_cast(${name} as ${type})`,
        literal: (one) => `cast(${textLiteral(one)} as ${type})`,
      }
    },
  }
}
