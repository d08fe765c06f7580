// The extractor builder: steps on the left, what the API answers to exactly this on the right.

import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { effectiveConfiguration } from '../../../../contract/effective-configuration.ts'
import {
  API,
  jobPath,
  keptPaths,
  LOGINS,
  loginOf,
  PAGES,
  pagesPath,
  sinceOf,
  tableOf,
  textAt,
} from '../../builder/extractor-document.ts'
import { useDrafts } from '../../document/draft.ts'
import { isRecord, parsed, pathText, valueIn } from '../../document/json-text.ts'
import { EXTRACTOR } from '../../facts/names.ts'
import { type ConfigurationPlace, type LoadedConfiguration, useConfiguration, useSchemas } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { Lines, Loaded } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { Page } from '../../shell/page.tsx'
import { useKey } from '../../use-key.ts'
import { useConflict } from '../../views/configuration-conflict.tsx'
import { documentsOf, draftsName, ROOT, useLeaveGuard, useRun, useSave } from '../../views/configuration-documents.ts'
import { type Fixture, Fixtures } from './builder-fixtures.tsx'
import { ImportButton } from './builder-import.tsx'
import { fetchWalk, LivePane, useWalk, type WalkRequest } from './builder-live.tsx'
import { Playground } from './builder-playground.tsx'
import { StepForm } from './steps/step-form.tsx'
import './builder.css'

const route = getRouteApi('/builder/$configurationId')
const WHY = 'Changed in the builder'

export function BuilderScreen() {
  const { configurationId } = route.useParams()
  const place = { componentId: EXTRACTOR, configurationId }
  const query = useConfiguration(place)
  return (
    <Loaded query={query} skeleton={<Lines count={8} />}>
      {(loaded) => <Builder place={place} loaded={loaded} />}
    </Loaded>
  )
}

const STEPS = [
  { id: 'address', name: 'Address' },
  { id: 'login', name: 'Login' },
  { id: 'request', name: 'Request' },
  { id: 'pages', name: 'Pages' },
  { id: 'columns', name: 'Columns' },
  { id: 'new', name: 'Only what is new' },
  { id: 'children', name: 'Children' },
] as const

