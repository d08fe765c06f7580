// Agents: what they propose, and how a client of the Model Context Protocol is connected.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { type Loading, useFirstLoads, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Label } from '../../parts/guide.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { CLIENTS, configurationOf, installLinkOf } from './client-configuration.ts'

const route = getRouteApi('/agents')

const STATES: Readonly<Record<string, readonly [string, string]>> = {
  open: ['created', 'Being prepared'],
  submitted: ['waiting', 'Waits for a decision'],
  refused: ['warning', 'Refused'],
  accepted: ['success', 'Accepted'],
  undone: ['stopped', 'Undone'],
  expired: ['cancelled', 'Expired'],
  discarded: ['cancelled', 'Discarded'],
}

export const ProposalState = ({ state }: { state: string }) => {
  const [status, text] = STATES[state] ?? ['created', state]
  return <Status status={status} badge text={text} />
}

export function AgentsScreen() {
  const query = useLoad('proposals.list')
  const isFirst = useFirstLoads()
  const proposals = query.data ?? []
  const waiting = proposals.filter(({ state }) => state === 'submitted').length
  return (
    <Page
      title="Agents"
      isLoading={isFirst}
      crumbs={[{ name: 'Agents' }]}
      say={
        !query.data
          ? 'Agents'
          : waiting === 0
            ? 'No proposal waits for a decision.'
            : `${plural(waiting, 'proposal')} to decide about.`
      }
    >
      <div className="stack-4">
        <Listing
          label="Proposals"
          title
          query={query}
          count={proposals.length}
          teach="An agent with a token that only proposes works in a branch of its own. Its changes are rehearsed, reviewed here and applied as one."
        >
          <ListTable label="Proposals" columns={['Proposal', 'By', 'State', 'Created', 'Expires']}>
            {proposals.map(({ id, title, token, state, created, expires }) => (
              <tr key={id}>
                <td className="medium">
                  <Link to="/proposals/$proposalId" params={{ proposalId: String(id) }}>
                    {title ?? `Proposal ${id}`}
                  </Link>
                </td>
                <td>{token.description}</td>
                <td>
                  <ProposalState state={state} />
                </td>
                <td className="nowrap">{moment(created)}</td>
                <td className="nowrap">{expires === null ? '' : moment(expires)}</td>
              </tr>
            ))}
          </ListTable>
        </Listing>
        <Requests />
        <Connections />
        <Connect />
      </div>
    </Page>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  allow: 'New host, recipient or token',
  call: 'One call',
  secret: 'Secret',
}

const DECIDED: Readonly<Record<string, string>> = { allowed: 'was allowed', used: 'was allowed', refused: 'was refused' }

/** Actions and secrets for which agents need a person; what the URL names is first. */
function Requests() {
  const { request: named } = route.useSearch()
  const query = useLoad('agentRequests.list', {}, { again: () => 5_000 })
  const waiting = (query.data ?? [])
    .filter(({ state }) => state === 'waiting')
    .sort((a, b) => Number(b.id === named) - Number(a.id === named))
  const isGone = named !== undefined && query.data !== undefined && !waiting.some(({ id }) => id === named)
  const decided = query.data?.find(({ id }) => id === named)
  return (
    <>
      {isGone ? (
        <p className="note" role="status">
          {decided
            ? `The request of the link ${DECIDED[decided.state] ?? 'is decided'}: a link works once.`
            : 'The request of the link does not exist in this project, or is older than a day. Ask the agent for another one.'}
        </p>
      ) : null}
      <WaitingRequests query={query} waiting={waiting} named={named} />
    </>
  )
}

interface WaitingProps {
  readonly query: Loading<readonly AgentRequest[]>
  readonly waiting: readonly AgentRequest[]
  readonly named: string | undefined
}

function WaitingRequests({ query, waiting, named }: WaitingProps) {
  return (
    <Listing
      label="Waits for you"
      title
      query={query}
      count={waiting.length}
      teach="Nothing waits. Agents ask here before they delete something, run something often, or send data to a new host after reading rows; secrets are entered here, too."
    >
      <ul className="list">
        {waiting.map((request) => (
          <RequestOfAgent key={request.id} request={request} isNamed={request.id === named} />
        ))}
      </ul>
    </Listing>
  )
}

type AgentRequest = Answer<'agentRequests.list'>[number]

interface RequestProps {
  readonly request: AgentRequest
  /** By the link that the agent gave. */
  readonly isNamed: boolean
}

function RequestOfAgent({ request: { id, kind, subject, token, detail, created }, isNamed }: RequestProps) {
  const queries = useQueryClient()
  const [value, setValue] = useState('')
  const decide = useMutation({
    mutationFn: (isAllowed: boolean) =>
      api.call('agentRequests.decide', { path: { id }, body: { isAllowed, ...(isAllowed && kind === 'secret' && { value }) } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agentRequests.list'] }),
  })
  return (
    <li className="wrap" aria-current={isNamed || undefined}>
      <span className="medium">{KINDS[kind] ?? kind}</span>
      <span className="identifier said">{subject}</span>
      <span className="mute fine said">
        {token.description}, {moment(created)}: {JSON.stringify(detail).slice(0, 300)}
      </span>
      {kind === 'secret' ? (
        <input
          className="input"
          type="password"
          autoComplete="off"
          aria-label={`Value of ${subject}`}
          // biome-ignore lint/a11y/noAutofocus: the person came for this field, by the link of the agent
          autoFocus={isNamed}
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      ) : null}
      <span className="push flex-row">
        <ActButton needs="agentRequests.decide" className="button small ghost" onClick={() => decide.mutate(false)}>
          Refuse
        </ActButton>
        <ActButton
          needs="agentRequests.decide"
          className="button small"
          disabled={kind === 'secret' && value === ''}
          onClick={() => decide.mutate(true)}
        >
          {kind === 'secret' ? 'Save' : 'Allow'}
        </ActButton>
      </span>
      {decide.error ? <Problem error={decide.error} /> : null}
    </li>
  )
}

/** Agents that people signed in with OAuth. */
function Connections() {
  const queries = useQueryClient()
  const query = useLoad('agentConnections.list')
  const connections = query.data ?? []
  const revoke = async (connectionId: number) => {
    await api.call('agentConnections.remove', { path: { connectionId: String(connectionId) } })
    await queries.invalidateQueries({ queryKey: ['agentConnections.list'] })
  }
  return (
    <Listing
      label="Signed in"
      title
      query={query}
      count={connections.length}
      teach="No client is signed in. Clients that support OAuth need the address below without a token: they open your browser, and you allow them here."
    >
      <ListTable label="Signed in" columns={['Client', 'May', 'Since', 'Last used', '']}>
        {connections.map(({ id, client, scope, created, lastUsed }) => (
          <tr key={id}>
            <td className="medium">{client.name}</td>
            <td>{scope}</td>
            <td className="nowrap">{moment(created)}</td>
            <td className="nowrap">{lastUsed === null ? '' : moment(lastUsed)}</td>
            <td>
              <ConfirmButton
                label="Revoke"
                name={client.name}
                ariaLabel={`Revoke ${client.name}`}
                needs="agentConnections.remove"
                effect={<p>The client is signed out at once. It can ask to be allowed again.</p>}
                act={() => revoke(id)}
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </Listing>
  )
}

const DAYS = 90

/** A token of its own for the agent, and the configuration for its client. */
function Connect() {
  const queries = useQueryClient()
  const [client, setClient] = useState(CLIENTS[0]!.name)
  const [isProposing, setProposing] = useState(true)
  const create = useMutation({
    mutationFn: () =>
      api.call('tokens.create', {
        body: { description: `Agent (${client})`, canManageBuckets: true, onlyProposes: isProposing, expiresIn: DAYS * 86_400 },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens.list'] }),
  })
  const chosen = CLIENTS.find(({ name }) => name === client) ?? CLIENTS[0]!
  const text = configurationOf(chosen, location.origin, create.data?.token ?? 'YOUR-TOKEN')
  const link = installLinkOf(chosen, location.origin, create.data?.token)
  return (
    <section className="card" aria-labelledby="connect">
      <header>
        <h2 id="connect">Connect a client</h2>
      </header>
      <div className="inset stack-4">
        <div className="field">
          <Label htmlFor="agent-client">Client</Label>
          <select className="input" id="agent-client" value={client} onChange={(event) => setClient(event.target.value)}>
            {CLIENTS.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <span className="hint">{chosen.where}</span>
        </div>
        <label className="flex-row">
          <input type="checkbox" checked={isProposing} onChange={(event) => setProposing(event.target.checked)} />
          <span>It only proposes: nothing in production changes before a person accepts.</span>
        </label>
        <pre className="code" id="client-configuration">
          {text}
        </pre>
        <div className="flex-row">
          {link === undefined ? null : (
            <a className="button small" href={link}>
              Add to {chosen.name}
            </a>
          )}
          <CopyButton text={text} label="Copy the configuration" />
          {create.data ? null : (
            <ActButton needs="tokens.create" className="button small" disabled={create.isPending} onClick={() => create.mutate()}>
              Create a token for it
            </ActButton>
          )}
        </div>
        {link !== undefined && !create.data ? (
          <p className="fine mute">Without a token, {chosen.name} opens your browser, and you sign in.</p>
        ) : null}
        {create.data ? <p className="fine mute">The token is shown this once, and expires in {DAYS} days.</p> : null}
        {create.error ? <Problem error={create.error} /> : null}
      </div>
    </section>
  )
}
