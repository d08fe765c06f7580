// The own account: name, password, authenticator, where one is signed in, and tokens for the management API.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Account, Session } from '../../../../client/src/operations.ts'
import { moment, plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Field } from '../../parts/entry-field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api, loadSession, signOut } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { PersonalTokens } from './personal-tokens.tsx'

/** Loaded when an authenticator is set up. */
const QrCode = lazy(() => import('../../parts/qr-code.tsx'))

/** For people: tokens have no account. */
export const AccountCards = ({ account }: { account: Account }) => (
  <>
    <Name account={account} />
    <Password account={account} />
    <Authenticator account={account} />
    <Sessions />
    <PersonalTokens />
  </>
)

export const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
    </header>
    {children}
  </section>
)

function Name({ account }: { account: Account }) {
  const [name, setName] = useState(account.name)
  const save = useMutation({
    mutationFn: () => api.call('account.update', { body: { name } }),
    onSuccess: async () => {
      await loadSession()
      toast('Saved. What you do from now on carries the new name.')
    },
  })
  return (
    <Card title="You">
      <Form onSubmit={() => save.mutate()}>
        <p className="soft">
          {account.email}
          {account.isStackAdmin ? ', an admin of the whole stack' : ''}
        </p>
        <Field id="name" label="Name" autoComplete="name" value={name} onChange={setName} />
        {save.error ? <Problem error={save.error} /> : null}
        <button type="submit" className="button" disabled={name === account.name || save.isPending}>
          Save the name
        </button>
      </Form>
    </Card>
  )
}

function Password({ account }: { account: Account }) {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const save = useMutation({
    mutationFn: () => api.call('account.setPassword', { body: { password, ...(account.hasPassword ? { current } : {}) } }),
    onSuccess: async () => {
      setCurrent('')
      setPassword('')
      await loadSession()
      toast('The password is changed. Your other sessions are signed out.')
    },
  })
  return (
    <Card title="Password">
      <Form onSubmit={() => save.mutate()}>
        {account.hasPassword ? (
          <Field
            id="current"
            label="Current password"
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
          />
        ) : null}
        <Field
          id="new-password"
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="10 characters or more. Your other sessions end."
          value={password}
          onChange={setPassword}
        />
        {save.error ? <Problem error={save.error} /> : null}
        <button type="submit" className="button" disabled={save.isPending}>
          Change the password
        </button>
      </Form>
    </Card>
  )
}

