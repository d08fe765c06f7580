// SQL: the result, and how to keep it. Reads the tables of the project as they are now.

import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useId, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import type { Table } from '../../../../client/src/operations.ts'
import { LazySqlEditor } from '../../editor/lazy.ts'
import type { SqlTable } from '../../editor/sql-completion.ts'
import type { Insertion } from '../../editor/sql-editor.tsx'
import { placeOfError, type Statement, statementsOf } from '../../editor/sql-statements.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { count, duration } from '../../format.ts'
import { useSeconds } from '../../live.ts'
import { Lines, useLoad } from '../../load.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { api } from '../../session.ts'
import { curlOf, shellQuoted } from '../../shell/curl.tsx'
import { Page } from '../../shell/page.tsx'
import { useKey } from '../../use-key.ts'
import { type Cell, CellDrawer, CellValue } from '../../views/long-cell.tsx'
import { SqlChart } from './sql-chart.tsx'
import { type Keep, SaveQuery } from './sql-save.tsx'
import { SqlTabs, useSqlTabs } from './sql-tabs.tsx'
import { SqlTree } from './sql-tree.tsx'
import './sql.css'

const SHOWN_ROWS = 1000
const HISTORY_KEY = 'millrace.sql-history'
const REMEMBERED = 50

interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly unknown[])[]
  readonly seconds: number
  readonly sql: string
}

const quoted = (tableId: string): string => `"${bucketOf(tableId)}"."${tableNameOf(tableId)}"`

const readHistory = (): readonly string[] => JSON.parse(localStorage.getItem(HISTORY_KEY) ?? '[]') as readonly string[] // written below

function remember(sql: string): void {
  const others = readHistory().filter((one) => one !== sql)
  localStorage.setItem(HISTORY_KEY, JSON.stringify([sql, ...others].slice(0, REMEMBERED)))
}

const route = getRouteApi('/sql')

const firstRowsOf = (tableId: string): string => `select *\nfrom ${quoted(tableId)}\nlimit 100`

export function SqlScreen() {
  const { table } = route.useSearch()
  const tabs = useSqlTabs(table === undefined ? undefined : firstRowsOf(table))
  const { sql, edit } = tabs
  const stop = useRef<AbortController>(null)
  const [startedMs, setStarted] = useState(0)
  const [insertion, setInsertion] = useState<Insertion>()
  const run = useMutation({
    /** One statement after the other; the first that fails ends it. */
    mutationFn: async (text: string): Promise<readonly SqlResult[]> => {
      const statements = statementsOf(text)
      stop.current = new AbortController()
      const { signal } = stop.current
      setStarted(Date.now())
      const results: SqlResult[] = []
      for (const [index, statement] of statements.entries()) {
        const started = performance.now()
        const result = await api
          .call('sql.query', { body: { sql: statement.sql, limit: SHOWN_ROWS }, signal })
          .catch((error: unknown) => {
            throw failedStatement(error, statement, statements.length > 1 ? index + 1 : undefined)
          })
        results.push({
          ...(result as Pick<SqlResult, 'columns' | 'rows'>), // described loosely
          sql: statement.sql,
          seconds: (performance.now() - started) / 1000,
        })
      }
      remember(text)
      return results
    },
  })
  useSeconds(run.isPending)
  const isStopped = run.error?.name === 'AbortError'
  const { error } = run
  const mistake = useMemo(
    () =>
      error instanceof StatementError && error.at !== undefined && run.variables === sql
        ? { at: error.at, message: error.message }
        : undefined,
    [error, run.variables, sql],
  )
  const tables = useLoad('tables.list', { query: { include: 'columns' } })
  const names = useMemo(() => namesOf(tables.data ?? []), [tables.data])
  const sourcesOf = (text: string) => (tables.data ?? []).map(({ id }) => id).filter((id) => text.includes(quoted(id)))
  const start = () => (run.isPending || statementsOf(sql).length === 0 ? undefined : run.mutate(sql))
  useKey('Ctrl Enter', 'Run the query', start)
  return (
    <Page
      title="SQL"
      crumbs={[{ name: 'SQL' }]}
      say={
        run.isPending
          ? `Running for ${duration((Date.now() - startedMs) / 1000)}.`
          : isStopped
            ? 'The query was stopped.'
            : run.data
              ? sentenceOf(run.data)
              : 'Query the tables of this project.'
      }
      sub="Reads only. The dialect is DuckDB's."
    >
      <div className="columns">
        <div className="stack-4">
          <section className="card" aria-label="Query">
            <SqlTabs tabs={tabs} />
            <div className="inset stack-3">
              <Suspense fallback={<Lines count={4} />}>
                <LazySqlEditor
                  key={tabs.current}
                  text={sql}
                  tables={names}
                  onChange={edit}
                  onRun={start}
                  mistake={mistake}
                  insertion={insertion}
                />
              </Suspense>
              <div className="flex-row wrap">
                <History onChoose={edit} />
                <CopyButton text={curlOf('sql.query', { body: { sql } })} label="Copy as curl" />
                <CopyButton text={`npx millrace sql ${shellQuoted(sql)}`} label="Copy as command" />
                {run.isPending ? (
                  <button type="button" className="button push" onClick={() => stop.current?.abort()}>
                    <Icon name="x" />
                    <span>Stop</span>
                  </button>
                ) : (
                  <button type="button" className="button primary push" onClick={start}>
                    <Icon name="play" />
                    <span>Run</span>
                    <kbd>Ctrl Enter</kbd>
                  </button>
                )}
              </div>
            </div>
          </section>
          {run.error && !isStopped ? <SqlProblem error={run.error} text={run.variables} /> : null}
          {(run.data ?? []).map((result, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: results have no other name
            <ResultGrid key={index} result={result} sources={sourcesOf(result.sql)} />
          ))}
        </div>
        <SqlTree
          query={tables}
          onSelect={(id) => edit(firstRowsOf(id))}
          onInsert={(text) => setInsertion((before) => ({ text, number: (before?.number ?? 0) + 1 }))}
        />
      </div>
    </Page>
  )
}

