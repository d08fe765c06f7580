import { type FormEvent, useState } from 'react'
import { Icon, type IconName, Logo } from '../parts/icon.tsx'
import { clientWith, signIn } from '../session.ts'
import { ThemeButton } from '../shell/shell.tsx'

const QUESTIONS: readonly (readonly [IconName, string, string, string])[] = [
  ['st-ok', 'ok', 'Is my data right and fresh?', 'Every table shows when its rows came, and from which run.'],
  ['st-err', 'err', 'What happened?', 'Every run keeps its log, its results and the configuration it ran with.'],
  ['st-created', 'run', 'What will this do?', 'Effective configurations and true schedule previews, before anything runs.'],
]

export function SignIn() {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await clientWith(token.trim()).call('tokens.verify')
      signIn(token.trim())
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="entry">
      <main id="main" className="entry-form">
        <div className="row">
          <span className="brand">
            <Logo />
            <span>Millrace</span>
          </span>
          <span className="push">
            <ThemeButton />
          </span>
        </div>
        <div className="entry-middle stack6">
          <div>
            <h1>Sign in</h1>
            <p className="md soft">
              Stack <span className="id">{location.host}</span>
            </p>
          </div>
          <form className="stack4" onSubmit={(event) => void submit(event)}>
            <div className="field">
              <label htmlFor="token">Token</label>
              <input
                className="input mono"
                id="token"
                type="password"
                autoComplete="current-password"
                required
                value={token}
                aria-invalid={problem !== undefined}
                aria-describedby={problem === undefined ? 'token-hint' : 'token-problem'}
                onChange={(event) => setToken(event.target.value)}
              />
              {problem === undefined ? (
                <span className="hint" id="token-hint">
                  The first start printed the master token. Any token of a project works, with what it is allowed to do.
                </span>
              ) : (
                <span className="bad" id="token-problem" role="alert">
                  <Icon name="st-err" size="sm" />
                  {problem}
                </span>
              )}
            </div>
            <button type="submit" className="btn pri wide" disabled={isBusy}>
              Sign in
            </button>
          </form>
          <p className="xs mute">
            Lost it? <span className="id">npx millrace token reset-master</span> makes a new one.
          </p>
        </div>
        <p className="xs mute">This page asks nobody but this stack. The token stays in this tab.</p>
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
}
