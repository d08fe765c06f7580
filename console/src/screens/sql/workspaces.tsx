// Workspaces: SQL databases of one's own beside the storage. Connect to one, load tables into it, look at what it holds.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { Sandbox } from '../../../../client/src/operations.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { tableNameOf } from '../../facts/table-id.ts'
import { moment, plural, until } from '../../format.ts'
import { Cards } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { TableSelect } from '../../views/table-select.tsx'

export function WorkspacesScreen() {
  const query = useLoad('sandboxes.list')
  const all = query.data ?? []
  const active = all.filter((one) => one.active).length
  return (
    <Page
      title="Workspaces"
      crumbs={[{ name: 'Workspaces' }]}
      say={
        !query.data
          ? 'Workspaces'
          : all.length === 0
            ? 'There is no workspace yet.'
            : `${plural(all.length, 'workspace')}, ${active === all.length ? 'all active' : `${active} active`}.`
      }
      actions={
        <CreateButton label="New workspace" needs="sandboxes.create">
          {(close) => <NewWorkspace onClose={close} />}
        </CreateButton>
      }
    >
      <Cards
        label="Workspaces"
        query={query}
        count={all.length}
        teach="A workspace is a database of your own: load tables into it, try SQL with any program, and nothing in the storage changes."
      >
        {all.map((one) => (
          <Workspace key={one.id} sandbox={one} />
        ))}
      </Cards>
    </Page>
  )
}

const LIVES: readonly (readonly [string, string])[] = [
  ['24', 'a day'],
  ['168', 'a week'],
  ['720', '30 days'],
  ['0', 'until it is deleted'],
]

function NewWorkspace({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const ids = [useId(), useId()] as const
  const [hours, setHours] = useState('168')
  const [isShared, setShared] = useState(false)
  const create = useMutation({
    mutationFn: () =>
      api.call('sandboxes.create', { body: { type: 'duckdb', shared: isShared, expirationAfterHours: Number(hours) } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sandboxes.list'] })
      toast('The workspace is ready.')
      onClose()
    },
  })
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor={ids[0]}>Kept for</Label>
          <select className="input" id={ids[0]} value={hours} onChange={(event) => setHours(event.target.value)}>
            {LIVES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <label className="flex-row" htmlFor={ids[1]}>
          <input type="checkbox" id={ids[1]} checked={isShared} onChange={(event) => setShared(event.target.checked)} />
          Everyone in the project can use it
        </label>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the workspace
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

function Workspace({ sandbox }: { sandbox: Sandbox }) {
  const queries = useQueryClient()
  const path = { id: sandbox.id }
  const refresh = () => queries.invalidateQueries({ queryKey: ['sandboxes.list'] })
  const change = useMutation({
    mutationFn: (what: 'activate' | 'deactivate') => api.call(`sandboxes.${what}`, { path }),
    onSuccess: async (_, what) => {
      await refresh()
      toast({ activate: 'Switched on.', deactivate: 'Switched off: its password no longer works.' }[what])
    },
  })
  const remove = async () => {
    await api.call('sandboxes.delete', { path })
    await refresh()
    toast('Deleted.')
  }
  const { database, schema } = sandbox.workspaceDetails.connection
  const facts: readonly (readonly [string, string, boolean])[] = [
    ['Host', sandbox.port ? `${sandbox.host}:${sandbox.port}` : sandbox.host, true],
    ['Database', database, true],
    ['Schema', schema, true],
    ['User', sandbox.user, true],
    [
      'Kept',
      sandbox.expirationTimestamp
        ? `to ${moment(sandbox.expirationTimestamp)}, ${until(sandbox.expirationTimestamp)}`
        : 'until it is deleted',
      false,
    ],
  ]
  const name = `Workspace ${sandbox.id}`
  return (
    <section className="card" aria-label={name}>
      <header className="wrap">
        <h2>{name}</h2>
        <Status status={sandbox.active ? 'enabled' : 'disabled'} badge text={sandbox.active ? 'Active' : 'Switched off'} />
        <span className="fine mute">created {moment(sandbox.createdTimestamp)}</span>
        <span className="push flex-row">
          <ActButton
            needs="sandboxes.activate"
            className="button small"
            disabled={change.isPending}
            onClick={() => change.mutate(sandbox.active ? 'deactivate' : 'activate')}
          >
            {sandbox.active ? 'Switch off' : 'Switch on'}
          </ActButton>
          <ConfirmButton
            label="Delete"
            name={name}
            needs="sandboxes.delete"
            typed={sandbox.id}
            effect={
              <>
                <p>Its database is deleted with everything in it, and its user and password stop working at once.</p>
                {sandbox.active ? <Lost workspaceId={sandbox.stagingWorkspaceId} /> : null}
                <p>The tables of the storage stay as they are.</p>
              </>
            }
            act={remove}
          />
        </span>
      </header>
      {change.error ? <Problem error={change.error} /> : null}
      <div className="inset columns">
        <div className="stack-3">
          <dl className="pairs">
            {facts.map(([label, value, isCopied]) => (
              <div key={label} className="contents">
                <dt>{label}</dt>
                <dd className={isCopied ? 'mono' : undefined}>
                  {value}
                  {isCopied ? <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} /> : null}
                </dd>
              </div>
            ))}
            <dt>Password</dt>
            <dd>
              <span className="secret">••••••</span>
              <CopyButton text={sandbox.password} label="Copy password" />
            </dd>
          </dl>
        </div>
        {sandbox.active ? <Contents workspaceId={sandbox.stagingWorkspaceId} /> : null}
      </div>
    </section>
  )
}

/** What is lost with it. */
function Lost({ workspaceId }: { workspaceId: string }) {
  const { data = [] } = useLoad('workspaces.objects', { path: { id: workspaceId } })
  if (data.length === 0) return null
  return (
    <p>
      Lost: <span className="mono">{data.map(({ name }) => name).join(', ')}</span>.
    </p>
  )
}

/** What it holds, and loading a table of the storage into it. */
function Contents({ workspaceId }: { workspaceId: string }) {
  const queries = useQueryClient()
  const id = useId()
  const objects = useLoad('workspaces.objects', { path: { id: workspaceId } })
  const [chosen, setChosen] = useState('')
  const load = useMutation({
    mutationFn: async () => {
      await finishStorageJob(
        await api.call('workspaces.load', {
          path: { id: workspaceId },
          body: { input: [{ source: chosen, destination: tableNameOf(chosen) }], preserve: true },
        }),
      )
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['workspaces.objects'] })
      toast('Loaded.')
      setChosen('')
    },
  })
  return (
    <div className="stack-3">
      <Loaded query={objects} skeleton={<Lines count={2} />}>
        {(list) =>
          list.length === 0 ? (
            <p className="mute">It is empty.</p>
          ) : (
            <ul className="stack-2">
              {list.map(({ name, type }) => (
                <li key={name} className="flex-row">
                  <Icon name="table" size="small" />
                  <span className="mono">{name}</span>
                  <span className="fine mute">{type.toLowerCase()}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <form
        className="flex-row wrap"
        onSubmit={(event) => {
          event.preventDefault()
          load.mutate()
        }}
      >
        <label htmlFor={id} className="visually-hidden">
          Table to load
        </label>
        <div className="grow stack-2">
          <TableSelect id={id} value={chosen} none="a table of the storage" onChange={setChosen} />
        </div>
        <ActButton needs="workspaces.load" type="submit" className="button small" disabled={chosen === '' || load.isPending}>
          Load it
        </ActButton>
      </form>
      {load.error ? <Problem error={load.error} /> : null}
    </div>
  )
}
