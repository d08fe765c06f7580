// A project into a folder, through the public API alone. What is in the folder already is not fetched again.

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Client, StorageJob } from './client.ts'
import { bytesOf, save } from './file.ts'
import type { StackFile } from './file-upload.ts'
import {
  count,
  type Metadata,
  type MovedBucket,
  type MovedConfiguration,
  type MovedTable,
  type MovedVersion,
  type ProjectFolder,
  type Report,
} from './project-folder.ts'

export interface ExportWishes {
  readonly files: boolean
  readonly say: (text: string) => void
}

const PAGE = 100

export async function exportProject(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  { files, say }: ExportWishes,
): Promise<void> {
  const { owner } = await client.request<{ owner: { id: number; name: string } }>('GET', '/v2/storage/tokens/verify')
  const { services } = await client.request<{ services: { id: string; url: string }[] }>('GET', '/v2/storage?exclude=components')
  await folder.write({ url: client.url, project: owner.id, name: owner.name }, 'project.json')
  const attempt = (what: string, work: () => Promise<void>) =>
    work().catch((error: unknown) => void report.notMoved.push({ what, reason: messageOf(error) }))

  for (const bucket of await client.request<MovedBucket[]>('GET', '/v2/storage/buckets?include=metadata'))
    await attempt(`bucket ${bucket.id}`, () => exportBucket(client, folder, report, bucket, say))
  await exportConfigurations(client, folder, report, attempt, say)
  if (files) await attempt('files', () => exportFiles(client, folder, report, say))
  const urlOf = (id: string) => services.find((service) => service.id === id)?.url
  for (const [id, path, file] of [
    ['notification', '/project-subscriptions', 'subscriptions.json'],
    ['vault', '/variables', 'variables.json'],
  ] as const) {
    const url = urlOf(id)
    if (url === undefined) report.notMoved.push({ what: id, reason: 'The stack does not publish this service.' })
    else await attempt(id, async () => folder.write(await client.request<unknown[]>('GET', url + path), file))
  }
}

async function exportBucket(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  bucket: MovedBucket,
  say: ExportWishes['say'],
): Promise<void> {
  if (bucket.sourceBucket) throw new Error('It is linked from another project: link it again there.')
  const listed = await client.request<{ id: string }[]>('GET', `/v2/storage/buckets/${bucket.id}/tables`)
  const tables: MovedTable[] = []
  for (const { id } of listed) {
    say(`table ${id}`)
    const table = await client.request<MovedTable>('GET', `/v2/storage/tables/${id}`)
    if (!table.isAlias) await exportRows(client, folder, table)
    tables.push(table)
    count(report, 'tables exported')
  }
  await folder.write({ ...bucket, tables }, 'buckets', `${bucket.id}.json`)
}

/** Slices without a header, packed each on its own: joined they are one packed file. */
async function exportRows(client: Client, folder: ProjectFolder, { id, columns }: MovedTable): Promise<void> {
  const path = folder.pathOf('tables', `${id}.csv.gz`)
  if (await isThere(path)) return
  await mkdir(dirname(path), { recursive: true })
  const started = await client.request<StorageJob>('POST', `/v2/storage/tables/${id}/export-async`, {
    json: { gzip: true, columns },
  })
  const job = await client.waitForJob(started)
  const { file } = job.results as { file: { id: number } } // the results of tableExport
  await save(bytesOf(await client.request<StackFile>('GET', `/v2/storage/files/${file.id}?federationToken=1`)), path)
}

async function exportConfigurations(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  attempt: (what: string, work: () => Promise<void>) => Promise<void>,
  say: ExportWishes['say'],
): Promise<void> {
  const components = await client.request<{ id: string; configurations: { id: string }[] }[]>('GET', '/v2/storage/components')
  for (const { id: componentId, configurations } of components)
    for (const { id } of configurations)
      await attempt(`configuration ${id} of ${componentId}`, async () => {
        const isDone = (await folder.read('configurations', componentId, `${id}.json`)) !== undefined
        if (isDone) return
        say(`configuration ${id} of ${componentId}`)
        const whole = await exportConfiguration(client, componentId, id)
        await folder.write(whole, 'configurations', componentId, `${id}.json`)
        count(report, 'configurations exported')
      })
}

async function exportConfiguration(client: Client, componentId: string, id: string): Promise<MovedConfiguration> {
  const path = `/v2/storage/components/${encodeURIComponent(componentId)}/configs/${encodeURIComponent(id)}`
  const current = await client.request<MovedConfiguration>('GET', path)
  const inBranch = path.replace('/v2/storage/', '/v2/storage/branch/default/')
  const metadata = await client.request<Metadata[]>('GET', `${inBranch}/metadata`).catch(() => []) // an older stack has none
  const versions: MovedVersion[] = []
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.request<{ version: number }[]>('GET', `${path}/versions`, { query: { limit: PAGE, offset } })
    for (const { version } of page) {
      const found = await client.request<MovedVersion>('GET', `${path}/versions/${version}`).catch(() => undefined) // what it still has
      if (found) versions.unshift({ ...found, version })
    }
    if (page.length < PAGE) break
  }
  return { ...current, componentId, metadata, versions }
}

async function exportFiles(client: Client, folder: ProjectFolder, report: Report, say: ExportWishes['say']): Promise<void> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.request<StackFile[]>('GET', '/v2/storage/files', { query: { limit: PAGE, offset } })
    for (const { id, name, tags: listed } of page) {
      if (listed.includes('table-export')) continue // made on the way, of tables that are exported themselves
      const path = folder.pathOf('files', String(id))
      if (await isThere(path)) continue
      say(`file ${id} ${name}`)
      const file = await client.request<StackFile>('GET', `/v2/storage/files/${id}?federationToken=1`)
      const { tags, maxAgeDays, isSliced } = file
      if (isSliced) {
        report.notMoved.push({ what: `file ${id} "${name}"`, reason: 'It is sliced; export its table instead.' })
        continue
      }
      await mkdir(dirname(path), { recursive: true })
      await folder.write({ id, name, tags, isPermanent: maxAgeDays === null }, 'files', `${id}.json`)
      await save(bytesOf(file), path)
      count(report, 'files exported')
    }
    if (page.length < PAGE) return
  }
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
