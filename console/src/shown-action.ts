// An action as it may be shown again as a command: what is secret in it is left for the person to fill in.

import type { AnyInput, OperationName } from '../../client/src/client.ts'
import { ROUTES } from '../../client/src/operations.ts'

const LEFT_OUT = '...'
/** Bodies of these hold passwords, keys and codes under many names, so none of their texts is shown. */
const PRIVATE = /^(account|encryption|vault|oauth|users|templates)\./
/** Who signs in has no token yet that a command could carry. */
const WITHOUT_TOKEN = /^signIn\./
/** The upload is shown as a whole. */
const PART_OF_UPLOAD: OperationName = 'files.prepare'
/** Reads with a body, because what screens show is loaded with it. */
const READS: OperationName = 'configurations.names'
/** Reads, but on the request of a person. */
const DOWNLOADS: readonly OperationName[] = ['tables.download', 'files.content']
/** A value of a `#` member that is not encrypted yet, in a configuration sent as text. */
const SECRET_IN_TEXT = /("#(?:[^"\\]|\\.)*"\s*:\s*)"(?!KBC::)(?:[^"\\]|\\.)*"/g
/** What is still readable after that: a list, an object, or a text within a text. */
const STILL_THERE = /\\*"#[^"]*"\s*:\s*(?:[[{]|\\*"(?!KBC::|\.\.\.\\*"))/

/** Undefined for what is no action. */
export function shownInput(operation: OperationName, { path, query, body }: AnyInput): AnyInput | undefined {
  const isAction = ROUTES[operation][0] !== 'GET' || DOWNLOADS.includes(operation)
  if (query && 'dryRun' in query) return undefined // changes nothing
  if (!isAction || WITHOUT_TOKEN.test(operation) || operation === PART_OF_UPLOAD || operation === READS) return undefined
  const open = withoutSecrets(body)
  const shown = PRIVATE.test(operation) || STILL_THERE.test(JSON.stringify(open ?? null)) ? withoutTexts(body) : open
  return {
    ...(path !== undefined && { path }),
    ...(query !== undefined && { query }),
    ...(shown !== undefined && { body: shown }),
  }
}

function withoutTexts(value: unknown): unknown {
  if (typeof value === 'string') return LEFT_OUT
  return mapMembers(value, (one) => withoutTexts(one))
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(SECRET_IN_TEXT, `$1"${LEFT_OUT}"`)
  return mapMembers(value, (one, name) =>
    name.startsWith('#') && !(typeof one === 'string' && one.startsWith('KBC::')) ? LEFT_OUT : withoutSecrets(one),
  )
}

function mapMembers(value: unknown, of: (one: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => of(one, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, of(one, name)]))
}
