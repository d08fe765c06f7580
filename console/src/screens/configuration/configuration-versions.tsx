// Who changed what, when and why; the difference of any two versions with their rows; bringing one back.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Job } from '../../../../client/src/operations.ts'
import { useNames } from '../../facts/names.ts'
import { type ConfigurationPlace, useRuns } from '../../facts/use-configuration.ts'
import { moment, plural } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusIcon, wordOf } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { type Snapshot, SnapshotDifference, useDifferenceView } from '../../views/snapshot-difference.tsx'
import './configuration.css'

const route = getRouteApi('/components/$componentId/$configurationId')

export function VersionsTab({ place, current }: { place: ConfigurationPlace; current: number }) {
  const { version, to } = route.useSearch()
  const list = useLoad('configurations.versions', { path: place, query: { limit: 200 } })
  const jobs = useRuns(place, 100).data ?? []
  const from = version ?? String(Math.max(1, current - 1))
  const upTo = to ?? String(current)
  const jobsOf = (number: number) =>
    jobs.filter((job) => (job.result as { configVersion?: string }).configVersion === String(number))
  return (
    <div className="columns">
      <section className="card" aria-label="Differences">
        <Difference place={place} from={from} to={upTo} current={current} />
      </section>
      <section className="card" aria-labelledby="versions">
        <header>
          <h2 id="versions">Versions</h2>
        </header>
        <Loaded query={list}>
          {(all) => (
            <ul className="list versions">
              <li className="fine mute" aria-hidden="true">
                <span className="pick">from</span>
                <span className="pick">to</span>
              </li>
              {all.map((one) => (
                <li key={one.version} aria-current={String(one.version) === from ? 'true' : undefined}>
                  <VersionPick
                    label={`From version ${one.version}`}
                    name="version"
                    value={String(one.version)}
                    isChosen={String(one.version) === from}
                  />
                  <VersionPick
                    label={`To version ${one.version}`}
                    name="to"
                    value={String(one.version)}
                    isChosen={String(one.version) === upTo}
                  />
                  <span className="grow column">
                    <span className="medium">Version {one.version}</span>
                    <span className="fine mute">
                      {moment(one.created)}, {one.creatorToken.description}
                    </span>
                    <span className="fine">{one.changeDescription}</span>
                  </span>
                  <RunsOfVersion jobs={jobsOf(one.version)} />
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </section>
    </div>
  )
}

const MAX_RUNS = 5

/** The newest runs of a version, each as its status. */
const RunsOfVersion = ({ jobs }: { jobs: readonly Job[] }) =>
  jobs.length === 0 ? null : (
    <span className="column fine">
      <span className="mute nowrap">{plural(jobs.length, 'run')}</span>
      <span className="flex-row gap-1">
        {jobs.slice(0, MAX_RUNS).map(({ id, status }) => (
          <Link key={id} to="/jobs/$jobId" params={{ jobId: id }} title={`Job ${id}`} aria-label={`Job ${id}, ${wordOf(status)}`}>
            <StatusIcon status={status} />
          </Link>
        ))}
      </span>
    </span>
  )

function VersionPick({
  label,
  name,
  value,
  isChosen,
}: {
  label: string
  name: 'version' | 'to'
  value: string
  isChosen: boolean
}) {
  const navigate = useNavigate()
  return (
    <input
      type="radio"
      name={name}
      aria-label={label}
      title={label}
      checked={isChosen}
      onChange={() => void navigate({ to: '.', search: (before: object) => ({ ...before, [name]: value }), replace: true })}
    />
  )
}

function Difference({ place, from, to, current }: { place: ConfigurationPlace; from: string; to: string; current: number }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const name = useNames()(place.componentId, place.configurationId)
  const view = useDifferenceView()
  const isPreview = to === String(current)
  const before = useLoad('configurations.version', { path: { ...place, versionId: from } })
  const after = useLoad('configurations.version', { path: { ...place, versionId: to } })
  const rollBackTo = (versionId: string) => api.call('configurations.rollBack', { path: { ...place, versionId }, body: {} })
  const rollBack = useMutation({
    mutationFn: () => rollBackTo(from),
    onSuccess: async ({ version }) => {
      await queries.invalidateQueries()
      toast(`Version ${from} is restored, as version ${version}.`, async () => {
        await rollBackTo(String(current))
        await queries.invalidateQueries()
      })
    },
  })
  const copy = useMutation({
    mutationFn: () =>
      api.call('configurations.copy', {
        path: { ...place, versionId: from },
        body: { name: `${name}, version ${from}` },
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['configurations.browse'] })
      void navigate({ to: '/components/$componentId/$configurationId', params: { ...place, configurationId: id }, search: {} })
    },
  })
  return (
    <>
      <header className="wrap">
        <h2>{from === to ? `Version ${from}` : `From version ${from} to ${to}`}</h2>
        {view.choice}
        <ActButton needs="configurations.copy" className="button small" disabled={copy.isPending} onClick={() => copy.mutate()}>
          <Icon name="copy" size="small" />
          <span>Copy version {from}</span>
        </ActButton>
        {from === String(current) ? null : isPreview ? (
          <ActButton
            needs="configurations.rollBack"
            className="button small"
            disabled={rollBack.isPending}
            onClick={() => rollBack.mutate()}
          >
            <Icon name="history" size="small" />
            <span>Restore version {from}</span>
          </ActButton>
        ) : (
          <Link className="button small" to="." search={(search: object) => ({ ...search, version: from, to: String(current) })}>
            What bringing version {from} back would change
          </Link>
        )}
      </header>
      {[rollBack, copy].map(({ error }, index) => (error ? <Problem key={index === 0 ? 'back' : 'copy'} error={error} /> : null))}
      <Loaded query={before}>
        {(old) => (
          <Loaded query={after}>
            {(next) => (
              <SnapshotDifference
                before={old as unknown as Snapshot}
                after={next as unknown as Snapshot}
                isText={view.isText}
                note={isPreview ? `Restoring version ${from} undoes exactly these.` : ''}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  )
}
