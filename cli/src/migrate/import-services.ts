// What a project has beside its data and its configurations: subscriptions, variables, tokens, triggers, sources of records.

import { count, type MovedSource, type MovedToken, type MovedTrigger, type NewToken } from '../configuration/project-folder.ts'
import { exists } from '../storage/table.ts'
import type { Target } from './import-target.ts'

interface Subscription {
  readonly id: string
  readonly event: string
  readonly filters?: readonly { readonly field: string; readonly value: unknown }[]
  readonly recipient: object
}

interface Variable {
  readonly key: string
  readonly value: string
  readonly flags: readonly string[]
  readonly attributes?: object
}

export async function importServices(target: Target): Promise<void> {
  const { client, folder, report, once } = target
  const { services } = await client.request<{ services: { id: string; url: string }[] }>('GET', '/v2/storage?exclude=components')
  const urlOf = (id: string) => services.find((service) => service.id === id)?.url ?? `${client.url}/${id}`
  const filtersOf = await filtersForTarget(target)
  for (const { id, event, filters, recipient } of (await folder.read<Subscription[]>('subscriptions.json')) ?? [])
    await once(`subscription ${id} to ${event}`, async () => {
      await client.request('POST', `${urlOf('notification')}/project-subscriptions`, {
        json: { event, filters: filtersOf(filters), recipient },
      })
      count(report, 'subscriptions')
    })
  for (const { key, value, flags, attributes } of (await folder.read<Variable[]>('variables.json')) ?? [])
    if (flags.includes('encrypted'))
      report.secrets.push({ place: 'vault', path: key, link: `${client.url}/console/vault?set=${encodeURIComponent(key)}` })
    else
      await once(`variable ${key} ${JSON.stringify(attributes ?? {})}`, async () => {
        await client.request('POST', `${urlOf('vault')}/variables`, {
          json: { key, value, flags, ...(attributes && { attributes }) },
        })
        count(report, 'variables')
      })
  await importTokens(target)
  await importTriggers(target)
  await importSources(target, `${urlOf('stream')}/v1/branches/default/sources`)
}

/** A subscription names the default branch by its id, which is another one in the target. */
async function filtersForTarget({ client, folder }: Target) {
  const { defaultBranch } = (await folder.read<{ defaultBranch?: number }>('project.json')) ?? {}
  const { id } = await client.request<{ id: number }>('GET', '/v2/storage/dev-branches/default')
  const isDefault = (field: string, value: unknown): boolean =>
    field === 'branch.id' && defaultBranch !== undefined && String(value) === String(defaultBranch)
  return (filters: Subscription['filters']) =>
    filters?.map((filter) => (isDefault(filter.field, filter.value) ? { ...filter, value: String(id) } : filter))
}

/** Values of tokens are never given again: new ones are made, and noted in the folder before anything else is done. */
async function importTokens({ client, folder, report, label, once }: Target): Promise<void> {
  const made: NewToken[] = (await folder.read<NewToken[]>(`tokens-${label}`)) ?? []
  const there = await client.request<MovedToken[]>('GET', '/v2/storage/tokens')
  for (const token of (await folder.read<MovedToken[]>('tokens.json')) ?? []) {
    const { id, description, isMasterToken, expires } = token
    const isOfPlatform = description.startsWith('[_internal]') // made by a service for itself
    if (isMasterToken || isOfPlatform || (expires !== null && Date.parse(expires) <= Date.now())) continue
    const earlier = there.find((one) => !one.isMasterToken && one.description === description)
    await once(
      `token ${id} "${description}"`,
      async () => {
        const created = await client.request<{ id: string; token: string }>('POST', '/v2/storage/tokens', {
          json: scopeOf(token),
        })
        made.push({ was: id, id: created.id, description, token: created.token })
        await folder.write(made, `tokens-${label}`)
        count(report, 'tokens')
      },
      {
        isThere: async () => earlier !== undefined,
        remove: () => client.request('DELETE', `/v2/storage/tokens/${earlier?.id}`),
      },
    )
  }
  report.tokens.push(...made)
}

