// Passwords as scrypt hashes. The parameters are stored with each hash, so that they can be raised later without notice.

import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { PlatformError } from '../../../kit/errors.ts'
import { createFairQueue } from '../../../kit/fair-queue.ts'

const SHORTEST = 10
const LONGEST = 200
const KEY_BYTES = 32

export type PasswordCost = Required<Pick<ScryptOptions, 'N' | 'r' | 'p'>>

/** 32 MB for about a tenth of a second. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 }

/** Half of node's threads: the others read and write files meanwhile. */
const AT_ONCE = 2
const MAX_WAITING = 100
const BUSY_SECONDS = 5

/** Who waits for a password to be compared. */
export interface Asker {
  readonly place: string
  /** Is checked before unknown callers. */
  readonly isKnown: boolean
}

/** For users who are signed in, or have a link. */
const TRUSTED: Asker = { place: '', isKnown: true }

export type Passwords = ReturnType<typeof createPasswords>

export function createPasswords(cost: PasswordCost) {
  const textOf = (salt: Buffer, key: Buffer): string =>
    ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
  const queue = createFairQueue({ atOnce: AT_ONCE, maxWaiting: MAX_WAITING })
  const inTurn = async (from: Asker, ...given: Parameters<typeof derive>): Promise<Buffer> => {
    const key = await queue.run(() => derive(...given), from)
    if (!key) throw new PlatformError('people.busy', { seconds: BUSY_SECONDS })
    return key
  }
  const nobodys = textOf(Buffer.alloc(16), Buffer.alloc(KEY_BYTES))
  return {
    async hash(password: string): Promise<string> {
      const salt = randomBytes(16)
      return textOf(salt, await inTurn(TRUSTED, password, salt, cost))
    },
    /** Takes as long without a stored password as with one, so that the time does not reveal whether the person exists. */
    async isRight(password: string, stored: string | undefined, from: Asker): Promise<boolean> {
      const [, N, r, p, salt, key] = (stored ?? nobodys).split('$')
      const expected = Buffer.from(key!, 'base64url')
      const found = await inTurn(from, password, Buffer.from(salt!, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) })
      return timingSafeEqual(found, expected) && stored !== undefined
    },
  }
}

export function checkPassword(password: string): void {
  if (password.length < SHORTEST || password.length > LONGEST)
    throw new PlatformError('people.invalid', {
      field: 'password',
      reason: `A password has ${SHORTEST} to ${LONGEST} characters; this one has ${password.length}. Several words in a row make a good one.`,
    })
}

const derive = (password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // The same letters can be typed in two ways of writing them (NFC and NFD).
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, { ...cost, maxmem: 256 << 20 }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
