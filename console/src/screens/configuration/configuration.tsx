// A configuration: its content, its rows, what will really run, its state, versions and runs.

import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Configuration } from '../../../../client/src/operations.ts'
import { useDrafts } from '../../document/draft.ts'
import { isAuthorisable } from '../../facts/connectors.ts'
import { EXTRACTOR, FLOW_COMPONENTS, useNames } from '../../facts/names.ts'
import { type ConfigurationPlace, useConfiguration, useRuns } from '../../facts/use-configuration.ts'
import { moment, parseTime, until } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Key } from '../../parts/key.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useRefusal } from '../../rights.ts'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { useKey } from '../../use-key.ts'
import { documentsOf, draftsName, type OpenDocument, useRun, useSave } from '../../views/configuration-documents.ts'
import { SettingsButton } from '../../views/configuration-settings.tsx'
import { usedNames, VariablesTab } from '../../views/configuration-variables.tsx'
import { DurationHistory } from '../../views/duration-history.tsx'
import { InPlace } from '../../views/in-place.tsx'
import { JobTable } from '../../views/job-table.tsx'
import { AuthorisationTab, authorisedBy } from './configuration-authorisation.tsx'
import { ConfigurationEditor } from './configuration-editor.tsx'
import { StateTab } from './configuration-state.tsx'
import { VersionsTab } from './configuration-versions.tsx'
import { DeliveriesTab, hasDeliveries } from './deliveries/deliveries-tab.tsx'
import { useIsScript } from './transformation/use-trial.ts'
import './configuration.css'

/** Others in an address show the first tab. */
const TABS = ['sql', 'edit', 'tables', 'variables', 'state', 'versions', 'authorisation', 'deliveries', 'runs']

const route = getRouteApi('/components/$componentId/$configurationId')

export function ConfigurationScreen() {
  const place = route.useParams()
  return <ConfigurationAt key={draftsName(place)} place={place} />
}

function ConfigurationAt({ place }: { place: ConfigurationPlace }) {
  const drafts = useDrafts(draftsName(place))
  const { tab: asked, row, view } = route.useSearch()
  const isScript = useIsScript(place.componentId)
  const tab = TABS.find((one) => one === asked) ?? (isScript === undefined ? '' : isScript && view === undefined ? 'sql' : 'edit')
  const isEditor = ['', 'edit', 'tables', 'sql'].includes(tab)
  const query = useConfiguration(place)
  const nameOf = useNames()
  const data = query.data?.configuration
  const name = data?.name ?? place.configurationId
  const canAuthorise =
    place.componentId === EXTRACTOR ||
    (data !== undefined && (authorisedBy(data) !== undefined || isAuthorisable(place.componentId, data.configuration))) ||
    tab === 'authorisation'
  return (
    <Page
      title={name}
      isLoading={query.isPending}
      about={{ componentId: place.componentId }}
      isWide={isEditor}
      crumbs={[{ name: 'Components', to: '/components' }, { name: nameOf(place.componentId, null) }, { name }]}
      above={
        <>
          {data?.isDisabled ? <Status status="disabled" badge /> : null}
          <span className="mute">{nameOf(place.componentId, null)}</span>
          <span className="identifier">{place.configurationId}</span>
          <CopyButton text={place.configurationId} label="Copy id" />
        </>
      }
      say={name}
      beside={data ? <Renamed place={place} configuration={data} of="name" /> : undefined}
      sub={
        data ? (
          <>
            <span className="block">
              <Renamed place={place} configuration={data} of="description" />
            </span>
            <span className="block">
              Version {data.version}, changed {moment(data.currentVersion.created)} by{' '}
              {data.currentVersion.creatorToken.description}: {data.currentVersion.changeDescription} <RunsNext {...place} />
            </span>
          </>
        ) : undefined
      }
      actions={
        <>
          {place.componentId === EXTRACTOR ? (
            <Link
              className="button"
              to="/builder/$configurationId"
              params={{ configurationId: place.configurationId }}
              search={row ? { row } : {}}
            >
              <Icon name="bolt" />
              <span>Open in the builder</span>
            </Link>
          ) : null}
          {FLOW_COMPONENTS.includes(place.componentId) ? (
            <Link className="button" to="/flows/$componentId/$configurationId" params={place}>
              <Icon name="flow" />
              <span>Open as a graph</span>
            </Link>
          ) : null}
          {data ? <SettingsButton place={place} configuration={data} /> : null}
          {query.data ? <RunButton place={place} documents={documentsOf(query.data, drafts)} /> : null}
        </>
      }
      tabs={
        <Tabs
          label="Parts of the configuration"
          current={tab}
          tabs={[
            ...(isScript ? [{ id: 'sql', name: 'SQL' }] : []),
            { id: 'edit', name: isScript ? 'Form and JSON' : 'Edit' },
            ...(FLOW_COMPONENTS.includes(place.componentId) ? [] : [{ id: 'tables', name: 'Tables' }]),
            { id: 'variables', name: 'Variables', count: query.data && usedNames(query.data, place.componentId).length },
            { id: 'state', name: 'State' },
            { id: 'versions', name: 'Versions', count: data?.version },
            ...(canAuthorise ? [{ id: 'authorisation', name: 'Authorisation' }] : []),
            ...(hasDeliveries(place.componentId) ? [{ id: 'deliveries', name: 'Deliveries' }] : []),
            { id: 'runs', name: 'Runs' },
          ]}
        />
      }
    >
      <div className={isEditor ? undefined : 'tab-body'}>
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {(loaded) => {
            if (tab === 'variables') return <VariablesTab place={place} loaded={loaded} />
            if (tab === 'state') return <StateTab place={place} loaded={loaded} />
            if (tab === 'versions') return <VersionsTab place={place} current={loaded.configuration.version} />
            if (tab === 'authorisation') return <AuthorisationTab place={place} loaded={loaded} />
            if (tab === 'deliveries') return <DeliveriesTab place={place} loaded={loaded} />
            if (tab === 'runs') return <Runs place={place} />
            if (tab === '') return <Lines count={8} />
            const mode = tab === 'tables' ? 'tables' : tab === 'sql' ? 'sql' : 'edit'
            return <ConfigurationEditor place={place} loaded={loaded} drafts={drafts} mode={mode} />
          }}
        </Loaded>
      </div>
    </Page>
  )
}

