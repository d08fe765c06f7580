// Data apps: small programs that serve pages over the tables of the project. Create one, start and stop it, open it, read its log.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { DataApp } from '../../../../client/src/operations.ts'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog, Drawer } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'
import { AppCode } from './app-repository.tsx'

const SHAPES: Readonly<Record<string, string>> = {
  running: 'processing',
  starting: 'waiting',
  stopped: 'stopped',
  sleeping: 'paused',
  created: 'created',
  failed: 'error',
}

const AGAIN_MS = 1000

/** There is no live change for a program that answers, logs something or has ended. */
const startsOrStops = (apps: readonly DataApp[]): number | false =>
  apps.some(({ state, desiredState }) => (desiredState === 'running' ? state !== 'running' : state === 'stopping'))
    ? AGAIN_MS
    : false

export function AppsScreen() {
  const query = useLoad('dataScience.listApps', { query: {} }, { again: startsOrStops })
  const all = query.data ?? []
  const running = all.filter(({ state }) => state === 'running').length
  return (
    <Page
      title="Data apps"
      crumbs={[{ name: 'Data apps' }]}
      say={
        !query.data
          ? 'Data apps'
          : all.length === 0
            ? 'There is no data app yet.'
            : `${plural(all.length, 'data app')}, ${running === 0 ? 'none running' : `${running} running`}.`
      }
      actions={
        <CreateButton label="New app" needs="dataScience.createApp">
          {(close) => <NewApp onClose={close} />}
        </CreateButton>
      }
    >
      <Listing
        label="Data apps"
        query={query}
        count={all.length}
        teach="A data app is a small program that serves pages over the tables of the project. The stack starts it when it is opened, and stops it when it is not used."
      >
        <ListTable label="Data apps" columns={['App', 'State', 'Kind', { num: 'Version' }, 'Last opened', { hidden: 'Actions' }]}>
          {all.map((app) => (
            <AppRow key={app.id} app={app} />
          ))}
        </ListTable>
      </Listing>
    </Page>
  )
}

function AppRow({ app }: { app: DataApp }) {
  const queries = useQueryClient()
  const [shown, setShown] = useState<'log' | 'code'>()
  const path = { id: app.id }
  const refresh = () => queries.invalidateQueries({ queryKey: ['dataScience.listApps'] })
  const change = useMutation({
    mutationFn: (desiredState: 'running' | 'stopped') => api.call('dataScience.changeApp', { path, body: { desiredState } }),
    onSuccess: refresh,
  })
  const open = useMutation({
    mutationFn: () => api.call('dataScience.createAppLink', { path, body: {} }),
    onSuccess: ({ url }) => void window.open(url, '_blank', 'noopener'),
  })
  const remove = async () => {
    await api.call('dataScience.deleteApp', { path })
    await refresh()
    toast('Deleted. Its configuration is among the deleted components.')
  }
  const isOn = app.desiredState === 'running'
  const isBehind = app.configVersion !== app.latestConfigVersion
  const error = change.error ?? open.error
  return (
    <>
      <tr>
        <td>
          <Link
            className="medium"
            to="/components/$componentId/$configurationId"
            params={{ componentId: app.componentId, configurationId: app.configId }}
          >
            {app.name}
          </Link>{' '}
          <span className="identifier">{app.id}</span>
        </td>
        <td>
          <Status status={SHAPES[app.state] ?? app.state} text={app.state.charAt(0).toUpperCase() + app.state.slice(1)} />
        </td>
        <td>{app.type ?? <i className="null">of its component</i>}</td>
        <td className="numeric">
          {app.configVersion}
          {isBehind ? <span className="fine mute"> of {app.latestConfigVersion}</span> : null}
        </td>
        <td className="nowrap">{app.lastRequestTimestamp ? moment(app.lastRequestTimestamp) : <i className="null">never</i>}</td>
        <td>
          <span className="flex-row">
            {isOn ? (
              <button type="button" className="button small" disabled={open.isPending} onClick={() => open.mutate()}>
                <Icon name="external" size="small" />
                <span>Open</span>
              </button>
            ) : null}
            <ActButton
              needs="dataScience.changeApp"
              className="button small"
              disabled={change.isPending}
              onClick={() => change.mutate(isOn && !isBehind ? 'stopped' : 'running')}
            >
              {isOn ? (isBehind ? `Deploy version ${app.latestConfigVersion}` : 'Stop') : 'Deploy'}
            </ActButton>
            <button type="button" className="button small ghost" onClick={() => setShown('log')}>
              Log
            </button>
            <button type="button" className="button small ghost" onClick={() => setShown('code')}>
              Code
            </button>
            <ConfirmButton
              label="Delete"
              name={app.name}
              needs="dataScience.deleteApp"
              typed={app.name}
              effect={
                <>
                  <p>
                    {app.lastRequestTimestamp
                      ? `Its address stops working; it was last opened ${moment(app.lastRequestTimestamp)}.`
                      : 'Its address stops working; it was never opened.'}
                  </p>
                  <p>
                    Its git repository on this stack, its log and its password are lost. Its configuration goes to the deleted
                    components.
                  </p>
                </>
              }
              act={remove}
            />
          </span>
        </td>
      </tr>
      {error ? (
        <tr>
          <td colSpan={6}>
            <Problem error={error} />
          </td>
        </tr>
      ) : null}
      {shown === 'log' ? <AppLog app={app} onClose={() => setShown(undefined)} /> : null}
      {shown === 'code' ? <AppCode app={app} onClose={() => setShown(undefined)} /> : null}
    </>
  )
}

