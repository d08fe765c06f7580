// Secrets are hidden by value: whatever text is about to leave the process is searched for every known secret,
// in each form in which it may appear there (raw, percent-encoded, form-encoded, JSON-escaped, base64, hex).
// Known are the values of `#` keys, OAuth data, and what a login returned.

import { formEncode, rawEncode } from './percent.ts'

const MASK = '*****'
/** A shorter value would blank out half of every line (and is no secret worth the name). */
const SHORTEST = 3
const SHORTEST_MEMBER = 6

export interface Redactor {
  /** From now on this value is hidden. Objects are walked, their scalar leaves are added. */
  add(secret: unknown): void
  redact(text: string): string
}

function formsOf(secret: string): string[] {
  // A lone surrogate cannot be percent-encoded; it cannot be sent either.
  const wellFormed = secret.toWellFormed()
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
  // Bodies are written with slashes and everything outside ASCII escaped.
  const inBody = inJson(wellFormed)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const bytes = Buffer.from(wellFormed)
  const forms = [
    wellFormed,
    inJson(wellFormed),
    inBody,
    // A body inside a line of JSON.
    inJson(inJson(wellFormed)),
    inJson(inBody),
    encodeURIComponent(wellFormed),
    rawEncode(wellFormed),
    formEncode(wellFormed),
    formEncode(wellFormed).replaceAll('+', '%20'),
  ]
  if (bytes.length >= 6) forms.push(bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex'))
  return forms
}

export function createRedactor(): Redactor {
  const forms = new Set<string>()
  let pattern: RegExp | null = null

  const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const compile = () =>
    // The longest first: a secret that contains another one is hidden whole.
    new RegExp(
      [...forms]
        .sort((a, b) => b.length - a.length)
        .map(escapeRegExp)
        .join('|'),
      'g',
    )

  function add(secret: unknown): void {
    if (secret === null || secret === undefined || typeof secret === 'boolean') return
    if (typeof secret === 'object') {
      // Beside the tokens of an object there are expiry times and flags, which say nothing.
      const members = secret instanceof Map ? [...secret.values()] : Object.values(secret)
      for (const member of members)
        if (typeof member === 'object' || (typeof member === 'string' && member.length >= SHORTEST_MEMBER)) add(member)
      return
    }
    const text = String(secret)
    if (text.length < SHORTEST) return
    const before = forms.size
    for (const form of formsOf(text)) forms.add(form)
    // A pasted key has several lines, and each of them may be quoted alone.
    if (text.includes('\n')) for (const line of text.split('\n')) if (line.trim().length >= 16) forms.add(line.trim())
    if (forms.size !== before) pattern = null
  }

  function redact(text: string): string {
    if (forms.size === 0) return text
    pattern ??= compile()
    return text.replace(pattern, MASK)
  }

  return { add, redact }
}

const CREDENTIAL_HEADER = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-auth-token|x-access-token)$/i

/** The same headers, those that hold credentials masked whole. */
export function* withoutCredentials(headers: Iterable<readonly [string, string]>): Iterable<readonly [string, string]> {
  for (const [name, value] of headers) yield [name, CREDENTIAL_HEADER.test(name) ? MASK : value]
}

/** Headers that hold credentials by their nature are hidden even when someone forgot the `#`. */
export function hideCredentialHeaders(headers: Iterable<readonly [string, string]>, hide: (secret: string) => void): void {
  for (const [name, value] of headers) {
    if (!CREDENTIAL_HEADER.test(name)) continue
    hide(value)
    hide(value.slice(value.lastIndexOf(' ') + 1)) // the token without its "Bearer"
  }
}