interface RenamedProps {
  readonly place: ConfigurationPlace
  readonly configuration: Configuration
  readonly of: 'name' | 'description'
}

/** Its name or description, changed where it stands. */
function Renamed({ place, configuration, of }: RenamedProps) {
  const queries = useQueryClient()
  const value = configuration[of]
  return (
    <InPlace
      label={of === 'name' ? 'Name of the configuration' : 'Description of the configuration'}
      value={value}
      {...(of === 'name' ? { shown: null } : value === '' ? { shown: <span className="mute">No description</span> } : {})}
      isRequired={of === 'name'}
      needs="configurations.update"
      save={async (next) => {
        await api.call('configurations.update', { path: place, body: { [of]: next, changeDescription: `Changed the ${of}` } })
        await queries.invalidateQueries()
      }}
    />
  )
}

/** When it runs by itself; nothing where no schedule exists. */
function RunsNext({ componentId, configurationId }: ConfigurationPlace) {
  const { data = [] } = useLoad('scheduler.list', { query: { componentId, configurationId } })
  const next = data
    .flatMap(({ nextExecutionTime }) => nextExecutionTime ?? [])
    .toSorted((a, b) => parseTime(a).getTime() - parseTime(b).getTime())[0]
  return next ? <Link to="/schedules">Runs next {until(next)}.</Link> : null
}

/** What runs is the saved version, so changes on the screen are saved first. */
function RunButton({ place, documents }: { place: ConfigurationPlace; documents: readonly OpenDocument[] }) {
  const run = useRun(place)
  const save = useSave(place, documents)
  const isRefused = useRefusal('queue.create') !== undefined
  const isChanged = documents.some(({ draft }) => draft.isChanged)
  const isBusy = run.isPending || save.isPending
  const label = isChanged ? 'Save and run' : 'Run'
  const start = () => {
    if (isChanged) save.mutate({ why: '' }, { onSuccess: () => run.mutate(undefined) })
    else run.mutate(undefined)
  }
  useKey('r', label, () => (isRefused || isBusy ? undefined : start()))
  const error = save.error ?? run.error
  return (
    <>
      <ActButton needs="queue.create" className="button primary" disabled={isBusy} onClick={start}>
        <Icon name="play" />
        <span>{label}</span>
        <Key name="r" />
      </ActButton>
      {error ? <Problem error={error} /> : null}
    </>
  )
}

function Runs({ place }: { place: ConfigurationPlace }) {
  const query = useRuns(place, 50)
  return (
    <Loaded query={query}>
      {(jobs) => (
        <div className="stack-4">
          <DurationHistory jobs={jobs} />
          <section className="card" aria-label="Runs">
            {jobs.length === 0 ? <p className="inset mute">It has not run yet.</p> : <JobTable jobs={jobs} />}
          </section>
        </div>
      )}
    </Loaded>
  )
}
