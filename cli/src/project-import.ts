// A folder into a project, through the public API alone.
//  (1) what was finished is remembered in the folder and not done again; what was begun and broke off is taken away and begun anew;
//  (2) what the project has already, and this import did not make, is left alone and reported;
//  (3) nothing starts by itself: schedules are moved as configurations and not activated.

import type { Client, StorageJob } from './client.ts'
import { uploadFile } from './file-upload.ts'
import { UserError } from './output.ts'
import { messageOf } from './project-export.ts'
import {
  count,
  type Metadata,
  type MovedBucket,
  type MovedConfiguration,
  type MovedRow,
  type MovedTable,
  type MovedVersion,
  type ProjectFolder,
  type Report,
} from './project-folder.ts'
import { exists } from './table.ts'

type Progress = Record<string, 'begun' | 'done'>

interface Target {
  readonly client: Client
  readonly folder: ProjectFolder
  readonly report: Report
  readonly say: (text: string) => void
  /** Runs the work once: skipped when done, reported when it fails; `undo` takes away what an earlier try left. */
  once(
    what: string,
    work: () => Promise<void>,
    undo?: { isThere: () => Promise<boolean>; remove: () => Promise<unknown> },
  ): Promise<void>
}

export async function importProject(
  client: Client,
  folder: ProjectFolder,
  report: Report,
  say: (text: string) => void,
): Promise<void> {
  if (!(await folder.read('project.json')))
    throw new UserError(`${folder.root} is not the folder of a project: it has no project.json.`)
  const { owner } = await client.request<{ owner: { id: number } }>('GET', '/v2/storage/tokens/verify')
  const record = `import-${new URL(client.url).host}-${owner.id}.json`
  const progress: Progress = (await folder.read<Progress>(record)) ?? {}
  const mark = async (what: string, state: Progress[string]) => {
    progress[what] = state
    await folder.write(progress, record)
  }
  const target: Target = {
    client,
    folder,
    report,
    say,
    async once(what, work, undo) {
      if (progress[what] === 'done') return
      say(what)
      try {
        if (undo && (await undo.isThere())) {
          if (progress[what] !== 'begun') throw new Error('The project has one already; it was left as it is.')
          await undo.remove()
        }
        await mark(what, 'begun')
        await work()
        await mark(what, 'done')
      } catch (error) {
        report.notMoved.push({ what, reason: messageOf(error) })
      }
    },
  }
  const buckets: MovedBucket[] = []
  for (const name of await folder.list('buckets')) {
    const bucket = await folder.read<MovedBucket>('buckets', decodeURIComponent(name))
    if (bucket) buckets.push(bucket)
  }
  for (const bucket of buckets) await importBucket(target, bucket)
  const tables = buckets.flatMap((bucket) => bucket.tables.map((table) => ({ bucket, table })))
  for (const { bucket, table } of tables) if (!table.isAlias) await importTable(target, bucket, table)
  for (const { bucket, table } of tables) if (table.isAlias) await importAlias(target, bucket, table)
  for (const component of await folder.list('configurations'))
    for (const name of await folder.list('configurations', decodeURIComponent(component))) {
      const moved = await folder.read<MovedConfiguration>(
        'configurations',
        decodeURIComponent(component),
        decodeURIComponent(name),
      )
      if (moved) await importConfiguration(target, moved)
    }
  await importFiles(target)
  await importServices(target)
}

async function importBucket({ client, report, once }: Target, bucket: MovedBucket): Promise<void> {
  const { id, stage, name, displayName, description, metadata } = bucket
  await once(`bucket ${id}`, async () => {
    // A bucket that is there is the place where the tables go; what is in it stays.
    if (!(await exists(client, `/v2/storage/buckets/${id}`)))
      await client.request('POST', '/v2/storage/buckets', {
        json: { stage, name: name.replace(/^c-/, ''), displayName, ...(description && { description }) },
      })
    await setMetadata(client, `/v2/storage/buckets/${id}`, metadata)
    count(report, 'buckets')
  })
}

const tablePath = (id: string): string => `/v2/storage/tables/${id}`

