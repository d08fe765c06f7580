// SQL: the result, and how to keep it. Reads the tables of the project as they are now.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import { LazySqlEditor } from '../../editor/lazy.ts'
import type { SqlTable } from '../../editor/sql-completion.ts'
import type { Insertion, Selection } from '../../editor/sql-editor.tsx'
import { formattedSql } from '../../editor/sql-format.ts'
import { fullNamesOf, unknownTable, withFullName } from '../../editor/sql-full-names.ts'
import { type ParameterType, withLiterals } from '../../editor/sql-parameters.ts'
import { placeOfError, type Statement, statementsOf } from '../../editor/sql-statements.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { count, duration } from '../../format.ts'
import { useSeconds } from '../../live.ts'
import { Lines, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { curlOf, shellQuoted } from '../../shell/curl.tsx'
import { Page } from '../../shell/page.tsx'
import { useKey } from '../../use-key.ts'
import { WriteQueryButton } from '../../views/ask-model.tsx'
import { useTableSearch } from '../../views/table-search.ts'
import { originOf, SqlLibrary } from './sql-library.tsx'
import { ParameterFields, type ParameterValues, useParameters } from './sql-parameters.tsx'
import { PlanDrawer } from './sql-plan.tsx'
import { ResultGrid, SHOWN_ROWS, type SqlResult } from './sql-result.tsx'
import { useMakeTransformation } from './sql-save.tsx'
import { StoreButtons } from './sql-store.tsx'
import { type OpenTabs, SqlTabs, useSqlTabs } from './sql-tabs.tsx'
import './sql.css'

const quoted = (tableId: string): string => `"${bucketOf(tableId)}"."${tableNameOf(tableId)}"`

const route = getRouteApi('/sql')

const firstRowsOf = (tableId: string): string => `select *\nfrom ${quoted(tableId)}\nlimit 100`

/** A selection with a statement in it. */
const partOf = (text: string, selected: Selection | undefined): Selection | undefined =>
  selected && statementsOf(text.slice(selected.from, selected.to)).length > 0 ? selected : undefined

interface RunRequest {
  /** All of the editor. */
  readonly text: string
  /** What is run of it; all by default. */
  readonly part?: Selection | undefined
}

export function SqlScreen() {
  const { table, query: queryId, sql: given } = route.useSearch()
  const tabs = useSqlTabs(given ?? (table === undefined ? undefined : firstRowsOf(table)))
  const { sql, edit } = tabs
  const parameters = useParameters(sql)
  const [isPlan, setPlan] = useState(false)
  const queries = useQueryClient()
  useOpenSaved(queryId, tabs, parameters.setAll)
  const stop = useRef<AbortController>(null)
  const [startedMs, setStarted] = useState(0)
  const [insertion, setInsertion] = useState<Insertion>()
  const [selection, setSelection] = useState<Selection>()
  const [results, setResults] = useState<readonly SqlResult[]>([])
  const run = useMutation({
    /** One statement after the other, each shown when it has ended; the first that fails is the last. */
    mutationFn: async ({ text, part = { from: 0, to: text.length } }: RunRequest): Promise<readonly SqlResult[]> => {
      const statements = statementsOf(text.slice(part.from, part.to)).map((one) => ({ ...one, offset: one.offset + part.from }))
      stop.current = new AbortController()
      const { signal } = stop.current
      setStarted(Date.now())
      const ended: SqlResult[] = []
      setResults(ended)
      for (const [index, statement] of statements.entries()) {
        const started = performance.now()
        const values = parameters.sent(statement.sql)
        const body = { sql: statement.sql, limit: SHOWN_ROWS, ...(values && { parameters: values }) }
        const result = await api.call('sql.query', { body, signal }).catch((error: unknown) => {
          throw failedStatement(error, statement, statements.length > 1 ? index + 1 : undefined)
        })
        ended.push({
          ...(result as Pick<SqlResult, 'columns' | 'rows'>), // described loosely
          sql: statement.sql,
          parameters: values,
          seconds: (performance.now() - started) / 1000,
        })
        setResults([...ended])
      }
      return ended
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['sql.history'] }),
  })
  useSeconds(run.isPending)
  const isStopped = run.error?.name === 'AbortError'
  const { error } = run
  const mistake = useMemo(
    () =>
      error instanceof StatementError && error.at !== undefined && run.variables?.text === sql
        ? { at: error.at, message: error.message }
        : undefined,
    [error, run.variables, sql],
  )
  const search = useTableSearch()
  const make = useMakeTransformation()
  const part = partOf(sql, selection)
  const startWith = (text: string, selected: Selection | undefined) =>
    run.isPending || statementsOf(text).length === 0 ? undefined : run.mutate({ text, part: partOf(text, selected) })
  const start = () => startWith(sql, selection)
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
                  tables={NO_TABLES}
                  search={search}
                  onChange={edit}
                  onRun={startWith}
                  onSelect={setSelection}
                  mistake={mistake}
                  insertion={insertion}
                />
              </Suspense>
              <ParameterFields parameters={parameters} />
              <div className="flex-row wrap">
                <StoreButtons tabs={tabs} parameters={parameters} />
                <button type="button" className="button small" onClick={() => edit(formattedSql(sql))}>
                  Format
                </button>
                <button type="button" className="button small" onClick={() => setPlan(true)}>
                  Plan
                </button>
                <WriteQueryButton onSql={edit} />
                <ActButton
                  needs="configurations.create"
                  className="button small"
                  disabled={make.isPending || statementsOf(sql).length === 0}
                  onClick={() =>
                    make.mutate({
                      name: tabs.saved?.name,
                      statements: statementsOf(sql).map((one) => withLiterals(one.sql, parameters.sent(one.sql))),
                    })
                  }
                >
                  Create a transformation
                </ActButton>
                <CopyButton text={linkTo(tabs)} label="Copy a link to this query" />
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
                    <span>{part ? 'Run selection' : 'Run'}</span>
                    <kbd>Ctrl Enter</kbd>
                  </button>
                )}
              </div>
            </div>
          </section>
          {make.error ? <Problem error={make.error} /> : null}
          {run.error && !isStopped ? (
            <>
              <SqlProblem error={run.error} text={run.variables?.text ?? ''} />
              <FullNames message={run.error.message} onUse={(bare, name) => edit(withFullName(sql, bare, name))} />
            </>
          ) : null}
          {results.map((result, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: results have no other name
            <ResultGrid key={index} result={result} />
          ))}
        </div>
        <SqlLibrary
          tabs={tabs}
          onSelect={(id) => edit(firstRowsOf(id))}
          onInsert={(text) => setInsertion((before) => ({ text, number: (before?.number ?? 0) + 1 }))}
        />
      </div>
      {isPlan ? (
        <PlanDrawer
          statements={statementsOf(sql).map((one) => ({ sql: one.sql, parameters: parameters.sent(one.sql) }))}
          onClose={() => setPlan(false)}
        />
      ) : null}
    </Page>
  )
}

