// What stands beside a query: the tables, the saved queries of the project, what was run in it, and beginnings of queries.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SavedQueriesCreateBody, SavedQuery } from '../../../../client/src/operations.ts'
import { count, duration, moment, plural } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { SNIPPETS } from './snippets.ts'
import type { OpenTabs } from './sql-tabs.tsx'
import { SqlTree } from './sql-tree.tsx'
import './sql.css'

interface LibraryProps {
  readonly tabs: OpenTabs
  readonly onSelect: (tableId: string) => void
  readonly onInsert: (text: string) => void
}

const VIEWS = ['Tables', 'Saved', 'History', 'Snippets'] as const

export function SqlLibrary({ tabs, onSelect, onInsert }: LibraryProps) {
  const [view, setView] = useState<(typeof VIEWS)[number]>('Tables')
  return (
    <div className="stack-3">
      <fieldset className="segments" aria-label="Beside the query">
        {VIEWS.map((one) => (
          <button key={one} type="button" aria-pressed={one === view} onClick={() => setView(one)}>
            {one}
          </button>
        ))}
      </fieldset>
      {view === 'Tables' ? <SqlTree onSelect={onSelect} onInsert={onInsert} /> : null}
      {view === 'Saved' ? <Saved tabs={tabs} /> : null}
      {view === 'History' ? <History tabs={tabs} /> : null}
      {view === 'Snippets' ? <Snippets onInsert={onInsert} /> : null}
    </div>
  )
}

export const originOf = ({ id, name, version, sql }: SavedQuery) => ({ id, name, version, sql })

