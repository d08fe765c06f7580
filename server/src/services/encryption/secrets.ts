// `#` values inside JSON text (spec platform 4.3). The text is edited by offsets; whatever is no secret stays byte for byte.
// A scalar is a secret when the name of the member that holds it starts with `#`; the items of a list belong to the list's member.
// Variables name their values beside them: of `{"name": "#x", "value": ...}` the value is a secret, in the components that hold such.

import { dataKeyIdOf, open, seal } from '../../engines/encryption/cipher.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type Edit, type JsonPath, replaceSpans, visitScalars } from '../../kit/json-text.ts'
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
const MOST_SECRETS = 2_000

/** Rows of values, and flows whose tasks set variables or bring values along. */
const HOLDS_VARIABLES: ReadonlySet<string> = new Set(['keboola.variables', 'keboola.flow', 'keboola.orchestrator'])

export interface Decrypted {
  readonly text: string
  /** Every clear value that is now in the text, for the log sink to redact. */
  readonly values: readonly string[]
}

/** One place under every name it has or had: the first is what new ciphers are bound to, any of them opens. */
export type Scopes = readonly [Scope, ...Scope[]]

export function encryptValue(keys: ProjectKeys, scope: Scope, value: string): string {
  if (isCipher(value) || isPlaceholder(value)) return value
  const kind = kindFor(scope)
  const associated = kind && associatedData(keys.stackId, kind, scope)
  if (associated === undefined) throw new PlatformError('encryption.scope', { given: givenIds(scope).join(', ') || 'nothing' })
  return prefixOf(kind as CipherKind) + seal(keys.current, value, associated) // kind is set when associated is
}

/** The clear value; undefined when the cipher is for none of these contexts, not of this stack, or damaged. */
export function decryptValue(keys: ProjectKeys, contexts: readonly Scope[], cipher: string): string | undefined {
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
  let before: Map<string, string> | undefined
  visitSecrets(text, holdsVariables(scopes), ({ start, end, value, path, isVariable }) => {
    if (isCipher(value) || isPlaceholder(value)) return
    if (edits.length >= MOST_SECRETS) throw new PlatformError('encryption.tooMany', { most: MOST_SECRETS })
    before ??= ciphersOf(previous, holdsVariables(scopes))
    const kept = before.get(JSON.stringify(path()))
    // A variable is put into configurations of any component of the project, so its cipher has to open in all of them.
    const boundTo = isVariable && scope.projectId !== undefined ? { projectId: scope.projectId } : scope
    const cipher = kept !== undefined && decryptValue(keys, scopes, kept) === value ? kept : encryptValue(keys, boundTo, value)
    edits.push({ start, end, text: JSON.stringify(cipher) })
  })
  return replaceSpans(text, edits)
}

export function decryptSecrets(keys: ProjectKeys, contexts: Scopes, text: string): Decrypted {
  const values: string[] = []
  if (!mayHoldSecrets(text)) return { text, values }
  const edits: Edit[] = []
  visitSecrets(text, holdsVariables(contexts), ({ start, end, value, path, isVariable }) => {
    if (isPlaceholder(value)) return
    if (!isCipher(value) && isVariable) return // saved before variables were encrypted
    if (!isCipher(value)) throw new PlatformError('encryption.notEncrypted', { path: path().join('.') })
    const clear = decryptValue(keys, contexts, value)
    if (clear === undefined) throw new PlatformError('encryption.foreignCipher', { path: path().join('.') })
    if (clear !== '') values.push(clear)
    edits.push({ start, end, text: JSON.stringify(clear) })
  })
  return { text: replaceSpans(text, edits), values }
}

interface Secret {
  readonly start: number
  readonly end: number
  readonly value: string
  /** By the name that stands beside it. */
  readonly isVariable: boolean
  readonly path: () => JsonPath
}

const holdsVariables = (scopes: Scopes): boolean => scopes.some(({ componentId = '' }) => HOLDS_VARIABLES.has(componentId))

/** A name can also be written with escapes, so `#` may hide behind `\u0023`. */
const mayHoldSecrets = (text: string): boolean => text.includes('"#') || text.includes('\\u0023')

function visitSecrets(text: string, withVariables: boolean, visit: (secret: Secret) => void): void {
  const variables = withVariables ? secretVariablesOf(text) : undefined
  visitScalars(text, ({ start, end, name, path }) => {
    const isVariable = name === 'value' && variables !== undefined && variables.has(JSON.stringify(path()))
    if (isVariable || name?.startsWith('#')) visit({ start, end, value: asString(text.slice(start, end)), path, isVariable })
  })
}

/** Paths of the values that stand beside a name with `#`. */
function secretVariablesOf(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  visitScalars(text, ({ start, end, name, path }) => {
    if (name === 'name' && asString(text.slice(start, end)).startsWith('#'))
      found.add(JSON.stringify([...path().slice(0, -1), 'value']))
  })
  return found
}

/** Numbers and booleans are encrypted as they are written, null as nothing. */
function asString(literal: string): string {
  if (literal === 'null') return ''
  return literal.startsWith('"') ? (JSON.parse(literal) as string) : literal // a quoted literal parses to a string
}

function ciphersOf(text: string | undefined, withVariables: boolean): Map<string, string> {
  const found = new Map<string, string>()
  if (text !== undefined)
    visitSecrets(text, withVariables, ({ value, path }) => isCipher(value) && found.set(JSON.stringify(path()), value))
  return found
}