function scopeOf({ description, expires, componentAccess, bucketPermissions, ...may }: MovedToken): object {
  const { canManageBuckets, canReadAllFileUploads, canPurgeTrash } = may
  return {
    description,
    canManageBuckets: canManageBuckets ?? false,
    canReadAllFileUploads: canReadAllFileUploads ?? false,
    canPurgeTrash: canPurgeTrash ?? false,
    ...(componentAccess && componentAccess.length > 0 && { componentAccess }),
    // A token that manages buckets may use all of them, and the list is then redundant.
    ...(!canManageBuckets && bucketPermissions && Object.keys(bucketPermissions).length > 0 && { bucketPermissions }),
    ...(expires !== null && { expiresIn: Math.ceil((Date.parse(expires) - Date.now()) / 1000) }),
  }
}

/** They run with the token that took the place of theirs; those of master tokens with the one that imports. */
async function importTriggers({ client, folder, report, once }: Target): Promise<void> {
  const { id: own } = await client.request<{ id: string }>('GET', '/v2/storage/tokens/verify')
  const sameAs = (one: MovedTrigger) => (other: MovedTrigger) =>
    other.component === one.component && other.configurationId === one.configurationId && tablesOf(other) === tablesOf(one)
  for (const trigger of (await folder.read<MovedTrigger[]>('triggers.json')) ?? []) {
    const { id, component, configurationId, coolDownPeriodMinutes, runWithTokenId, tables } = trigger
    const there = await client.request<MovedTrigger[]>('GET', '/v2/storage/triggers', { query: { component, configurationId } })
    const earlier = there.find(sameAs(trigger))
    await once(
      `trigger ${id} of configuration ${configurationId} of ${component}`,
      async () => {
        const token = report.tokens.find(({ was }) => was === String(runWithTokenId))
        await client.request('POST', '/v2/storage/triggers', {
          json: {
            component,
            configurationId,
            coolDownPeriodMinutes,
            runWithTokenId: Number(token?.id ?? own),
            tableIds: tables.map(({ tableId }) => tableId),
          },
        })
        count(report, 'triggers')
      },
      {
        isThere: async () => earlier !== undefined,
        remove: () => client.request('DELETE', `/v2/storage/triggers/${earlier?.id}`),
      },
    )
  }
}

const tablesOf = ({ tables }: MovedTrigger): string =>
  tables
    .map(({ tableId }) => tableId)
    .sort()
    .join()

/** Sources have new addresses, which their senders have to be given. */
async function importSources({ client, folder, report, once, isDone }: Target, url: string): Promise<void> {
  for (const source of (await folder.read<MovedSource[]>('streams.json')) ?? []) {
    const { sourceId, type, name, description, disabled, settings, sinks } = source
    const path = `${url}/${encodeURIComponent(sourceId)}`
    const what = `stream ${sourceId}`
    await once(
      what,
      async () => {
        await client.request('POST', url, { json: { sourceId, type, name, ...(description && { description }) } })
        const limits = settings.filter(({ key }) => key.startsWith(LOAD_SETTINGS)).map(({ key, value }) => ({ key, value }))
        if (limits.length > 0) await client.request('PATCH', `${path}/settings`, { json: { settings: limits } })
        for (const { sinkId, name: sinkName, description: about, table } of sinks) {
          const { tableId, mapping } = table
          const json = { sinkId, name: sinkName, ...(about && { description: about }), table: { tableId, mapping } }
          await client.request('POST', `${path}/sinks`, { json })
        }
        if (disabled) await client.request('PUT', `${path}/disable`)
        count(report, 'streams')
      },
      { isThere: () => exists(client, path), remove: () => client.request('DELETE', path) },
    )
    if (!isDone(what)) continue
    const made = await client.request<{ http?: { url: string }; otlp?: { url: string } }>('GET', path)
    report.addresses.push({ source: sourceId, address: made.http?.url ?? made.otlp?.url ?? '' })
  }
}

/** When records are loaded; other settings are those of another service. */
const LOAD_SETTINGS = 'storage.level.target.import.trigger.'
