// Secrets are hidden by value: whatever text is about to leave the process is searched for every known secret,
// in each form in which it may appear there (raw, percent-encoded, form-encoded, JSON-escaped, base64, hex).
// Known are the values of `#` keys, OAuth data, and what a login returned.

import { createHiddenTexts, START_LENGTH } from './hidden-texts.ts'
import { formEncode, rawEncode } from './percent.ts'

export const MASK = '*****'
/** A shorter value would blank out half of every line (and is no secret worth the name). */
const SHORTEST = START_LENGTH
const SHORTEST_MEMBER = 6
/** A login before every request must not fill the memory with tokens that are long worth nothing. */
const PASSING = 1000

export interface Redactor {
  /** From now on this value is hidden. Objects are walked, their scalar leaves are added. */
  add(secret: unknown): void
  /** As add, for what is new with each login or request (tokens, signatures): the latest ones are hidden. */
  addPassing(secret: unknown): void
  redact(text: string): string
}

/** Each once. */
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
  // A pasted key has several lines, and each of them may be quoted alone.
  if (secret.includes('\n'))
    forms.push(
      ...secret
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.length >= 16),
    )
  return [...new Set(forms)]
}

/** The texts that a value consists of, worth hiding one by one. */
function textsOf(secret: unknown): string[] {
  if (secret === null || secret === undefined || typeof secret === 'boolean') return []
  if (typeof secret === 'object') {
    // Beside the tokens of an object there are expiry times and flags, which are not secret.
    const members = secret instanceof Map ? [...secret.values()] : Object.values(secret)
    return members.flatMap((member) =>
      typeof member === 'object' || (typeof member === 'string' && member.length >= SHORTEST_MEMBER) ? textsOf(member) : [],
    )
  }
  const text = String(secret)
  return text.length < SHORTEST ? [] : [text]
}

export function createRedactor(): Redactor {
  const hidden = createHiddenTexts()
  const lasting = new Set<string>()
  /** The one that was made longest ago first. */
  const passing = new Set<string>()

  function add(secret: unknown): void {
    for (const text of textsOf(secret)) {
      if (lasting.has(text)) continue
      lasting.add(text)
      for (const form of formsOf(text)) hidden.add(form)
    }
  }

  function addPassing(secret: unknown): void {
    for (const text of textsOf(secret)) {
      if (lasting.has(text)) continue
      if (!passing.delete(text)) for (const form of formsOf(text)) hidden.add(form)
      passing.add(text)
    }
    for (const oldest of passing) {
      if (passing.size <= PASSING) break
      passing.delete(oldest)
      for (const form of formsOf(oldest)) hidden.remove(form)
    }
  }

  return { add, addPassing, redact: (text) => hidden.replaceIn(text, MASK) }
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