/** For completion. */
const namesOf = (tables: readonly Table[]): readonly SqlTable[] =>
  tables.map(({ id, columns = [] }) => ({ bucket: bucketOf(id), name: tableNameOf(id), columns }))

/** With the place of the mistake in the whole text, as far as it is known. */
class StatementError extends ApiError {
  readonly at: number | undefined
  /** Of several; undefined for the only one. */
  readonly statement: number | undefined

  constructor(error: ApiError, at: number | undefined, statement: number | undefined) {
    super(error.status, { error: error.message, code: error.code, ...(error.exceptionId && { exceptionId: error.exceptionId }) })
    this.at = at
    this.statement = statement
  }
}

function failedStatement(error: unknown, { sql, offset }: Statement, number: number | undefined): unknown {
  if (!(error instanceof ApiError)) return error
  const at = placeOfError(error.message, sql)
  return new StatementError(error, at === undefined ? undefined : offset + at, number)
}

function SqlProblem({ error, text }: { error: Error; text: string }) {
  const lines = error instanceof StatementError && error.at !== undefined ? text.slice(0, error.at).split('\n') : undefined
  const place = [
    error instanceof StatementError && error.statement !== undefined ? `statement ${error.statement}` : '',
    lines ? `line ${lines.length}, column ${lines.at(-1)!.length + 1}` : '',
  ].filter((part) => part !== '')
  return (
    <>
      <Problem error={error} />
      {place.length > 0 ? (
        <p className="failed" role="note">
          In {place.join(', ')}.
        </p>
      ) : null}
    </>
  )
}

const sentenceOf = (results: readonly SqlResult[]): string =>
  results.length === 1
    ? sentenceOfOne(results[0]!)
    : `${count(results.length)} statements in ${duration(results.reduce((sum, { seconds }) => sum + seconds, 0))}.`

const sentenceOfOne = ({ rows, seconds }: SqlResult): string =>
  `${rows.length === SHOWN_ROWS ? `The first ${count(rows.length)} rows` : rows.length === 1 ? 'One row' : `${count(rows.length)} rows`} in ${seconds < 1 ? `${Math.round(seconds * 1000)} ms` : duration(seconds)}.`

function History({ onChoose }: { onChoose: (sql: string) => void }) {
  const history = readHistory()
  if (history.length === 0) return null
  return (
    <select
      className="input small history"
      aria-label="Earlier queries"
      value=""
      onChange={(event) => onChoose(event.target.value)}
    >
      <option value="">Earlier queries</option>
      {history.map((sql) => (
        <option key={sql} value={sql}>
          {sql.replace(/\s+/g, ' ').slice(0, 80)}
        </option>
      ))}
    </select>
  )
}

const NUMBERS = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U|FLOAT|DOUBLE|DECIMAL)/

interface GridProps {
  readonly result: SqlResult
  readonly sources: readonly string[]
}

function ResultGrid({ result: { columns, rows, sql }, sources }: GridProps) {
  const id = useId()
  const [isChart, setChart] = useState(false)
  const [kept, setKept] = useState<Keep>()
  const [open, setOpen] = useState<Cell>()
  const download = useMutation({
    mutationFn: async () => saveAs('query.csv', await (await api.open('sql.query', { body: { sql, format: 'csv' } })).blob()),
  })
  if (rows.length === 0) return <p className="mute">The query has no rows.</p>
  return (
    <section className="card grid" aria-labelledby={id}>
      <header className="wrap">
        <h2 id={id}>Result</h2>
        <fieldset className="segments small" aria-label="View of the result">
          <button type="button" aria-pressed={!isChart} onClick={() => setChart(false)}>
            Rows
          </button>
          <button type="button" aria-pressed={isChart} onClick={() => setChart(true)}>
            Chart
          </button>
        </fieldset>
        <button type="button" className="button small push" onClick={() => setKept('table')}>
          Save as a table
        </button>
        <button type="button" className="button small" onClick={() => setKept('transformation')}>
          Save as a transformation
        </button>
        <button type="button" className="button small" disabled={download.isPending} onClick={() => download.mutate()}>
          <Icon name="download" size="small" />
          <span>Download all rows as CSV</span>
        </button>
      </header>
      {download.error ? <Problem error={download.error} /> : null}
      {kept ? <SaveQuery kind={kept} sql={sql} sources={sources} onClose={() => setKept(undefined)} /> : null}
      {isChart ? <SqlChart columns={columns} rows={rows} /> : null}
      <Scroll label="Rows of the result" className={isChart ? 'hidden' : 'rows'}>
        <table className="data-table">
          <thead>
            <tr>
              {columns.map(({ name, type }) => (
                <th key={name} className={NUMBERS.test(type) ? 'numeric' : ''}>
                  <span className="column-name">{name}</span>
                  <span className="fine mute">{type.toLowerCase()}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result have no other name
              <tr key={index}>
                {columns.map(({ name, type }, at) => (
                  <td key={name} className={NUMBERS.test(type) ? 'numeric' : ''}>
                    <CellValue cell={{ column: name, value: textOf(row[at]), isCut: false }} onOpen={setOpen} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {open ? <CellDrawer column={open.column} whole={{ text: open.value ?? '' }} onClose={() => setOpen(undefined)} /> : null}
    </section>
  )
}

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : String(value)