function Saved({ tabs }: { tabs: OpenTabs }) {
  const queries = useQueryClient()
  const query = useLoad('savedQueries.list', { query: { limit: 1000 } })
  const [filter, setFilter] = useState('')
  const [past, setPast] = useState<SavedQuery>()
  const refresh = () => queries.invalidateQueries({ queryKey: ['savedQueries.list'] })
  const remove = useMutation({
    mutationFn: async ({ id, name, sql, description, parameters }: SavedQuery) => {
      await api.call('savedQueries.remove', { path: { queryId: id } })
      if (tabs.saved?.id === id) tabs.mark(undefined)
      await refresh()
      const body = { name, sql, description, parameters } as SavedQueriesCreateBody // as it was read
      toast(`${name} is deleted.`, async () => {
        await api.call('savedQueries.create', { body })
        await refresh()
      })
    },
  })
  const word = filter.trim().toLowerCase()
  return (
    <section className="card" aria-label="Saved queries">
      <div className="toolbar">
        <FilterField label="Filter saved queries" value={filter} onChange={setFilter} />
      </div>
      {remove.error ? <Problem error={remove.error} /> : null}
      <Loaded query={query}>
        {(all) => {
          const shown = all.filter(({ name, sql, description }) => `${name} ${description} ${sql}`.toLowerCase().includes(word))
          if (all.length === 0)
            return <p className="inset mute">Save a query: everyone in the project finds it here, with its versions.</p>
          return shown.length === 0 ? (
            <p className="inset mute">No saved query has “{filter.trim()}”.</p>
          ) : (
            <ul className="list side-list">
              {shown.map((one) => (
                <li key={one.id}>
                  <div className="grow stack-2">
                    <button type="button" className="link" onClick={() => tabs.show({ text: one.sql, saved: originOf(one) })}>
                      {one.name}
                    </button>
                    {one.description ? <p className="fine soft">{one.description}</p> : null}
                    <p className="fine mute">
                      version {one.version}, {moment(one.updated)}
                    </p>
                  </div>
                  <button
                    type="button"
                    className="button small ghost"
                    aria-label={`Versions of ${one.name}`}
                    onClick={() => setPast(one)}
                  >
                    Versions
                  </button>
                  <ActButton
                    needs="savedQueries.remove"
                    className="button small ghost"
                    aria-label={`Delete ${one.name}`}
                    disabled={remove.isPending}
                    onClick={() => remove.mutate(one)}
                  >
                    Delete
                  </ActButton>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
      {past ? <Versions query={past} tabs={tabs} onClose={() => setPast(undefined)} /> : null}
    </section>
  )
}

function Versions({ query, tabs, onClose }: { query: SavedQuery; tabs: OpenTabs; onClose: () => void }) {
  const queries = useQueryClient()
  const versions = useLoad('savedQueries.versions', { path: { queryId: query.id } })
  const restore = useMutation({
    mutationFn: async (index: number) => {
      const { name, sql, description, parameters } = versions.data![index]!
      const body = { name, sql, description, parameters } as SavedQueriesCreateBody // as it was read
      const changed = await api.call('savedQueries.update', { path: { queryId: query.id }, body })
      await queries.invalidateQueries({ queryKey: ['savedQueries.list'] })
      await queries.invalidateQueries({ queryKey: ['savedQueries.versions'] })
      if (tabs.saved?.id === query.id) tabs.mark(originOf(changed))
      toast(`${query.name} is as in version ${versions.data![index]!.version} again.`)
      onClose()
    },
  })
  return (
    <Drawer title={`Versions of ${query.name}`} onClose={onClose}>
      {restore.error ? <Problem error={restore.error} /> : null}
      <Loaded query={versions}>
        {(all) => (
          <ol className="stack-4">
            {all.map(({ version, sql, created, creatorToken }, index) => (
              <li key={version} className="stack-2">
                <div className="flex-row wrap">
                  <span className="medium">Version {version}</span>
                  <span className="fine mute">
                    {moment(created)}, {creatorToken.description}
                  </span>
                  <button type="button" className="button small push" onClick={() => tabs.show({ text: sql })}>
                    Open in a tab
                  </button>
                  {index === 0 ? null : (
                    <ActButton
                      needs="savedQueries.update"
                      className="button small"
                      disabled={restore.isPending}
                      onClick={() => restore.mutate(index)}
                    >
                      Restore
                    </ActButton>
                  )}
                </div>
                <pre className="code sunken">{sql}</pre>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Drawer>
  )
}

/** Of everyone in the project, by all programs. */
function History({ tabs }: { tabs: OpenTabs }) {
  const [filter, setFilter] = useState('')
  const word = filter.trim()
  const query = useLoad('sql.history', { query: word === '' ? {} : { q: word } }, { isKept: true })
  return (
    <section className="card" aria-label="Queries of the project">
      <div className="toolbar">
        <FilterField label="Filter queries" value={filter} onChange={setFilter} />
      </div>
      <Loaded query={query}>
        {(all) =>
          all.length === 0 ? (
            <p className="inset mute">
              {word === '' ? 'Queries that are run in the project stand here, with who ran them.' : `No query has “${word}”.`}
            </p>
          ) : (
            <ul className="list side-list">
              {all.map(({ id, sql, started, durationMs, error, creatorToken }) => (
                <li key={id}>
                  <div className="grow stack-2">
                    <button type="button" className="link mono clip-2" title={sql} onClick={() => tabs.show({ text: sql })}>
                      {sql.replace(/\s+/g, ' ').slice(0, 120)}
                    </button>
                    <p className="fine mute">
                      {creatorToken.description}, {moment(started)},{' '}
                      {durationMs < 1000 ? `${count(durationMs)} ms` : duration(durationMs / 1000)}
                    </p>
                    {error === null ? null : (
                      <p className="fine failed flex-row gap-1">
                        <Icon name="st-err" size="small" />
                        <span>Failed: {error.slice(0, 160)}</span>
                      </p>
                    )}
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

const Snippets = ({ onInsert }: { onInsert: (text: string) => void }) => (
  <section className="card" aria-label="Snippets">
    <p className="inset fine mute">{plural(SNIPPETS.length, 'beginning')} of queries: put in where the cursor is.</p>
    <ul className="list side-list">
      {SNIPPETS.map(({ name, about, sql }) => (
        <li key={name}>
          <div className="grow stack-2">
            <button type="button" className="link" onClick={() => onInsert(sql)}>
              {name}
            </button>
            <p className="fine soft">{about}</p>
          </div>
        </li>
      ))}
    </ul>
  </section>
)
