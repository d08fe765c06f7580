// With which account of another service a configuration works: authorise it there, try it, exchange it, take it away.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import type { Configuration } from '../../../../client/src/operations.ts'
import { setAt, valueIn } from '../../document/json-text.ts'
import { type ConfigurationPlace, type LoadedConfiguration, readConfiguration } from '../../facts/use-configuration.ts'
import { moment, until } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Form } from '../../parts/form.tsx'
import { Label } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'

const route = getRouteApi('/components/$componentId/$configurationId')
type Credentials = Answer<'oauth.listCredentials'>[number]
type Provider = Answer<'oauth.listProviders'>[number]

const REFERENCE = ['authorization', 'oauth_api', 'id'] as const

export const authorisedBy = (configuration: Configuration): string | undefined => {
  const id = valueIn(configuration.configuration, [...REFERENCE])
  return typeof id === 'string' ? id : undefined
}

export function AuthorisationTab({ place, loaded }: { place: ConfigurationPlace; loaded: LoadedConfiguration }) {
  const { success, error_description: refusal } = route.useSearch()
  const queries = useQueryClient()
  const query = useLoad('oauth.listCredentials', { path: { componentId: place.componentId } })
  const used = authorisedBy(loaded.configuration)
  const choose = useMutation({
    mutationFn: async (id: string | undefined) => {
      const now = await readConfiguration(place)
      const text =
        id === undefined
          ? setAt(now.root.text, ['authorization', 'oauth_api'], undefined)
          : setAt(now.root.text, ['authorization', 'oauth_api'], { id, version: 3 })
      await api.call('configurations.update', {
        path: place,
        body: { configuration: text, changeDescription: id === undefined ? 'Authorisation removed' : `Authorised by ${id}` },
        headers: { 'if-match': `"${now.root.version}"` },
      })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['configurations.get'] }),
  })
  return (
    <div className="columns">
      <div className="stack-4">
        {success === 'true' ? (
          <div className="note good" role="status">
            <Icon name="st-ok" />
            <p>Authorised. The next run uses it.</p>
          </div>
        ) : null}
        {refusal ? (
          <div className="note failed" role="alert">
            <Icon name="st-err" />
            <p>{refusal}</p>
          </div>
        ) : null}
        {choose.error ? <Problem error={choose.error} /> : null}
        <Loaded query={query}>
          {(all) =>
            all.length === 0 ? (
              <section className="card" aria-label="Authorisations">
                <Teach>
                  Some services give access to an account only when a person agrees on a page of theirs. Choose the service, agree
                  there, and the runs of this configuration can read the account.
                </Teach>
              </section>
            ) : (
              all
                .toSorted((a, b) => Number(b.id === used) - Number(a.id === used))
                .map((one) => (
                  <Account
                    key={one.id}
                    place={place}
                    account={one}
                    isUsed={one.id === used}
                    onUse={() => choose.mutate(one.id)}
                    onTakeOut={() => choose.mutate(undefined)}
                  />
                ))
            )
          }
        </Loaded>
      </div>
      <NewAuthorisation place={place} />
    </div>
  )
}

function Account({
  place,
  account,
  isUsed,
  onUse,
  onTakeOut,
}: {
  place: ConfigurationPlace
  account: Credentials
  isUsed: boolean
  onUse: () => void
  onTakeOut: () => void
}) {
  const queries = useQueryClient()
  const path = { componentId: place.componentId, id: account.id }
  const refresh = () => queries.invalidateQueries({ queryKey: ['oauth.listCredentials'] })
  const test = useMutation({ mutationFn: () => api.call('oauth.testCredentials', { path }) })
  const exchange = useMutation({
    mutationFn: () => api.call('oauth.refreshCredentials', { path }),
    onSuccess: async () => {
      await refresh()
      toast('The tokens are new.')
    },
  })
  const revoke = async () => {
    await api.call('oauth.revokeCredentials', { path })
    await refresh()
    toast('Revoked at the provider. Authorise it again to use it.')
  }
  const begin = useBegin(place)
  const isBusy = [test, exchange, begin].some(({ isPending }) => isPending)
  return (
    <section className="card" aria-label={`Authorisation ${account.authorizedFor}`}>
      <header>
        <h2>{account.authorizedFor}</h2>
        <span className="identifier">{account.id}</span>
        <span className="push">
          {account.problem ? <Status status="error" badge /> : isUsed ? <Status status="enabled" badge text="Used here" /> : null}
        </span>
      </header>
      <div className="inset stack-3">
        {account.problem ? (
          <div className="note failed">
            <Icon name="st-err" />
            <p>{account.problem}</p>
          </div>
        ) : null}
        <dl className="pairs">
          <dt>Provider</dt>
          <dd>{account.provider ?? 'not known'}</dd>
          <dt>Authorised</dt>
          <dd>
            {moment(account.created)} by {account.creator.description}
          </dd>
          <dt>Token expires</dt>
          <dd>{account.expires ? `${moment(account.expires)}, ${until(account.expires)}; exchanged before a run` : 'never'}</dd>
        </dl>
        {test.data ? (
          <p className={test.data.status === 'ok' ? 'good status' : 'failed status'} role="status">
            <Icon name={test.data.status === 'ok' ? 'st-ok' : 'st-err'} />
            {test.data.message}
          </p>
        ) : null}
        {[test, exchange, begin].map(({ error }, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list
          error ? <Problem key={index} error={error} /> : null,
        )}
        <div className="flex-row wrap">
          {isUsed ? (
            <button type="button" className="button" onClick={onTakeOut}>
              Do not use it here
            </button>
          ) : (
            <button type="button" className="button" onClick={onUse}>
              Use it here
            </button>
          )}
          <button type="button" className="button" disabled={isBusy} onClick={() => test.mutate()}>
            Try it
          </button>
          <ActButton needs="oauth.refreshCredentials" className="button" disabled={isBusy} onClick={() => exchange.mutate()}>
            Exchange the tokens
          </ActButton>
          {account.provider ? (
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() =>
                begin.mutate({ provider: account.provider!, id: account.id, authorizedFor: account.authorizedFor, userData: {} })
              }
            >
              Authorise again
            </button>
          ) : null}
          <ConfirmButton
            label="Revoke"
            name={account.authorizedFor}
            needs="oauth.revokeCredentials"
            className="button ghost"
            disabled={isBusy}
            effect={
              <p>The provider forgets the tokens. Configurations that use them fail until the account is authorised again.</p>
            }
            act={revoke}
          />
        </div>
      </div>
    </section>
  )
}