async function importTable({ client, folder, report, once }: Target, bucket: MovedBucket, table: MovedTable): Promise<void> {
  const { id, name, primaryKey, columns, isTyped, definition } = table
  const run = async (path: string, json: object) => client.waitForJob(await client.request<StorageJob>('POST', path, { json }))
  await once(
    `table ${id}`,
    async () => {
      const file = await uploadFile(client, folder.pathOf('tables', `${id}.csv.gz`), SILENT)
      // Made empty first: a row that looks like a header is a row all the same.
      const create = (wanted: readonly object[]) =>
        run(`/v2/storage/buckets/${bucket.id}/tables-definition`, { name, primaryKeysNames: primaryKey, columns: wanted })
      const typed = definition?.columns ?? []
      if (!isTyped) await create(columns.map((column) => ({ name: column })))
      else await create(typed.map(asItWas)).catch(() => create(typed.map(byBaseType)))
      await run(`${tablePath(id)}/import-async`, { dataFileId: file.id, columns, withoutHeaders: 1 })
      await client.request('DELETE', `/v2/storage/files/${file.id}`)
      await describeTable(client, table)
      count(report, 'tables')
      count(report, 'rows', table.rowsCount ?? 0)
    },
    {
      isThere: () => exists(client, tablePath(id)),
      remove: () => client.request('DELETE', tablePath(id), { query: { force: 1 } }),
    },
  )
}

type TypedColumn = NonNullable<MovedTable['definition']>['columns'][number]

const asItWas = ({ name, definition }: TypedColumn) => ({ name, definition })
/** Types of another backend may not exist here: the base type always does. */
const byBaseType = ({ name, definition, basetype }: TypedColumn) => ({ name, definition: { ...definition, type: basetype } })

async function importAlias({ client, report, once }: Target, bucket: MovedBucket, table: MovedTable): Promise<void> {
  const { id, name, sourceTable, aliasFilter, aliasColumnsAutoSync, columns } = table
  await once(
    `alias ${id}`,
    async () => {
      await client.request('POST', `/v2/storage/buckets/${bucket.id}/table-aliases`, {
        json: {
          name,
          sourceTable: sourceTable?.id,
          ...(aliasFilter && Object.keys(aliasFilter).length > 0 && { aliasFilter }),
          ...(aliasColumnsAutoSync === false && { aliasColumns: columns }),
        },
      })
      await describeTable(client, table)
      count(report, 'aliases')
    },
    { isThere: () => exists(client, tablePath(id)), remove: () => client.request('DELETE', tablePath(id)) },
  )
}

async function describeTable(client: Client, { id, name, displayName, metadata, columnMetadata }: MovedTable): Promise<void> {
  if (displayName !== name) await client.request('PUT', tablePath(id), { json: { displayName } })
  await setMetadata(client, tablePath(id), metadata)
  for (const [column, items] of Object.entries(columnMetadata))
    await setMetadata(client, `/v2/storage/columns/${id}.${column}`, items as readonly Metadata[]) // an empty list has no entries
}

/** What the platform says itself has the provider `storage`, which nobody else may write. */
async function setMetadata(client: Client, path: string, items: readonly Metadata[]): Promise<void> {
  for (const [provider, list] of Map.groupBy(items, (item) => item.provider))
    if (provider !== 'storage')
      await client.request('POST', `${path}/metadata`, {
        json: { provider, metadata: list.map(({ key, value }) => ({ key, value })) },
      })
}

async function importConfiguration({ client, report, once }: Target, moved: MovedConfiguration): Promise<void> {
  const { componentId, id } = moved
  const configs = `/v2/storage/components/${encodeURIComponent(componentId)}/configs`
  const path = `${configs}/${encodeURIComponent(id)}`
  await once(
    `configuration ${id} of ${componentId}`,
    async () => {
      const steps = [...moved.versions.filter(({ version }) => version !== moved.version), moved]
      let before: MovedVersion | undefined
      for (const step of steps) {
        await takeStep(client, { configs, path, configurationId: id }, before, step)
        before = step
      }
      await client.request('PUT', `${path}/state`, { json: { state: moved.state ?? {} } })
      for (const row of moved.rows)
        if (row.state !== undefined)
          await client.request('PUT', `${path}/rows/${encodeURIComponent(row.id)}/state`, { json: { state: row.state } })
      const sorted = moved.rowsSortOrder ?? []
      if (sorted.length > 0) await client.request('PUT', path, { json: { rowsSortOrder: sorted } })
      if (moved.metadata.length > 0)
        await client.request('POST', `${path.replace('/v2/storage/', '/v2/storage/branch/default/')}/metadata`, {
          json: { metadata: moved.metadata.map(({ key, value }) => ({ key, value })) },
        })
      count(report, 'configurations')
      count(report, 'versions of configurations', steps.length)
    },
    {
      isThere: () => exists(client, path),
      async remove() {
        await client.request('DELETE', path) // to the trash
        await client.request('DELETE', path) // and for good
      },
    },
  )
  noteSecrets(report, client, moved)
  if (SCHEDULERS.has(componentId))
    report.notMoved.push({
      what: `schedule ${id}`,
      reason: 'It was moved as a configuration and is not active: activate it when the project is ready.',
    })
}

