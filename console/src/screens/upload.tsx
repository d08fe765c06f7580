// Upload: can it be read, what happens to the table, how far it is. The file goes to the stack as a stream, whatever its size.

import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type DragEvent, useState } from 'react'
import { ApiError } from '../../../client/src/client.ts'
import { HEAD_BYTES, type Head, headOf } from '../csv-head.ts'
import { bytes, duration } from '../format.ts'
import { useLoad } from '../load.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Value } from '../parts/value.tsx'
import { api, sessionHeaders } from '../session.ts'
import { Page } from '../shell/page.tsx'
import { toast } from '../shell/toast.tsx'
import { finishStorageJob } from '../storage-job.ts'

const route = getRouteApi('/upload')

interface Plan {
  readonly bucket: string
  readonly table: string
  readonly key: string
  readonly isIncremental: boolean
  readonly delimiter: string
}

export function UploadScreen() {
  const { table } = route.useSearch()
  const [file, setFile] = useState<File>()
  const [head, setHead] = useState<Head>()
  const choose = async (chosen: File | undefined) => {
    if (!chosen) return
    setHead(headOf(await chosen.slice(0, HEAD_BYTES).text()))
    setFile(chosen)
  }
  return (
    <Page
      title="Upload"
      crumbs={[{ name: 'Storage', to: '/storage' }, { name: 'Upload' }]}
      say={
        file ? `${file.name}, ${bytes(file.size)}.` : table ? `Load data into ${table}.` : 'Upload a file and make it a table.'
      }
    >
      {file && head ? (
        <Load file={file} head={head} intoTable={table} onReset={() => setFile(undefined)} />
      ) : (
        <Drop onFile={(chosen) => void choose(chosen)} />
      )}
    </Page>
  )
}

function Drop({ onFile }: { onFile: (file: File | undefined) => void }) {
  const [isOver, setOver] = useState(false)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFile(event.dataTransfer.files[0])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the button does the same
    <div
      className={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Icon name="upload" size="lg" />
      <p className="md">Drop a CSV file here, plain or gzipped.</p>
      <label className="btn pri">
        Choose a file
        <input className="vh" type="file" onChange={(event) => onFile(event.target.files?.[0])} />
      </label>
    </div>
  )
}

const simpleName = (text: string): string =>
  text
    .replace(/\.(csv|tsv|txt)(\.gz)?$/i, '')
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '') || 'data'