interface Wanted {
  readonly provider: string
  readonly authorizedFor: string
  readonly id?: string
  readonly appKey?: string
  readonly appSecret?: string
  readonly userData: Readonly<Record<string, string>>
}

/** Sends the person to the provider. A token for this component alone begins the round trip, and no secret is in an address. */
const useBegin = ({ componentId, configurationId }: ConfigurationPlace) =>
  useMutation({
    mutationFn: async (wanted: Wanted) => {
      const link = await api.call('oauth.makeLink', { body: { componentId, configurationId, provider: wanted.provider } })
      const token = new URL(link.url).searchParams.get('token') ?? ''
      const here = new URL(window.location.href)
      here.search = '?tab=authorisation'
      const answer = await api.call('oauth.authorizeByForm', {
        path: { componentId },
        headers: { accept: 'application/json' },
        body: { ...wanted, token, configurationId, returnUrl: here.toString() },
      })
      return (answer as { url: string }).url
    },
    onSuccess: (url) => window.location.assign(url),
  })

function NewAuthorisation({ place }: { place: ConfigurationPlace }) {
  const providers = useLoad('oauth.listProviders')
  return (
    <section className="card" aria-labelledby="authorise">
      <header>
        <h2 id="authorise">Authorise an account</h2>
      </header>
      <Loaded query={providers}>{(all) => <NewForm place={place} providers={all} />}</Loaded>
    </section>
  )
}

function NewForm({ place, providers }: { place: ConfigurationPlace; providers: readonly Provider[] }) {
  const ids = [useId(), useId(), useId(), useId()] as const
  const ready = providers.toSorted((a, b) => Number(b.hasClient) - Number(a.hasClient))
  const [chosen, setChosen] = useState('')
  const [name, setName] = useState('')
  const [client, setClient] = useState({ appKey: '', appSecret: '' })
  const [userData, setUserData] = useState<Readonly<Record<string, string>>>({})
  const provider = ready.find(({ id }) => id === chosen) ?? ready[0]
  const begin = useBegin(place)
  const redirect = useLoad('oauth.provider', provider && { path: { id: provider.id }, query: { componentId: place.componentId } })
    .data?.redirectUrl
  if (!provider) return <p className="inset mute">This stack has no providers.</p>
  return (
    <Form
      onSubmit={() =>
        begin.mutate({
          provider: provider.id,
          authorizedFor: name,
          userData,
          ...(provider.hasClient || client.appKey === '' ? {} : client),
        })
      }
    >
      <div className="field">
        <Label htmlFor={ids[0]}>Service</Label>
        <select className="input" id={ids[0]} value={provider.id} onChange={(event) => setChosen(event.target.value)}>
          {ready.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
        {provider.scope ? <span className="hint">Requests {provider.scope}</span> : null}
      </div>
      <div className="field">
        <Label htmlFor={ids[1]}>Name of this authorisation</Label>
        <input
          className="input"
          id={ids[1]}
          required
          placeholder="whose account it is"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      {provider.userData.map((key) => (
        <div key={key} className="field">
          <Label htmlFor={`${ids[0]} ${key}`}>{key} in the address</Label>
          <input
            className="input"
            id={`${ids[0]} ${key}`}
            required
            value={userData[key] ?? ''}
            onChange={(event) => setUserData({ ...userData, [key]: event.target.value })}
          />
        </div>
      ))}
      {provider.hasClient ? null : (
        <>
          <div className="field">
            <Label htmlFor={ids[2]}>Client id</Label>
            <input
              className="input mono"
              id={ids[2]}
              required
              value={client.appKey}
              onChange={(event) => setClient({ ...client, appKey: event.target.value })}
            />
            <span className="hint">Of the application that you registered at {provider.name}.</span>
          </div>
          <div className="field">
            <Label htmlFor={ids[3]}>Client secret</Label>
            <input
              className="input mono"
              id={ids[3]}
              type="password"
              autoComplete="off"
              required
              value={client.appSecret}
              onChange={(event) => setClient({ ...client, appSecret: event.target.value })}
            />
          </div>
          {redirect ? (
            <p className="fine mute">
              Redirect address to register there: <span className="identifier">{redirect}</span>
              <CopyButton text={redirect} label="Copy the redirect address" />
            </p>
          ) : null}
        </>
      )}
      {begin.error ? <Problem error={begin.error} /> : null}
      <button type="submit" className="button primary" disabled={begin.isPending}>
        <Icon name="external" />
        <span>Continue to {provider.name}</span>
      </button>
    </Form>
  )
}