const SCHEDULERS: ReadonlySet<string> = new Set(['keboola.scheduler', 'platform.scheduler'])

/** One version after the other: what differs from the version before is sent, with the description it had. */
async function takeStep(
  client: Client,
  { configs, path, configurationId }: { readonly configs: string; readonly path: string; readonly configurationId: string },
  before: MovedVersion | undefined,
  step: MovedVersion,
): Promise<void> {
  const { changeDescription, name, description, isDisabled, configuration } = step
  const root = { name, description, isDisabled, configuration }
  if (!before) await client.request('POST', configs, { json: { configurationId, ...root, changeDescription } })
  else if (differs(root, before)) await client.request('PUT', path, { json: { ...root, changeDescription } })
  const earlier = new Map(before?.rows.map((row) => [row.id, row]))
  for (const row of step.rows) {
    const old = earlier.get(row.id)
    earlier.delete(row.id)
    const content = { name: row.name, description: row.description, isDisabled: row.isDisabled, configuration: row.configuration }
    const rowPath = `${path}/rows/${encodeURIComponent(row.id)}`
    if (!old) await client.request('POST', `${path}/rows`, { json: { rowId: row.id, ...content, changeDescription } })
    else if (differs(content, old)) await client.request('PUT', rowPath, { json: { ...content, changeDescription } })
  }
  for (const rowId of earlier.keys())
    await client.request('DELETE', `${path}/rows/${encodeURIComponent(rowId)}`, { json: { changeDescription } })
}

const differs = (wanted: Omit<MovedRow, 'id'>, there: Omit<MovedRow, 'id'>): boolean =>
  (['name', 'description', 'isDisabled', 'configuration'] as const).some(
    (member) => JSON.stringify(wanted[member]) !== JSON.stringify(there[member]),
  )

/** Ciphers are kept as they are: a run that meets one ends with a sentence, until the secret is entered again. */
function noteSecrets({ secrets }: Report, { url }: Client, { componentId, id, configuration, rows }: MovedConfiguration): void {
  const link = `${url}/console/components/${encodeURIComponent(componentId)}/${encodeURIComponent(id)}`
  const look = (place: string, value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      const isSecret = name.startsWith('#') && typeof inner === 'string' && inner.startsWith('KBC::')
      if (isSecret) secrets.push({ place, path: [...path, name].join('.'), link })
      else look(place, inner, [...path, name])
    }
  }
  look(`configuration ${id} of ${componentId}`, configuration, [])
  for (const row of rows) look(`row ${row.id} of configuration ${id} of ${componentId}`, row.configuration, [])
}

async function importFiles({ client, folder, report, once }: Target): Promise<void> {
  for (const entry of await folder.list('files')) {
    if (!entry.endsWith('.json')) continue
    const file = await folder.read<{ id: number; name: string; tags: string[]; isPermanent: boolean }>('files', entry)
    if (!file) continue
    const { id, name, tags, isPermanent } = file
    await once(`file ${id} "${name}"`, async () => {
      await uploadFile(client, folder.pathOf('files', String(id)), { ...SILENT, name, tags, isPermanent })
      count(report, 'files')
    })
  }
}

interface Subscription {
  readonly id: string
  readonly event: string
  readonly filters: unknown
  readonly recipient: object
}

interface Variable {
  readonly key: string
  readonly value: string
  readonly flags: readonly string[]
  readonly attributes?: object
}

async function importServices({ client, folder, report, once }: Target): Promise<void> {
  const { services } = await client.request<{ services: { id: string; url: string }[] }>('GET', '/v2/storage?exclude=components')
  const urlOf = (id: string) => services.find((service) => service.id === id)?.url ?? `${client.url}/${id}`
  for (const { id, event, filters, recipient } of (await folder.read<Subscription[]>('subscriptions.json')) ?? [])
    await once(`subscription ${id} to ${event}`, async () => {
      await client.request('POST', `${urlOf('notification')}/project-subscriptions`, { json: { event, filters, recipient } })
      count(report, 'subscriptions')
    })
  for (const { key, value, flags, attributes } of (await folder.read<Variable[]>('variables.json')) ?? [])
    if (flags.includes('encrypted')) report.secrets.push({ place: 'vault', path: key, link: `${client.url}/console` })
    else
      await once(`variable ${key} ${JSON.stringify(attributes ?? {})}`, async () => {
        await client.request('POST', `${urlOf('vault')}/variables`, {
          json: { key, value, flags, ...(attributes && { attributes }) },
        })
        count(report, 'variables')
      })
}

const SILENT = { onProgress: () => {}, onResume: () => {} }
