import { type ReactNode, useEffect, useState } from 'react'
import { ApiError } from '../../../../client/src/client.ts'
import { until } from '../../format.ts'
import { Field } from '../../parts/entry-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon, type IconName, Logo } from '../../parts/icon.tsx'
import { api, clientWith, loadSession, signIn } from '../../session.ts'
import { ThemeButton } from '../../shell/theme-button.tsx'
import './access.css'

const QUESTIONS: readonly (readonly [IconName, string, string, string])[] = [
  ['st-ok', 'good', 'Is my data right and fresh?', 'Every table shows when its rows came, and from which run.'],
  ['st-err', 'failed', 'What happened?', 'Every run keeps its log, its results and the configuration it ran with.'],
  ['st-created', 'running', 'What will this do?', 'Effective configurations and true schedule previews, before anything runs.'],
]

/** Why the provider's way back did not end in a session; its details are in the log of the stack. */
const PROBLEMS: Readonly<Record<string, string>> = {
  'people.oidcUnavailable': 'The sign-in service does not answer. Try again, or sign in another way.',
  'people.oidcRefused': 'The sign-in service did not vouch for you, or its answer was not right. Try again.',
  'people.oidcBegin': 'The sign-in took too long or began in another browser. Begin again here.',
  'people.oidcEmail': 'The sign-in service did not return a verified e-mail.',
  'people.oidcUnknown': 'No person on this stack has your e-mail. Ask an admin of a project to invite you.',
}

/** The address may carry a link that works once, or the name of a problem; what is read is taken away from it. */
function readHash(): { readonly link?: string | undefined; readonly problem?: string | undefined } {
  const values = new URLSearchParams(location.hash.slice(1))
  const problem = values.get('problem')
  return {
    link: values.get('link') ?? undefined,
    problem: problem === null ? undefined : (PROBLEMS[problem] ?? 'The sign-in did not work. Try again.'),
  }
}

const dropHash = () => history.replaceState(null, '', location.pathname + location.search)

export function SignIn() {
  const [{ link, problem }, setHash] = useState(readHash)
  const [methods, setMethods] = useState<{ hasPeople: boolean; oidc: { name: string } | null }>()
  const [byToken, setByToken] = useState<boolean>()
  useEffect(() => {
    api.call('signIn.methods').then(setMethods, () => setMethods({ hasPeople: false, oidc: null }))
  }, [])
  useEffect(() => {
    if (problem !== undefined) dropHash()
  }, [problem])
  const showsToken = byToken ?? methods?.hasPeople === false
  return (
    <Entry>
      {link !== undefined ? (
        <LinkForm
          link={link}
          onLeave={() => {
            dropHash()
            setHash({})
          }}
        />
      ) : methods === undefined ? null : (
        <>
          {problem === undefined ? null : <Bad>{problem}</Bad>}
          {showsToken ? <TokenForm /> : <PasswordForm />}
          {methods.oidc === null ? null : (
            <a className="button wide" href="/sign-in/oidc">
              Sign in with {methods.oidc.name}
            </a>
          )}
          <button type="button" className="link fine" onClick={() => setByToken(!showsToken)}>
            {showsToken ? 'Use e-mail and password' : 'Use a token instead'}
          </button>
        </>
      )}
    </Entry>
  )
}

const Entry = ({ children }: { children: ReactNode }) => (
  <div className="entry">
    <main id="main" className="entry-form">
      <div className="flex-row">
        <span className="brand">
          <Logo />
          <span>Millrace</span>
        </span>
        <span className="push">
          <ThemeButton />
        </span>
      </div>
      <div className="entry-middle stack-6">
        <div>
          <h1>Sign in</h1>
          <p className="body-text soft">
            Stack <span className="identifier">{location.host}</span>
          </p>
        </div>
        {children}
      </div>
      <p className="fine mute">This page sends requests to this stack only.</p>
    </main>
    <aside className="entry-facts">
      <ul>
        {QUESTIONS.map(([icon, tone, question, answer]) => (
          <li key={question}>
            <span className={tone}>
              <Icon name={icon} />
            </span>
            <div>
              <b>{question}</b>
              <span className="soft">{answer}</span>
            </div>
          </li>
        ))}
      </ul>
    </aside>
  </div>
)

const Bad = ({ children }: { children: ReactNode }) => (
  <span className="field-problem" role="alert">
    <Icon name="st-err" size="small" />
    {children}
  </span>
)

/** Runs an attempt; answers its error when it fails. */
function useAttempt(): { problem: Error | undefined; isBusy: boolean; attempt: (work: () => Promise<unknown>) => void } {
  const [problem, setProblem] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const attempt = (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(undefined)
    work()
      .catch((error: unknown) => setProblem(error as Error))
      .finally(() => setBusy(false))
  }
  return { problem, isBusy, attempt }
}

