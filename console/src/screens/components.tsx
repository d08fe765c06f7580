// Configurations of components: how each ran lately, run, enable, delete several at once, and bring back what was deleted.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Job } from '../../../client/src/operations.ts'
import { plural } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Status, wordOf } from '../parts/status.tsx'
import { api } from '../session.ts'
import { Page } from '../shell/page.tsx'
import { toast } from '../shell/toast.tsx'
import { type Component, useComponents } from './names.ts'
import { NewConfiguration } from './new-configuration.tsx'
import type { ConfigurationPlace } from './use-configuration.ts'

const route = getRouteApi('/components')

interface Entry {
  readonly key: string
  readonly place: ConfigurationPlace
  readonly name: string
  readonly component: Component
  readonly version: number
  readonly isDisabled: boolean
}

const entriesOf = (components: readonly Component[], filter: string): readonly Entry[] =>
  components.flatMap((component) =>
    (component.configurations ?? [])
      .filter((one) => `${one.name} ${component.name} ${one.id}`.toLowerCase().includes(filter.toLowerCase()))
      .map((one) => ({
        key: `${component.id} ${one.id}`,
        place: { componentId: component.id, configurationId: one.id },
        name: one.name,
        component,
        version: one.version,
        isDisabled: one.isDisabled ?? false,
      })),
  )

export function ComponentsScreen() {
  const { q = '', trash } = route.useSearch()
  const navigate = useNavigate()
  const query = useComponents()
  const all = query.data ?? []
  const configured = all.flatMap(({ configurations = [] }) => configurations).length
  const change = (search: { q?: string; trash?: string }) =>
    void navigate({ to: '/components', search: { q, ...(trash ? { trash } : {}), ...search }, replace: true })
  return (
    <Page
      title="Components"
      crumbs={[{ name: 'Components' }]}
      say={
        query.data
          ? configured === 0
            ? 'Nothing is configured yet.'
            : `${plural(configured, 'configuration')} of ${plural(all.filter((one) => one.configurations?.length).length, 'component')}.`
          : 'Components'
      }
      actions={<NewConfiguration />}
    >
      <section className="card" aria-label="Configurations">
        <div className="toolbar">
          <FilterField label="Filter by name" value={q} onChange={(text) => change({ q: text })} />
          <button
            type="button"
            className={trash ? 'chip on' : 'chip'}
            aria-pressed={trash !== undefined}
            onClick={() => change({ trash: trash ? '' : 'yes' })}
          >
            Deleted
          </button>
        </div>
        {trash ? (
          <Trash filter={q} />
        ) : (
          <Loaded query={query as never} skeleton={<Lines count={8} />}>
            {() => <List entries={entriesOf(all, q)} />}
          </Loaded>
        )}
      </section>
    </Page>
  )
}

type BulkAction = 'run' | 'enable' | 'disable' | 'delete'

function useBulk() {
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: ['components.list'] })
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

function List({ entries }: { entries: readonly Entry[] }) {
  const jobs = useLoad('queue.search', { query: { limit: 200 } }).data ?? []
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const bulk = useBulk()
  const chosen = entries.filter(({ key }) => selected.has(key))
  const toggle = (key: string) =>
    setSelected((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  const act = (action: BulkAction) => bulk.mutate({ action, entries: chosen }, { onSuccess: () => setSelected(new Set()) })
  if (entries.length === 0)
    return (
      <div className="empty">
        <p className="md soft">
          A configuration tells a component what to do: which API to read, where the rows go. Make one, run it, look at its
          tables.
        </p>
      </div>
    )
  return (
    <>
      {chosen.length > 0 ? (
        <div className="toolbar">
          <span className="mute">{plural(chosen.length, 'configuration')}</span>
          <button type="button" className="btn sm pri" disabled={bulk.isPending} onClick={() => act('run')}>
            <Icon name="play" size="sm" />
            <span>Run</span>
          </button>
          <button type="button" className="btn sm" disabled={bulk.isPending} onClick={() => act('enable')}>
            Enable
          </button>
          <button type="button" className="btn sm" disabled={bulk.isPending} onClick={() => act('disable')}>
            Disable
          </button>
          <button type="button" className="btn sm ghost" disabled={bulk.isPending} onClick={() => act('delete')}>
            Delete
          </button>
        </div>
      ) : null}
      {bulk.error ? <Problem error={bulk.error} /> : null}
      <Scroll label="Configurations">
        <table className="t">
          <thead>
            <tr>
              <th>
                <span className="vh">Select</span>
              </th>
              <th>Configuration</th>
              <th>Component</th>
              <th>Last runs</th>
              <th className="num">Version</th>
              <th>State</th>
              <th>Id</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr key={entry.key}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Select ${entry.name}`}
                    checked={selected.has(entry.key)}
                    onChange={() => toggle(entry.key)}
                  />
                </td>
                <td>
                  <Link className="med" to="/components/$componentId/$configurationId" params={entry.place}>
                    {entry.name}
                  </Link>
                </td>
                <td>{entry.component.name}</td>
                <td>
                  <LastRuns jobs={runsOf(jobs, entry)} />
                </td>
                <td className="num">{entry.version}</td>
                <td>{entry.isDisabled ? <Status status="disabled" /> : null}</td>
                <td className="id">{entry.place.configurationId}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}

const SHOWN_RUNS = 10

/** The newest ten, oldest first. */
const runsOf = (jobs: readonly Job[], { place, component }: Entry): readonly Job[] =>
  jobs
    .filter(
      (job) =>
        job.config === place.configurationId && (job.component === component.id || component.aliases?.includes(job.component)),
    )
    .slice(0, SHOWN_RUNS)
    .toReversed()

const MARKS: Readonly<Record<string, string>> = { error: 'e', warning: 'w', processing: 'r', success: '' }

const LastRuns = ({ jobs }: { jobs: readonly Job[] }) =>
  jobs.length === 0 ? (
    <i className="null">never</i>
  ) : (
    <span
      className="spark"
      role="img"
      aria-label={`Last runs, oldest first: ${jobs.map(({ status }) => wordOf(status)).join(', ')}`}
    >
      {jobs.map(({ id, status }) => (
        <i key={id} className={MARKS[status] ?? 's'} style={{ height: status === 'error' ? '18px' : '12px' }} />
      ))}
    </span>
  )

function Trash({ filter }: { filter: string }) {
  const queries = useQueryClient()
  const query = useLoad('components.list', { query: { include: 'configuration', isDeleted: true } })
  const entries = entriesOf((query.data ?? []) as unknown as readonly Component[], filter)
  const restore = useMutation({
    mutationFn: ({ place }: Entry) => api.call('configurations.restore', { path: place }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['components.list'] })
      toast('It is back, with its rows and versions.')
    },
  })
  return (
    <Loaded query={query as never} skeleton={<Lines />}>
      {() =>
        entries.length === 0 ? (
          <p className="in mute">Nothing was deleted.</p>
        ) : (
          <>
            {restore.error ? <Problem error={restore.error} /> : null}
            <ul className="list">
              {entries.map((entry) => (
                <li key={entry.key}>
                  <span className="med">{entry.name}</span>
                  <span className="mute">{entry.component.name}</span>
                  <span className="id">{entry.place.configurationId}</span>
                  <button
                    type="button"
                    className="btn sm push"
                    disabled={restore.isPending}
                    onClick={() => restore.mutate(entry)}
                  >
                    Bring back
                  </button>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  )
}