/** Opens the saved query that the address names, with the defaults of its parameters. */
function useOpenSaved(id: string | undefined, tabs: OpenTabs, setValues: (values: ParameterValues) => void): void {
  const query = useLoad('savedQueries.get', id === undefined ? undefined : { path: { queryId: id } }).data
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each query, not for each change of its text
  useEffect(() => {
    if (!query) return
    tabs.show({ text: query.sql, saved: originOf(query) })
    const entries = query.parameters.map(({ name, type, default: value = '' }) => [name, { type: type as ParameterType, value }])
    setValues(Object.fromEntries(entries) as ParameterValues)
  }, [query?.id])
}

const linkTo = ({ saved, sql }: OpenTabs): string => {
  const search = saved && saved.sql === sql ? `query=${saved.id}` : `sql=${encodeURIComponent(sql)}`
  return `${location.origin}/console/sql?${search}`
}

const NO_TABLES: readonly SqlTable[] = []

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

interface FullNamesProps {
  readonly message: string
  readonly onUse: (bare: string, name: string) => void
}

/** What people new to it write: the name of a table without its bucket. */
function FullNames({ message, onUse }: FullNamesProps) {
  const name = unknownTable(message)
  const { data = [] } = useLoad('tables.browse', name === undefined ? undefined : { query: { name } })
  const tables = data.flatMap(({ table }) => (table ? { bucket: bucketOf(table.id), name: tableNameOf(table.id) } : []))
  const names = fullNamesOf(message, tables)
  if (names.length === 0) return null
  return (
    <p className="flex-row wrap" role="note">
      <span>Tables are named with their bucket:</span>
      {names.map((one) => (
        <button type="button" key={one.name} className="button small" onClick={() => onUse(one.bare, one.name)}>
          Write <span className="identifier">{one.name}</span>
        </button>
      ))}
    </p>
  )
}

const sentenceOf = (results: readonly SqlResult[]): string =>
  results.length === 1
    ? sentenceOfOne(results[0]!)
    : `${count(results.length)} statements in ${duration(results.reduce((sum, { seconds }) => sum + seconds, 0))}.`

const sentenceOfOne = ({ rows, seconds }: SqlResult): string =>
  `${rows.length === SHOWN_ROWS ? `The first ${count(rows.length)} rows` : rows.length === 1 ? 'One row' : `${count(rows.length)} rows`} in ${seconds < 1 ? `${Math.round(seconds * 1000)} ms` : duration(seconds)}.`
