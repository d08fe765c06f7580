// The configurations of a project in folders: how each ran lately, when it runs next, who uses it; several changed at once.

import { type QueryClient, useInfiniteQuery, useMutation, useQueries, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import type { Job } from '../../../../client/src/operations.ts'
import { isRecord } from '../../document/json-text.ts'
import { inParts } from '../../facts/in-parts.ts'
import { NAME_QUERY } from '../../facts/name-batches.ts'
import { type Component, FLOW_COMPONENTS, SCHEDULER, useCatalogue } from '../../facts/names.ts'
import { useSchedulesOf } from '../../facts/schedules.ts'
import type { ConfigurationPlace } from '../../facts/use-configuration.ts'
import { plural, until } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { loadOptions, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { useSelection } from '../../parts/selection.ts'
import { LastRuns } from '../../parts/spark.tsx'
import { Status } from '../../parts/status.tsx'
import { Suggestions } from '../../parts/suggestions.tsx'
import { api, branchName } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import './components.css'

type Browsed = Answer<'configurations.browse'>[number]

export interface Entry {
  readonly key: string
  readonly place: ConfigurationPlace
  readonly name: string
  readonly component: Component
  readonly version: number
  readonly isDisabled: boolean
  readonly owner: string
  readonly folder: string
}

const keyOf = (componentId: string, configurationId: string): string => `${componentId} ${configurationId}`

export const ENTRIES_PAGE = 100
/** With what they run. */
const MAX_FLOWS = 1000

/** Configurations by folder, loaded a page at a time. */
export function useEntries(text: string, isDeleted = false) {
  const components = useCatalogue()
  const query = useInfiniteQuery({
    queryKey: ['configurations.browse', text, isDeleted],
    queryFn: ({ pageParam, signal }) =>
      api.call('configurations.browse', {
        query: { ...(text !== '' && { text }), isDeleted, exceptComponentId: SCHEDULER, limit: ENTRIES_PAGE, offset: pageParam },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < ENTRIES_PAGE ? undefined : pages.length * ENTRIES_PAGE),
    placeholderData: (before) => before,
  })
  const entries = (query.data?.pages ?? []).flat().map((one) => entryOf(one, components))
  return { query, entries }
}

function entryOf({ componentId, configurationId, creator, ...one }: Browsed, components: readonly Component[]): Entry {
  const known = components.find(({ id, aliases = [] }) => id === componentId || aliases.includes(componentId))
  const place = { componentId, configurationId }
  const component = known ?? { id: componentId, name: componentId, type: 'other', description: '', hasRun: false }
  return { ...one, key: keyOf(componentId, configurationId), place, component, owner: creator }
}

/** Where public clients keep the folder of a configuration. */
const FOLDER = 'KBC.configuration.folderName'

async function putIntoFolder(place: ConfigurationPlace, folder: string): Promise<void> {
  if (folder !== '') {
    await api.call('configurationMetadata.set', { path: place, body: { metadata: [{ key: FOLDER, value: folder }] } })
    return
  }
  const kept = (await api.call('configurationMetadata.list', { path: place })).find(({ key }) => key === FOLDER)
  if (kept) await api.call('configurationMetadata.delete', { path: { ...place, metadataId: String(kept.id) } })
}

/** Which flows have a task that runs a configuration. */
function useUsers(): ReadonlyMap<string, readonly { id: string; componentId: string; name: string }[]> {
  const flows = FLOW_COMPONENTS.map((componentId) => ({
    componentId,
    // biome-ignore lint/correctness/useHookAtTopLevel: the list is constant
    configurations: useLoad('configurations.list', { path: { componentId }, query: { limit: MAX_FLOWS } }).data ?? [],
  }))
  const users = new Map<string, { id: string; componentId: string; name: string }[]>()
  for (const { componentId, configurations } of flows)
    for (const { id, name, configuration } of configurations) {
      const tasks =
        isRecord(configuration) && Array.isArray(configuration.tasks) ? (configuration.tasks as readonly unknown[]) : []
      for (const task of tasks) {
        const runs = isRecord(task) ? task.task : undefined
        if (!isRecord(runs)) continue
        const key = keyOf(String(runs.componentId), String(runs.configId))
        const known = users.get(key) ?? []
        if (!known.some((user) => user.id === id)) users.set(key, [...known, { id, componentId, name }])
      }
    }
  return users
}

/** The newest ten of each configuration, oldest first; requested for those of one page at a time. */
function useRuns(entries: readonly Entry[]): ReadonlyMap<string, readonly Job[]> {
  const ids = entries.map(({ place }) => place.configurationId)
  const answers = useQueries({
    queries: inParts(ids).map((configId) =>
      loadOptions('queue.searchGrouped', { query: { branchId: branchName(), configId, jobsPerGroup: 10, limit: 500 } }, true),
    ),
  })
  const data = answers.flatMap((answer) => answer.data ?? [])
  return new Map(data.map(({ group, jobs }) => [keyOf(group.componentId ?? '', group.configId ?? ''), jobs.toReversed()]))
}

/** When each runs next by itself. */
function useNextRuns(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const schedules = useSchedulesOf(entries.map(({ place }) => place.configurationId))
  return new Map(
    schedules
      .filter(({ nextExecutionTime }) => nextExecutionTime !== null)
      .toSorted((a, b) => (b.nextExecutionTime ?? '').localeCompare(a.nextExecutionTime ?? ''))
      .map(({ target, nextExecutionTime }) => [keyOf(target.componentId, target.configurationId), nextExecutionTime ?? '']),
  )
}

/** After configurations were created, changed, deleted or restored here. */
export const refreshEntries = (queries: QueryClient): Promise<unknown> =>
  Promise.all(
    [NAME_QUERY, 'configurations.browse', 'configurations.totals'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
  )

type BulkAction = 'run' | 'enable' | 'disable' | 'delete'

function useBulk() {
  const queries = useQueryClient()
  const refresh = () => refreshEntries(queries)
  return useMutation({
    mutationFn: async ({ action, entries }: { action: BulkAction; entries: readonly Entry[] }) => {
      for (const { place } of entries) {
        if (action === 'run')
          await api.call('queue.create', { body: { component: place.componentId, config: place.configurationId, mode: 'run' } })
        else if (action === 'delete') await api.call('configurations.delete', { path: place })
        else
          await api.call('configurations.update', {
            path: place,
            body: { isDisabled: action === 'disable', changeDescription: action === 'disable' ? 'Disabled' : 'Enabled' },
          })
      }
    },
    onSuccess: async (_, { action, entries }) => {
      await refresh()
      const what = plural(entries.length, 'configuration')
      if (action !== 'delete') return toast(`${{ run: 'Started', enable: 'Enabled', disable: 'Disabled' }[action]} ${what}.`)
      toast(`Deleted ${what}.`, async () => {
        for (const { place } of entries) await api.call('configurations.restore', { path: place })
        await refresh()
      })
    },
  })
}

/** Prompts for the folder; an existing one is offered. */
function MoveToFolder({
  entries,
  folders,
  onDone,
}: {
  entries: readonly Entry[]
  folders: readonly string[]
  onDone: () => void
}) {
  const queries = useQueryClient()
  const [folder, setFolder] = useState('')
  const move = useMutation({
    mutationFn: async () => {
      for (const { place } of entries) await putIntoFolder(place, folder.trim())
    },
    onSuccess: async () => {
      await refreshEntries(queries)
      toast(
        `Moved ${plural(entries.length, 'configuration')} ${folder.trim() === '' ? 'out of folders' : `to ${folder.trim()}`}.`,
      )
      onDone()
    },
  })
  return (
    <form
      className="flex-row"
      onSubmit={(event) => {
        event.preventDefault()
        move.mutate()
      }}
    >
      <input
        className="input"
        aria-label="Folder"
        placeholder="Folder; empty for none"
        list="folders"
        value={folder}
        onChange={(event) => setFolder(event.target.value)}
      />
      <Suggestions id="folders" values={folders} />
      <ActButton needs="configurationMetadata.set" type="submit" className="button small" disabled={move.isPending}>
        Move
      </ActButton>
      {move.error ? <Problem error={move.error} /> : null}
    </form>
  )
}

export function ConfigurationList({ entries }: { entries: readonly Entry[] }) {
  const facts: Facts = { runs: useRuns(entries), next: useNextRuns(entries), users: useUsers() }
  const selection = useSelection(entries.map(({ key }) => key))
  const bulk = useBulk()
  const chosen = entries.filter(({ key }) => selection.has(key))
  const act = (action: BulkAction) => bulk.mutate({ action, entries: chosen }, { onSuccess: selection.clear })
  const names = [...new Set(entries.map(({ folder }) => folder))].toSorted(
    (a, b) => Number(a === '') - Number(b === '') || a.localeCompare(b),
  )
  if (entries.length === 0)
    return (
      <Teach>
        A configuration defines what a component does: which API it reads, where the rows go. Create one, run it, look at its
        tables.
      </Teach>
    )
  return (
    <>
      {chosen.length > 0 ? (
        <div className="toolbar">
          <span className="mute">{plural(chosen.length, 'configuration')}</span>
          <ActButton needs="queue.create" className="button small primary" disabled={bulk.isPending} onClick={() => act('run')}>
            <Icon name="play" size="small" />
            <span>Run</span>
          </ActButton>
          <ActButton
            needs="configurations.update"
            className="button small"
            disabled={bulk.isPending}
            onClick={() => act('enable')}
          >
            Enable
          </ActButton>
          <ActButton
            needs="configurations.update"
            className="button small"
            disabled={bulk.isPending}
            onClick={() => act('disable')}
          >
            Disable
          </ActButton>
          <ActButton
            needs="configurations.delete"
            className="button small ghost"
            disabled={bulk.isPending}
            onClick={() => act('delete')}
          >
            Delete
          </ActButton>
          <MoveToFolder entries={chosen} folders={names.filter((name) => name !== '')} onDone={selection.clear} />
        </div>
      ) : null}
      {bulk.error ? <Problem error={bulk.error} /> : null}
      <Scroll label="List of configurations">
        <table className="data-table">
          <thead>
            <tr>
              <th>
                <span className="visually-hidden">Select</span>
              </th>
              <th>Configuration</th>
              <th>Last runs</th>
              <th>Runs next</th>
              <th>Used by</th>
              <th>Created by</th>
              <th className="numeric">Version</th>
              <th>State</th>
            </tr>
          </thead>
          {names.map((folder) => (
            <tbody key={folder}>
              {names.length > 1 || folder !== '' ? (
                <tr className="folder">
                  <td colSpan={8}>
                    <b>{folder || 'Not in a folder'}</b>
                  </td>
                </tr>
              ) : null}
              {entries
                .filter((entry) => entry.folder === folder)
                .map((entry) => (
                  <ConfigurationRow
                    key={entry.key}
                    entry={entry}
                    facts={facts}
                    isSelected={selection.has(entry.key)}
                    onToggle={() => selection.toggle(entry.key)}
                  />
                ))}
            </tbody>
          ))}
        </table>
      </Scroll>
    </>
  )
}

interface Facts {
  readonly runs: ReadonlyMap<string, readonly Job[]>
  readonly next: ReadonlyMap<string, string>
  readonly users: ReadonlyMap<string, readonly { readonly id: string; readonly componentId: string; readonly name: string }[]>
}

function ConfigurationRow({
  entry,
  facts,
  isSelected,
  onToggle,
}: {
  entry: Entry
  facts: Facts
  isSelected: boolean
  onToggle: () => void
}) {
  const { place, component, name } = entry
  const next = facts.next.get(entry.key)
  const users = facts.users.get(entry.key) ?? []
  const runs = [component.id, ...(component.aliases ?? [])]
    .map((id) => facts.runs.get(keyOf(id, place.configurationId)))
    .find((jobs) => jobs !== undefined)
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} onChange={onToggle} />
      </td>
      <td>
        <Link className="medium" to="/components/$componentId/$configurationId" params={place}>
          {name}
        </Link>
        <div className="fine mute">
          {component.name} <span className="identifier">{place.configurationId}</span>
        </div>
      </td>
      <td>
        <LastRuns jobs={runs ?? []} />
      </td>
      <td className="nowrap">{next ? until(next) : <i className="null">by hand</i>}</td>
      <td>
        {users.length === 0 ? <i className="null">nothing</i> : null}
        {users.map(({ id, componentId, name: flow }, index) => (
          <span key={id}>
            {index > 0 ? ', ' : ''}
            <Link to="/flows/$componentId/$configurationId" params={{ componentId, configurationId: id }}>
              {flow}
            </Link>
          </span>
        ))}
      </td>
      <td className="clip">{entry.owner}</td>
      <td className="numeric">{entry.version}</td>
      <td>{entry.isDisabled ? <Status status="disabled" /> : null}</td>
    </tr>
  )
}
