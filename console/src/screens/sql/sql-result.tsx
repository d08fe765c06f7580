// One result of a query: its rows, a chart of them, and how to keep them.

import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { SqlQueryBody, File as StoredFile } from '../../../../client/src/operations.ts'
import { Chart } from '../../chart/chart.tsx'
import { ChartChoices } from '../../chart/chart-choices.tsx'
import { guessedSettings, numericColumns } from '../../chart/chart-data.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { api } from '../../session.ts'
import { FileLink } from '../../views/file-link.tsx'
import { ResultRows } from '../../views/result-rows.tsx'
import { type Keep, SaveQuery } from './sql-save.tsx'

export const SHOWN_ROWS = 1000

export interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly unknown[])[]
  readonly seconds: number
  readonly sql: string
  /** With which it was run. */
  readonly parameters: SqlQueryBody['parameters'] | undefined
}

interface GridProps {
  readonly result: SqlResult
}

export function ResultGrid({ result }: GridProps) {
  const { columns, rows, sql, parameters } = result
  const id = useId()
  const [isChart, setChart] = useState(false)
  const [kept, setKept] = useState<Keep>()
  const values = parameters && { parameters }
  const [settings, setSettings] = useState(() => guessedSettings(result))
  const download = useMutation({
    mutationFn: async () =>
      saveAs('query.csv', await (await api.open('sql.query', { body: { sql, format: 'csv', ...values } })).blob()),
  })
  const toFile = useMutation({
    mutationFn: async (): Promise<StoredFile> => {
      const { results } = await finishStorageJob(await api.call('sql.export', { body: { sql, ...values } }))
      const { file } = results as { readonly file: { readonly id: number } } // as an export answers
      return api.call('files.get', { path: { id: String(file.id) }, query: {} })
    },
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
        <ActButton needs="tables.createAsync" className="button small push" onClick={() => setKept('table')}>
          Save as a table
        </ActButton>
        <ActButton needs="configurations.create" className="button small" onClick={() => setKept('transformation')}>
          Save as a transformation
        </ActButton>
        <ActButton needs="sql.export" className="button small" disabled={toFile.isPending} onClick={() => toFile.mutate()}>
          Save as a file
        </ActButton>
        <button type="button" className="button small" disabled={download.isPending} onClick={() => download.mutate()}>
          <Icon name="download" size="small" />
          <span>Download all rows as CSV</span>
        </button>
      </header>
      {download.error ? <Problem error={download.error} /> : null}
      {toFile.error ? <Problem error={toFile.error} /> : null}
      {toFile.data ? (
        <Drawer title="Saved as a file" onClose={toFile.reset}>
          <p>
            All rows are the file <b>{toFile.data.name}</b> of the project.
          </p>
          <FileLink file={toFile.data} />
          <ActLink needs="files.get" className="button small" to="/files" search={{ file: String(toFile.data.id) }}>
            Open the file
          </ActLink>
        </Drawer>
      ) : null}
      {kept ? <SaveQuery kind={kept} sql={sql} parameters={parameters} onClose={() => setKept(undefined)} /> : null}
      {isChart ? (
        <div className="inset stack-3">
          {settings.type !== 'figure' && numericColumns(result).length === 0 ? (
            <p className="mute">A chart needs a column of numbers.</p>
          ) : null}
          <ChartChoices result={result} settings={settings} onChange={setSettings} />
          <Chart result={result} settings={settings} label={`${settings.y?.[0] ?? 'values'} by ${settings.x ?? 'row'}`} />
        </div>
      ) : null}
      <div hidden={isChart}>
        <ResultRows label="Rows of the result" columns={columns} rows={rows} />
      </div>
    </section>
  )
}
