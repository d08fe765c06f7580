// Stateless temporary credentials: the session token contains what it allows and until when, with a MAC of this stack.
// The secret key is derived from the token, so checking a request needs nothing but the server's secret.

import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AccessScope, Grant } from './object-access.ts'
import type { SigningCredentials } from './presign.ts'

export interface Session {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly expiresMs: number
  readonly scope: AccessScope
}

/** What one text alone allows, without a secret to sign with. */
export type SharedSession = Pick<Session, 'expiresMs' | 'scope'>

export interface SessionTokens {
  issue(scope: AccessScope, expiresMs: number): Required<SigningCredentials>
  /** `undefined` when we did not issue this token. The caller checks whether it has expired. */
  open(token: string): Session | undefined
  /** For shared access signatures: anyone with the text may do what it allows. */
  issueShared(scope: AccessScope, expiresMs: number): string
  openShared(token: string): SharedSession | undefined
  /** The store's own key: allows everything. Links are signed with it; it is never given out. */
  readonly root: SigningCredentials
}

/** The characters of a base32 alphabet, as in access keys of AWS. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const keyId = (prefix: string, bytes: Uint8Array): string => prefix + [...bytes].map((byte) => BASE32[byte & 31]).join('')

type GrantFields = readonly [action: Grant['action'], key: string, isPrefix: boolean]
type SealedFields = readonly [
  version: 2,
  id: string,
  expiresMs: number,
  demandEncryption: boolean,
  grants: readonly GrantFields[],
]
/** Tokens that a stack of the version before issued are valid for hours after an upgrade. */
type SealedFieldsOfVersion1 = readonly [
  version: 1,
  id: string,
  expiresMs: number,
  ...grant: GrantFields,
  demandEncryption: boolean,
]

const grantOf = ([action, key, isPrefix]: GrantFields): Grant => ({ action, key, isPrefix })
const scopeOf = ([, , , demandEncryption, grants]: SealedFields): AccessScope => ({
  grants: grants.map(grantOf),
  demandEncryption,
})
const scopeOfVersion1 = ([, , , action, key, isPrefix, demandEncryption]: SealedFieldsOfVersion1): AccessScope => ({
  grants: [{ action, key, isPrefix }],
  demandEncryption,
})

export function createSessionTokens(serverSecret: Uint8Array): SessionTokens {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', serverSecret, '', `millrace object store: ${purpose}`, 32))
  const macKey = createSecretKey(derive('session token'))
  const secretKey = createSecretKey(derive('session secret'))
  const sharedKey = createSecretKey(derive('shared access'))

  const macOf = (payload: string, key: KeyObject) => createHmac('sha256', key).update(payload).digest()
  function sealed(accessKeyId: string, scope: AccessScope, expiresMs: number, key: KeyObject): string {
    const grants = scope.grants.map(({ action, key: objectKey, isPrefix }) => [action, objectKey, isPrefix])
    const fields = [2, accessKeyId, expiresMs, scope.demandEncryption, grants]
    const payload = Buffer.from(JSON.stringify(fields)).toString('base64')
    return `${payload}.${macOf(payload, key).toString('base64')}`
  }

  function openSealed(token: string, key: KeyObject): Omit<Session, 'secretAccessKey'> | undefined {
    const [payload = '', mac = ''] = token.split('.')
    const given = Buffer.from(mac, 'base64')
    const expected = macOf(payload, key)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    // Ours, by the MAC: the fields are those that sealed() wrote.
    const fields = JSON.parse(Buffer.from(payload, 'base64').toString()) as SealedFields | SealedFieldsOfVersion1
    const [, accessKeyId, expiresMs] = fields
    return { accessKeyId, expiresMs, scope: fields[0] === 1 ? scopeOfVersion1(fields) : scopeOf(fields) }
  }

  const secretOf = (token: string) => createHmac('sha256', secretKey).update(token).digest('base64').slice(0, 40)

  return {
    root: {
      accessKeyId: keyId('AKIA', derive('root access key id').subarray(0, 16)),
      secretAccessKey: derive('root secret access key').toString('base64').slice(0, 40),
    },

    issue(scope, expiresMs) {
      const accessKeyId = keyId('ASIA', randomBytes(16))
      const sessionToken = sealed(accessKeyId, scope, expiresMs, macKey)
      return { accessKeyId, secretAccessKey: secretOf(sessionToken), sessionToken }
    },

    open(token) {
      const opened = openSealed(token, macKey)
      return opened && { ...opened, secretAccessKey: secretOf(token) }
    },

    issueShared: (scope, expiresMs) => sealed(keyId('ASIA', randomBytes(16)), scope, expiresMs, sharedKey),

    openShared(token) {
      const opened = openSealed(token, sharedKey)
      return opened && { scope: opened.scope, expiresMs: opened.expiresMs }
    },
  }
}
