// A configuration: its JSON, its rows with what will really run, its versions, its runs.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Configuration } from '../../../client/src/operations.ts'
import { moment, plural } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Status } from '../parts/status.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { api } from '../session.ts'
import { Page } from '../shell/page.tsx'
import { toast } from '../shell/toast.tsx'
import { useKey } from '../use-key.ts'
import { JobTable } from './jobs.tsx'
import { useNames } from './names.ts'

const route = getRouteApi('/components/$componentId/$configurationId')

interface Place {
  readonly componentId: string
  readonly configurationId: string
}

export function ConfigurationScreen() {
  const place = route.useParams()
  const { tab = 'configuration' } = route.useSearch()
  const query = useLoad('configurations.get', { path: place, query: {} as never })
  const nameOf = useNames()
  const data = query.data
  const name = data?.name ?? place.configurationId
  return (
    <Page
      title={name}
      crumbs={[{ name: 'Components', to: '/components' }, { name }]}
      above={
        <>
          {data?.isDisabled ? <Status status="disabled" badge /> : null}
          <span className="mute">{nameOf(place.componentId, null)}</span>
          <span className="id">{place.configurationId}</span>
          <CopyButton text={place.configurationId} label="Copy id" />
        </>
      }
      say={name}
      sub={
        data
          ? `Version ${data.version}, changed ${moment(data.currentVersion.created)} by ${data.currentVersion.creatorToken.description}: ${data.currentVersion.changeDescription}`
          : undefined
      }
      actions={<RunButton {...place} />}
    >
      <Tabs
        label="Parts of the configuration"
        current={tab}
        tabs={[
          { id: 'configuration', name: 'Configuration' },
          { id: 'rows', name: 'Rows', count: data?.rows.length },
          { id: 'versions', name: 'Versions', count: data?.version },
          { id: 'runs', name: 'Runs' },
        ]}
      />
      <div className="tab-body">
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {(loaded) => {
            if (tab === 'rows') return <Rows place={place} configuration={loaded} />
            if (tab === 'versions') return <Versions place={place} current={loaded.version} />
            if (tab === 'runs') return <Runs place={place} />
            return <Editor key={loaded.version} place={place} configuration={loaded} />
          }}
        </Loaded>
      </div>
    </Page>
  )
}

function RunButton({ componentId, configurationId }: Place) {
  const navigate = useNavigate()
  const run = useMutation({
    mutationFn: () =>
      api.call('queue.create', { body: { component: componentId, config: configurationId, mode: 'run' } as never }),
    onSuccess: (job) => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }),
  })
  useKey('r', 'Run', () => run.mutate())
  return (
    <>
      <button type="button" className="btn pri" disabled={run.isPending} onClick={() => run.mutate()}>
        <Icon name="play" />
        <span>Run</span>
        <kbd>R</kbd>
      </button>
      {run.error ? <Problem error={run.error} /> : null}
    </>
  )
}

/** The JSON as text. What is typed survives a reload, and a save over a newer version is refused by the server. */
function Editor({ place, configuration }: { place: Place; configuration: Configuration }) {
  const queries = useQueryClient()
  const saved = JSON.stringify(configuration.configuration, null, 2)
  const draftKey = `millrace.draft ${place.componentId} ${place.configurationId}`
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey) ?? saved)
  const [why, setWhy] = useState('')
  const isChanged = text !== saved
  const problem = problemOf(text)
  const edit = (next: string) => {
    setText(next)
    if (next === saved) sessionStorage.removeItem(draftKey)
    else sessionStorage.setItem(draftKey, next)
  }
  const save = useMutation({
    mutationFn: () =>
      api.call('configurations.update', {
        path: place,
        body: { configuration: JSON.parse(text) as never, ...(why ? { changeDescription: why } : {}) } as never,
      }),
    onSuccess: async (next) => {
      sessionStorage.removeItem(draftKey)
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      toast(`Saved as version ${next.version}.`, async () => {
        await api.call('configurations.rollBack', {
          path: { ...place, versionId: String(configuration.version) },
          body: {} as never,
        })
        await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      })
    },
  })
  const canSave = isChanged && problem === undefined && !save.isPending
  useKey('Ctrl s', 'Save', () => (canSave ? save.mutate() : undefined))
  return (
    <section className="card" aria-labelledby="json">
      <header>
        <h2 id="json">JSON</h2>
        {isChanged ? <span className="tag">not saved</span> : null}
        <span className="push row">
          <CopyButton text={text} />
        </span>
      </header>
      <div className="in stack3">
        <textarea
          className="code"
          aria-label="Configuration as JSON"
          aria-invalid={problem !== undefined}
          spellCheck={false}
          value={text}
          onChange={(event) => edit(event.target.value)}
        />
        {problem ? (
          <p className="err st" role="alert">
            <Icon name="st-err" />
            {problem}
          </p>
        ) : null}
        {save.error ? <Problem error={save.error} /> : null}
        <div className="row wrap">
          <input
            className="input grow"
            aria-label="Why this change"
            placeholder="Why this change"
            value={why}
            onChange={(event) => setWhy(event.target.value)}
          />
          <button type="button" className="btn" disabled={!isChanged} onClick={() => edit(saved)}>
            Take back
          </button>
          <button type="button" className="btn pri" disabled={!canSave} onClick={() => save.mutate()}>
            <span>Save as version {configuration.version + 1}</span>
            <kbd>Ctrl S</kbd>
          </button>
        </div>
        <p className="xs mute">
          Values of keys that begin with <span className="id">#</span> are encrypted when they are saved and are never shown
          again.
        </p>
      </div>
    </section>
  )
}

function problemOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? undefined
      : 'A configuration is an object: { ... }.'
  } catch (error) {
    return `This is not JSON yet: ${(error as Error).message}`
  }
}

