// Operations: how the stack is doing, and what happened on it. For stack admins.

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { LEVEL_STATES } from '../../facts/level-states.ts'
import { moment, plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, useFirstLoads, useLoad } from '../../load.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { usePerson } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { Nodes } from '../../views/nodes.tsx'
import './project.css'

const route = getRouteApi('/operations')
const AUDIT_LIMIT = 100

export const OperationsScreen = () => (usePerson()?.account.isStackAdmin ? <Operations /> : <ForAdmins />)

const ForAdmins = () => (
  <Page title="Operations" crumbs={[{ name: 'Operations' }]} say="Operations are for the admins of the stack.">
    <section className="card" aria-label="Operations">
      <Teach>
        Disk, database, queues, backups and who did what: they concern every project, so no token of a project shows them. Sign in
        as a stack admin.
      </Teach>
    </section>
  </Page>
)

function Operations() {
  const status = useLoad('operations.status')
  const bad = status.data?.checks.filter(({ level }) => level !== 'ok') ?? []
  return (
    <Page
      title="Operations"
      isLoading={useFirstLoads()}
      crumbs={[{ name: 'Operations' }]}
      say={
        !status.data
          ? 'Operations'
          : bad.length === 0
            ? 'The stack is well.'
            : `${plural(bad.length, 'check wants', 'checks want')} attention.`
      }
      sub={status.data ? `Version ${status.data.version}, looked at ${moment(status.data.at)}.` : undefined}
      actions={
        <>
          <Link className="button" to="/settings" search={{ tab: 'stack' }}>
            Settings and backups
          </Link>
          <button type="button" className="button" onClick={() => void status.refetch()}>
            Look again
          </button>
        </>
      }
    >
      <div className="stack-4">
        <section className="card" aria-label="Checks">
          <Loaded query={status} skeleton={<Lines count={8} />}>
            {({ checks }) => (
              <ul className="list checks">
                {checks
                  .toSorted((a, b) => rankOf(a.level) - rankOf(b.level))
                  .map(({ check, level, text, facts }) => (
                    <li key={check}>
                      <StatusIcon status={LEVEL_STATES[level] ?? level} />
                      <span className="medium check-name">{NAMES[check] ?? check}</span>
                      <div className="grow">
                        <span className="soft">{text}</span>
                        <Details facts={facts} />
                      </div>
                      {level === 'ok' ? null : (
                        <span className="push">
                          <Status
                            status={LEVEL_STATES[level] ?? level}
                            badge
                            text={level === 'problem' ? 'Fix it' : 'Look at it'}
                          />
                        </span>
                      )}
                    </li>
                  ))}
              </ul>
            )}
          </Loaded>
        </section>
        <Nodes />
        <Audit />
      </div>
    </Page>
  )
}

const NAMES: Readonly<Record<string, string>> = {
  disk: 'Disk',
  database: 'Database',
  objectStore: 'Object store',
  'queue.jobs': 'Queue of jobs',
  'queue.storage': 'Queue of storage',
  clocks: 'Clocks of the nodes',
  backup: 'Backup',
  schedules: 'Schedules',
  components: 'Components',
  certificate: 'Certificate',
  nodes: 'Nodes',
}

interface Facts {
  readonly stopped?: readonly { readonly projectId: number; readonly configurationId: string; readonly reason: string }[]
  readonly problems?: readonly string[]
  readonly lastAt?: string | null
  readonly restoredAt?: string | null
  readonly verifiedAt?: string | null
}

/** What a person needs to act on a check. */
function Details({ facts }: { facts: Facts }) {
  const { stopped = [], problems = [], lastAt, restoredAt, verifiedAt } = facts
  const lines = [
    ...stopped.map((one) => `Project ${one.projectId}, ${one.configurationId}: ${one.reason}`),
    ...problems,
    ...(lastAt ? [`The last backup is of ${moment(lastAt)}.`] : []),
    ...(verifiedAt ? [`A restore was last tried and found good ${moment(verifiedAt)}.`] : []),
    ...(verifiedAt === null ? ['No restore was ever tried. Start a restore test in the settings of the stack.'] : []),
    ...(restoredAt ? [`This stack was restored from a backup ${moment(restoredAt)}.`] : []),
  ]
  if (lines.length === 0) return null
  return (
    <ul className="fine mute">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

const rankOf = (level: string): number => ['problem', 'warning', 'ok'].indexOf(level)

function Audit() {
  const { who = '', what = '', logs } = route.useSearch()
  const navigate = useNavigate({ from: '/operations' })
  const query = useLoad('operations.audit', {
    query: { limit: AUDIT_LIMIT, logs: logs !== undefined, ...(who !== '' && { who }), ...(what !== '' && { what }) },
  })
  return (
    <section className="card" aria-labelledby="audit">
      <header className="wrap">
        <h2 id="audit">Who did what</h2>
        <span className="push flex-row wrap audit-fields">
          <label className="check-line">
            <input
              type="checkbox"
              checked={logs !== undefined}
              onChange={({ target }) =>
                void navigate({ search: (old) => ({ ...old, logs: target.checked ? 'true' : undefined }), replace: true })
              }
            />
            With lines of job logs
          </label>
          <FilterField
            label="Part of a name"
            value={who}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, who: value }), replace: true })}
          />
          <FilterField
            label="Beginning of an event"
            value={what}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, what: value }), replace: true })}
          />
        </span>
      </header>
      <Loaded query={query} skeleton={<Lines count={8} />}>
        {(entries) =>
          entries.length === 0 ? (
            <p className="inset mute">No matching events.</p>
          ) : (
            <ListTable label="Events of all projects" columns={['When', 'Who', 'What', 'Event', { num: 'Project' }]}>
              {entries.map((entry) => (
                <tr key={entry.id}>
                  <td className="nowrap tabular">{moment(entry.at)}</td>
                  <td className="nowrap">{entry.who.description}</td>
                  <td className="said">{entry.message}</td>
                  <td className="identifier">{entry.event}</td>
                  <td className="numeric">{entry.projectId}</td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Loaded>
    </section>
  )
}
