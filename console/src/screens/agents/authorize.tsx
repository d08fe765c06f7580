// A client requests that a person signs an agent in: its name, the rights it requests, and in which project.

import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { Label } from '../../parts/guide.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api, usePerson } from '../../session.ts'
import { Page } from '../../shell/page.tsx'

const SCOPES = [
  ['read', 'Read: look around, query tables and read logs.'],
  ['propose', 'Propose: also change configurations, in a branch that a person accepts.'],
  ['write', 'Write: also change and run, as you can. Deletes and new hosts still wait for a person.'],
] as const
type Scope = (typeof SCOPES)[number][0]

type Asked = Answer<'agentConnections.describe'>

export function AuthorizeScreen() {
  const person = usePerson()
  // The whole query of the client, as it came; the branch of the console is none of it.
  const { branch: _, ...request } = useSearch({ strict: false }) as Record<string, string>
  const query = useLoad('agentConnections.describe', person ? { body: request } : undefined)
  return (
    <Page
      title="Sign in an agent"
      crumbs={[{ name: 'Agents', to: '/agents' }, { name: 'Sign in' }]}
      say={person ? `You are ${person.account.name}.` : 'You are signed in with a token.'}
    >
      {person ? (
        <Loaded query={query}>{(asked) => <Decision asked={asked} request={request} chosen={person.projectId} />}</Loaded>
      ) : (
        <section className="card inset">
          <p className="body-text">A token cannot sign in agents. Sign out, and sign in with your account.</p>
        </section>
      )}
    </Page>
  )
}

interface DecisionProps {
  readonly asked: Asked
  readonly request: Record<string, string>
  readonly chosen: number | undefined
}

function Decision({ asked: { client, scope: widest, projects }, request, chosen }: DecisionProps) {
  const [projectId, setProject] = useState(projects.find(({ id }) => id === chosen)?.id ?? projects[0]?.id)
  const [scope, setScope] = useState<Scope>(widest)
  const offered = SCOPES.slice(0, SCOPES.findIndex(([name]) => name === widest) + 1)
  const decide = useMutation({
    mutationFn: (isAllowed: boolean) =>
      api.call('agentConnections.decide', {
        body: { request, isAllowed, scope, ...(projectId !== undefined && { projectId }) },
      }),
    onSuccess: ({ redirect }) => location.assign(redirect),
  })
  return (
    <section className="card" aria-labelledby="asks">
      <header>
        <h2 id="asks">{client.name} asks for access</h2>
      </header>
      <div className="inset stack-4">
        <p className="body-text">
          {client.host === null
            ? 'The client chose this name itself: allow it only if you have just started it.'
            : `The client is described by ${client.host}.`}{' '}
          Afterwards your browser goes to <span className="identifier">{client.redirectHost}</span>.
        </p>
        <div className="field">
          <Label htmlFor="agent-project">Project</Label>
          <select
            className="input"
            id="agent-project"
            value={projectId}
            onChange={(event) => setProject(Number(event.target.value))}
          >
            {projects.map(({ id, name, role }) => (
              <option key={id} value={id}>
                {name} ({role})
              </option>
            ))}
          </select>
        </div>
        <fieldset className="stack-2">
          <legend className="medium">What it may do</legend>
          {offered.map(([name, text]) => (
            <label className="flex-row" key={name}>
              <input type="radio" name="scope" checked={scope === name} onChange={() => setScope(name)} />
              <span>{text}</span>
            </label>
          ))}
        </fieldset>
        <p className="fine mute">It never manages tokens and people, and loses access when you revoke it on the page Agents.</p>
        <div className="flex-row">
          <button type="button" className="button ghost" disabled={decide.isPending} onClick={() => decide.mutate(false)}>
            Refuse
          </button>
          <button
            type="button"
            className="button primary"
            disabled={decide.isPending || projectId === undefined}
            onClick={() => decide.mutate(true)}
          >
            Allow
          </button>
        </div>
        {decide.error ? <Problem error={decide.error} /> : null}
      </div>
    </section>
  )
}
