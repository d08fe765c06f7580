// With which projects a bucket is shared, and which of them have linked it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { moment, plural } from '../../format.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

export interface LinkedBy {
  readonly id: string
  readonly created: string
  readonly project: { readonly id: number; readonly name: string }
}

interface Shared {
  readonly id: string
  readonly sharing: string | null
  readonly linkedBy?: readonly LinkedBy[]
  readonly sharingParameters?: {
    readonly projects?: readonly { readonly id: number }[]
    readonly users?: readonly { readonly email: string }[]
  }
}

const WAYS: readonly (readonly [string, string])[] = [
  ['organization-project', 'every project of the stack'],
  ['organization', 'every person of the stack'],
  ['specific-projects', 'some projects'],
  ['specific-users', 'some people'],
]

const parts = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== '')

const targetsOf = ({ sharingParameters: { projects, users } = {} }: Shared): string =>
  (projects?.map(({ id }) => id) ?? users?.map(({ email }) => email) ?? []).join(', ')

export function BucketSharing({ bucket }: { bucket: Shared }) {
  const queries = useQueryClient()
  const id = useId()
  const path = { bucketId: bucket.id }
  const [way, setWay] = useState(bucket.sharing ?? WAYS[0]![0])
  const [targets, setTargets] = useState(() => targetsOf(bucket))
  const links = bucket.linkedBy ?? []
  const refresh = () => queries.invalidateQueries()
  const share = useMutation({
    mutationFn: async () => finishStorageJob(await start(path, way, parts(targets))),
    onSuccess: async () => {
      await refresh()
      toast(`${bucket.id} can be linked by others now.`)
    },
  })
  const unshare = async () => {
    await finishStorageJob(await api.call('buckets.unshare', { path }))
    await refresh()
    toast(`${bucket.id} is no longer shared.`)
  }
  const unlink = async ({ project }: LinkedBy) => {
    await api.call('buckets.forceUnlink', { path: { ...path, projectId: String(project.id) } })
    await refresh()
    toast(`${project.name} no longer has the bucket.`)
  }
  const isSome = way.startsWith('specific-')
  return (
    <section className="card" aria-labelledby="sharing">
      <header>
        <h2 id="sharing">Sharing</h2>
        <span className="push fine mute">
          {bucket.sharing === null ? 'not shared' : `linked by ${plural(links.length, 'project')}`}
        </span>
      </header>
      <Form onSubmit={() => share.mutate()}>
        <p className="soft">Who may link the bucket sees its tables as they are, and cannot change them.</p>
        <div className="field">
          <Label htmlFor={id}>With</Label>
          <select className="input" id={id} value={way} onChange={(event) => setWay(event.target.value)}>
            {WAYS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {isSome ? (
          <TextField
            label={way === 'specific-projects' ? 'Ids of the projects' : 'E-mail addresses'}
            value={targets}
            onChange={setTargets}
          />
        ) : null}
        {share.error ? <Problem error={share.error} /> : null}
        <ActButton
          type="submit"
          needs="buckets.shareToProjects"
          className="button"
          disabled={share.isPending || (isSome && parts(targets).length === 0)}
        >
          {bucket.sharing === null ? 'Share' : 'Change the sharing'}
        </ActButton>
      </Form>
      {links.length > 0 ? (
        <ul className="list">
          {links.map((link) => (
            <li key={link.project.id}>
              <span className="grow">
                {link.project.name} <span className="identifier">{link.id}</span>
                <span className="fine mute block">since {moment(link.created)}</span>
              </span>
              <ConfirmButton
                label="Unlink"
                name={link.project.name}
                needs="buckets.forceUnlink"
                effect={
                  <p>
                    Configurations of {link.project.name} that read {link.id} will fail from now on.
                  </p>
                }
                act={() => unlink(link)}
              />
            </li>
          ))}
        </ul>
      ) : null}
      {bucket.sharing === null ? null : (
        <div className="inset">
          <ConfirmButton
            label="Stop sharing"
            name={bucket.id}
            needs="buckets.unshare"
            className="button small"
            disabled={links.length > 0}
            effect={<p>No other project can link it any more. No project has linked it now.</p>}
            act={unshare}
          />
          {links.length > 0 ? <p className="hint">Unlink it first in the projects that use it.</p> : null}
        </div>
      )}
    </section>
  )
}

function start(path: { readonly bucketId: string }, way: string, targets: readonly string[]): Promise<unknown> {
  if (way === 'organization') return api.call('buckets.shareOrganization', { path })
  if (way === 'organization-project') return api.call('buckets.shareOrganizationProject', { path })
  if (way === 'specific-users') return api.call('buckets.shareToUsers', { path, body: { targetUsers: targets } })
  return api.call('buckets.shareToProjects', { path, body: { targetProjectIds: targets.map(Number) } })
}
