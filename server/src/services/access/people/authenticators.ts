// Codes of an authenticator (TOTP, RFC 6238) as the second factor of a password. Its key is kept as a cipher; a code is accepted once; recovery
// codes replace a lost device, each once.

import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { PeopleStore, PersonChange, PersonRecord } from './people.store.ts'
import { hashOf } from './sessions.ts'

export interface AuthenticatorsDeps {
  readonly store: PeopleStore
  readonly clock: Clock
  /** For the whole stack; `owner` must be the same when it is opened. */
  readonly seal: (text: string, owner: string) => Promise<string>
  readonly open: (cipher: string, owner: string) => Promise<string>
}

const PERIOD_SECONDS = 30
const KEY_BYTES = 20
const RECOVERY_CODES = 10
/** Codes of the step before and the step after are good too: clocks differ. */
const WINDOW = 1

export type Authenticators = ReturnType<typeof createAuthenticators>

export function createAuthenticators({ store, clock, seal, open }: AuthenticatorsDeps) {
  /** A key that is not in use yet: it comes back with the first code, so that users are not locked out by a key they never saved. */
  function propose({ email }: { readonly email: string }) {
    const totp = totpOf(new Secret({ size: KEY_BYTES }), email)
    return { secret: totp.secret.base32, uri: totp.toString() }
  }

  /** What to keep of an authenticator whose code is right, and the recovery codes, which exist in this answer only. */
  async function prepare({ id, email }: PersonRecord, secret: string, code: string) {
    const step = stepOf(secretFrom(secret), email, code)
    if (step === undefined) throw new PlatformError('people.codeWrong')
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
    const kept: PersonChange = { totp: await seal(secret, ownerOf(id)), totpStep: step, recoveryCodes: codes.map(recoveryHash) }
    return { kept, codes }
  }

  /** Throws unless the code is right and was not used before. */
  async function use(trx: Trx, personId: number, code: string): Promise<void> {
    const person = await store.lockPerson(trx, personId) // of two with the same code one is second
    if (person?.totp === undefined) throw new PlatformError('people.codeWrong')
    const recovery = recoveryHash(code)
    if (person.recoveryCodes.includes(recovery)) {
      await store.updatePerson(trx, personId, { recoveryCodes: person.recoveryCodes.filter((one) => one !== recovery) })
      return
    }
    const step = stepOf(Secret.fromBase32(await open(person.totp, ownerOf(personId))), person.email, code)
    if (step === undefined || step <= person.totpStep) throw new PlatformError('people.codeWrong')
    await store.updatePerson(trx, personId, { totpStep: step })
  }

  const turnOff = (trx: Trx, personId: number): Promise<void> =>
    store.updatePerson(trx, personId, { totp: undefined, totpStep: -1, recoveryCodes: [] })

  /** Which step the code belongs to; undefined: none that is near. */
  function stepOf(secret: Secret, email: string, code: string): number | undefined {
    const timestamp = clock.now().getTime()
    const token = code.replace(/\s/g, '')
    if (!/^\d{6}$/.test(token)) return undefined
    const delta = totpOf(secret, email).validate({ token, timestamp, window: WINDOW })
    return delta === null ? undefined : Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta
  }

  return { propose, prepare, turnOff, use }
}

const totpOf = (secret: Secret, label: string): TOTP =>
  new TOTP({ issuer: 'Millrace', label, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS, secret })

const ownerOf = (personId: number): string => `authenticator of person ${personId}`

function secretFrom(text: string): Secret {
  if (!/^[A-Z2-7]{32}$/.test(text))
    throw new PlatformError('people.invalid', {
      field: 'secret',
      reason: 'Send the secret that POST /account/authenticator answered.',
    })
  return Secret.fromBase32(text)
}

/** 80 bits, in four groups that can be typed from paper. */
const newRecoveryCode = (): string =>
  new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32.toLowerCase().match(/.{4}/g)!.join('-')

const recoveryHash = (code: string): string => hashOf(code.toLowerCase().replace(/[^a-z2-7]/g, ''))
