// People of the project: who may do what, and who is invited.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Invitation, ProjectUser } from '../../../../client/src/operations.ts'
import { moment, plural, until } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Field } from '../../parts/entry-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api, usePerson } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { toast } from '../../shell/toast.tsx'

const ROLES = ['viewer', 'editor', 'admin'] as const
type Role = (typeof ROLES)[number]

const pathOf = (projectId: number) => ({ projectId: String(projectId) })

export function PeopleScreen() {
  const person = usePerson()
  return person?.projectId === undefined ? <NotForTokens /> : <People projectId={person.projectId} />
}

const NotForTokens = () => (
  <Page title="People" crumbs={[{ name: 'People' }]} say="People are managed by people.">
    <section className="card">
      <div className="inset stack-2">
        <p className="body-text">You are signed in with a token. Sign in as a person to see and invite people.</p>
        <p className="soft">
          The first one comes by a link that <span className="identifier">npx millrace admin sign-in-link</span> makes on the
          machine of the stack.
        </p>
      </div>
    </section>
  </Page>
)

function People({ projectId }: { projectId: number }) {
  const person = usePerson()!
  const users = useLoad('projectUsers.list', { path: pathOf(projectId) })
  const role = users.data?.find(({ id }) => id === person.account.id)?.role
  const isAdmin = role === 'admin' || person.account.isStackAdmin
  return (
    <Page
      title="People"
      crumbs={[{ name: 'People' }]}
      say={users.data ? `${plural(users.data.length, 'person', 'people')} in this project.` : 'People'}
      actions={
        isAdmin ? (
          <CreateButton label="Invite" needs="projectInvitations.create">
            {(close) => <Invite projectId={projectId} onClose={close} />}
          </CreateButton>
        ) : null
      }
    >
      <div className="stack-4">
        <section className="card" aria-label="People">
          <Loaded query={users} skeleton={<Lines />}>
            {(list) => <Users users={list} projectId={projectId} isAdmin={isAdmin} ownId={person.account.id} />}
          </Loaded>
        </section>
        {isAdmin ? <Invitations projectId={projectId} /> : null}
      </div>
    </Page>
  )
}

interface UsersProps {
  readonly users: readonly ProjectUser[]
  readonly projectId: number
  readonly isAdmin: boolean
  readonly ownId: number
}

function Users({ users, projectId, isAdmin, ownId }: UsersProps) {
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: ['projectUsers.list'] })
  const change = useMutation({
    mutationFn: ({ id, role }: { id: number; role: Role }) =>
      api.call('projectUsers.update', { path: { ...pathOf(projectId), userId: String(id) }, body: { role } }),
    onSuccess: async (user) => {
      await refresh()
      toast(`${user.name} is ${user.role} from now on.`)
    },
  })
  const remove = useMutation({
    mutationFn: ({ id }: ProjectUser) => api.call('projectUsers.remove', { path: { ...pathOf(projectId), userId: String(id) } }),
    onSuccess: async (_, { name, email, role }) => {
      await refresh()
      toast(`${name} no longer belongs to the project.`, async () => {
        await api.call('projectUsers.add', { path: pathOf(projectId), body: { email, role: role as Role } })
        await refresh()
      })
    },
  })
  const problem = change.error ?? remove.error
  return (
    <>
      {problem ? <Problem error={problem} /> : null}
      <ListTable label="People" columns={['Name', 'E-mail', 'Role', 'Since', { hidden: 'Remove' }]}>
        {users.map((user) => {
          const { id, name, email, role, created } = user
          return (
            <tr key={id}>
              <td className="medium">{id === ownId ? `${name} (you)` : name}</td>
              <td>{email}</td>
              <td>
                {isAdmin && id !== ownId ? (
                  <select
                    className="input small"
                    aria-label={`Role of ${name}`}
                    value={role}
                    onChange={(event) => change.mutate({ id, role: event.target.value as Role })}
                  >
                    {ROLES.map((one) => (
                      <option key={one}>{one}</option>
                    ))}
                  </select>
                ) : (
                  role
                )}
              </td>
              <td className="nowrap">{moment(created)}</td>
              <td>
                {isAdmin && id !== ownId ? (
                  <button
                    type="button"
                    className="button small danger"
                    aria-label={`Remove ${name}`}
                    onClick={() => remove.mutate(user)}
                  >
                    Remove
                  </button>
                ) : null}
              </td>
            </tr>
          )
        })}
      </ListTable>
    </>
  )
}

