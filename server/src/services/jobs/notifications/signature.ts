// Signatures as the Standard Webhooks specification has them, so that receivers check them with a library:
// base64(HMAC-SHA256(secret, `${id}.${timestamp}.${body}`)) in the header webhook-signature, after `v1,`.

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 24

export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** `whsec_` and 24 to 64 bytes in base64. */
export const isSigningSecret = (text: string): boolean =>
  /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text) && keyOf(text).length >= SECRET_BYTES && keyOf(text).length <= 64

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')

export const signatureOf = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
