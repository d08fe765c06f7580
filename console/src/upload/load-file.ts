// From a file of the browser to a table: the bytes first, then the jobs that make and fill it.

import { ApiError, type Input, type OperationName } from '../../../client/src/client.ts'
import type { SniffedFile, File as StoredFile } from '../../../client/src/operations.ts'
import { finishStorageJob } from '../facts/storage-job.ts'
import { api, rememberSent, sessionHeaders } from '../session.ts'
import { uploadInParts } from './multipart.ts'
import { uploadFields, uploadForm } from './upload-form.ts'

export interface Plan {
  readonly bucket: string
  readonly table: string
  readonly key: readonly string[]
  readonly isIncremental: boolean
  readonly isTyped: boolean
  /** By column, where a person chose another type than the suggested one. */
  readonly types: Readonly<Record<string, string>>
}

/** Bytes of this machine, or a file that the project has already. */
export interface Source {
  readonly name: string
  readonly size: number
  readonly from: File | { readonly fileId: number }
}

export const sourceOf = (file: File): Source => ({ name: file.name, size: file.size, from: file })
export const storedSource = ({ id, name, sizeBytes }: StoredFile): Source => ({ name, size: sizeBytes, from: { fileId: id } })

export interface FileLoad {
  readonly source: Source
  readonly sniffed: SniffedFile
  readonly plan: Plan
  /** The table that takes the rows; undefined: a new one. */
  readonly intoTable: string | undefined
}

export interface PlannedCall {
  readonly operation: OperationName
  readonly input: Input<OperationName>
}

const call = <O extends OperationName>(operation: O, input: Input<O>): PlannedCall => ({ operation, input: input })

/** Zero until it is known. */
const idOf = ({ from }: Source): number => (from instanceof File ? 0 : from.fileId)

/** The calls that a load makes, for people who want them in a script. */
export function loadCalls({ source, sniffed, plan, intoTable }: FileLoad): readonly PlannedCall[] {
  const dialect = {
    delimiter: sniffed.delimiter,
    enclosure: sniffed.enclosure,
    // Without a header the names are those that the preview shows.
    ...(sniffed.hasHeader ? {} : { columns: sniffed.columns.map(({ name }) => name), withoutHeaders: true }),
  }
  const csv = { dataFileId: idOf(source), ...(sniffed.format === 'csv' ? dialect : {}) }
  const prepare =
    source.from instanceof File
      ? [call('files.prepare', { body: { name: source.name, sizeBytes: source.size, federationToken: true } })]
      : []
  if (intoTable)
    return [
      ...prepare,
      call('tables.importAsync', { path: { tableId: intoTable }, body: { ...csv, incremental: plan.isIncremental } }),
    ]
  const path = { bucketId: plan.bucket }
  if (!plan.isTyped)
    return [...prepare, call('tables.createAsync', { path, body: { ...csv, name: plan.table, primaryKey: plan.key.join(',') } })]
  const columns = sniffed.columns.map(({ name, type }) => ({ name, basetype: plan.types[name] ?? type }))
  return [
    ...prepare,
    call('tables.createDefinition', { path, body: { name: plan.table, primaryKeysNames: plan.key, columns } }),
    call('tables.importAsync', { path: { tableId: `${plan.bucket}.${plan.table}` }, body: csv }),
  ]
}

/** The id of the table that has the rows then. */
export async function runLoad(load: FileLoad, signal: AbortSignal, onSent: (bytes: number) => void): Promise<string> {
  const { source, plan, intoTable } = load
  const fileId = source.from instanceof File ? await upload(source.from, signal, onSent) : source.from.fileId
  onSent(source.size)
  if (!intoTable) await ensureBucket(plan.bucket)
  const jobs = loadCalls({ ...load, source: { ...source, from: { fileId } } })
  for (const { operation, input } of jobs) await finishStorageJob(await api.call(operation, input))
  return intoTable ?? `${plan.bucket}.${plan.table}`
}

async function upload(file: File, signal: AbortSignal, onSent: (bytes: number) => void): Promise<number> {
  const fields = uploadFields(file.name)
  rememberSent('import.uploadFile', {}, { name: file.name, fields }) // in parts or whole, it comes to the same
  return (
    (await uploadInParts(file, signal, onSent)) ??
    (await sendWhole(uploadForm(fields, file, file.name), file.size, signal, onSent))
  )
}

/** A text as a file of the project; its id. */
export async function uploadText(name: string, text: string): Promise<number> {
  const fields = uploadFields(name)
  rememberSent('import.uploadFile', {}, { name, fields })
  const data = new Blob([text], { type: 'text/csv' })
  return sendWhole(uploadForm(fields, data, name), data.size, new AbortController().signal, () => {})
}

/** As a file of the project, with a tag that finds it. */
export async function keepFile(name: string, content: Blob): Promise<void> {
  const fields = uploadFields(name, [['tags[]', 'bad-lines']])
  rememberSent('import.uploadFile', {}, { name, fields })
  const form = uploadForm(fields, content, name)
  await sendWhole(form, content.size, new AbortController().signal, () => {})
}

async function ensureBucket(id: string): Promise<void> {
  const buckets = await api.call('buckets.browse', { query: { bucketId: [id] } })
  const [, stage, name] = id.match(/^(in|out)\.c-(.+)$/) ?? []
  if (buckets.length > 0 || !stage || !name) return
  await api.call('buckets.create', { body: { stage, name } })
}

/** Through the stack itself, where the object store cannot be reached. XMLHttpRequest, because it alone reports how much has been sent. */
const sendWhole = (form: FormData, size: number, signal: AbortSignal, onSent: (bytes: number) => void): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/import/upload-file')
    for (const [name, value] of Object.entries(sessionHeaders())) request.setRequestHeader(name, value)
    request.responseType = 'json'
    request.upload.onprogress = (event) => onSent(Math.min(event.loaded, size))
    request.onerror = () => reject(new TypeError('The connection was lost.'))
    request.onabort = () => reject(new DOMException('Paused.', 'AbortError'))
    request.onload = () => {
      const answer = request.response as { id?: number; error?: string; code?: string; exceptionId?: string } | null
      if (request.status < 300 && answer?.id !== undefined) resolve(answer.id)
      else reject(new ApiError(request.status, answer ?? undefined))
    }
    signal.addEventListener('abort', () => request.abort())
    request.send(form)
  })
