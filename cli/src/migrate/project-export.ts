// A project into a folder, through the public API alone. What is in the folder already is not fetched again.

import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Client, StorageJob } from '../client.ts'
import {
  count,
  type Metadata,
  type MovedBranch,
  type MovedBucket,
  type MovedConfiguration,
  type MovedFile,
  type MovedSource,
  type MovedTable,
  type MovedVersion,
  type ProjectFolder,
  type Report,
} from '../configuration/project-folder.ts'
import { bytesOf, save, slicesOf } from '../storage/file.ts'
import type { StackFile } from '../storage/file-upload.ts'

export interface ExportWishes {
  readonly files: boolean
  readonly say: (text: string) => void
}

const PAGE = 100

type Attempt = (what: string, work: () => Promise<void>) => Promise<void>

export async function exportProject(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  { files, say }: ExportWishes,
): Promise<void> {
  const { owner } = await client.request<{ owner: { id: number; name: string } }>('GET', '/v2/storage/tokens/verify')
  const { services } = await client.request<{ services: { id: string; url: string }[] }>('GET', '/v2/storage?exclude=components')
  const { id: defaultBranch } = await client.request<MovedBranch>('GET', '/v2/storage/dev-branches/default')
  await folder.write({ url: client.url, project: owner.id, name: owner.name, defaultBranch }, 'project.json')
  const attempt: Attempt = (what, work) =>
    work().catch((error: unknown) => void report.notMoved.push({ what, reason: messageOf(error) }))
  const out = { client, folder, report, attempt, files, say }
  await exportBranch(out)
  await attempt('development branches', async () => {
    for (const branch of await client.request<MovedBranch[]>('GET', '/v2/storage/dev-branches'))
      if (!branch.isDefault) {
        const inner = folder.inner('branches', String(branch.id))
        await inner.write(branch, 'branch.json')
        await exportBranch({ ...out, client: inBranch(client, branch.id), folder: inner }, branch)
      }
  })
  for (const name of ['tokens', 'triggers'])
    await attempt(name, async () => folder.write(await client.request<unknown[]>('GET', `/v2/storage/${name}`), `${name}.json`))
  const urlOf = (id: string) => services.find((service) => service.id === id)?.url
  for (const [id, file, read] of [
    ['notification', 'subscriptions.json', (url: string) => client.request('GET', `${url}/project-subscriptions`)],
    ['vault', 'variables.json', (url: string) => client.request('GET', `${url}/variables`)],
    ['stream', 'streams.json', (url: string) => readSources(client, `${url}/v1/branches/default/sources`)],
  ] as const) {
    const url = urlOf(id)
    if (url === undefined) report.notMoved.push({ what: id, reason: 'The stack does not publish this service.' })
    else await attempt(id, async () => folder.write(await read(url), file))
  }
}

/** The same client with every path of the storage in a branch. */
export const inBranch = (client: Client, branchId: number): Client => {
  const moved = (path: string) => path.replace(/^\/v2\/storage\/(?:branch\/default\/)?/, `/v2/storage/branch/${branchId}/`)
  return {
    ...client,
    send: (method, path, options) => client.send(method, moved(path), options),
    request: (method, path, options) => client.request(method, moved(path), options),
  }
}

interface Out {
  readonly client: Client
  readonly folder: ProjectFolder
  readonly report: Report
  readonly attempt: Attempt
  readonly files: boolean
  readonly say: (text: string) => void
}

/** What a branch has: the default one, or another, which is shorter in that it keeps no versions. */
async function exportBranch(out: Out, branch?: MovedBranch): Promise<void> {
  const { client, folder, attempt, files } = out
  const tell = (what: string) => (branch ? `branch ${branch.name}: ${what}` : what)
  await attempt(tell('metadata'), async () =>
    folder.write(await client.request<Metadata[]>('GET', '/v2/storage/branch/default/metadata'), 'metadata.json'),
  )
  await attempt(tell('buckets'), async () => {
    for (const bucket of await client.request<MovedBucket[]>('GET', '/v2/storage/buckets?include=metadata'))
      if (!branch || bucket.idBranch === branch.id) await attempt(tell(`bucket ${bucket.id}`), () => exportBucket(out, bucket))
  })
  await attempt(tell('configurations'), () => exportConfigurations(out, branch))
  if (files) await attempt(tell('files'), () => exportFiles(out))
}

