// Jobs, newest first, live. Failed ones show their reason in the list.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Answer } from '../../../../client/src/client.ts'
import type { Job } from '../../../../client/src/operations.ts'
import { isOver } from '../../facts/job.ts'
import { useNames } from '../../facts/names.ts'
import { plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSelection } from '../../parts/selection.ts'
import { wordOf } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { JobTable } from '../../views/job-table.tsx'
import { ProjectTimeline } from './project-timeline.tsx'
import './jobs.css'

const route = getRouteApi('/jobs')

const PAGE_ROWS = 50

const STATUSES = ['processing', 'waiting', 'error', 'warning', 'success', 'terminated', 'cancelled']

const SINCE: readonly Option[] = [
  ['-1 hour', 'the last hour'],
  ['-1 day', 'the last day'],
  ['-7 days', 'the last 7 days'],
  ['-30 days', 'the last 30 days'],
]

type Search = ReturnType<typeof route.useSearch>

const queryOf = ({ status, component, config, since, by, cause }: Search) => ({
  ...(status ? { status: [status] } : {}),
  ...(component ? { componentId: component } : {}),
  ...(config ? { configId: config } : {}),
  ...(since ? { createdTimeFrom: since } : {}),
  ...(by ? { tokenDescription: by } : {}),
  ...(cause ? { causeKind: cause } : {}),
})

export function JobsScreen() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const page = Number(search.page ?? 1)
  const query = useLoad('queue.search', { query: { limit: PAGE_ROWS, offset: (page - 1) * PAGE_ROWS, ...queryOf(search) } })
  const change = (next: Partial<Search>) =>
    void navigate({ to: '.', search: (old: Record<string, unknown>) => ({ ...old, page: '1', ...next }) })
  const isTimeline = search.view === 'timeline'
  const jobs = query.data ?? []
  const failed = jobs.filter((job) => job.status === 'error').length
  return (
    <Page
      title="Jobs"
      crumbs={[{ name: 'Jobs' }]}
      say={isTimeline ? 'Who ran when.' : query.data ? sentence(jobs.length, failed, page) : 'Jobs'}
      actions={
        <Link
          className="button"
          to="/jobs"
          search={({ view: _, ...before }) => (isTimeline ? before : { ...before, view: 'timeline' })}
        >
          {isTimeline ? 'As a list' : 'As a timeline'}
        </Link>
      }
    >
      <section className="card" aria-label="Jobs">
        <Filters search={search} jobs={jobs} onChange={change} isTimeline={isTimeline} />
        {isTimeline ? (
          <ProjectTimeline filters={queryOf({ ...search, since: undefined })} hours={search.hours} until={search.until} />
        ) : (
          <>
            <Loaded query={query} skeleton={<Lines count={8} />}>
              {(data) => (data.length === 0 ? <p className="inset mute">No matching jobs.</p> : <ChosenJobs jobs={data} />)}
            </Loaded>
            <div className="toolbar foot" hidden={query.isPending}>
              <button
                type="button"
                className="button small"
                disabled={page === 1}
                onClick={() => change({ page: String(page - 1) })}
              >
                Newer
              </button>
              <span className="mute tabular">Page {page}</span>
              <button
                type="button"
                className="button small"
                disabled={jobs.length < PAGE_ROWS}
                onClick={() => change({ page: String(page + 1) })}
              >
                Older
              </button>
            </div>
          </>
        )}
      </section>
    </Page>
  )
}

interface FiltersProps {
  readonly search: Search
  readonly jobs: readonly Job[]
  readonly onChange: (next: Partial<Search>) => void
  /** Its window sets since when. */
  readonly isTimeline: boolean
}

