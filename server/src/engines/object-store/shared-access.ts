// Shared access signatures for the Azure form of the object store: one text that carries scope, expiry and our MAC, in parameters that
// Azure's SDKs pass on as they are. Only `sig` is trusted; the others repeat its content in readable form, and a request in which one of
// them differs is refused.

import type { AccessScope } from './object-access.ts'
import type { SessionTokens, SharedSession } from './session-token.ts'

/** Version of Azure's protocol that the answers follow. */
export const AZURE_VERSION = '2022-11-02'
const ACCOUNT = 'millrace'
/** The path below the address of the object store, so that every way in which clients name a slice leads here (corrections-2 G3). */
export const AZURE_HOST = `${ACCOUNT}.blob.core.windows.net`

/** How an object store at `endpoint` is named to clients of Azure. */
export function azureNames(endpoint: string, container: string) {
  const blobEndpoint = `${endpoint}/${AZURE_HOST}`
  const place = blobEndpoint.slice(blobEndpoint.indexOf('://') + 3)
  return {
    blobEndpoint,
    /** Go clients write `azure://{accountName}.blob.core.windows.net/{container}/{blob}`. */
    accountName: place.slice(0, -AZURE_HOST.length) + ACCOUNT,
    /** Go clients expect `azure://{BlobEndpoint without its scheme}/{container}/`. */
    slicePrefix: `azure://${place}/${container}/`,
  }
}

/** The key that a client named as a slice: with any host in front of ours, or with none; undefined for another form. */
export function azureSliceKey(url: string, container: string): string | undefined {
  const marker = `/${AZURE_HOST}/${container}/`
  const at = url.startsWith('azure://') ? url.indexOf(marker) : -1
  return at < 0 ? undefined : url.slice(at + marker.length)
}

/** `sv=...&sig=...`, as in URLs and connection strings. */
export function sharedAccessSignature(sessions: SessionTokens, scope: AccessScope, expiresMs: number): string {
  const fields = { ...saidBy({ scope, expiresMs }), sig: sessions.issueShared(scope, expiresMs) }
  return new URLSearchParams(fields).toString()
}

/** What a signature allows, until when; undefined when this stack did not create it, or it was changed. */
export function openSharedAccess(sessions: SessionTokens, query: ReadonlyMap<string, string>): SharedSession | undefined {
  const session = sessions.openShared(query.get('sig') ?? '')
  if (!session) return undefined
  return Object.entries(saidBy(session)).every(([name, value]) => query.get(name) === value) ? session : undefined
}

const saidBy = ({ scope, expiresMs }: SharedSession) => ({
  sv: AZURE_VERSION,
  sr: scope.grants.some((grant) => grant.isPrefix) ? 'c' : 'b',
  sp: scope.grants.some((grant) => grant.action === 'upload') ? 'cwdl' : 'rl',
  se: `${new Date(expiresMs).toISOString().slice(0, 19)}Z`,
})
