// Backups: the plan, those that were made, one now, and whether one becomes a stack again.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Backups as AllBackups, Backup } from '../../../../client/src/operations.ts'
import { moment, parseTime, plural, took } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

/** There is no live change for the progress of a backup. */
const AGAIN_MS = 2000

const isBusy = ({ backups }: AllBackups): boolean =>
  backups.some(({ state, restoreTest }) => state === 'running' || restoreTest?.state === 'running')

const STATES: Readonly<Record<string, readonly [status: string, text: string]>> = {
  running: ['processing', 'Running'],
  good: ['success', 'Good'],
  failed: ['error', 'Failed'],
  damaged: ['error', 'Damaged'],
  interrupted: ['terminated', 'Interrupted'],
  removed: ['skipped', 'Removed, newer ones exist'],
  filesOnly: ['warning', 'Files are whole'],
}

const State = ({ state }: { state: string }) => {
  const [status, text] = STATES[state] ?? [state, state]
  return <Status status={status} text={text} />
}

const NO_PLACE =
  'No location for backups is configured. Set MILLRACE_BACKUP_FOLDER or the environment variables MILLRACE_BACKUP_S3_*.'

export function Backups() {
  const queries = useQueryClient()
  const query = useLoad('operations.backups', {}, { again: (data) => (isBusy(data) ? AGAIN_MS : false) })
  const refresh = () => queries.invalidateQueries({ queryKey: ['operations.backups'] })
  const start = useMutation({
    mutationFn: () => api.call('operations.backUp'),
    onSuccess: async () => {
      await refresh()
      toast('The backup has begun. The stack goes on working.')
    },
  })
  const test = useMutation({
    mutationFn: (id: number) => api.call('operations.testRestore', { path: { id: String(id) } }),
    onSuccess: async () => {
      await refresh()
      toast('The restore test has begun, in a folder of its own.')
    },
  })
  const plan = query.data?.plan
  const isRunning = query.data?.backups.some(({ state }) => state === 'running') ?? false
  return (
    <section className="card" aria-labelledby="backups">
      <header>
        <h2 id="backups">Backups</h2>
        <ActButton
          needs="operations.backUp"
          className="button small push"
          disabled={!plan || isRunning || start.isPending}
          title={plan ? undefined : NO_PLACE}
          onClick={() => start.mutate()}
        >
          Run a backup now
        </ActButton>
      </header>
      <Loaded query={query} skeleton={<Lines count={3} />}>
        {({ backups }) => (
          <>
            <p className="inset soft">{plan ? planOf(plan) : `${NO_PLACE} The command millrace backup needs no place.`}</p>
            {start.error ? <Problem error={start.error} /> : null}
            {test.error ? <Problem error={test.error} /> : null}
            {backups.length === 0 ? (
              <p className="inset mute">No backup was ever made.</p>
            ) : (
              <ListTable label="Backups" columns={['Started', 'State', 'Took', 'Where', 'Restore test', { hidden: 'Test' }]}>
                {backups.map((backup) => (
                  <BackupRow
                    key={backup.id}
                    backup={backup}
                    isBusy={test.isPending || backups.some(({ restoreTest }) => restoreTest?.state === 'running')}
                    onTest={() => test.mutate(backup.id)}
                  />
                ))}
              </ListTable>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

const planOf = ({ place, everyHours, keep, withKey }: NonNullable<AllBackups['plan']>): string =>
  `Every ${everyHours === 1 ? 'hour' : `${everyHours} hours`} to ${place === 's3' ? 'the bucket for backups' : place}; the newest ${plural(keep, 'backup')} ${keep === 1 ? 'is' : 'are'} kept, ${withKey ? 'with' : 'without'} the root key.`

const BackupRow = ({ backup, isBusy, onTest }: { backup: Backup; isBusy: boolean; onTest: () => void }) => {
  const { startedAt, endedAt, state, isPlanned, folder, error, restoreTest } = backup
  return (
    <tr>
      <td className="nowrap">
        {moment(startedAt)}
        <span className="fine mute block">{isPlanned ? 'by the plan' : 'on request'}</span>
      </td>
      <td className="said">
        <State state={state} />
        {error ? <span className="fine block">{error}</span> : null}
      </td>
      <td className="nowrap tabular">
        {endedAt ? took((parseTime(endedAt).getTime() - parseTime(startedAt).getTime()) / 1000) : ''}
      </td>
      <td className="identifier">{folder}</td>
      <td className="said">
        {restoreTest ? (
          <>
            <State state={restoreTest.state} />
            <span className="fine mute block">
              {moment(restoreTest.endedAt ?? restoreTest.startedAt)}. {restoreTest.note}
            </span>
          </>
        ) : (
          <span className="mute">not tried</span>
        )}
      </td>
      <td>
        {state === 'good' ? (
          <ActButton
            needs="operations.testRestore"
            className="button small"
            aria-label={`Test the restore of ${folder}`}
            disabled={isBusy}
            onClick={onTest}
          >
            Test the restore
          </ActButton>
        ) : null}
      </td>
    </tr>
  )
}