function Rows({ place, configuration }: { place: Place; configuration: Configuration }) {
  const { row } = route.useSearch()
  if (configuration.rows.length === 0)
    return (
      <section className="card">
        <div className="empty">
          <p className="md soft">
            Rows run the same configuration with differences of their own, one after the other: an endpoint each, a table each.
          </p>
        </div>
      </section>
    )
  return (
    <div className="columns">
      <section className="card" aria-label="Rows">
        <Scroll label="Rows">
          <table className="t">
            <thead>
              <tr>
                <th>Row</th>
                <th>State</th>
                <th className="num">Version</th>
                <th>Id</th>
              </tr>
            </thead>
            <tbody>
              {configuration.rows.map((one) => (
                <tr key={one.id} aria-selected={one.id === row}>
                  <td>
                    <Link className="med" to="." search={{ tab: 'rows', row: one.id } as never}>
                      {one.name || one.id}
                    </Link>
                  </td>
                  <td>{one.isDisabled ? <Status status="disabled" /> : <Status status="enabled" />}</td>
                  <td className="num">{one.version}</td>
                  <td className="id">{one.id}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </section>
      {row ? <Effective place={place} rowId={row} /> : <p className="mute">Choose a row to see what will really run for it.</p>}
    </div>
  )
}

function Effective({ place, rowId }: { place: Place; rowId: string }) {
  const query = useLoad('rows.effective', { path: { ...place, rowId } })
  return (
    <section className="card" aria-labelledby="effective">
      <header>
        <h2 id="effective">What will really run</h2>
      </header>
      <Loaded query={query}>
        {({ configuration, origins }) => (
          <div className="in stack3">
            <p className="xs mute">
              {plural(Object.values(origins).filter((origin) => origin === 'row').length, 'value')} from the row, the others from
              the configuration.
            </p>
            <pre className="code sunken wrap">{JSON.stringify(configuration, null, 2)}</pre>
          </div>
        )}
      </Loaded>
    </section>
  )
}

function Versions({ place, current }: { place: Place; current: number }) {
  const { version } = route.useSearch()
  const list = useLoad('configurations.versions', { path: place, query: { limit: 100 } })
  const chosen = version ?? String(Math.max(1, current - 1))
  return (
    <div className="columns">
      <section className="card" aria-label="Differences">
        <Difference place={place} from={chosen} to={String(current)} />
      </section>
      <section className="card" aria-labelledby="versions">
        <header>
          <h2 id="versions">Versions</h2>
        </header>
        <Loaded query={list}>
          {(all) => (
            <ul className="list">
              {all.map((one) => (
                <li key={one.version}>
                  <Link
                    className="grow"
                    to="."
                    search={{ tab: 'versions', version: String(one.version) } as never}
                    aria-current={String(one.version) === chosen ? 'true' : undefined}
                  >
                    <span className="med">Version {one.version}</span>
                    <span className="xs mute block">
                      {moment(one.created)}, {one.creatorToken.description}
                    </span>
                    <span className="xs block">{one.changeDescription}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </section>
    </div>
  )
}

function Difference({ place, from, to }: { place: Place; from: string; to: string }) {
  const queries = useQueryClient()
  const before = useLoad('configurations.version', { path: { ...place, versionId: from } })
  const after = useLoad('configurations.version', { path: { ...place, versionId: to } })
  const rollBack = useMutation({
    mutationFn: () => api.call('configurations.rollBack', { path: { ...place, versionId: from }, body: {} as never }),
    onSuccess: async ({ version }) => {
      await queries.invalidateQueries()
      toast(`Version ${from} is back, as version ${version}.`, async () => {
        await api.call('configurations.rollBack', { path: { ...place, versionId: to }, body: {} as never })
        await queries.invalidateQueries()
      })
    },
  })
  return (
    <>
      <header>
        <h2>
          Version {from} to {to}
        </h2>
        {from === to ? null : (
          <button type="button" className="btn sm push" disabled={rollBack.isPending} onClick={() => rollBack.mutate()}>
            <Icon name="history" size="sm" />
            <span>Bring version {from} back</span>
          </button>
        )}
      </header>
      {rollBack.error ? <Problem error={rollBack.error} /> : null}
      <Loaded query={before}>
        {(old) => (
          <Loaded query={after}>{(next) => <Changes changes={changesBetween(old.configuration, next.configuration)} />}</Loaded>
        )}
      </Loaded>
    </>
  )
}

interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Differences by path: what was added, removed or changed. */
function changesBetween(before: unknown, after: unknown, path = ''): readonly Change[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) => changesBetween(before[name], after[name], `${path}/${name}`))
  }
  const [old, next] = [JSON.stringify(before), JSON.stringify(after)]
  return old === next ? [] : [{ path, before: old, after: next }]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const Changes = ({ changes }: { changes: readonly Change[] }) =>
  changes.length === 0 ? (
    <p className="in mute">The configuration itself is the same.</p>
  ) : (
    <div className="in stack3">
      {changes.map(({ path, before, after }) => (
        <div key={path}>
          <p className="id">{path}</p>
          <pre className="code sunken wrap">
            {before === undefined ? null : <span className="del diff-line">- {before}</span>}
            {after === undefined ? null : <span className="add diff-line">+ {after}</span>}
          </pre>
        </div>
      ))}
    </div>
  )

function Runs({ place }: { place: Place }) {
  const query = useLoad('queue.search', { query: { componentId: place.componentId, configId: place.configurationId, limit: 50 } })
  return (
    <section className="card" aria-label="Runs">
      <Loaded query={query}>
        {(jobs) => (jobs.length === 0 ? <p className="in mute">It has not run yet.</p> : <JobTable jobs={jobs} />)}
      </Loaded>
    </section>
  )
}