function Invitations({ projectId }: { projectId: number }) {
  const query = useLoad('projectInvitations.list', { path: pathOf(projectId) })
  const queries = useQueryClient()
  const takeBack = async (id: number) => {
    await api.call('projectInvitations.delete', { path: { ...pathOf(projectId), invitationId: String(id) } })
    await queries.invalidateQueries({ queryKey: ['projectInvitations.list'] })
  }
  const list: readonly Invitation[] = query.data ?? []
  if (list.length === 0) return null
  return (
    <section className="card" aria-label="Invitations">
      <header>
        <h2>Invited</h2>
      </header>
      <ListTable label="Invitations" columns={['E-mail', 'Role', 'By', 'Expires', { hidden: 'Revoke' }]}>
        {list.map(({ id, email, role, creator, expires }) => (
          <tr key={id}>
            <td className="medium">{email}</td>
            <td>{role}</td>
            <td>{creator.name}</td>
            <td className="nowrap">{until(expires)}</td>
            <td>
              <ConfirmButton
                label="Revoke"
                name={`the invitation of ${email}`}
                ariaLabel={`Revoke ${email}`}
                needs="projectInvitations.delete"
                className="button small"
                effect={<p>The link that was sent no longer works. Invite {email} again if it was a mistake.</p>}
                act={() => takeBack(id)}
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </section>
  )
}

function Invite({ projectId, onClose }: { projectId: number; onClose: () => void }) {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const invite = useMutation({
    mutationFn: () => api.call('projectInvitations.create', { path: pathOf(projectId), body: { email, role } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projectInvitations.list'] }),
  })
  const add = useMutation({
    mutationFn: () => api.call('projectUsers.add', { path: pathOf(projectId), body: { email, role } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['projectUsers.list'] })
      onClose()
      toast(`${email} belongs to the project now.`)
    },
  })
  const link = invite.data?.link
  if (link !== undefined)
    return (
      <Dialog title="The invitation" onClose={onClose}>
        <div className="inset stack-4">
          <p className="body-text">Send this link to {email}. It works once, for 7 days, and is shown only now.</p>
          <div className="note good">
            <code className="mono grow wrap">{link}</code>
            <CopyButton text={link} />
          </div>
          <button type="button" className="button primary" onClick={onClose}>
            I have it
          </button>
        </div>
      </Dialog>
    )
  const problem = add.error ?? invite.error
  return (
    <Dialog title="Invite" onClose={onClose}>
      <Form onSubmit={() => invite.mutate()}>
        <Field id="invite-email" label="E-mail" type="email" value={email} onChange={setEmail} />
        <div className="field">
          <Label htmlFor="invite-role">Role</Label>
          <select className="input" id="invite-role" value={role} onChange={(event) => setRole(event.target.value as Role)}>
            <option value="viewer">viewer: reads</option>
            <option value="editor">editor: also changes</option>
            <option value="admin">admin: also tokens and people</option>
          </select>
        </div>
        {problem ? <Problem error={problem} /> : null}
        <div className="flex-row">
          <button type="submit" className="button primary" disabled={invite.isPending}>
            Create the link
          </button>
          <button type="button" className="button" disabled={email === '' || add.isPending} onClick={() => add.mutate()}>
            Add without a link
          </button>
        </div>
        <p className="fine mute">Without a link works for people who have an account on this stack.</p>
      </Form>
    </Dialog>
  )
}