function AppLog({ app, onClose }: { app: DataApp; onClose: () => void }) {
  const runs = useLoad('dataScience.listAppRuns', { path: { id: app.id } })
  const again = () => (app.desiredState === 'running' ? AGAIN_MS : false)
  const log = useLoad('dataScience.tailAppLog', { path: { id: app.id }, query: {} }, { again })
  return (
    <Drawer title={`What ${app.name} said`} onClose={onClose}>
      <Loaded query={runs}>
        {(all) =>
          all.length === 0 ? (
            <p className="mute">It has not run yet.</p>
          ) : (
            <ul className="stack-2">
              {all.slice(0, 5).map((run) => (
                <li key={run.id} className="fine">
                  {moment(run.startTimestamp)}, version {run.configVersion}: {run.state}
                  {run.reason ? `, ${run.reason}` : ''}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <Loaded query={log}>
        {(text) => (text === '' ? <p className="mute">It has said nothing.</p> : <pre className="code sunken wrap">{text}</pre>)}
      </Loaded>
    </Drawer>
  )
}

const EXAMPLE = `import { createServer } from 'node:http'

createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<h1>Hello</h1>')
}).listen(process.env.PORT, process.env.HOST)
`

function NewApp({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const ids = [useId(), useId(), useId(), useId()] as const
  const [name, setName] = useState('')
  const [type, setType] = useState('node')
  const [script, setScript] = useState(EXAMPLE)
  const [useManagedGitRepo, setManaged] = useState(false)
  const create = useMutation({
    mutationFn: () =>
      api.call('dataScience.createApp', {
        body: { name, type, ...(useManagedGitRepo ? { useManagedGitRepo } : { config: { parameters: { script } } }) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['dataScience.listApps'] })
      onClose()
    },
  })
  return (
    <Dialog title="New data app" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="two-fields">
          <div className="field">
            <Label htmlFor={ids[0]}>Name</Label>
            <input className="input" id={ids[0]} required value={name} onChange={(event) => setName(event.target.value)} />
          </div>
          <div className="field">
            <Label htmlFor={ids[1]}>Kind</Label>
            <select className="input" id={ids[1]} value={type} onChange={(event) => setType(event.target.value)}>
              {['node', 'python', 'streamlit'].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
        </div>
        <div className="field">
          <Label htmlFor={ids[3]}>Code</Label>
          <select
            className="input"
            id={ids[3]}
            value={useManagedGitRepo ? 'git' : 'file'}
            onChange={(event) => setManaged(event.target.value === 'git')}
          >
            <option value="file">one file, written here</option>
            <option value="git">a git repository on this stack</option>
          </select>
        </div>
        {useManagedGitRepo ? (
          <p className="hint">Its address and a credential for it are behind “Code”, once the app is created.</p>
        ) : (
          <div className="field">
            <Label htmlFor={ids[2]}>Program</Label>
            <textarea
              className="input mono json-field"
              id={ids[2]}
              rows={8}
              spellCheck={false}
              value={script}
              onChange={(event) => setScript(event.target.value)}
            />
            <span className="hint">One file that listens at PORT. It reads tables with its own token.</span>
          </div>
        )}
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the app
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
