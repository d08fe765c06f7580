// Takes a table out: now through the browser, or as a file of the project.

import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { File as StoredFile, Table } from '../../../../client/src/operations.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { tableNameOf } from '../../facts/table-id.ts'
import { bytes, plural } from '../../format.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Commands } from '../../parts/commands.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { api } from '../../session.ts'
import { curlOf } from '../../shell/curl.tsx'
import { FileLink } from '../../views/file-link.tsx'

const route = getRouteApi('/storage/$tableId')

const FORMATS = [
  { id: 'csv', name: 'CSV', ending: 'csv' },
  { id: 'jsonl', name: 'JSON lines', ending: 'jsonl' },
  { id: 'parquet', name: 'Parquet', ending: 'parquet' },
] as const
/** More than this is kept as a file: the browser would have to hold it. */
const MAX_BYTES = 500_000_000

export function ExportButton({ table }: { table: Table }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="download" />
        <span>Export</span>
      </button>
      {isOpen ? <ExportDialog table={table} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function ExportDialog({ table, onClose }: { table: Table; onClose: () => void }) {
  const { column, op, value } = route.useSearch()
  const all = table.columns ?? []
  const [format, setFormat] = useState('csv')
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [isFiltered, setFiltered] = useState(true)
  const [isPacked, setPacked] = useState(false)
  const [isMerged, setMerged] = useState(true)
  const chosen = all.filter((name) => !left.has(name))
  const hasFilter = Boolean(column && value)
  const isLarge = (table.dataSizeBytes ?? 0) > MAX_BYTES
  const filter = hasFilter && isFiltered ? [{ column, values: [value], operator: op ?? 'eq' }] : []
  const ending = FORMATS.find(({ id }) => id === format)!.ending
  const download = useMutation({
    mutationFn: async () => {
      const response = await api.open('tables.download', {
        path: { tableId: table.id },
        query: {
          format,
          columns: chosen.join(','),
          ...(filter.length > 0
            ? { 'whereFilters[0][column]': column, 'whereFilters[0][values][0]': value, 'whereFilters[0][operator]': op ?? 'eq' }
            : {}),
        },
      })
      saveAs(`${tableNameOf(table.id)}.${ending}`, await response.blob())
    },
    onSuccess: onClose,
  })
  const exported = {
    fileType: format,
    columns: chosen,
    gzip: isPacked,
    ...(format === 'csv' ? { merged: isMerged } : {}),
    ...(filter.length > 0 ? { whereFilters: filter } : {}),
  }
  const keep = useMutation({
    mutationFn: async () => {
      const { results } = await finishStorageJob(
        await api.call('tables.exportAsync', {
          path: { tableId: table.id },
          body: exported,
        }),
      )
      const { file } = results as { readonly file: { readonly id: number } } // as an export answers
      return api.call('files.get', { path: { id: String(file.id) }, query: {} })
    },
  })
  const toggle = (name: string) =>
    setLeft((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  const error = download.error ?? keep.error
  const isBusy = download.isPending || keep.isPending
  return (
    <Dialog title={`Export ${tableNameOf(table.id)}`} onClose={onClose}>
      <Form onSubmit={() => (isLarge ? keep.mutate() : download.mutate())}>
        <div className="field">
          <Label htmlFor="format">Format</Label>
          <select className="input" id="format" value={format} onChange={(event) => setFormat(event.target.value)}>
            {FORMATS.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <span className="hint">
            {plural(table.rowsCount ?? 0, 'row')}, {bytes(table.dataSizeBytes ?? 0)} as it is stored.
          </span>
        </div>
        <fieldset className="plain stack-2">
          <legend className="label">Columns</legend>
          <div className="flex-row wrap">
            {all.map((name) => (
              <label key={name} className="flex-row">
                <input type="checkbox" checked={!left.has(name)} onChange={() => toggle(name)} />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
        {hasFilter ? (
          <label className="flex-row">
            <input type="checkbox" checked={isFiltered} onChange={(event) => setFiltered(event.target.checked)} />
            Only the rows of the filter on {column}
          </label>
        ) : null}
        <label className="flex-row">
          <input type="checkbox" checked={isPacked} onChange={(event) => setPacked(event.target.checked)} />
          Packed with gzip, when it is kept as a file
        </label>
        {format === 'csv' ? (
          <label className="flex-row">
            <input type="checkbox" checked={isMerged} onChange={(event) => setMerged(event.target.checked)} />
            One file with a header, when it is kept; otherwise slices
          </label>
        ) : null}
        {error ? <Problem error={error} /> : null}
        {keep.data ? <KeptFile file={keep.data} /> : null}
        <Commands
          title="The same from a script"
          commands={[
            curlOf('tables.exportAsync', { path: { tableId: table.id }, body: exported }),
            `npx millrace table export ${table.id} ${tableNameOf(table.id)}.${ending} --format ${format}`,
          ]}
        />
        <div className="flex-row wrap">
          <ActButton
            needs="tables.exportAsync"
            className="button push"
            disabled={isBusy || chosen.length === 0}
            onClick={() => keep.mutate()}
          >
            Keep as a file
          </ActButton>
          <button type="submit" className="button primary" disabled={isBusy || chosen.length === 0}>
            {isLarge ? 'Keep as a file' : 'Download'}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

const KeptFile = ({ file }: { file: StoredFile }) => (
  <>
    <p className="note good" role="status">
      <Icon name="file" />
      <span className="grow">
        {file.name}, {bytes(file.sizeBytes)}, is among the{' '}
        <Link to="/files" search={{ file: String(file.id) }}>
          files
        </Link>
        {file.tags.length > 0 ? `, tagged ${file.tags.join(', ')}` : ''}.
      </span>
    </p>
    <FileLink file={file} />
  </>
)