function Authenticator({ account }: { account: Account }) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const withPassword = account.hasPassword ? { password } : {}
  const propose = useMutation({ mutationFn: () => api.call('account.proposeAuthenticator') })
  const turnOn = useMutation({
    mutationFn: (secret: string) => api.call('account.turnOnAuthenticator', { body: { secret, code, ...withPassword } }),
    onSuccess: loadSession,
  })
  const turnOff = useMutation({
    mutationFn: () => api.call('account.turnOffAuthenticator', { body: withPassword }),
    onSuccess: async () => {
      turnOn.reset()
      propose.reset()
      await loadSession()
      toast('Signing in requires only the password now.')
    },
  })
  const passwordField = account.hasPassword ? (
    <Field
      id="authenticator-password"
      label="Your password"
      type="password"
      autoComplete="current-password"
      value={password}
      onChange={setPassword}
    />
  ) : null
  if (turnOn.data)
    return (
      <Card title="Authenticator">
        <div className="inset stack-4">
          <p className="body-text">It is on. Keep these recovery codes: each works once, and they are shown only now.</p>
          <div className="note good">
            <code className="mono grow wrap">{turnOn.data.recoveryCodes.join(' ')}</code>
            <CopyButton text={turnOn.data.recoveryCodes.join('\n')} />
          </div>
        </div>
      </Card>
    )
  if (account.hasAuthenticator)
    return (
      <Card title="Authenticator">
        <Form onSubmit={() => turnOff.mutate()}>
          <p className="body-text">Signing in requires a code. {account.recoveryCodesLeft} recovery codes are left.</p>
          {passwordField}
          {turnOff.error ? <Problem error={turnOff.error} /> : null}
          <button type="submit" className="button danger">
            Turn it off
          </button>
        </Form>
      </Card>
    )
  const proposed = propose.data
  if (!proposed)
    return (
      <Card title="Authenticator">
        <div className="inset stack-4">
          <p className="body-text">
            A code from your phone, besides the password, protects the account even when others know the password.
          </p>
          {propose.error ? <Problem error={propose.error} /> : null}
          <button type="button" className="button" onClick={() => propose.mutate()}>
            Set up an authenticator
          </button>
        </div>
      </Card>
    )
  return (
    <Card title="Authenticator">
      <Form onSubmit={() => turnOn.mutate(proposed.secret)}>
        <p className="body-text">
          Scan this picture with your authenticator, or type the key into it, then type the code it shows.
        </p>
        <Suspense fallback={<Lines />}>
          <QrCode text={proposed.uri} label="Picture of the key, to scan" />
        </Suspense>
        <div className="note">
          <code className="mono grow wrap">{proposed.secret}</code>
          <CopyButton text={proposed.secret} />
        </div>
        <a className="fine" href={proposed.uri}>
          Open it in an authenticator on this device
        </a>
        <Field id="authenticator-code" label="Code" autoComplete="one-time-code" value={code} onChange={setCode} />
        {passwordField}
        {turnOn.error ? <Problem error={turnOn.error} /> : null}
        <button type="submit" className="button primary" disabled={turnOn.isPending}>
          Turn it on
        </button>
      </Form>
    </Card>
  )
}

function Sessions() {
  const query = useLoad('account.sessions')
  const queries = useQueryClient()
  const end = useMutation({
    mutationFn: (id: number) => api.call('account.endSession', { path: { id: String(id) } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['account.sessions'] })
      toast('The session is revoked.')
    },
  })
  const others = (query.data ?? []).filter(({ isCurrent }) => !isCurrent).length
  const endOthers = async () => {
    await api.call('account.endOtherSessions')
    await queries.invalidateQueries({ queryKey: ['account.sessions'] })
  }
  return (
    <Card title="Where you are signed in">
      {end.error ? <Problem error={end.error} /> : null}
      <Loaded query={query} skeleton={<Lines />}>
        {(sessions) => (
          <ListTable label="Sessions" columns={['Browser', 'Address', 'Signed in', 'Last used', { hidden: 'Revoke' }]}>
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnd={() => end.mutate(session.id)} />
            ))}
          </ListTable>
        )}
      </Loaded>
      <div className="inset flex-row wrap">
        <ConfirmButton
          label="Sign out everywhere else"
          name={plural(others, 'other session')}
          needs="account.endOtherSessions"
          className="button"
          disabled={others === 0}
          effect={<p>{plural(others, 'other session')} will end at once. You stay signed in here.</p>}
          act={async () => {
            await endOthers()
            toast('You are signed in here only.')
          }}
        />
        <ConfirmButton
          label="Sign out everywhere"
          name="this session and all others"
          needs="account.endOtherSessions"
          className="button danger"
          effect={<p>All {plural(others + 1, 'session')} will end, this one too. You have to sign in again.</p>}
          act={async () => {
            await endOthers()
            signOut()
          }}
        />
      </div>
    </Card>
  )
}

const SessionRow = ({ session, onEnd }: { session: Session; onEnd: () => void }) => (
  <tr>
    <td className="clip">{session.isCurrent ? 'This one' : (session.userAgent ?? 'unknown')}</td>
    <td className="identifier">{session.address}</td>
    <td className="nowrap">
      {moment(session.created)}, by {session.method}
    </td>
    <td className="nowrap">{moment(session.lastSeen)}</td>
    <td>
      {session.isCurrent ? null : (
        <button type="button" className="button small danger" onClick={onEnd}>
          Revoke
        </button>
      )}
    </td>
  </tr>
)
