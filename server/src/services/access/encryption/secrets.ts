// `#` values inside JSON text (spec platform 4.3). The text is edited by offsets; whatever is no secret stays byte for byte.
// What a member whose name starts with `#` holds is a secret (corrections-2, Z1):
//  (1) a scalar is sealed as text; the items of a list without objects are sealed one by one;
//  (2) an object, or a list with objects, is sealed whole and opens as the JSON that was sent, with the ciphers inside it opened too;
//  (3) if it has placeholders, which are filled in at run time, its other values are sealed one by one and keep their types;
//  (4) one that holds ciphers and placeholders only is left as it is.
// Variables name their values beside them: of `{"name": "#x", "value": ...}` the value is a secret, in the components that hold such.

import { dataKeyIdOf, open, seal } from '../../../engines/encryption/cipher.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Edit, type JsonPath, replaceSpans, visitScalars } from '../../../kit/text/json-text.ts'
import type { ProjectKeys } from './key-ring.ts'
import {
  associatedData,
  type CipherKind,
  givenIds,
  isCipher,
  isPlaceholder,
  kindFor,
  parseCipher,
  prefixOf,
  type Scope,
} from './scope.ts'

/** Values that one document may have encrypted: sealing takes its time, and all of it at once. */
const MAX_SECRETS = 2_000

/** Rows of values, and flows whose tasks set variables or bring values along. */
const HOLDS_VARIABLES: ReadonlySet<string> = new Set(['keboola.variables', 'keboola.flow', 'keboola.orchestrator'])

export interface Decrypted {
  readonly text: string
  /** Every clear value that is now in the text, for the log sink to redact. */
  readonly values: readonly string[]
}

/** One place under every name it has or had: the first is what new ciphers are bound to, any of them opens. */
export type Scopes = readonly [Scope, ...Scope[]]

/** In front of sealed JSON: what follows opens as it is written, not as a text. */
const JSON_MARK = '\0json:'

const asText = (value: string): string => (value.startsWith(JSON_MARK) ? JSON_MARK + JSON.stringify(value) : value)

/** The JSON of a sealed text. */
const literalOf = (clear: string): string => (clear.startsWith(JSON_MARK) ? clear.slice(JSON_MARK.length) : JSON.stringify(clear))

export function encryptValue(keys: ProjectKeys, scope: Scope, value: string): string {
  return isLeftClear(value) ? value : sealIn(keys, scope, asText(value))
}

function sealIn(keys: ProjectKeys, scope: Scope, plain: string): string {
  const kind = kindFor(scope)
  const associated = kind && associatedData(keys.stackId, kind, scope)
  if (associated === undefined) throw new PlatformError('encryption.scope', { given: givenIds(scope).join(', ') || 'nothing' })
  return prefixOf(kind as CipherKind) + seal(keys.current, plain, associated) // kind is set when associated is
}

/** The clear text, or the JSON text of a value that was sealed as such; undefined when it cannot be opened in these contexts. */
export function decryptValue(keys: ProjectKeys, contexts: readonly Scope[], cipher: string): string | undefined {
  const clear = openIn(keys, contexts, cipher)
  const literal = clear?.startsWith(JSON_MARK) ? literalOf(clear) : undefined
  return literal === undefined ? clear : literal.startsWith('"') ? asString(literal) : literal
}

/** What was sealed; undefined when the cipher is for none of these contexts, not of this stack, or damaged. */
function openIn(keys: ProjectKeys, contexts: readonly Scope[], cipher: string): string | undefined {
  const parsed = parseCipher(cipher)
  const key = parsed && keys.byId.get(dataKeyIdOf(parsed.sealed) ?? '')
  if (!key) return undefined
  for (const context of contexts) {
    const associated = associatedData(keys.stackId, parsed.kind, context)
    const clear = associated === undefined ? undefined : open(key, parsed.sealed, associated)
    if (clear !== undefined) return clear
  }
  return undefined
}

/**
 * Encrypts what arrived in clear. A clear value that equals the one in `previous` at the same place keeps its cipher,
 * so that saving the same configuration again changes nothing.
 */
export function encryptSecrets(keys: ProjectKeys, scopes: Scopes, text: string, previous?: string): string {
  if (!mayHoldSecrets(text)) return text
  const [scope] = scopes
  const edits: Edit[] = []
  let counted = 0
  let before: Map<string, string> | undefined
  visitSecrets(text, holdsVariables(scopes), ({ start, end, plain, path, isVariable, count }) => {
    if (isLeftClear(plain)) return
    counted += count
    if (counted > MAX_SECRETS) throw new PlatformError('encryption.tooMany', { max: MAX_SECRETS })
    before ??= ciphersOf(previous, holdsVariables(scopes))
    const kept = before.get(JSON.stringify(path()))
    // A variable is put into configurations of any component of the project, so its cipher has to open in all of them.
    const boundTo = isVariable && scope.projectId !== undefined ? { projectId: scope.projectId } : scope
    const cipher = kept !== undefined && openIn(keys, scopes, kept) === plain ? kept : sealIn(keys, boundTo, plain)
    edits.push({ start, end, text: JSON.stringify(cipher) })
  })
  return replaceSpans(text, edits)
}

