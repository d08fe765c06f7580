// The git repository of a data app: where it is, and who may use it. The secret of a new credential is shown once.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import type { DataApp } from '../../../../client/src/operations.ts'
import { moment } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

export function AppCode({ app, onClose }: { app: DataApp; onClose: () => void }) {
  const query = useLoad('dataScience.appRepository', { path: { id: app.id } })
  const isOneFile = query.error instanceof ApiError && query.error.code === 'apps.noRepository'
  return (
    <Drawer title={`Code of ${app.name}`} onClose={onClose}>
      {isOneFile ? (
        <p>
          The program is one file, in{' '}
          <Link
            to="/components/$componentId/$configurationId"
            params={{ componentId: app.componentId, configurationId: app.configId }}
          >
            its configuration
          </Link>
          .
        </p>
      ) : (
        <Loaded query={query}>
          {({ httpsUrl, sshUrl, isManagedGitRepo }) => (
            <>
              <p className="mute">
                {isManagedGitRepo
                  ? 'The stack hosts this git repository. Every start runs the newest commit of its main branch.'
                  : 'The code is in this git repository. Every start runs the newest commit of its branch.'}
              </p>
              <Address text={httpsUrl ?? sshUrl ?? ''} />
              {isManagedGitRepo ? <Credentials appId={app.id} /> : null}
            </>
          )}
        </Loaded>
      )}
    </Drawer>
  )
}

const Address = ({ text }: { text: string }) => (
  <div className="flex-row wrap">
    <code className="mono grow wrap">{text}</code>
    <CopyButton text={`git clone ${text}`} label="Copy git clone" />
  </div>
)

function Credentials({ appId }: { appId: string }) {
  const path = { id: appId }
  const queries = useQueryClient()
  const query = useLoad('dataScience.listAppGitCredentials', { path })
  const refresh = () => queries.invalidateQueries({ queryKey: ['dataScience.listAppGitCredentials'] })
  const remove = async (credentialId: string) => {
    await api.call('dataScience.deleteAppGitCredential', { path: { ...path, credentialId } })
    await refresh()
    toast('Credential revoked.')
  }
  return (
    <section className="stack-3" aria-label="Credentials">
      <h3 className="heading">Credentials</h3>
      <Loaded query={query}>
        {(all) =>
          all.length === 0 ? (
            <p className="mute">No credentials yet.</p>
          ) : (
            <ul className="list">
              {all.map(({ id, name, permissions, expiresAt }) => (
                <li key={id}>
                  <span className="medium">{name || `Credential ${id}`}</span>
                  <span className="fine mute">
                    {permissions === 'readOnly' ? 'clones' : 'clones and pushes'}, until {moment(expiresAt)}
                  </span>
                  <ConfirmButton
                    label="Revoke"
                    name={name || `credential ${id}`}
                    needs="dataScience.deleteAppGitCredential"
                    className="button small ghost push"
                    effect={<p>Programs that clone or push with it are refused at once. Its secret cannot be used again.</p>}
                    act={() => remove(id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <NewCredential appId={appId} onMade={refresh} />
    </section>
  )
}

function NewCredential({ appId, onMade }: { appId: string; onMade: () => Promise<unknown> }) {
  const ids = [useId(), useId()] as const
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<'readWrite' | 'readOnly'>('readWrite')
  const create = useMutation({
    mutationFn: () => api.call('dataScience.createAppGitCredential', { path: { id: appId }, body: { name, permissions } }),
    onSuccess: async () => {
      setName('')
      await onMade()
    },
  })
  return (
    <>
      {create.data ? (
        <div className="note good stack-2">
          <p>Copy it now: it is shown this once. It is the password; any user name will do.</p>
          <div className="flex-row">
            <code className="mono grow wrap">{create.data.secret}</code>
            <CopyButton text={create.data.secret} />
          </div>
        </div>
      ) : null}
      <Form className="stack-3" onSubmit={() => create.mutate()}>
        <div className="two-fields">
          <div className="field">
            <Label htmlFor={ids[0]}>What it is for</Label>
            <input className="input" id={ids[0]} required value={name} onChange={(event) => setName(event.target.value)} />
          </div>
          <div className="field">
            <Label htmlFor={ids[1]}>It may</Label>
            <select
              className="input"
              id={ids[1]}
              value={permissions}
              onChange={(event) => setPermissions(event.target.value as typeof permissions)}
            >
              <option value="readWrite">clone and push</option>
              <option value="readOnly">clone</option>
            </select>
          </div>
        </div>
        {create.error ? <Problem error={create.error} /> : null}
        <button type="submit" className="button small" disabled={create.isPending}>
          Create a credential
        </button>
      </Form>
    </>
  )
}
