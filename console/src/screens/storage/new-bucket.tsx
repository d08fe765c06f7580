// A new bucket, or one that another project shares and this one links.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

interface SharedBucket {
  readonly id: string
  readonly project: { readonly id: number; readonly name: string }
}

export const NewBucket = () => (
  <CreateButton label="New bucket" needs="buckets.create" isSecond>
    {(close) => <NewBucketDialog onClose={close} />}
  </CreateButton>
)

function NewBucketDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const ids = [useId(), useId(), useId(), useId()] as const
  const shared = (useLoad('buckets.listShared', { query: {} }).data ?? []) as readonly SharedBucket[] // described loosely
  const [source, setSource] = useState('')
  const [stage, setStage] = useState('in')
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const keyOf = (one: SharedBucket) => `${one.project.id} ${one.id}`
  const linked = shared.find((one) => keyOf(one) === source)
  const create = useMutation({
    mutationFn: async () => {
      const body = linked
        ? { stage, name, sourceProjectId: linked.project.id, sourceBucketId: linked.id }
        : { stage, name, ...(description === '' ? {} : { description }) }
      return (await api.call('buckets.create', { body })) as { readonly id: string } // not as a job
    },
    onSuccess: async ({ id }) => {
      for (const name of ['buckets.list', 'buckets.browse', 'tables.browse', 'tables.totals'])
        await queries.invalidateQueries({ queryKey: [name] })
      toast(linked ? `${id} shows ${linked.id} of ${linked.project.name}.` : `Created ${id}.`)
      await navigate({ to: '/buckets/$bucketId', params: { bucketId: id } })
    },
  })
  return (
    <Dialog title="New bucket" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        {shared.length > 0 ? (
          <div className="field">
            <Label htmlFor={ids[0]}>Shows</Label>
            <select className="input" id={ids[0]} value={source} onChange={(event) => setSource(event.target.value)}>
              <option value="">tables of its own</option>
              {shared.map((one) => (
                <option key={keyOf(one)} value={keyOf(one)}>
                  {one.id} of {one.project.name}
                </option>
              ))}
            </select>
          </div>
        ) : null}
        <div className="two-fields">
          <div className="field">
            <Label htmlFor={ids[1]}>Stage</Label>
            <select className="input" id={ids[1]} value={stage} onChange={(event) => setStage(event.target.value)}>
              <option value="in">in: what comes from outside</option>
              <option value="out">out: what is made here</option>
            </select>
          </div>
          <div className="field">
            <Label htmlFor={ids[2]}>Name</Label>
            <input className="input mono" id={ids[2]} required value={name} onChange={(event) => setName(event.target.value)} />
            <span className="hint">{`Its id will be ${stage}.c-${name || 'name'}.`}</span>
          </div>
        </div>
        {linked ? null : (
          <div className="field">
            <Label htmlFor={ids[3]}>Description</Label>
            <input className="input" id={ids[3]} value={description} onChange={(event) => setDescription(event.target.value)} />
          </div>
        )}
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          {linked ? 'Link the bucket' : 'Create the bucket'}
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