export function decryptSecrets(keys: ProjectKeys, contexts: Scopes, text: string): Decrypted {
  const values: string[] = []
  if (!mayHoldSecrets(text)) return { text, values }

  function opened(value: string, path: () => JsonPath): string {
    const clear = openIn(keys, contexts, value)
    if (clear === undefined) throw new PlatformError('encryption.foreignCipher', { path: path().join('.') })
    if (clear.startsWith(JSON_MARK)) return openLeaves(literalOf(clear), path)
    if (clear !== '') values.push(clear)
    return JSON.stringify(clear)
  }

  /** JSON that was sealed whole: ciphers in it are opened, the other values are clear and as secret as those. */
  function openLeaves(json: string, path: () => JsonPath): string {
    const edits: Edit[] = []
    visitScalars(json, ({ start, end }) => {
      const literal = json.slice(start, end)
      const value = asString(literal)
      if (isCipher(value)) edits.push({ start, end, text: opened(value, path) })
      else if (isWorthHiding(literal)) values.push(value)
    })
    return replaceSpans(json, edits)
  }

  const edits: Edit[] = []
  visitSecrets(text, holdsVariables(contexts), ({ start, end, plain, path, isVariable, isWhole }) => {
    if (isPlaceholder(plain)) return
    if (isCipher(plain)) edits.push({ start, end, text: opened(plain, path) })
    // Saved before variables, or objects, were encrypted.
    else if (isWhole) openLeaves(literalOf(plain), path)
    else if (!isVariable) throw new PlatformError('encryption.notEncrypted', { path: path().join('.') })
  })
  return { text: replaceSpans(text, edits), values }
}

/** Ciphers, and what is filled in at run time. */
const isLeftClear = (value: string): boolean => isCipher(value) || isPlaceholder(value)

/** Flags and nothing would hide too much in a log. */
const isWorthHiding = (literal: string): boolean => !['""', 'null', 'true', 'false'].includes(literal)

interface Secret {
  readonly start: number
  readonly end: number
  /** What is sealed, or the cipher or placeholder that is there. */
  readonly plain: string
  /** An object or a list, or a value inside one whose other values are filled in at run time. */
  readonly isWhole: boolean
  /** Values in it: each has to be hidden in every log of a run. */
  readonly count: number
  /** By the name beside it. */
  readonly isVariable: boolean
  readonly path: () => JsonPath
}

const holdsVariables = (scopes: Scopes): boolean => scopes.some(({ componentId = '' }) => HOLDS_VARIABLES.has(componentId))

/** A name can also be written with escapes, so `#` may hide behind `\u0023`. */
const mayHoldSecrets = (text: string): boolean => text.includes('"#') || text.includes('\\u0023')

function visitSecrets(text: string, withVariables: boolean, visit: (secret: Secret) => void): void {
  const variables = withVariables ? secretVariablesOf(text) : undefined
  const variable = (name: string | undefined, path: () => JsonPath): boolean =>
    name === 'value' && variables !== undefined && variables.has(JSON.stringify(path()))
  visitScalars(
    text,
    ({ start, end, name, path }) => {
      const isVariable = variable(name, path)
      if (isVariable || name?.startsWith('#'))
        visit({ start, end, plain: plainOf(text.slice(start, end)), path, isVariable, isWhole: false, count: 1 })
    },
    ({ start, end: endOf, name, path }) => {
      const isVariable = variable(name, path)
      if (!isVariable && !name?.startsWith('#')) return undefined
      const end = endOf()
      const json = text.slice(start, end)
      if (!isVariable && !holdsObjects(json)) return undefined // a list of scalars
      visitWhole({ start, end, path, isVariable }, json, visit)
      return end
    },
  )
}

function visitWhole(place: Pick<Secret, 'start' | 'end' | 'path' | 'isVariable'>, json: string, visit: (secret: Secret) => void) {
  let isEachLeft = true
  let isOneFilledIn = false
  let count = 0
  visitScalars(json, ({ start, end }) => {
    const value = asString(json.slice(start, end))
    count++
    isEachLeft &&= isLeftClear(value)
    isOneFilledIn ||= isPlaceholder(value)
  })
  if (!isEachLeft && !isOneFilledIn) return visit({ ...place, plain: JSON_MARK + json, isWhole: true, count })
  visitScalars(json, ({ start, end, path }) => {
    const literal = json.slice(start, end)
    const value = asString(literal)
    visit({
      start: place.start + start,
      end: place.start + end,
      plain: isLeftClear(value) ? value : JSON_MARK + literal,
      path: () => [...place.path(), ...path()],
      isVariable: place.isVariable,
      isWhole: true,
      count: 1,
    })
  })
}

/** Whether a list has an object at any depth; an object does, by being one. */
function holdsObjects(json: string): boolean {
  if (!json.startsWith('[')) return true
  let found = false
  visitScalars(json, ({ name }) => {
    found ||= name !== undefined
  })
  return found
}

/** Paths of the values with a name with `#` beside them. */
function secretVariablesOf(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  visitScalars(text, ({ start, end, name, path }) => {
    if (name === 'name' && asString(text.slice(start, end)).startsWith('#'))
      found.add(JSON.stringify([...path().slice(0, -1), 'value']))
  })
  return found
}

const plainOf = (literal: string): string => {
  const value = asString(literal)
  return isLeftClear(value) ? value : asText(value)
}

/** Numbers and booleans are encrypted as they are written, null as nothing. */
function asString(literal: string): string {
  if (literal === 'null') return ''
  return literal.startsWith('"') ? (JSON.parse(literal) as string) : literal // a quoted literal parses to a string
}

function ciphersOf(text: string | undefined, withVariables: boolean): Map<string, string> {
  const found = new Map<string, string>()
  if (text !== undefined)
    visitSecrets(text, withVariables, ({ plain, path }) => isCipher(plain) && found.set(JSON.stringify(path()), plain))
  return found
}
