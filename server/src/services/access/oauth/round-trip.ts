// The way of a person to the provider and back. A round trip is found again by its state (2.0) or request token (1.0), once, by the
// browser that started it: a link to the callback that another user was tricked into opening fails.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Oauth1 } from '../../../engines/oauth/oauth1.ts'
import type { Oauth2, OauthClient, Tokens } from '../../../engines/oauth/oauth2.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { Credentials } from './credentials.ts'
import type { OauthStore, RoundTripRecord, UserData } from './oauth.store.ts'
import { fillProvider, type Provider } from './provider-definition.ts'
import type { Providers } from './providers.ts'

export interface RoundTripDeps {
  readonly store: OauthStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly providers: Pick<Providers, 'find' | 'get'>
  readonly credentials: Pick<Credentials, 'authorise' | 'clientOf'>
  readonly oauth1: Pick<Oauth1, 'requestToken' | 'accessToken'>
  readonly oauth2: Pick<Oauth2, 'authorizationUrl' | 'redeem'>
  readonly encrypt: (key: Place, text: string) => Promise<string>
  readonly decrypt: (key: Place, cipher: string) => Promise<string>
  /** Refuses an address on the way out that could never be reached. */
  readonly checkAddress: (url: URL) => void
  /** The address that is registered at the provider. */
  readonly redirectUrl: (componentId: string) => string
  readonly usableComponent: (actor: Actor, componentId: string) => string
  readonly mayReturnTo: (url: URL) => boolean
  /** Writes the credentials into `authorization` of a configuration. */
  readonly attach: (actor: Actor, place: AttachPlace, origin: Origin) => Promise<void>
}

interface Place {
  readonly projectId: number
  readonly componentId: string
}

export interface AttachPlace {
  readonly componentId: string
  readonly configurationId: string
  readonly credentialsId: string
}

export interface AuthoriseRequest {
  readonly id?: string | undefined
  readonly authorizedFor?: string | undefined
  readonly returnUrl?: string | undefined
  readonly userData: UserData
  readonly provider?: string | undefined
  readonly scope?: string | undefined
  readonly appKey?: string | undefined
  readonly appSecret?: string | undefined
  readonly configurationId?: string | undefined
}

export interface Departure {
  /** Where the person goes. */
  readonly url: URL
  /** For a cookie: its name and the value that proves the same browser. */
  readonly cookie: { readonly name: string; readonly value: string; readonly maxAgeSeconds: number }
}

export interface Arrival {
  readonly returnUrl: string | null
  readonly credentialsId: string
  readonly componentId: string
  readonly configurationId: string | null
}

export type RoundTrips = ReturnType<typeof createRoundTrips>

/** How long a person may take to agree. */
const TRIP_MS = 15 * 60_000

