// Masks secrets by value: code that holds one in clear adds it, and from then on no text that passes mask() shows it,
// neither as it is nor in the forms it takes on the way (JSON, URLs, base64, hexadecimal).

import { uriEncode } from './text/uri-encode.ts'

export const MASK = '***'

/** A shorter value is masked only where it is the whole text: inside words it would match by chance. */
const SHORTEST_INSIDE = 5

export interface Secrets {
  /** Returns the function that removes it again. A value added twice must be removed twice. */
  add(value: string): () => void
  mask(text: string): string
  /** Whether a text that contains this one, JSON-escaped, could hold a secret: quick, and wrong only in the careful direction. */
  mayAppearIn(json: string): boolean
}

interface Forms {
  uses: number
  readonly inside: readonly string[]
  readonly insideJson: readonly string[]
}

export function createSecrets(): Secrets {
  const known = new Map<string, Forms>()

  function add(value: string): () => void {
    if (value === '') return () => {}
    const forms = known.get(value) ?? { uses: 0, ...formsOf(value) }
    forms.uses++
    known.set(value, forms)
    let forgotten = false
    return () => {
      if (forgotten) return
      forgotten = true
      if (--forms.uses === 0) known.delete(value)
    }
  }

  function mask(text: string): string {
    if (known.has(text)) return MASK
    let masked = text
    for (const { inside } of known.values())
      for (const form of inside) if (masked.includes(form)) masked = masked.replaceAll(form, MASK)
    return masked
  }

  function mayAppearIn(json: string): boolean {
    for (const { insideJson } of known.values()) for (const form of insideJson) if (json.includes(form)) return true
    return false
  }

  return { add, mask, mayAppearIn }
}

function formsOf(value: string): Pick<Forms, 'inside' | 'insideJson'> {
  if (value.length < SHORTEST_INSIDE) return { inside: [], insideJson: [JSON.stringify(value)] }
  const bytes = Buffer.from(value)
  const inJson = jsonEscaped(value)
  const forms = [
    value,
    inJson,
    jsonEscaped(inJson),
    encodeURIComponent(value.toWellFormed()),
    uriEncode(value.toWellFormed()),
    new URLSearchParams([['', value]]).toString().slice(1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ]
  // Longest first: a form that contains another must go before a piece of it is masked.
  const inside = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return { inside, insideJson: [...new Set(inside.map(jsonEscaped))] }
}

const jsonEscaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/**
 * Base64 works in groups of three bytes, so inside a longer text (`user:password`) a value shows in one of three ways, depending on
 * where it starts. The characters at both ends also depend on the neighbours and are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = Math.ceil((offset * 8) / 6)
    const end = Math.floor(((offset + bytes.length) * 8) / 6)
    return encoded.slice(start, end)
  })
  return forms
    .flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
    .filter((form) => form.length >= SHORTEST_INSIDE)
}
