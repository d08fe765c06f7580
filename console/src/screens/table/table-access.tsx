// Ready snippets that read this table elsewhere, with a read-only token made on the spot.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Table } from '../../../../client/src/operations.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import './table.css'

const DAYS = 7

/** What the snippets differ in. */
interface Place {
  readonly address: string
  readonly tableId: string
  /** Null: the PostgreSQL port of the stack is off. */
  readonly sqlPort: number | null
}

const SNIPPETS: Readonly<Record<string, (place: Place) => string>> = {
  curl: ({ address }) =>
    `curl --fail-with-body -H "X-StorageApi-Token: $MILLRACE_TOKEN" \\\n  '${address}?format=csv' > table.csv`,
  CLI: ({ tableId }) => `MILLRACE_URL=${location.origin} npx millrace table export ${tableId} table.csv`,
  pandas: ({ address }) =>
    `import os, pandas as pd\ndf = pd.read_csv(\n    "${address}?format=csv",\n    storage_options={"X-StorageApi-Token": os.environ["MILLRACE_TOKEN"]},\n)`,
  DuckDB: ({ address }) =>
    `-- curl -H "X-StorageApi-Token: $MILLRACE_TOKEN" '${address}?format=parquet' > table.parquet\nselect * from 'table.parquet';`,
  R: ({ address }) =>
    `library(httr)\nanswer <- GET("${address}?format=csv",\n  add_headers("X-StorageApi-Token" = Sys.getenv("MILLRACE_TOKEN")))\ndata <- read.csv(text = content(answer, "text"))`,
  psql: ({ tableId, sqlPort }) =>
    sqlPort === null
      ? '# This stack does not listen for PostgreSQL clients.\n# Its administrator opens a port with MILLRACE_SQL_PORT.'
      : `PGPASSWORD=$MILLRACE_TOKEN psql -h ${location.hostname} -p ${sqlPort} -U me default \\\n  -c 'select * from "${bucketOf(tableId)}"."${tableNameOf(tableId)}"'`,
  Excel: ({ address }) =>
    `// Data, Get Data, Blank Query, Advanced Editor; choose anonymous access.\nTable.PromoteHeaders(Csv.Document(Web.Contents("${address}",\n  [Headers = [#"X-StorageApi-Token" = "the token"]]),\n  [Encoding = 65001, QuoteStyle = QuoteStyle.Csv]))`,
}

export function DataAccess({ table }: { table: Table }) {
  const [tool, setTool] = useState('curl')
  const address = `${location.origin}/v2/storage/tables/${encodeURIComponent(table.id)}/data`
  const sqlPort = useLoad('index.get', { query: { exclude: 'components' } }).data?.sqlPort ?? null
  const snippet = SNIPPETS[tool]!({ address, tableId: table.id, sqlPort })
  const bucket = bucketOf(table.id)
  const token = useMutation({
    mutationFn: () =>
      api.call('tokens.create', {
        body: { description: `Reads ${table.id}`, bucketPermissions: { [bucket]: 'read' }, expiresIn: DAYS * 86_400 },
      }),
  })
  return (
    <section className="card" aria-labelledby="use">
      <header>
        <h2 id="use">Use this data</h2>
      </header>
      <div className="inset stack-4">
        <fieldset className="segments small tools" aria-label="Tool">
          {Object.keys(SNIPPETS).map((name) => (
            <button key={name} type="button" aria-pressed={name === tool} onClick={() => setTool(name)}>
              {name}
            </button>
          ))}
        </fieldset>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre className="code sunken wrap" tabIndex={0}>
          {snippet}
        </pre>
        <div className="flex-row wrap">
          <CopyButton text={snippet} label="Copy the snippet" />
          <ActButton needs="tokens.create" className="button" disabled={token.isPending} onClick={() => token.mutate()}>
            <Icon name="key" />
            <span>Create a read-only token</span>
          </ActButton>
          <span className="mute fine">
            It reads the bucket <span className="identifier">{bucket}</span> for {DAYS} days.
          </span>
        </div>
        {token.error ? <Problem error={token.error} /> : null}
        {token.data?.token ? (
          <div className="note good">
            <Icon name="key" />
            <div className="grow stack-2">
              <p>Shown once. Put it into MILLRACE_TOKEN.</p>
              <code className="mono wrap">{token.data.token}</code>
            </div>
            <CopyButton text={token.data.token} />
          </div>
        ) : null}
      </div>
    </section>
  )
}