const Submit = ({ isBusy }: { isBusy: boolean }) => (
  <button type="submit" className="button primary wide" disabled={isBusy}>
    Sign in
  </button>
)

function PasswordForm() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const { problem, isBusy, attempt } = useAttempt()
  const submit = () =>
    attempt(async () => {
      try {
        await api.call('signIn.password', { body: { email, password, ...(code === '' ? {} : { code }) } })
        await loadSession()
      } catch (error) {
        if (error instanceof ApiError && error.code === 'people.codeNeeded') return setNeedsCode(true)
        throw error
      }
    })
  return (
    <Form className="stack-4" onSubmit={submit}>
      <Field id="email" label="E-mail" type="email" autoComplete="username" value={email} onChange={setEmail} />
      <Field
        id="password"
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      {needsCode ? (
        <Field
          id="code"
          label="Code"
          autoComplete="one-time-code"
          hint="What your authenticator shows, or a recovery code."
          value={code}
          onChange={setCode}
        />
      ) : null}
      {problem === undefined ? null : <Bad>{problem.message}</Bad>}
      <Submit isBusy={isBusy} />
      <p className="fine mute">
        Lost your password? An operator of the machine creates a link:{' '}
        <span className="identifier">millrace admin sign-in-link --email ...</span>
      </p>
    </Form>
  )
}

function TokenForm() {
  const [token, setToken] = useState('')
  const { problem, isBusy, attempt } = useAttempt()
  const submit = () =>
    attempt(async () => {
      await clientWith(token.trim()).call('tokens.verify')
      signIn(token.trim())
    })
  return (
    <Form className="stack-4" onSubmit={submit}>
      <Field
        id="token"
        label="Token"
        type="password"
        autoComplete="current-password"
        hint="The first start printed the master token. Any token of a project works, with what it is allowed to do, until this tab is closed."
        isMono
        value={token}
        onChange={setToken}
      />
      {problem === undefined ? null : <Bad>{problem.message}</Bad>}
      <Submit isBusy={isBusy} />
      <p className="fine mute">
        Lost it? <span className="identifier">npx millrace token reset-master</span> creates a new one, and{' '}
        <span className="identifier">npx millrace admin sign-in-link</span> a link for the stack admin.
      </p>
    </Form>
  )
}

interface LinkFacts {
  readonly kind: string
  readonly email: string | null
  readonly role: string | null
  readonly project: string | null
  readonly creator: string | null
  readonly expires: string
}

function LinkForm({ link, onLeave }: { link: string; onLeave: () => void }) {
  const [facts, setFacts] = useState<LinkFacts>()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [lost, setLost] = useState<string>()
  const { problem, isBusy, attempt } = useAttempt()
  useEffect(() => {
    api.call('signIn.describeLink', { body: { link } }).then(setFacts, (error: Error) => setLost(error.message))
  }, [link])
  if (lost !== undefined)
    return (
      <>
        <Bad>{lost}</Bad>
        <button type="button" className="button" onClick={onLeave}>
          Sign in another way
        </button>
      </>
    )
  if (facts === undefined) return null
  const isNew = facts.kind !== 'sign-in'
  const submit = () =>
    attempt(async () => {
      const person = { name, password, ...(facts.email === null ? { email } : {}) }
      await api.call('signIn.link', { body: { link, ...(isNew ? person : {}) } })
      dropHash()
      await loadSession()
    })
  return (
    <Form className="stack-4" onSubmit={submit}>
      <p className="body-text">{sentenceOf(facts)}</p>
      {isNew ? (
        <>
          {facts.email === null ? (
            <Field id="email" label="E-mail" type="email" autoComplete="username" value={email} onChange={setEmail} />
          ) : null}
          <Field
            id="name"
            label="Name"
            autoComplete="name"
            hint="Versions, events and jobs show it."
            value={name}
            onChange={setName}
          />
          <Field
            id="password"
            label="New password"
            type="password"
            autoComplete="new-password"
            hint="10 characters or more."
            value={password}
            onChange={setPassword}
          />
        </>
      ) : null}
      {problem === undefined ? null : <Bad>{problem.message}</Bad>}
      <button type="submit" className="button primary wide" disabled={isBusy}>
        {isNew ? 'Create the account' : 'Sign in'}
      </button>
    </Form>
  )
}

function sentenceOf({ kind, email, role, project, creator, expires }: LinkFacts): string {
  const end = `The link works once and expires ${until(expires)}.`
  if (kind === 'admin') return `This makes you an admin of the whole stack. ${end}`
  if (kind === 'sign-in') return `This signs you in. ${end}`
  return `${creator} invites ${email} to the project ${project} as ${role}. ${end}`
}