export function createRoundTrips(deps: RoundTripDeps) {
  const { store, inTransaction, clock, providers, credentials, oauth1, oauth2 } = deps

  async function depart(actor: Actor, component: string, request: AuthoriseRequest): Promise<Departure> {
    const componentId = deps.usableComponent(actor, component)
    const place = { projectId: actor.projectId, componentId }
    const provider = await providerFor(componentId, request)
    const own = await ownClient(place, request)
    const client = await credentials.clientOf({ ...place, ...own, providerId: provider.id })
    if (client.id === '') throw new PlatformError('oauth.noClient', { provider: provider.id })
    deps.checkAddress(new URL(provider.tokenUrl))
    const returnUrl = returnAddress(request.returnUrl)
    const redirectUrl = deps.redirectUrl(componentId)
    const browser = randomBytes(32).toString('base64url')
    const { key, proof, url } = await begin(provider, client, redirectUrl, request.scope)
    const now = clock.now().getTime()
    const trip: RoundTripRecord = {
      ...place,
      stateHash: hashOf(key),
      credentialsId: request.id ?? randomBytes(8).toString('hex'),
      authorizedFor: request.authorizedFor ?? '',
      providerId: provider.id,
      ...own,
      userData: request.userData,
      returnUrl,
      configurationId: request.configurationId ?? null,
      redirectUrl,
      proof: await deps.encrypt(place, proof),
      browserHash: hashOf(browser),
      actor,
      expiresAt: now + TRIP_MS,
    }
    await inTransaction((trx) => store.insertRoundTrip(trx, trip, now))
    return { url, cookie: { name: cookieName(key), value: browser, maxAgeSeconds: TRIP_MS / 1000 } }
  }

  async function ownClient(place: Place, { appKey, appSecret }: AuthoriseRequest) {
    if (appKey === undefined) return { appKey: null, appSecret: null }
    return { appKey, appSecret: appSecret === undefined ? null : await deps.encrypt(place, appSecret) }
  }

  async function begin(provider: Provider, client: OauthClient, redirectUrl: string, scope: string | undefined) {
    if (provider.version === '1.0') {
      const { token, secret } = await oauth1.requestToken(provider.requestTokenUrl ?? '', client, redirectUrl)
      const url = new URL(provider.authUrl)
      url.searchParams.set('oauth_token', token)
      for (const [name, value] of Object.entries(provider.authParameters)) url.searchParams.set(name, value)
      return { key: token, proof: secret, url }
    }
    const state = randomBytes(32).toString('base64url')
    const codeVerifier = randomBytes(48).toString('base64url')
    const server = { ...provider, scope: scope ?? provider.scope }
    const url = await oauth2.authorizationUrl(server, client.id, { redirectUrl, state, codeVerifier })
    return { key: state, proof: codeVerifier, url }
  }

  /** `cookieOf` reads a cookie of the browser that came back. */
  async function arrive(
    component: string,
    query: URLSearchParams,
    cookieOf: (name: string) => string | undefined,
    origin: Origin,
  ): Promise<Arrival> {
    const key = query.get('state') ?? query.get('oauth_token') ?? query.get('denied') ?? ''
    const trip = await takeTrip(key, cookieOf(cookieName(key)))
    const ended = { returnUrl: trip.returnUrl }
    try {
      if (new URL(trip.redirectUrl).pathname !== new URL(deps.redirectUrl(component)).pathname)
        throw new PlatformError('oauth.unknownState')
      const provider = fillProvider(await providers.get(trip.providerId), trip.userData)
      const tokens = await redeem(trip, provider, key, query)
      const { authorizedFor, appKey, appSecret, userData } = trip
      const given = {
        authorizedFor,
        providerId: provider.id,
        oauthVersion: provider.version,
        appKey,
        appSecret,
        userData,
        tokens,
      }
      await credentials.authorise(trip.actor, trip, given, origin)
      const { componentId, configurationId, credentialsId } = trip
      if (configurationId !== null) await deps.attach(trip.actor, { componentId, configurationId, credentialsId }, origin)
      return { ...ended, credentialsId, componentId, configurationId }
    } catch (error) {
      throw Object.assign(error as Error, ended) // where the person reads it
    }
  }

  async function takeTrip(key: string, browser: string | undefined): Promise<RoundTripRecord> {
    const found = key === '' ? undefined : await store.findRoundTrip(hashOf(key))
    if (!found || found.expiresAt < clock.now().getTime()) throw new PlatformError('oauth.unknownState')
    if (browser === undefined || !isSame(found.browserHash, hashOf(browser))) throw new PlatformError('oauth.otherBrowser')
    const trip = await inTransaction((trx) => store.takeRoundTrip(trx, found.stateHash))
    if (!trip) throw new PlatformError('oauth.unknownState')
    return trip
  }

  async function redeem(trip: RoundTripRecord, provider: Provider, key: string, query: URLSearchParams): Promise<Tokens> {
    const client = await credentials.clientOf(trip)
    const proof = await deps.decrypt(trip, trip.proof)
    refuseDenial(query, provider)
    if (provider.version === '1.0') {
      const verifier = query.get('oauth_verifier')
      if (!verifier) throw new PlatformError('oauth.denied', { provider: provider.name, reason: 'it sent no verifier' })
      return oauth1.accessToken(provider.tokenUrl, client, { token: key, secret: proof }, verifier)
    }
    const { redirectUrl } = trip
    return oauth2.redeem(provider, client, { redirectUrl, state: key, codeVerifier: proof }, query)
  }

  async function providerFor(componentId: string, { provider: name, userData }: AuthoriseRequest): Promise<Provider> {
    const found = name === undefined ? await providers.find(componentId) : await providers.get(name)
    if (!found) throw new PlatformError('oauth.providerNeeded', { component: componentId })
    return fillProvider(found, userData)
  }

  function returnAddress(given: string | undefined): string | null {
    if (given === undefined || given === '') return null
    if (!URL.canParse(given) || !deps.mayReturnTo(new URL(given)))
      throw new PlatformError('oauth.returnUrl', { url: given.slice(0, 200) })
    return given
  }

  return { depart, arrive }
}

function refuseDenial(query: URLSearchParams, provider: Provider): void {
  const error = query.has('denied') ? 'access_denied' : query.get('error')
  if (error === null) return
  const reason = [error, query.get('error_description')].filter((text) => text).join(': ')
  throw new PlatformError('oauth.denied', { provider: provider.name, reason: reason.slice(0, 300) })
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** One for each round trip, so that two at once do not disturb each other. */
const cookieName = (key: string): string => `millrace_oauth_${hashOf(key).slice(0, 16)}`

const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a), Buffer.from(b))
