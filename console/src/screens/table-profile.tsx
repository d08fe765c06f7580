// Counts of every column over all rows, worked out by a job and kept until the next one.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../../client/src/client.ts'
import type { Table } from '../../../client/src/operations.ts'
import { count, moment } from '../format.ts'
import { Teach } from '../listing.tsx'
import { Lines, useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { ListTable } from '../parts/list-table.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { finishStorageJob } from '../storage-job.ts'

interface Profile {
  readonly createdAt: string
  readonly profile: { readonly rowCount: number }
  readonly columns: readonly {
    readonly name: string
    readonly profile: { readonly nullCount: number; readonly distinctCount: number; readonly duplicateCount: number }
  }[]
}

export function TableProfile({ table }: { table: Table }) {
  const queries = useQueryClient()
  const input = { path: { tableId: table.id, uuid: 'latest' } }
  const query = useLoad('tables.getProfile', input)
  const make = useMutation({
    mutationFn: async () => finishStorageJob(await api.call('tables.profile', { path: { tableId: table.id } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tables.getProfile'] }),
  })
  const profile = query.data as Profile | undefined // described loosely
  const isMissing = query.error instanceof ApiError && query.error.status === 404
  return (
    <section className="card" aria-labelledby="profile">
      <header>
        <h2 id="profile">Profile</h2>
        {profile ? <span className="mute xs">of {moment(profile.createdAt)}</span> : null}
        <button type="button" className="btn sm push" disabled={make.isPending} onClick={() => make.mutate()}>
          <Icon name="refresh" size="sm" />
          <span>{profile ? 'Count again' : 'Count all rows'}</span>
        </button>
      </header>
      {make.error ? <Problem error={make.error} /> : null}
      {query.error && !isMissing ? <Problem error={query.error} /> : null}
      {query.isPending ? <Lines /> : null}
      {isMissing ? (
        <Teach>Nobody has counted yet: how many different values each column has, how many are missing, how many repeat.</Teach>
      ) : null}
      {profile ? <Columns profile={profile} /> : null}
    </section>
  )
}

const Columns = ({ profile: { profile, columns } }: { profile: Profile }) => (
  <ListTable
    label="Profile of the columns"
    columns={['Column', { num: 'Different values' }, { num: 'Missing' }, { num: 'Repeated' }, 'Filled']}
  >
    {columns.map(({ name, profile: { nullCount, distinctCount, duplicateCount } }) => (
      <tr key={name}>
        <td className="med">{name}</td>
        <td className="num">
          {distinctCount === profile.rowCount && distinctCount > 0 ? 'all different' : count(distinctCount)}
        </td>
        <td className="num">{count(nullCount)}</td>
        <td className="num">{count(duplicateCount)}</td>
        <td>
          <Filled share={profile.rowCount === 0 ? 0 : 1 - nullCount / profile.rowCount} />
        </td>
      </tr>
    ))}
  </ListTable>
)

const Filled = ({ share }: { share: number }) => (
  <span className="row">
    <span className="meter filled" aria-hidden="true">
      <i className="ok-f" style={{ width: `${share * 100}%` }} />
    </span>
    <span className="tn xs">{Math.round(share * 100)} %</span>
  </span>
)
