// Configurations of a folder into a project, or into a branch of it. Nothing starts by itself: schedules are not activated.

import { count, type MovedConfiguration, type MovedRow, type MovedVersion, type Report } from '../configuration/project-folder.ts'
import { exists } from '../storage/table.ts'
import type { Target } from './import-target.ts'
import { rewriteLoginPaths } from './login-paths.ts'

export async function importConfigurations(target: Target): Promise<void> {
  const moved = await readConfigurations(target)
  for (const one of moved) await (target.branchId === undefined ? importConfiguration : importIntoBranch)(target, one)
  if (target.branchId !== undefined) await removeOthers(target, moved)
}

async function readConfigurations({ folder }: Target): Promise<readonly MovedConfiguration[]> {
  const found: MovedConfiguration[] = []
  for (const component of await folder.list('configurations'))
    for (const name of await folder.list('configurations', decodeURIComponent(component))) {
      const place = ['configurations', decodeURIComponent(component), decodeURIComponent(name)]
      const moved = await folder.read<MovedConfiguration>(...place)
      if (moved) found.push(moved)
    }
  return found
}

const configsOf = (componentId: string): string => `/v2/storage/components/${encodeURIComponent(componentId)}/configs`

/** With its versions, one after the other. */
async function importConfiguration({ client, report, once }: Target, from: MovedConfiguration): Promise<void> {
  const rewritten: Report['rewritten'] = []
  const moved = rewriteLoginPaths(from, (one) => rewritten.push(one))
  const { componentId, id } = moved
  const configs = configsOf(componentId)
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
      report.rewritten.push(...rewritten)
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

/** A branch begins with copies of the default branch: what differs from the copy is sent, in one step. */
async function importIntoBranch({ client, report, once }: Target, from: MovedConfiguration): Promise<void> {
  const moved = rewriteLoginPaths(from, (one) => report.rewritten.push(one))
  const { componentId, id } = moved
  const configs = configsOf(componentId)
  const path = `${configs}/${encodeURIComponent(id)}`
  await once(`configuration ${id} of ${componentId}`, async () => {
    const copy = (await exists(client, path)) ? await client.request<MovedVersion>('GET', path) : undefined
    await takeStep(client, { configs, path, configurationId: id }, copy, moved)
    count(report, 'configurations of branches')
  })
}

/** What the branch has deleted is deleted. */
async function removeOthers({ client, once }: Target, moved: readonly MovedConfiguration[]): Promise<void> {
  const kept = new Set(moved.map(({ componentId, id }) => `${componentId}/${id}`))
  const there = await client.request<{ id: string; configurations: { id: string }[] }[]>('GET', '/v2/storage/components')
  for (const { id: componentId, configurations } of there)
    for (const { id } of configurations)
      if (!kept.has(`${componentId}/${id}`))
        await once(`deleted configuration ${id} of ${componentId}`, async () => {
          await client.request('DELETE', `${configsOf(componentId)}/${encodeURIComponent(id)}`)
        })
}

const SCHEDULERS: ReadonlySet<string> = new Set(['keboola.scheduler', 'platform.scheduler'])

/** One version after the other: what differs from the version before is sent, with the description it had. */
async function takeStep(
  client: Target['client'],
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
function noteSecrets(
  { secrets }: Report,
  { url }: Target['client'],
  { componentId, id, configuration, rows }: MovedConfiguration,
): void {
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
