// Variables in a configuration (spec platform 1.22): Mustache over the JSON text, values JSON-escaped. Every placeholder needs a value.

import { PlatformError } from '../../../kit/errors.ts'

export interface Replaced {
  readonly text: string
  /** Names and values that were put in, for the result of the job. */
  readonly used: Readonly<Record<string, string>>
}

/** Replaces `{{ name }}` by the value of that name. Text without placeholders comes back as it is. */
export function replaceVariables(text: string, values: ReadonlyMap<string, string>): Replaced {
  const used: [string, string][] = []
  const missing = new Set<string>()
  const get = (name: string): string => {
    const value = values.get(name)
    if (value === undefined) missing.add(name)
    else used.push([name, value])
    return value ?? ''
  }
  const replaced = render(text, { has: (name) => values.has(name), get })
  if (missing.size > 0) throw new PlatformError('jobRunner.missingVariables', { names: [...missing].join(', ') })
  try {
    JSON.parse(replaced)
  } catch {
    throw new PlatformError('jobRunner.brokenByVariables', { names: used.map(([name]) => name).join(', ') })
  }
  return { text: replaced, used: Object.fromEntries(used) }
}

const VAULT = /\{\{\s*vault\.([A-Za-z0-9_-]+)\s*\}\}/g

export const refersToVault = (text: string): boolean => text.search(VAULT) !== -1

/** `{{ vault.name }}`, replaced before and without regard to other variables. Values are secrets: which were used is not reported. */
export function replaceVault(text: string, values: ReadonlyMap<string, string>): string {
  const missing = [...text.matchAll(VAULT)].map(([, name = '']) => name).filter((name) => !values.has(name))
  if (missing.length > 0)
    throw new PlatformError('jobRunner.missingVariables', {
      names: [...new Set(missing)].map((name) => `vault.${name}`).join(', '),
    })
  return text.replace(VAULT, (_, name: string) => JSON.stringify(values.get(name)).slice(1, -1))
}

interface Values {
  has(name: string): boolean
  get(name: string): string
}

/**
 * Tags: `{{ name }}`, `{{{ name }}}`, `{{& name }}`, `{{! comment }}`, `{{=<% %>=}}`, `{{# name }}...{{/ name }}`, `{{^ name }}...{{/ name }}`.
 * `{{ #name }}` is a variable if one of that name exists. One pass with a stack, so that time stays linear at any nesting depth (ADR 0028).
 */
function render(text: string, values: Values): string {
  let open = '{{'
  let close = '}}'
  const out: string[] = []
  const sections: { readonly name: string; readonly isShown: boolean }[] = []
  const isShown = () => sections.at(-1)?.isShown ?? true
  const emit = (piece: string) => {
    if (isShown()) out.push(piece)
  }
  const emitValue = (name: string) => {
    if (isShown()) out.push(JSON.stringify(values.get(name)).slice(1, -1))
  }
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf(open, at)
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length)
    if (end === -1) {
      emit(text.slice(at))
      break
    }
    emit(text.slice(at, start))
    let tag = text.slice(start + open.length, end)
    at = end + close.length
    if (tag.startsWith('{') && open === '{{' && text[at] === '}') {
      tag = `&${tag.slice(1)}`
      at += 1
    }
    const kind = tag.trimStart()[0] ?? ''
    const name = tag
      .trimStart()
      .slice('#^/&!='.includes(kind) ? 1 : 0)
      .trim()
    if (kind === '!') continue
    if (kind === '=') {
      const [newOpen, newClose] = name.replace(/=$/, '').trim().split(/\s+/)
      if (newOpen && newClose) [open, close] = [newOpen, newClose]
    } else if (kind === '#' && values.has(`#${name}`)) emitValue(`#${name}`)
    else if (kind === '#' || kind === '^') {
      const isWanted = isShown() && !['', 'false', '0'].includes(values.get(name)) === (kind === '#')
      sections.push({ name, isShown: isWanted })
    } else if (kind === '/') {
      if (sections.pop()?.name !== name) throw new PlatformError('jobRunner.brokenByVariables', { names: name })
    } else if (/^[A-Za-z0-9_.-]+$/.test(name)) emitValue(name)
    else emit(text.slice(start, at)) // A tag can only name a variable; anything else in these brackets is the user's own text.
  }
  const unclosed = sections.at(-1)
  if (unclosed) throw new PlatformError('jobRunner.brokenByVariables', { names: unclosed.name })
  return out.join('')
}

/** Declared names and given values: every declared variable needs one. */
export function valuesFor(declared: readonly string[], given: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const missing = declared.filter((name) => !given.has(name))
  if (missing.length > 0) throw new PlatformError('jobRunner.missingVariables', { names: missing.join(', ') })
  return given
}
