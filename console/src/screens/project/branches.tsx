// Development branches: what each changed, compared as versions are, and the request to merge it with its review.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Branch } from '../../../../client/src/operations.ts'
import { useNames } from '../../facts/names.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api, branchId as currentBranch } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { ReviewRule } from '../../views/review-rule.tsx'
import { type Snapshot, SnapshotDifference, useDifferenceView } from '../../views/snapshot-difference.tsx'

const route = getRouteApi('/branches/$branchId')

interface BranchChange {
  readonly componentId: string
  readonly configurationId: string
  readonly kind: string
  readonly isConflict: boolean
}

/** Answers have more members than their schema. */
interface MergeRequest {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly state: string
  readonly createdAt: string
  readonly creator: { readonly id: number; readonly name: string }
  readonly branches: { readonly branchFromId: number; readonly branchIntoId: number }
  readonly approvals: readonly { readonly approverName: string; readonly createdAt: string }[]
  readonly merge: { readonly mergedAt: string | null; readonly mergerName: string | null }
}

const STATES: Readonly<Record<string, readonly [string, string]>> = {
  development: ['created', 'Not sent yet'],
  in_review: ['waiting', 'In review'],
  approved: ['success', 'Approved'],
  in_merge: ['processing', 'Being merged'],
  published: ['success', 'Merged'],
  canceled: ['cancelled', 'Cancelled'],
}

const State = ({ state }: { state: string }) => {
  const [status, text] = STATES[state] ?? ['created', state]
  return <Status status={status} badge text={text} />
}

export function BranchesScreen() {
  const query = useLoad('branches.list')
  const requests = useRequests()
  const branches = (query.data ?? []).filter(({ isDefault }) => !isDefault)
  return (
    <Page
      title="Branches"
      crumbs={[{ name: 'Branches' }]}
      say={
        !query.data
          ? 'Branches'
          : branches.length === 0
            ? 'Everything happens in the default branch.'
            : `${plural(branches.length, 'branch', 'branches')} besides the default one.`
      }
      actions={
        <CreateButton label="New branch" needs="branches.create">
          {(close) => <NewBranch onClose={close} />}
        </CreateButton>
      }
    >
      <div className="stack-4">
        <Listing
          label="Branches"
          query={query}
          count={branches.length}
          teach="A branch is a copy of every configuration to work on without touching what runs. Its changes are compared, reviewed and merged."
        >
          <ul className="list">
            {branches.map((branch) => {
              const request = requests.find(({ branches: ids }) => ids.branchFromId === branch.id)
              return (
                <li key={branch.id} className="wrap">
                  <Icon name="branch" />
                  <Link className="medium" to="/branches/$branchId" params={{ branchId: String(branch.id) }}>
                    {branch.name}
                  </Link>
                  <span className="mute clip">{branch.description}</span>
                  <span className="push">{request ? <State state={request.state} /> : null}</span>
                  <span className="fine mute nowrap">{moment(branch.created)}</span>
                </li>
              )
            })}
          </ul>
        </Listing>
        <ReviewRule />
      </div>
    </Page>
  )
}

const useRequests = (): readonly MergeRequest[] =>
  (useLoad('mergeRequests.list').data ?? []) as unknown as readonly MergeRequest[]

