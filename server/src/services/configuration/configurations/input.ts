// Bodies of this module become inputs: exact texts for `configuration` and `state`, plain values for the rest.
// An absent field and null mean the same: unchanged, or the default.

import type { ErrorCode } from '../../../../../contract/error-codes.ts'
import type { ExactMember } from '../../../http/exact-members.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { itemsOf, kindOf, membersOf, readJson } from '../../../kit/text/json-text.ts'

/** JSON as text, and parsed for rules that look inside. */
export interface JsonInput {
  readonly text: string
  readonly value: unknown
}

export interface RowInput {
  readonly rowId?: string
  readonly name?: string
  readonly description?: string
  readonly configuration?: JsonInput
  readonly state?: JsonInput
  readonly changeDescription?: string
  readonly isDisabled?: boolean
}

export interface ConfigurationInput extends Omit<RowInput, 'rowId'> {
  readonly configurationId?: string
  readonly rowsSortOrder?: readonly string[]
}

/** A rebase states the new base and, where they change, the contents. */
export interface RebaseInput extends Omit<ConfigurationInput, 'state' | 'configurationId' | 'rowsSortOrder'> {
  readonly version: number
  readonly rows?: readonly {
    readonly id: string
    readonly name: string
    readonly description: string
    readonly isDisabled: boolean
    readonly configuration: string
  }[]
}

/** What the routes' schemas have checked already. */
export interface CheckedBody {
  readonly name?: string | null
  readonly description?: string | null
  readonly changeDescription?: string | null
  readonly isDisabled?: boolean | null
}

/** Each of configuration and state (spec storage 1.13). */
const MAX_JSON_BYTES = 4 * 2 ** 20
const MAX_TEXT = 65_536
const ID = /^[A-Za-z0-9._-]{1,200}$/
/** Clients make their own, with a backslash for example; an address separates its parts by slashes. */
const CONFIGURATION_ID = /^[^\p{Cc}\p{Cs}/]{1,200}$/u

export function readConfigurationInput(body: CheckedBody, exact: ExactMember): ConfigurationInput {
  const code = 'storage.components.validation'
  const order = exact('rowsSortOrder')
  return {
    ...readCommon(body, exact, code),
    ...readId(exact('configurationId'), 'configurationId', code),
    ...(order !== undefined && { rowsSortOrder: readIds(order) }),
  }
}

export const readRowInput = (body: CheckedBody, exact: ExactMember): RowInput => ({
  ...readCommon(body, exact, 'storage.componentsRows.validation', 'objectOrList'),
  ...readId(exact('rowId'), 'rowId', 'storage.componentsRows.validation'),
})

export function readRebaseInput(body: CheckedBody & { readonly version: number }, exact: ExactMember): RebaseInput {
  const { state: _perBranch, ...common } = readCommon(body, exact, 'storage.components.validation')
  const rows = exact('rows')
  return { ...common, version: body.version, ...(rows !== undefined && { rows: readRows(rows) }) }
}

function readRows(text: string): NonNullable<RebaseInput['rows']> {
  const refuse = (reason: string) => new PlatformError('storage.components.validation', { field: 'rows', reason })
  if (!readJson(text).ok || kindOf(text) !== 'array') throw refuse('This value should be of type array.')
  const rows = itemsOf(text).map((item, i) => {
    const members = membersOf(item)
    const exact: ExactMember = (name) => {
      const slice = members.get(name)
      if (slice === undefined || slice === 'null') return undefined
      return kindOf(slice) === 'string' ? (JSON.parse(slice) as string) : slice // a string literal parses to a string
    }
    const { id: rowId } = readId(exact('id'), 'id', 'storage.components.validation')
    if (rowId === undefined) throw refuse(`row ${i} has no id.`)
    const checked = { name: exact('name') ?? '', description: exact('description') ?? '' }
    const common = readCommon(
      checked,
      (name) => (name === 'configuration' ? exact(name) : undefined),
      'storage.components.validation',
      'objectOrList',
    )
    return {
      id: rowId,
      name: common.name ?? '',
      description: common.description ?? '',
      isDisabled: ['true', '1'].includes(exact('isDisabled') ?? ''),
      configuration: common.configuration?.text ?? '{}',
    }
  })
  if (new Set(rows.map((row) => row.id)).size !== rows.length) throw refuse('it names a row twice.')
  return rows
}