function Filters({ search, jobs, onChange, isTimeline }: FiltersProps) {
  const configurations = useLoad('configurations.browse', { query: { limit: MAX_PLACES + 1 } }).data ?? []
  const components = useLoad('configurations.totals').data ?? []
  const nameOf = useNames()
  const { status, component, config, since, by, cause } = search
  const seen = (values: readonly (string | undefined)[], chosen: string | undefined) =>
    [...new Set([...values, chosen || undefined])].filter((value) => value !== undefined).toSorted()
  const place = component ? `${component} ${config ?? ''}`.trim() : undefined
  const places = [
    ...(configurations.length <= MAX_PLACES ? configurations.map(placeOf) : placesOfJobs(jobs, nameOf)),
    ...components.map(({ componentId }): Option => [componentId, `any of ${nameOf(componentId, null)}`]),
  ]
  const unknown = component && places.every(([value]) => value !== place) ? nameOf(component, config || null) : undefined
  const isNarrowed = Object.keys(queryOf(search)).length > 0
  return (
    <div className="toolbar">
      <Choice
        label="Status"
        value={status}
        options={STATUSES.map((one) => [one, wordOf(one).toLowerCase()])}
        onChange={(value) => onChange({ status: value })}
      />
      <Choice
        label="Configuration"
        value={place}
        options={unknown === undefined ? places : [[place!, unknown], ...places]}
        onChange={(value) => {
          const [chosen = '', ...one] = value.split(' ')
          onChange({ component: chosen, config: one.join(' ') })
        }}
      />
      {isTimeline ? null : (
        <Choice label="Since" value={since} options={SINCE} onChange={(value) => onChange({ since: value })} />
      )}
      <Choice
        label="By"
        value={by}
        options={seen(
          jobs.map(({ token }) => token.description ?? undefined),
          by,
        ).map((one) => [one, one])}
        onChange={(value) => onChange({ by: value })}
      />
      <Choice
        label="Cause"
        value={cause}
        options={seen(
          jobs.map((job) => job.cause?.kind),
          cause,
        ).map((one) => [one, one])}
        onChange={(value) => onChange({ cause: value })}
      />
      {isNarrowed ? (
        <button
          type="button"
          className="button small ghost push"
          onClick={() => onChange({ status: '', component: '', config: '', since: '', by: '', cause: '' })}
        >
          Show all
        </button>
      ) : null}
    </div>
  )
}

/** A list of more is hard to choose from and slow to draw: then only those of the jobs that are shown. */
const MAX_PLACES = 300

const placeOf = ({ componentId, configurationId, name }: Answer<'configurations.browse'>[number]): Option => [
  `${componentId} ${configurationId}`,
  name,
]

const placesOfJobs = (jobs: readonly Job[], nameOf: ReturnType<typeof useNames>): readonly Option[] => [
  ...new Map(
    jobs.flatMap(({ component, config }) =>
      config === null ? [] : [[`${component} ${config}`, nameOf(component, config)] as const],
    ),
  ),
]

/** A value and what is shown for it. */
type Option = readonly [string, string]

/** The list with ticks: several jobs are run again or ended at once. */
function ChosenJobs({ jobs }: { jobs: readonly Job[] }) {
  const queries = useQueryClient()
  const selection = useSelection(jobs.map(({ id }) => id))
  const chosen = jobs.filter(({ id }) => selection.has(id))
  const [over, going] = [chosen.filter((job) => isOver(job.status)), chosen.filter((job) => !isOver(job.status))]
  const act = useMutation({
    mutationFn: async (what: 'rerun' | 'kill') => {
      for (const { id } of what === 'rerun' ? over : going) {
        await api.call(`queue.${what}`, { path: { id } })
        selection.toggle(id) // when a later one is refused, this one is not requested again
      }
      return what === 'rerun'
        ? `${plural(over.length, 'job')} started again.`
        : `${plural(going.length, 'job')} will be terminated.`
    },
    onSuccess: (said) => toast(said),
    onSettled: () => queries.invalidateQueries({ queryKey: ['queue.search'] }),
  })
  return (
    <>
      {chosen.length > 0 ? (
        <div className="toolbar">
          <span className="mute">{plural(chosen.length, 'job')}</span>
          <ActButton
            needs="queue.create"
            className="button small primary"
            disabled={act.isPending || over.length === 0}
            onClick={() => act.mutate('rerun')}
          >
            <Icon name="rerun" size="small" />
            <span>Run {plural(over.length, 'job')} again</span>
          </ActButton>
          <ActButton
            needs="queue.kill"
            className="button small danger"
            disabled={act.isPending || going.length === 0}
            onClick={() => act.mutate('kill')}
          >
            Terminate {plural(going.length, 'job')}
          </ActButton>
          <button type="button" className="button small ghost" onClick={selection.clear}>
            Clear
          </button>
        </div>
      ) : null}
      {act.error ? <Problem error={act.error} /> : null}
      <JobTable jobs={jobs} selection={selection} />
    </>
  )
}

export function sentence(shown: number, failed: number, page: number): string {
  if (shown === 0) return 'No jobs.'
  if (shown === 1) return failed === 0 ? 'One job, and it did not fail.' : 'One job, and it failed.'
  const which = page === 1 ? `the last ${shown}` : `these ${shown}`
  return failed === 0 ? `None of ${which} jobs failed.` : `${failed} of ${which} jobs failed.`
}
