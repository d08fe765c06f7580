// Secrets, taken out of everything a component says. A value is found in the forms programs write it in: raw, each of its lines,
// JSON-escaped, URL-encoded, hexadecimal, and base64 also when it is a part of what was encoded (`user:password`).

import { uriEncode } from '../../kit/uri-encode.ts'

/** Replaces every known secret in a text by `[hidden]`. */
export type Mask = (text: string) => string

const HIDDEN = '[hidden]'
/** One or two characters are in every line of a log: hiding them would hide the log and tell the value. */
const SHORTEST = 3
/** An encoded form loses characters at its edges; shorter leftovers than this match by accident. */
const SHORTEST_ENCODED = 6

export function createMask(secrets: Iterable<string>): Mask {
  const forms = new Set<string>()
  for (const secret of secrets) for (const form of formsOf(secret)) forms.add(form)
  if (forms.size === 0) return (text) => text
  // Longest first: a secret that contains another one is hidden whole.
  const alternatives = [...forms].sort((a, b) => b.length - a.length).map(escapeRegExp)
  const pattern = new RegExp(alternatives.join('|'), 'g')
  return (text) => text.replace(pattern, HIDDEN)
}

/** The same for a value of any shape, names and numbers included: a secret may be all digits. */
export function maskValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : HIDDEN
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [mask(name), maskValue(member, mask)]))
}

function formsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return []
  const bytes = Buffer.from(secret, 'utf8')
  const encoded = [
    ...base64Forms(bytes),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    // A lone surrogate cannot be URL-encoded; it cannot be in such a text either.
    ...(secret.isWellFormed() ? urlForms(secret) : []),
  ].filter((form) => form.length >= SHORTEST_ENCODED)
  const lines = secret.split(/\r?\n/).filter((line) => line.trim().length >= SHORTEST_ENCODED)
  return [secret, ...lines, ...lines.flatMap(jsonForms), ...jsonForms(secret), ...encoded]
}

/** As JavaScript, as forms and as RFC 3986 have it: the last one also encodes what may be a delimiter. */
const urlForms = (secret: string): string[] =>
  [encodeURIComponent(secret), uriEncode(secret)].flatMap((encoded) => [encoded, encoded.replaceAll('%20', '+')])

function jsonForms(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1)
  const ascii = plain.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [plain, ascii, plain.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')]
}

/** Base64 works on groups of three bytes, so a text inside a longer one takes one of three shapes, less its edge characters. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const start = Math.ceil((shift * 4) / 3)
    const end = Math.floor(((shift + bytes.length) * 8) / 6)
    const form = shifted.slice(start, end)
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