/** The sources of records with their tables and when those are loaded. */
async function readSources(client: Client, url: string): Promise<MovedSource[]> {
  const all = async <T>(path: string, member: string, idOf: (item: T) => string): Promise<T[]> => {
    const found: T[] = []
    for (;;) {
      const last = found.at(-1)
      const query = { limit: PAGE, ...(last && { afterId: idOf(last) }) }
      const page = (await client.request<Record<string, T[]>>('GET', path, { query }))[member] ?? []
      found.push(...page)
      if (page.length < PAGE) return found
    }
  }
  const sources: MovedSource[] = []
  for (const source of await all<MovedSource>(url, 'sources', ({ sourceId }) => sourceId)) {
    const path = `${url}/${encodeURIComponent(source.sourceId)}`
    const { settings } = await client.request<{ settings: MovedSource['settings'] }>('GET', `${path}/settings`)
    const sinks = await all<MovedSource['sinks'][number]>(`${path}/sinks`, 'sinks', ({ sinkId }) => sinkId)
    sources.push({ ...source, settings, sinks })
  }
  return sources
}

async function exportBucket({ client, folder, report, say }: Out, bucket: MovedBucket): Promise<void> {
  if (bucket.isLinkedBucket) {
    const { sourceBucket } = await client.request<MovedBucket>('GET', `/v2/storage/buckets/${bucket.id}`)
    return folder.write({ ...bucket, sourceBucket, tables: [] }, 'buckets', `${bucket.id}.json`)
  }
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
  { client, folder, report, attempt, say }: Out,
  branch: MovedBranch | undefined,
): Promise<void> {
  const components = await client.request<{ id: string; configurations: { id: string }[] }[]>('GET', '/v2/storage/components')
  for (const { id: componentId, configurations } of components)
    for (const { id } of configurations)
      await attempt(`configuration ${id} of ${componentId}`, async () => {
        const isDone = (await folder.read('configurations', componentId, `${id}.json`)) !== undefined
        if (isDone) return
        say(`configuration ${id} of ${componentId}`)
        const whole = await exportConfiguration(client, componentId, id, branch === undefined)
        await folder.write(whole, 'configurations', componentId, `${id}.json`)
        count(report, 'configurations exported')
      })
}

async function exportConfiguration(
  client: Client,
  componentId: string,
  id: string,
  withVersions: boolean,
): Promise<MovedConfiguration> {
  const path = `/v2/storage/components/${encodeURIComponent(componentId)}/configs/${encodeURIComponent(id)}`
  const current = await client.request<MovedConfiguration>('GET', path)
  const asked = path.replace('/v2/storage/', '/v2/storage/branch/default/')
  const metadata = await client.request<Metadata[]>('GET', `${asked}/metadata`).catch(() => []) // an older stack has none
  const versions: MovedVersion[] = []
  for (let offset = 0; withVersions; offset += PAGE) {
    const page = await client.request<{ version: number }[]>('GET', `${path}/versions`, { query: { limit: PAGE, offset } })
    for (const { version } of page) {
      const found = await client.request<MovedVersion>('GET', `${path}/versions/${version}`).catch(() => undefined) // what it still has
      if (found) versions.unshift({ ...found, version })
    }
    if (page.length < PAGE) break
  }
  return { ...current, componentId, metadata, versions }
}

async function exportFiles({ client, folder, report, attempt, say }: Out): Promise<void> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.request<StackFile[]>('GET', '/v2/storage/files', { query: { limit: PAGE, offset } })
    // Those of exports were made on the way, of tables that are exported themselves.
    for (const { id, name, tags } of page)
      if (!tags.includes('table-export') && (await folder.read('files', `${id}.json`)) === undefined)
        await attempt(`file ${id} "${name}"`, async () => {
          say(`file ${id} ${name}`)
          await exportFile(client, folder, id)
          count(report, 'files exported')
        })
    if (page.length < PAGE) return
  }
}

/** The record last: a file that has one is complete. */
async function exportFile(client: Client, folder: ProjectFolder, id: number): Promise<void> {
  const file = await client.request<StackFile>('GET', `/v2/storage/files/${id}?federationToken=1`)
  const record: MovedFile = { id, name: file.name, tags: file.tags, isPermanent: file.maxAgeDays === null }
  const slices: string[] = []
  if (file.isSliced) {
    await mkdir(folder.pathOf('files', `${id}.slices`), { recursive: true })
    for await (const { isPacked, bytes } of slicesOf(file)) {
      const slice = `${String(slices.length).padStart(5, '0')}${isPacked ? '.gz' : ''}`
      await save(bytes, folder.pathOf('files', `${id}.slices`, slice))
      slices.push(slice)
    }
  } else {
    await mkdir(folder.pathOf('files'), { recursive: true })
    await save(bytesOf(file), folder.pathOf('files', String(id)))
  }
  await folder.write(file.isSliced ? { ...record, slices } : record, 'files', `${id}.json`)
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