function Load({
  file,
  head,
  intoTable,
  onReset,
}: {
  file: File
  head: Head
  intoTable: string | undefined
  onReset: () => void
}) {
  const navigate = useNavigate()
  const buckets = useLoad('buckets.list', { query: {} as never })
  const isPacked = /\.gz$/i.test(file.name)
  const [plan, setPlan] = useState<Plan>({
    bucket: 'in.c-main',
    table: simpleName(file.name),
    key: '',
    isIncremental: false,
    delimiter: head.delimiter,
  })
  const [sent, setSent] = useState(0)
  const change = (next: Partial<Plan>) => setPlan({ ...plan, ...next })
  const [started, setStarted] = useState(0)
  const load = useMutation({
    mutationFn: () => {
      setStarted(Date.now())
      return run(file, plan, intoTable, setSent)
    },
    onSuccess: (tableId) => {
      toast(`${tableId} is loaded.`)
      void navigate({ to: '/storage/$tableId', params: { tableId } })
    },
  })
  const columns = head.rows[0] ?? []
  return (
    <div className="columns">
      <section className="card" aria-labelledby="head">
        <header>
          <h2 id="head">First rows</h2>
          <span className="mute xs">
            {isPacked ? 'gzipped: not shown' : `${columns.length} columns, separated by ${nameOfDelimiter(plan.delimiter)}`}
          </span>
          <button type="button" className="btn sm push" onClick={onReset}>
            Another file
          </button>
        </header>
        {isPacked ? <p className="in mute">The stack unpacks the file while it loads.</p> : <HeadTable rows={head.rows} />}
      </section>
      <section className="card" aria-labelledby="plan">
        <header>
          <h2 id="plan">What it will do</h2>
        </header>
        <Form onSubmit={() => load.mutate()}>
          {intoTable ? (
            <>
              <p>
                Loads into <span className="id">{intoTable}</span>.
              </p>
              <label className="chk">
                <input
                  type="checkbox"
                  checked={plan.isIncremental}
                  onChange={(event) => change({ isIncremental: event.target.checked })}
                />
                Keep the rows that are there; replace those with the same key
              </label>
            </>
          ) : (
            <>
              <div className="field">
                <label htmlFor="bucket">Bucket</label>
                <input
                  className="input"
                  id="bucket"
                  list="buckets"
                  value={plan.bucket}
                  onChange={(event) => change({ bucket: event.target.value })}
                />
                <datalist id="buckets">
                  {(buckets.data ?? []).map(({ id }) => (
                    <option key={id} value={id} />
                  ))}
                </datalist>
                <span className="hint">
                  {(buckets.data ?? []).some(({ id }) => id === plan.bucket)
                    ? 'An existing bucket.'
                    : `Makes the bucket ${plan.bucket}.`}
                </span>
              </div>
              <div className="field">
                <label htmlFor="table">Table</label>
                <input
                  className="input"
                  id="table"
                  required
                  value={plan.table}
                  onChange={(event) => change({ table: event.target.value })}
                />
                <span className="hint">
                  Makes the table <span className="id">{`${plan.bucket}.${plan.table}`}</span>
                </span>
              </div>
              <div className="field">
                <label htmlFor="key">Primary key</label>
                <select className="input" id="key" value={plan.key} onChange={(event) => change({ key: event.target.value })}>
                  <option value="">none</option>
                  {columns.map((name) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
                <span className="hint">
                  {plan.key ? `Rows with the same ${plan.key} replace each other.` : 'Every load adds all its rows.'}
                </span>
              </div>
            </>
          )}
          {load.isPending ? <Progress sent={sent} total={file.size} started={started} /> : null}
          {load.error ? <Problem error={load.error} /> : null}
          <button type="submit" className="btn pri" disabled={load.isPending}>
            {intoTable ? 'Load into the table' : 'Make the table'}
          </button>
          <p className="xs mute">
            The same from a script: <Link to="/storage">storage</Link> API, <span className="id">npx millrace table upload</span>.
          </p>
        </Form>
      </section>
    </div>
  )
}

const nameOfDelimiter = (delimiter: string): string =>
  ({ ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' })[delimiter] ?? delimiter

function HeadTable({ rows }: { rows: readonly (readonly string[])[] }) {
  const [names = [], ...body] = rows
  return (
    <Scroll label="First rows of the file" className="grid">
      <table className="t">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>
                <span className="cn">{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have no other name
            <tr key={index}>
              {row.map((value, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: nor have their fields
                <td key={at}>
                  <Value value={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Progress({ sent, total, started }: { sent: number; total: number; started: number }) {
  const share = total === 0 ? 1 : Math.min(sent / total, 1)
  const seconds = (Date.now() - started) / 1000
  const left = share > 0.02 ? duration((seconds / share) * (1 - share)) : undefined
  return (
    <div className="stack2">
      <div
        className="meter"
        role="progressbar"
        aria-label="Upload"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      <p className="xs mute tn">
        {share < 1
          ? `${bytes(sent)} of ${bytes(total)}${left ? `, ${left} left` : ''}`
          : 'Uploaded. The stack is loading it into the table.'}
      </p>
    </div>
  )
}

async function run(file: File, plan: Plan, intoTable: string | undefined, onSent: (bytes: number) => void): Promise<string> {
  const dataFileId = await send(file, onSent)
  const load = { dataFileId, delimiter: plan.delimiter, enclosure: '"' }
  if (intoTable) {
    await finishStorageJob(
      await api.call('tables.importAsync', {
        path: { tableId: intoTable },
        body: { ...load, incremental: plan.isIncremental } as never,
      }),
    )
    return intoTable
  }
  await ensureBucket(plan.bucket)
  const body = { ...load, name: plan.table, ...(plan.key ? { primaryKey: plan.key } : {}) }
  await finishStorageJob(await api.call('tables.createAsync', { path: { bucketId: plan.bucket }, body: body as never }))
  return `${plan.bucket}.${plan.table}`
}

async function ensureBucket(id: string): Promise<void> {
  const buckets = await api.call('buckets.list', { query: {} as never })
  const [, stage, name] = id.match(/^(in|out)\.c-(.+)$/) ?? []
  if (buckets.some((bucket) => bucket.id === id) || !stage || !name) return
  await api.call('buckets.create', { body: { stage, name } as never })
}

/** XMLHttpRequest, because it alone says how much has been sent. */
const send = (file: File, onSent: (bytes: number) => void): Promise<number> =>
  new Promise((resolve, reject) => {
    const form = new FormData()
    form.append('name', file.name)
    form.append('data', file, file.name)
    const request = new XMLHttpRequest()
    request.open('POST', '/import/upload-file')
    for (const [name, value] of Object.entries(sessionHeaders())) request.setRequestHeader(name, value)
    request.responseType = 'json'
    request.upload.onprogress = (event) => onSent(event.loaded)
    request.onerror = () => reject(new TypeError('The connection was lost.'))
    request.onload = () => {
      const answer = request.response as { id?: number; error?: string; code?: string; exceptionId?: string } | null
      if (request.status < 300 && answer?.id !== undefined) resolve(answer.id)
      else reject(new ApiError(request.status, answer ?? undefined))
    }
    request.send(form)
  })