function readCommon(
  body: CheckedBody,
  exact: ExactMember,
  code: ErrorCode,
  allowed: 'object' | 'objectOrList' = 'object',
): Omit<RowInput, 'rowId'> {
  const configuration = exact('configuration')
  const state = exact('state')
  return {
    ...text('name', body.name, code),
    ...text('description', body.description, code),
    ...text('changeDescription', body.changeDescription, code),
    ...(typeof body.isDisabled === 'boolean' && { isDisabled: body.isDisabled }),
    ...(configuration !== undefined && {
      configuration: withoutRunMembers(readObject(configuration, 'validation.invalidConfigurationFormat', allowed)),
    }),
    ...(state !== undefined && { state: readObject(state, 'validation.invalidStateFormat') }),
  }
}

function text(
  field: 'name' | 'description' | 'changeDescription',
  value: string | null | undefined,
  code: ErrorCode,
): { [name: string]: string } {
  if (value === null || value === undefined) return {}
  if (value.length > MAX_TEXT) throw new PlatformError(code, { field, reason: `it is longer than ${MAX_TEXT} characters.` })
  // PostgreSQL stores neither; a text that differs between the two stores would be worse than a refusal.
  if (value.includes('\u0000')) throw new PlatformError(code, { field, reason: 'it contains a NUL character.' })
  return { [field]: value.toWellFormed() }
}

/**
 * The text of an object. PHP writes an empty object as `[]`, so that list means `{}`. Rows keep a list as well, as drafts that a run
 * refuses (corrections-2, A1).
 */
export function readObject(given: string, code: ErrorCode, allowed: 'object' | 'objectOrList' = 'object'): JsonInput {
  if (given.trim() === '') throw new PlatformError(code, { reason: 'This value should not be blank.' })
  if (given.length > MAX_JSON_BYTES || Buffer.byteLength(given) > MAX_JSON_BYTES) {
    throw new PlatformError('storage.components.tooLarge', { limit: MAX_JSON_BYTES })
  }
  const read = readJson(given)
  if (!read.ok) {
    const reason = read.reason.includes('deeper') ? `This value is refused: ${read.reason}.` : 'This value should be valid JSON.'
    throw new PlatformError(code, { reason })
  }
  if (Array.isArray(read.value) && read.value.length === 0) return { text: '{}', value: {} }
  if (read.kind !== 'object' && !(read.kind === 'array' && allowed === 'objectOrList'))
    throw new PlatformError(code, { reason: `This value should be a JSON object, not ${read.kind}.` })
  return { text: given.trim(), value: read.value }
}

/** Members that only a run adds (spec storage 2.8): a configuration that carries them was copied from a run, and they are dropped. */
const RUN_MEMBERS = ['image_parameters', 'action'] as const

function withoutRunMembers(given: JsonInput): JsonInput {
  const value = given.value as Readonly<Record<string, unknown>> // readObject takes objects and lists only
  if (!RUN_MEMBERS.some((name) => Object.hasOwn(value, name))) return given
  const kept = [...membersOf(given.text)].filter(([name]) => !RUN_MEMBERS.some((member) => member === name))
  const text = `{${kept.map(([name, slice]) => `${JSON.stringify(name)}:${slice}`).join(',')}}`
  return { text, value: JSON.parse(text) as unknown }
}

/** An empty id requests a new one. A JSON number is taken by its digits, so that long ones are not rounded. */
function readId(given: string | undefined, field: string, code: ErrorCode): { [field: string]: string } {
  if (given === undefined || given === '') return {}
  const [allowed, characters] =
    field === 'configurationId'
      ? [CONFIGURATION_ID, 'characters without slashes and control characters']
      : [ID, 'letters, digits, dots, dashes or underscores']
  if (!allowed.test(given) || /^\.+$/.test(given))
    throw new PlatformError(code, { field, reason: `an id is 1 to 200 ${characters}.` })
  return { [field]: given }
}

/** A list of ids: strings or numbers, in JSON or as form fields. */
function readIds(given: string): readonly string[] {
  const read = readJson(given)
  if (!read.ok || !Array.isArray(read.value) || !read.value.every((id) => typeof id === 'string' || typeof id === 'number')) {
    throw new PlatformError('storage.components.validation', {
      field: 'rowsSortOrder',
      reason: 'This value should be of type array.',
    })
  }
  return read.value.map(String)
}
