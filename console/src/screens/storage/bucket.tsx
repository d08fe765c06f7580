// A bucket: its tables, what it is called and who answers for it, with whom it is shared, and the end of it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Bucket, Table } from '../../../../client/src/operations.ts'
import { bytes, count, moment, plural } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { DeletionEffect } from '../../views/deletion-effect.tsx'
import { BucketSharing, type LinkedBy } from './bucket-sharing.tsx'

const route = getRouteApi('/buckets/$bucketId')

/** Answers have more members than their schema. */
export interface BucketDetail extends Bucket {
  readonly tables: readonly Table[]
  readonly isLinkedBucket: boolean
  readonly owner: { readonly name: string; readonly email: string | null } | null
  readonly linkedBy?: readonly LinkedBy[]
  readonly sharingParameters?: {
    readonly projects?: readonly { readonly id: number }[]
    readonly users?: readonly { readonly email: string }[]
  }
  readonly sourceBucket?: { readonly id: string; readonly project: { readonly id: number; readonly name: string } }
}

export function BucketScreen() {
  const { bucketId } = route.useParams()
  const query = useLoad('buckets.get', { path: { bucketId }, query: {} })
  const bucket = query.data as BucketDetail | undefined
  const name = bucket?.displayName ?? bucketId
  return (
    <Page
      title={name}
      about={{ bucketId }}
      crumbs={[{ name: 'Storage', to: '/storage' }, { name: bucketId }]}
      above={
        <>
          {bucket?.isLinkedBucket ? <span className="tag-label">linked</span> : null}
          {bucket?.sharing ? <span className="tag-label">shared</span> : null}
          <span className="identifier">{bucketId}</span>
          <CopyButton text={bucketId} label="Copy id" />
        </>
      }
      say={bucket ? sentenceOf(bucket) : name}
      sub={bucket?.description || undefined}
      actions={
        bucket ? (
          <>
            <DeleteBucket bucket={bucket} />
            {bucket.isLinkedBucket ? null : (
              <ActLink needs="tables.createAsync" className="button primary" to="/upload" search={{ bucket: bucketId }}>
                <Icon name="upload" />
                <span>New table</span>
              </ActLink>
            )}
          </>
        ) : undefined
      }
    >
      <Loaded query={query} skeleton={<Lines count={8} />}>
        {(data) => {
          const loaded = data as BucketDetail // as above
          return (
            <div className="columns">
              <section className="card" aria-label="Tables">
                <Tables tables={loaded.tables} />
              </section>
              <div className="stack-4">
                <Described key={`${loaded.displayName} ${loaded.description} ${loaded.owner?.email}`} bucket={loaded} />
                {loaded.sourceBucket ? (
                  <section className="card" aria-label="Source">
                    <p className="inset soft">
                      Shows <span className="identifier">{loaded.sourceBucket.id}</span> of the project{' '}
                      {loaded.sourceBucket.project.name}, always as it is there.
                    </p>
                  </section>
                ) : (
                  <BucketSharing bucket={loaded} />
                )}
              </div>
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

function sentenceOf({ displayName, tables, rowsCount, dataSizeBytes }: BucketDetail): string {
  if (tables.length === 0) return `${displayName} is empty.`
  return `${displayName}: ${plural(tables.length, 'table')}, ${plural(rowsCount, 'row')}, ${bytes(dataSizeBytes)}.`
}

const Tables = ({ tables }: { tables: readonly Table[] }) =>
  tables.length === 0 ? (
    <Teach>A bucket groups tables that belong together, and is what tokens get rights for. This one has no table yet.</Teach>
  ) : (
    <ListTable label="Tables" columns={['Table', { num: 'Rows' }, { num: 'Size' }, 'Last change']}>
      {tables.map((table) => (
        <tr key={table.id}>
          <td>
            <Link className="medium" to="/storage/$tableId" params={{ tableId: table.id }}>
              {table.displayName}
            </Link>{' '}
            {table.isAlias ? <span className="tag-label">alias</span> : null}
          </td>
          <td className="numeric">{table.rowsCount === null ? <i className="null">unknown</i> : count(table.rowsCount)}</td>
          <td className="numeric">{bytes(table.dataSizeBytes ?? 0)}</td>
          <td className="mute nowrap">{table.lastChangeDate ? moment(table.lastChangeDate) : 'never loaded'}</td>
        </tr>
      ))}
    </ListTable>
  )

interface Named {
  readonly displayName: string
  readonly description: string
  readonly owner: string
}

function Described({ bucket }: { bucket: BucketDetail }) {
  const queries = useQueryClient()
  const ids = [useId(), useId(), useId()] as const
  const path = { bucketId: bucket.id }
  const before: Named = {
    displayName: bucket.displayName,
    description: bucket.description,
    owner: bucket.owner?.email ?? '',
  }
  const [named, setNamed] = useState(before)
  const write = async (from: Named, to: Named) => {
    if (from.displayName !== to.displayName) await api.call('buckets.update', { path, body: { displayName: to.displayName } })
    if (from.description !== to.description)
      await api.call('buckets.setMetadata', {
        path,
        body: { provider: 'user', metadata: [{ key: 'KBC.description', value: to.description }] },
      })
    if (from.owner !== to.owner && to.owner !== '') await api.call('buckets.setOwner', { path, body: { email: to.owner } })
    await queries.invalidateQueries()
  }
  const save = useMutation({
    mutationFn: () => write(before, named).then(() => before), // of now: when it is done, this is drawn with what was saved
    onSuccess: (was) => toast('Saved.', () => write(named, was)),
  })
  const isSame = Object.entries(before).every(([key, value]) => named[key as keyof Named] === value)
  return (
    <section className="card" aria-labelledby="about-bucket">
      <header>
        <h2 id="about-bucket">About the bucket</h2>
      </header>
      <Form onSubmit={() => save.mutate()}>
        <div className="field">
          <Label htmlFor={ids[0]}>Name</Label>
          <input
            className="input"
            id={ids[0]}
            required
            value={named.displayName}
            onChange={(event) => setNamed({ ...named, displayName: event.target.value })}
          />
          <span className="hint">For people. The id cannot change.</span>
        </div>
        <div className="field">
          <Label htmlFor={ids[1]}>Description</Label>
          <textarea
            className="input"
            id={ids[1]}
            rows={3}
            value={named.description}
            onChange={(event) => setNamed({ ...named, description: event.target.value })}
          />
        </div>
        <div className="field">
          <Label htmlFor={ids[2]}>Owner</Label>
          <input
            className="input"
            id={ids[2]}
            type="email"
            placeholder="e-mail of a person of the project"
            value={named.owner}
            onChange={(event) => setNamed({ ...named, owner: event.target.value })}
          />
          <span className="hint">Whom to ask. It gives no rights.</span>
        </div>
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton type="submit" needs="buckets.update" className="button" disabled={save.isPending || isSame}>
          Save
        </ActButton>
      </Form>
    </section>
  )
}

function DeleteBucket({ bucket }: { bucket: BucketDetail }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const hasRows = bucket.tables.length > 0 && !bucket.isLinkedBucket
  const remove = async () => {
    await api.call('buckets.delete', { path: { bucketId: bucket.id }, query: { force: true } })
    await navigate({ to: '/storage' })
    queries.removeQueries({ queryKey: ['buckets.get'] })
    await queries.invalidateQueries()
    toast(`${bucket.id} is deleted.`)
  }
  return (
    <ConfirmButton
      label={bucket.isLinkedBucket ? 'Unlink the bucket' : 'Delete the bucket'}
      name={bucket.id}
      needs="buckets.delete"
      className="button ghost"
      {...(hasRows ? { typed: bucket.id } : {})}
      effect={<Planned bucket={bucket} />}
      act={remove}
    />
  )
}

function Planned({ bucket }: { bucket: BucketDetail }) {
  const query = useLoad('buckets.delete', { path: { bucketId: bucket.id }, query: { force: true, dryRun: true } })
  if (bucket.isLinkedBucket) return <p>The bucket that it shows is kept, in the project that shares it.</p>
  return <DeletionEffect query={query} />
}
