// Components: what is configured in folders, the catalogue of everything that can be, and what was deleted.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { FLOW_COMPONENTS, SCHEDULER, useCatalogue } from '../../facts/names.ts'
import { count, plural } from '../../format.ts'
import { ShowMore } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { PageLink } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSelection } from '../../parts/selection.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { ConfigurationList, ENTRIES_PAGE, type Entry, refreshEntries, useEntries } from './configuration-list.tsx'
import { Connectors } from './connectors.tsx'
import { NewConfiguration, NewConfigurationDialog } from './new-configuration.tsx'
import './components.css'

const route = getRouteApi('/components')

const VIEWS = [
  { id: '', name: 'Configured' },
  { id: 'catalogue', name: 'Catalogue' },
  { id: 'deleted', name: 'Deleted' },
] as const

export function ComponentsScreen() {
  const { q = '', view = '' } = route.useSearch()
  const navigate = useNavigate()
  const counted = useLoad('configurations.totals').data
  const counts = (counted ?? []).filter(({ componentId }) => componentId !== SCHEDULER)
  const change = (search: { q?: string; view?: string }) =>
    void navigate({ to: '/components', search: { q, view, ...search }, replace: true })
  return (
    <Page
      title="Components"
      crumbs={[{ name: 'Components' }]}
      say={counted ? sentenceOf(counts) : 'Components'}
      actions={<NewConfiguration />}
    >
      <section className="card" aria-label="Configurations">
        <div className="toolbar">
          <FilterField label="Filter by name" value={q} onChange={(text) => change({ q: text })} />
          {VIEWS.map(({ id, name }) => (
            <button
              key={name}
              type="button"
              className={id === view ? 'chip picked' : 'chip'}
              aria-pressed={id === view}
              onClick={() => change({ view: id })}
            >
              {name}
            </button>
          ))}
        </div>
        {view === 'deleted' ? (
          <Trash filter={q} />
        ) : view === 'catalogue' ? (
          <Catalogue filter={q} counts={counts}>
            <Connectors filter={q} />
          </Catalogue>
        ) : (
          <Configured filter={q} />
        )}
      </section>
    </Page>
  )
}

function Configured({ filter }: { filter: string }) {
  const { query, entries } = useEntries(filter.trim())
  return (
    <Loaded query={query} skeleton={<Lines count={8} />}>
      {() => (
        <>
          {entries.length === 0 && filter.trim() !== '' ? (
            <p className="inset mute">No matching configurations.</p>
          ) : (
            <ConfigurationList entries={entries} />
          )}
          <ShowMore query={query} size={ENTRIES_PAGE} />
        </>
      )}
    </Loaded>
  )
}

type Counts = Answer<'configurations.totals'>

function sentenceOf(counts: Counts): string {
  const configurations = counts.reduce((sum, one) => sum + one.configurations, 0)
  if (configurations === 0) return 'Nothing is configured yet.'
  const disabled = counts.reduce((sum, one) => sum + one.disabled, 0)
  return `${plural(configurations, 'configuration')} of ${plural(counts.length, 'component')}${disabled > 0 ? `, ${count(disabled)} disabled` : ''}.`
}

const TYPES: Readonly<Record<string, string>> = {
  extractor: 'Reads data in',
  writer: 'Delivers data',
  transformation: 'Changes data',
  application: 'Works with data',
  other: 'Serves other components',
  processor: 'Changes files before or after a run',
  'data-app': 'Serves pages over your data',
}

interface CatalogueProps {
  readonly filter: string
  readonly counts: Counts
  /** What else there is, below. */
  readonly children: ReactNode
}