function NewBranch({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: async () => finishStorageJob(await api.call('branches.create', { body: { name } })),
    onSuccess: async ({ results }) => {
      await queries.invalidateQueries({ queryKey: ['branches.list'] })
      void navigate({ to: '/branches/$branchId', params: { branchId: String((results as Branch).id) } })
    },
  })
  return (
    <Dialog title="New branch" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="branch-name">Name</Label>
          <input className="input" id="branch-name" required value={name} onChange={(event) => setName(event.target.value)} />
          <span className="hint">It begins as a copy of every configuration.</span>
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the branch
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

export function BranchScreen() {
  const { branchId } = route.useParams()
  const { config } = route.useSearch()
  const branch = useLoad('branches.get', { path: { branchId } })
  const changes = useLoad('branches.changes', { path: { branchId } })
  const nameOf = useNames()
  const list = (changes.data ?? []) as unknown as readonly BranchChange[]
  const keyOf = (change: BranchChange) => `${change.componentId} ${change.configurationId}`
  const shown = list.find((change) => keyOf(change) === config) ?? list[0]
  const conflicts = list.filter(({ isConflict }) => isConflict).length
  const name = branch.data?.name ?? branchId
  return (
    <Page
      title={name}
      isLoading={branch.isPending || changes.isPending}
      crumbs={[{ name: 'Branches', to: '/branches' }, { name }]}
      say={
        changes.data
          ? list.length === 0
            ? `${name} says the same as the default branch.`
            : `${name} changes ${plural(list.length, 'configuration')}${conflicts > 0 ? `, ${plural(conflicts, 'conflict')}` : ''}.`
          : name
      }
      sub={
        branch.data
          ? `${branch.data.description ? `${branch.data.description} · ` : ''}Created ${moment(branch.data.created)}.`
          : undefined
      }
      actions={
        <>
          {branch.data ? <ChangeBranch branch={branch.data} /> : null}
          <DeleteBranch branchId={branchId} name={name} changeCount={list.length} />
          <Link className="button primary" to="/components" search={{ branch: Number(branchId) }}>
            <Icon name="edit" />
            <span>Work in this branch</span>
          </Link>
        </>
      }
    >
      <div className="columns">
        <section className="card" aria-label="Difference to the default branch">
          <Loaded query={changes}>
            {() =>
              shown ? <Compared branchId={branchId} change={shown} /> : <p className="inset mute">Nothing to compare yet.</p>
            }
          </Loaded>
        </section>
        <div className="stack-4">
          <MergeRequestCard branchId={branchId} changeCount={list.length} />
          {list.length > 0 ? (
            <section className="card" aria-labelledby="changed">
              <header>
                <h2 id="changed">Changed</h2>
              </header>
              <ul className="list">
                {list.map((change) => (
                  <li key={keyOf(change)} aria-current={change === shown ? 'true' : undefined}>
                    {change.isConflict ? <Icon name="st-warn" /> : null}
                    <Link to="." search={() => ({ config: keyOf(change) })}>
                      {change.kind === 'created' ? (
                        <CreatedName branchId={branchId} change={change} />
                      ) : (
                        nameOf(change.componentId, change.configurationId)
                      )}
                    </Link>
                    <span className="push fine mute">{change.isConflict ? 'conflict' : change.kind}</span>
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
        </div>
      </div>
    </Page>
  )
}

function ChangeBranch({ branch }: { branch: Branch }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActButton needs="branches.update" className="button ghost" onClick={() => setOpen(true)}>
        Rename
      </ActButton>
      {isOpen ? <ChangeBranchDialog branch={branch} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function ChangeBranchDialog({ branch, onClose }: { branch: Branch; onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState(branch.name)
  const [description, setDescription] = useState(branch.description)
  const save = useMutation({
    mutationFn: () => api.call('branches.update', { path: { branchId: String(branch.id) }, body: { name, description } }),
    onSuccess: async () => {
      await Promise.all(['branches.get', 'branches.list'].map((one) => queries.invalidateQueries({ queryKey: [one] })))
      onClose()
      toast('Saved.')
    },
  })
  return (
    <Dialog title="Change the branch" onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <div className="field">
          <Label htmlFor="new-branch-name">Name</Label>
          <input className="input" id="new-branch-name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <Label htmlFor="branch-description">Description</Label>
          <input
            className="input"
            id="branch-description"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </div>
        <DialogEnd error={save.error} isPending={save.isPending} onClose={onClose}>
          Save
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

/** Only the branch has the name of what was created in it. */
function CreatedName({ branchId, change: { componentId, configurationId } }: { branchId: string; change: BranchChange }) {
  const { data } = useLoad('branchConfigurations.diff', { path: { branch: branchId, componentId, configurationId } })
  return data?.ours.name ?? configurationId
}

/** A screen cannot work in a branch that has ended. */
const leaving = (ended: string) => (ended === currentBranch() ? { branch: undefined } : {})

function DeleteBranch({ branchId, name, changeCount }: { branchId: string; name: string; changeCount: number }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await finishStorageJob(await api.call('branches.delete', { path: { branchId } }))
    await queries.invalidateQueries({ queryKey: ['branches.list'] })
    toast(`Deleted ${name}.`)
    void navigate({ to: '/branches', search: leaving(branchId) })
  }
  return (
    <ConfirmButton
      label="Delete the branch"
      name={name}
      needs="branches.delete"
      className="button ghost"
      typed={name}
      effect={
        <>
          <p>
            {changeCount === 0
              ? 'It changes nothing against the default branch.'
              : `Its changes of ${plural(changeCount, 'configuration')} are lost: nothing of them is merged.`}
          </p>
          <p>The buckets, tables and files of the branch are deleted with it, and its merge request is cancelled.</p>
        </>
      }
      act={remove}
    />
  )
}

/** A configuration of the branch beside its present content in the default branch. */
function Compared({ branchId, change }: { branchId: string; change: BranchChange }) {
  const queries = useQueryClient()
  const nameOf = useNames()
  const view = useDifferenceView()
  const path = { branch: branchId, componentId: change.componentId, configurationId: change.configurationId }
  const query = useLoad('branchConfigurations.diff', { path })
  const reset = useMutation({
    mutationFn: () => api.call('branchConfigurations.reset', { path }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      toast('The branch says the same as the default branch again.')
    },
  })
  return (
    <>
      <header className="wrap">
        <h2>{query.data?.ours.name ?? nameOf(change.componentId, change.configurationId)}</h2>
        <span className="mute fine">from the default branch to this one</span>
        {view.choice}
        {change.kind === 'changed' ? (
          <ActButton
            needs="branchConfigurations.reset"
            className="button small"
            disabled={reset.isPending}
            onClick={() => reset.mutate()}
          >
            Revert the changes
          </ActButton>
        ) : null}
      </header>
      {reset.error ? <Problem error={reset.error} /> : null}
      {change.isConflict ? (
        <div className="inset">
          <div className="note warn">
            <Icon name="st-warn" />
            <p>The default branch changed it too since this branch began. A merge is refused until one side is changed.</p>
          </div>
        </div>
      ) : null}
      <Loaded query={query}>
        {({ ours, theirs }) => (
          <SnapshotDifference
            before={theirs as unknown as Snapshot | null}
            after={change.kind === 'deleted' ? null : (ours as unknown as Snapshot)}
            isText={view.isText}
            note="A merge brings exactly these."
          />
        )}
      </Loaded>
    </>
  )
}

/** Without a review, where the project requires none. */
function DirectMerge({ branchId, changeCount }: { branchId: string; changeCount: number }) {
  const queries = useQueryClient()
  const settings = useLoad('mergeRequests.settings')
  if (!settings.data) return null
  const required = settings.data.requiredApprovals
  if (required !== null)
    return (
      <p className="inset fine mute">
        This project merges branches by requests with {plural(required, 'approval')}. <Link to="/settings">Change the rule</Link>
      </p>
    )
  const merge = async () => {
    await finishStorageJob(await api.call('branches.merge', { path: { branchId } }))
    await queries.invalidateQueries()
    toast('Merged into the default branch.')
  }
  return (
    <div className="inset stack-2">
      <p className="fine mute">This project requires no review. A merge request lets others look at the changes first.</p>
      <div className="flex-row">
        <ConfirmButton
          label="Merge without a review"
          name="into the default branch"
          needs="branches.merge"
          className="button"
          disabled={changeCount === 0}
          effect={
            <p>
              {plural(changeCount, 'configuration')} of the default branch will be changed, each as a new version that can be
              rolled back. The branch is kept.
            </p>
          }
          act={merge}
        />
      </div>
    </div>
  )
}

type Step = 'request-review' | 'approve' | 'request-changes' | 'merge'

function MergeRequestCard({ branchId, changeCount }: { branchId: string; changeCount: number }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const branches = useLoad('branches.list').data ?? []
  const open = useRequests().filter(({ branches: ids, state }) => String(ids.branchFromId) === branchId && state !== 'canceled')
  const request = open.at(-1)
  const detail = useLoad(
    'mergeRequests.get',
    request?.state === 'in_review' ? { path: { id: String(request.id) }, query: { include: 'approval' } } : undefined,
  )
  const refusal = (detail.data as { readonly approvalRefusal?: string | null } | undefined)?.approvalRefusal ?? undefined
  const [title, setTitle] = useState('')
  const [reason, setReason] = useState('')
  const refresh = () => queries.invalidateQueries()
  const create = useMutation({
    mutationFn: () =>
      api.call('mergeRequests.create', {
        body: {
          title,
          branchFromId: Number(branchId),
          branchIntoId: branches.find(({ isDefault }) => isDefault)?.id ?? 0,
        },
      }),
    onSuccess: refresh,
  })
  const move = useMutation({
    mutationFn: async (step: Step) => {
      const path = { id: String(request!.id) }
      if (step === 'merge') return finishStorageJob(await api.call('mergeRequests.merge', { path }))
      return api.call(`mergeRequests.${step}`, { path, body: reason ? { reason } : {} })
    },
    onSuccess: async (_, step) => {
      setReason('')
      if (step === 'merge') {
        toast('Merged into the default branch.')
        await navigate({ to: '/branches', search: leaving(branchId) }) // the branch has ended with it
      }
      await refresh()
    },
  })
  const button = (step: Step, text: string, isMain = false) => (
    <ActButton
      needs="mergeRequests.approve"
      className={isMain ? 'button primary' : 'button'}
      disabled={move.isPending || (step === 'approve' && refusal !== undefined)}
      title={step === 'approve' ? refusal : undefined}
      onClick={() => move.mutate(step)}
    >
      {text}
    </ActButton>
  )
  return (
    <section className="card" aria-labelledby="request">
      <header>
        <h2 id="request">Merge request</h2>
        <span className="push">{request ? <State state={request.state} /> : null}</span>
      </header>
      {request ? (
        <div className="inset stack-3">
          <p className="medium">{request.title}</p>
          <p className="fine mute">
            By {request.creator.name}, {moment(request.createdAt)}.
          </p>
          {request.approvals.map(({ approverName, createdAt }) => (
            <p key={`${approverName} ${createdAt}`} className="good status">
              <Icon name="st-ok" />
              {approverName} approved, {moment(createdAt)}
            </p>
          ))}
          {request.state === 'in_review' ? (
            <div className="field">
              <Label htmlFor="reason">What you found</Label>
              <textarea
                className="input"
                id="reason"
                rows={2}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </div>
          ) : null}
          <div className="flex-row wrap">
            {request.state === 'development' ? button('request-review', 'Request a review', true) : null}
            {request.state === 'in_review' ? button('approve', 'Approve', true) : null}
            {request.state === 'in_review' || request.state === 'approved' ? button('request-changes', 'Request changes') : null}
            {request.state === 'approved' ? button('merge', 'Merge', true) : null}
          </div>
          {request.state === 'in_review' && refusal ? <p className="fine mute">{refusal}</p> : null}
          {request.merge.mergedAt ? (
            <p className="fine mute">
              Merged {moment(request.merge.mergedAt)} by {request.merge.mergerName}.
            </p>
          ) : null}
        </div>
      ) : (
        <Form onSubmit={() => create.mutate()}>
          <div className="field">
            <Label htmlFor="request-title">What it is for</Label>
            <input
              className="input"
              id="request-title"
              required
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          </div>
          <button type="submit" className="button primary" disabled={create.isPending || changeCount === 0}>
            Create a merge request
          </button>
          {create.error ? <Problem error={create.error} /> : null}
        </Form>
      )}
      {move.error ? <Problem error={move.error} /> : null}
      {request === undefined || request.state !== 'in_merge' ? (
        <DirectMerge branchId={branchId} changeCount={changeCount} />
      ) : null}
    </section>
  )
}