/** One line below the name of a step: its present content. */
function summaryOf(step: string, document: unknown, index: number): string {
  const at = (...path: (string | number)[]) => textAt(document, [...jobPath(index), ...path])
  switch (step) {
    case 'address':
      return textAt(document, [...API, 'baseUrl']).replace(/^https?:\/\//, '') || 'not set'
    case 'login':
      return LOGINS.find(({ id }) => id === loginOf(document))?.name ?? loginOf(document)
    case 'request':
      return at('endpoint') ? `${at('method') || 'GET'} ${at('endpoint')}` : 'not set'
    case 'pages': {
      const method = textAt(document, [...pagesPath(document, index), 'method'])
      return PAGES.find(({ id }) => id === (method || 'none'))?.name ?? method
    }
    case 'columns': {
      const mapping = valueIn(document, ['parameters', 'config', 'mappings', tableOf(document, index)])
      return isRecord(mapping) ? `${plural(Object.keys(mapping).length, 'column')} mapped` : 'as they come'
    }
    case 'new':
      return sinceOf(document, index) ? `since the last run, as ${sinceOf(document, index)!.name}` : 'everything, each time'
    default: {
      const children = valueIn(document, [...jobPath(index), 'children'])
      return Array.isArray(children) && children.length > 0 ? plural(children.length, 'request') : 'none'
    }
  }
}

function Builder({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const { row, step = 'address', job = '0', recording, view } = route.useSearch()
  const drafts = useDrafts(draftsName(place))
  const documents = documentsOf(loaded, drafts)
  const root = documents[0]!
  const current = documents.find(({ key }) => key === row) ?? root
  const schemas = useSchemas(place.componentId)
  const save = useSave(place, documents)
  const conflict = useConflict({ loaded, documents, save, why: WHY })
  const run = useRun(place)
  const navigate = useNavigate()
  const index = Number(job)
  const effective = effectiveConfiguration(root.draft.text, current.key === ROOT ? undefined : current.draft.text).text
  const document = parsed(effective)
  const [fixture, setFixture] = useState<Fixture>()
  const walk = useWalk(effective, index, fixture?.text)
  const [page, setPage] = useState<number>()
  const [isPlaying, setPlaying] = useState(false)
  const changed = documents.filter(({ draft }) => draft.isChanged)
  useLeaveGuard(changed.length > 0)
  const canSave = changed.length > 0 && !save.isPending
  const ask = (request: WalkRequest) => {
    setPage(undefined)
    walk.mutate(request)
  }
  const record = async () => {
    const { recording = '', error } = await fetchWalk(effective, index, walk.variables ?? { pages: 3 }, { record: true })
    if (error !== null) throw new Error(error)
    return recording
  }
  useKey('Ctrl s', 'Save', () => (canSave ? save.mutate({ why: WHY }) : undefined))
  useKey('Ctrl Enter', 'Fetch 3 pages', () => ask({ pages: 3 }))
  const jobs = valueIn(document, ['parameters', 'config', 'jobs'])
  const jobCount = Array.isArray(jobs) ? jobs.length : 0
  const show = (search: object) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...search }), replace: true })
  const works = (id: string): string => {
    const steps = walk.data?.steps ?? []
    if (id === 'login')
      return steps.some(({ kind, response }) => kind === 'login' && response.status < 400)
        ? 'success'
        : walk.data?.error && steps.every(({ kind }) => kind === 'login') && steps.length > 0
          ? 'error'
          : 'created'
    if (id === 'address') return steps.length > 0 ? 'success' : 'created'
    const pages = steps.filter(({ kind }) => kind === 'page')
    if (id === 'request')
      return pages.some(({ response }) => response.status < 400) ? 'success' : pages.length > 0 ? 'error' : 'created'
    if (id === 'pages') return pages.length > 1 ? 'success' : 'created'
    return 'created'
  }
  const name = loaded.configuration.name
  return (
    <Page
      title={`Builder of ${name}`}
      about={{ componentId: EXTRACTOR }}
      isWide
      crumbs={[
        { name: 'Components', to: '/components' },
        { name, to: `/components/${place.componentId}/${place.configurationId}` },
        { name: current.key === ROOT ? 'Builder' : `Builder, row ${current.name}` },
      ]}
      say={current.key === ROOT ? name : `${name}, row ${current.name}`}
      actions={
        <div className="flex-row wrap builder-bar">
          <label className="flex-row">
            <span className="fine mute">Builds</span>
            <select
              className="input"
              value={current.key}
              onChange={(event) => show({ row: event.target.value === ROOT ? undefined : event.target.value, job: undefined })}
            >
              {documents.map(({ key, name: of }) => (
                <option key={key} value={key}>
                  {key === ROOT ? 'the configuration' : `row ${of}`}
                </option>
              ))}
            </select>
          </label>
          {jobCount > 1 ? (
            <label className="flex-row">
              <span className="fine mute">Request</span>
              <select className="input" value={index} onChange={(event) => show({ job: event.target.value })}>
                {Array.from({ length: jobCount }, (_, at) => (
                  <option key={textAt(document, jobPath(at))} value={at}>
                    {textAt(document, [...jobPath(at), 'endpoint']) || `request ${at + 1}`}
                  </option>
                ))}
              </select>
            </label>
          ) : null}
          <span className="push fine mute">{changed.length > 0 ? 'not saved' : 'saved'}</span>
          <ActButton
            needs="configurations.update"
            className="button"
            disabled={!canSave}
            onClick={() => save.mutate({ why: WHY })}
          >
            <span>Save</span>
            <kbd>Ctrl S</kbd>
          </ActButton>
          <ActButton
            needs="queue.create"
            className="button primary"
            disabled={save.isPending || run.isPending}
            onClick={() =>
              changed.length > 0
                ? save.mutate({ why: WHY }, { onSuccess: () => run.mutate(rowsToRun(current.key)) })
                : run.mutate(rowsToRun(current.key))
            }
          >
            <Icon name="play" />
            <span>{changed.length > 0 ? 'Save and run' : 'Run'}</span>
          </ActButton>
        </div>
      }
    >
      {conflict.note}
      {conflict.screen}
      {save.error && !conflict.screen ? <Problem error={save.error} /> : null}
      {run.error ? <Problem error={run.error} /> : null}
      <div className="panes builder-panes" hidden={conflict.screen !== null}>
        <nav aria-label="Steps">
          <div className="pane-head">
            <h2 className="heading">Steps</h2>
            <ImportButton place={place} root={root} />
          </div>
          <div className="steps">
            <ol className="channel">
              {STEPS.map(({ id, name: of }) => (
                <li
                  key={id}
                  className={`${works(id) === 'success' ? 'done' : ''} ${step === id ? 'current' : ''}`}
                  aria-current={step === id ? 'step' : undefined}
                  ref={step === id ? intoView : undefined}
                >
                  <span className="station">
                    <StatusIcon status={works(id)} />
                  </span>
                  <button type="button" className="step" onClick={() => show({ step: id })}>
                    {of}
                  </button>
                  <small>{summaryOf(id, document, index)}</small>
                </li>
              ))}
            </ol>
          </div>
          <div className="kept">
            <button type="button" className="button small" onClick={() => setPlaying(true)}>
              <Icon name="code" size="small" />
              <span>Try a function</span>
            </button>
          </div>
          <Kept document={document} onOpenJson={() => show({ view: 'json' })} />
        </nav>
        <StepForm
          key={`${step} ${current.key} ${index}`}
          step={step}
          index={index}
          root={root}
          current={current}
          document={document}
          schema={schemas.root}
          walk={walk.data}
          effective={effective}
          isJson={view === 'json'}
          onView={(next) => show({ view: next === 'json' ? next : undefined })}
        />
        <LivePane
          walk={walk}
          page={page}
          onPage={setPage}
          onFetch={ask}
          document={document}
          index={index}
          above={
            <Fixtures
              configurationId={place.configurationId}
              fixture={fixture}
              recording={recording}
              canRecord={walk.data !== undefined}
              onRecord={record}
              onReplay={setFixture}
            />
          }
        />
      </div>
      {isPlaying ? <Playground effective={effective} walk={walk.data} onClose={() => setPlaying(false)} /> : null}
    </Page>
  )
}

/** On a small screen the steps are a line that scrolls. */
const intoView = (step: HTMLLIElement | null): void => {
  const line = step?.parentElement
  if (step && line && line.scrollWidth > line.clientWidth) line.scrollLeft = step.offsetLeft - 24
}

const rowsToRun = (key: string): readonly string[] | undefined => (key === ROOT ? undefined : [key])

/** What the steps do not show stays in the configuration, and is edited as JSON beside them. */
function Kept({ document, onOpenJson }: { document: unknown; onOpenJson: () => void }) {
  const paths = keptPaths(document)
  if (paths.length === 0) return null
  return (
    <div className="kept stack-2">
      <p className="fine mute">Kept as JSON, not shown by a step:</p>
      {paths.map((path) => (
        <button key={pathText(path)} type="button" className="link identifier fine block" onClick={onOpenJson}>
          {pathText(path.slice(1))}
        </button>
      ))}
    </div>
  )
}
