// Keeps the result of a query: as a table now, or as a transformation that replaces the table with every run.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SqlQueryBody } from '../../../../client/src/operations.ts'
import { idsNamed } from '../../editor/sql-completion.ts'
import { withLiterals } from '../../editor/sql-parameters.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { MAX_NAMED, useTablesNamed } from '../../facts/storage-names.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

const TRANSFORMATION = 'keboola.duckdb-transformation'

export type Keep = 'table' | 'transformation'

interface SaveProps {
  readonly kind: Keep
  readonly sql: string
  readonly parameters: SqlQueryBody['parameters'] | undefined
  readonly onClose: () => void
}

async function ensureBucket(id: string): Promise<void> {
  const buckets = await api.call('buckets.browse', { query: { bucketId: [id] } })
  const [, stage, name] = id.match(/^(in|out)\.c-(.+)$/) ?? []
  if (buckets.length === 0 && stage && name) await api.call('buckets.create', { body: { stage, name } })
}

async function makeTable(tableId: string, sql: string, parameters: SaveProps['parameters']): Promise<void> {
  const bucketId = bucketOf(tableId)
  const name = tableNameOf(tableId)
  await ensureBucket(bucketId)
  const { results } = await finishStorageJob(
    await api.call('sql.export', { body: { sql, fileName: `${name}.csv`, ...(parameters && { parameters }) } }),
  )
  const { file } = results as { readonly file: { readonly id: number } } // as an export answers
  await finishStorageJob(await api.call('tables.createAsync', { path: { bucketId }, body: { name, dataFileId: file.id } }))
}

/** The tables of the project that a query names in full. Loaded for the text as it is now, since the screen may still be loading. */
async function sourcesOf(sql: string): Promise<readonly string[]> {
  const tableId = idsNamed(sql).slice(0, MAX_NAMED)
  if (tableId.length === 0) return []
  const found = await api.call('tables.browse', { query: { tableId, limit: MAX_NAMED } })
  return found.flatMap(({ table }) => (table && sql.includes(quoted(table.id)) ? table.id : []))
}

/** The queries read their tables by their names in the run; the mapping brings them there. The last one becomes the table. */
function transformationOf(name: string, tableId: string, statements: readonly string[], sources: readonly string[]) {
  const table = tableNameOf(tableId)
  const tables = sources.map((source) => ({ source, destination: aliasOf(source) }))
  const inRun = (sql: string) => sources.reduce((text, source) => text.replaceAll(quoted(source), `"${aliasOf(source)}"`), sql)
  const script = statements.map((sql, at) =>
    at === statements.length - 1 ? `create table "${table}" as\n${inRun(sql)}` : inRun(sql),
  )
  return {
    name,
    configuration: {
      storage: { input: { tables }, output: { tables: [{ source: table, destination: tableId }] } },
      parameters: { blocks: [{ name: 'Query', codes: [{ name, script }] }] },
    },
  }
}

const quoted = (tableId: string): string => `"${bucketOf(tableId)}"."${tableNameOf(tableId)}"`
/** `in.c-shop.orders` as a name without dots, different for each table. */
const aliasOf = (tableId: string): string => tableId.replaceAll(/\W+/g, '_')

interface WholeQuery {
  /** Of a saved query. */
  readonly name: string | undefined
  /** With the values of their parameters. */
  readonly statements: readonly string[]
}

/** All statements of a query as a transformation, opened at once: its names can be changed there, and making it can be undone. */
export function useMakeTransformation() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ name, statements }: WholeQuery) => {
      const sources = await sourcesOf(statements.join(';\n'))
      const [first] = sources
      const called = name ?? (first === undefined ? 'Query' : `Query of ${tableNameOf(first)}`)
      const tableId = `out.c-main.${
        called
          .toLowerCase()
          .replaceAll(/\W+/g, '_')
          .replaceAll(/^_+|_+$/g, '') || 'result'
      }`
      const body = transformationOf(called, tableId, statements, sources)
      const path = { componentId: TRANSFORMATION }
      return { id: (await api.call('configurations.create', { path, body })).id, name: called }
    },
    onSuccess: async ({ id, name }) => {
      await queries.invalidateQueries()
      const params = { componentId: TRANSFORMATION, configurationId: id }
      toast(`${name} is created.`, async () => {
        await api.call('configurations.delete', { path: params, query: {} })
        await queries.invalidateQueries()
        await navigate({ to: '/sql' })
      })
      void navigate({ to: '/components/$componentId/$configurationId', params })
    },
  })
}

export function SaveQuery({ kind, sql, parameters, onClose }: SaveProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [tableId, setTableId] = useState('out.c-main.result')
  const [name, setName] = useState('Result of a query')
  const sources = useTablesNamed(idsNamed(sql))?.map(({ id }) => id)
  const save = useMutation({
    mutationFn: async () => {
      if (kind === 'table') {
        await makeTable(tableId, sql, parameters)
        return undefined
      }
      const made = await api.call('configurations.create', {
        path: { componentId: TRANSFORMATION },
        body: transformationOf(name, tableId, [withLiterals(sql, parameters)], await sourcesOf(sql)),
      })
      return made.id
    },
    onSuccess: async (configurationId) => {
      await queries.invalidateQueries()
      onClose()
      toast(configurationId === undefined ? `${tableId} is created.` : `${name} is created.`)
      if (configurationId === undefined) return void navigate({ to: '/storage/$tableId', params: { tableId } })
      void navigate({
        to: '/components/$componentId/$configurationId',
        params: { componentId: TRANSFORMATION, configurationId },
      })
    },
  })
  return (
    <Dialog title={kind === 'table' ? 'Save as a table' : 'Save as a transformation'} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        {kind === 'transformation' ? (
          <div className="field">
            <Label htmlFor="save-name">Name</Label>
            <input className="input" id="save-name" required value={name} onChange={(event) => setName(event.target.value)} />
            <span className="hint">
              {sources?.length === 0
                ? 'It reads no table.'
                : sources && `It reads ${sources.join(', ')} and creates the table with every run.`}
            </span>
          </div>
        ) : null}
        <div className="field">
          <Label htmlFor="save-table">Table</Label>
          <input
            className="input mono"
            id="save-table"
            required
            pattern="(in|out)\.c-[\w\-]+\.[\w\-]+"
            value={tableId}
            onChange={(event) => setTableId(event.target.value)}
          />
          <span className="hint">
            {kind === 'table' ? 'All rows of the result, as they are now. ' : ''}A bucket that does not exist is created.
          </span>
        </div>
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          {kind === 'table' ? 'Create the table' : 'Create the transformation'}
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