/** Everything that this stack can run, with how often it is used here. */
function Catalogue({ filter, counts, children }: CatalogueProps) {
  const [made, setMade] = useState<string>()
  const usedBy = (id: string) => counts.find(({ componentId }) => componentId === id)?.configurations ?? 0
  const catalogue = useCatalogue()
  const shown = catalogue
    .filter(({ name, id, description }) => `${name} ${id} ${description}`.toLowerCase().includes(filter.toLowerCase()))
    .toSorted((a, b) => usedBy(b.id) - usedBy(a.id) || Number(b.hasRun) - Number(a.hasRun) || a.name.localeCompare(b.name))
  if (catalogue.length === 0) return <Lines count={8} /> // a stack has components: they are not loaded yet
  return (
    <>
      {shown.length === 0 ? <p className="inset mute">No component has this in its name.</p> : null}
      <ul className="catalogue">
        {shown.map(({ id, name, type, description, hasRun, documentationUrl }) => (
          <li key={id}>
            <h2 className="heading">{name}</h2>
            <p className="fine mute">{FLOW_COMPONENTS.includes(id) ? 'Runs other components' : (TYPES[type] ?? type)}</p>
            <p className="soft">{description}</p>
            <div className="flex-row wrap">
              <span className="fine mute">
                {usedBy(id) === 0 ? 'not used yet' : `used by ${plural(usedBy(id), 'configuration')}`}
              </span>
              <span className="flex-row push">
                {documentationUrl ? (
                  <PageLink url={documentationUrl}>
                    About <span className="visually-hidden">{name}</span>
                  </PageLink>
                ) : null}
                {hasRun && type !== 'processor' ? (
                  <ActButton needs="configurations.create" className="button small" onClick={() => setMade(id)}>
                    <Icon name="plus" size="small" />
                    <span>
                      Configure <span className="visually-hidden">{name}</span>
                    </span>
                  </ActButton>
                ) : null}
              </span>
            </div>
          </li>
        ))}
      </ul>
      {children}
      {made ? <NewConfigurationDialog component={made} onClose={() => setMade(undefined)} /> : null}
    </>
  )
}

function Trash({ filter }: { filter: string }) {
  const queries = useQueryClient()
  const { query, entries } = useEntries(filter.trim(), true)
  const selection = useSelection(entries.map(({ key }) => key))
  const restore = useMutation({
    mutationFn: async (chosen: readonly Entry[]) => {
      for (const { place } of chosen) await api.call('configurations.restore', { path: place })
    },
    onSuccess: async (_, { length }) => {
      await refreshEntries(queries)
      selection.clear()
      toast(length === 1 ? 'Restored, with its rows and versions.' : `${length} are restored, with their rows and versions.`)
    },
  })
  return (
    <Loaded query={query} skeleton={<Lines />}>
      {() =>
        entries.length === 0 ? (
          <p className="inset mute">Nothing was deleted.</p>
        ) : (
          <>
            {selection.keys.length > 0 ? (
              <div className="toolbar">
                <ActButton
                  needs="configurations.restore"
                  className="button small primary"
                  disabled={restore.isPending}
                  onClick={() => restore.mutate(entries.filter(({ key }) => selection.has(key)))}
                >
                  Restore {plural(selection.keys.length, 'configuration')}
                </ActButton>
              </div>
            ) : null}
            {restore.error ? <Problem error={restore.error} /> : null}
            <ul className="list">
              {entries.map((entry) => (
                <li key={entry.key}>
                  <input
                    type="checkbox"
                    aria-label={`Select ${entry.name}`}
                    checked={selection.has(entry.key)}
                    onChange={() => selection.toggle(entry.key)}
                  />
                  <span className="medium">{entry.name}</span>
                  <span className="mute">{entry.component.name}</span>
                  <span className="identifier">{entry.place.configurationId}</span>
                  <ActButton
                    needs="configurations.restore"
                    className="button small push"
                    disabled={restore.isPending}
                    onClick={() => restore.mutate([entry])}
                  >
                    Restore
                  </ActButton>
                </li>
              ))}
            </ul>
            <ShowMore query={query} size={ENTRIES_PAGE} />
          </>
        )
      }
    </Loaded>
  )
}
