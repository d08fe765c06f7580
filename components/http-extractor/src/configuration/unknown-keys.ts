// Unknown keys. The original extractor ignores them, and with them the intention of the user: a run with `dataFeild` ends well and
// has the wrong tables. So each is named, with the key that was probably meant; `config.strict` makes it an error. What is known
// is read from the schema.

import { UserError } from '../errors.ts'
import { entriesOf, isArray, isObject, type JsonObject, type JsonValue, keysOf, memberOf } from '../json/json.ts'
import type { Log } from '../log.ts'
import type { Configuration } from './configuration.ts'
import { nearest } from './nearest.ts'
import { at, flagAt } from './read.ts'
import { configurationSchema } from './schema.ts'

/** As much of JSON Schema as ours uses. */
interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
}

const ROOT = configurationSchema() as unknown as Schema & { readonly $defs: Readonly<Record<string, Schema>> }
const CONFIG = ROOT.properties!.config!
const JOB = ROOT.$defs.job!

/** Warns of every key without a meaning; with `config.strict` the first of them ends the run. */
export function checkKeys(configuration: Configuration, log: Log): void {
  const mistakes = [...new Set(findMistakes(configuration))]
  const isStrict = configuration.runs.some((config) => flagAt(at(config, 'strict'), 'config.strict'))
  if (isStrict && mistakes.length > 0) throw new UserError(`${mistakes[0]} (config.strict is on.)`, { mistakes })
  for (const mistake of mistakes) log.warning(mistake)
}

function findMistakes({ api, runs, parameters, below }: Configuration): string[] {
  const read = new Set(attributesRead(parameters))
  return [
    ...(below === undefined ? [] : unknownKeysOf(below, Object.keys(ROOT.properties!), 'parameters')),
    ...['sshProxy', 'aws', 'cache'].flatMap((key) => unknownIn(at(parameters, key) ?? null, ROOT.properties![key]!, key)),
    ...unknownIn(api, ROOT.properties!.api!, 'api'),
    ...runs.flatMap((config) => [...unknownIn(config, CONFIG, 'config'), ...unreadAttributes(config, read)]),
  ]
}

function unknownIn(value: JsonValue, given: Schema, path: string): string[] {
  const schema = schemaOf(given, value)
  if (schema === undefined) return missingChoice(value, resolved(given), path)
  if (isArray(value)) {
    return schema.items === undefined ? [] : value.flatMap((element, i) => unknownIn(element, schema.items!, `${path}.${i}`))
  }
  if (!isObject(value)) return []
  const { properties = {}, additionalProperties } = schema
  return entriesOf(value).flatMap(([key, member]) => {
    const place = `${path}.${key}`
    if (Object.hasOwn(properties, key)) return unknownIn(member, properties[key]!, place)
    if (typeof additionalProperties === 'object') return unknownIn(member, additionalProperties, place)
    const isFree = additionalProperties === true || schema.properties === undefined
    return isFree || isNote(key) ? [] : [unknown(key, Object.keys(properties), path)]
  })
}

/** Settings whose purpose is unknown. */
const CHOICES = {
  type: 'Requests are sent without authentication.',
  method: 'Only the first page of a job is read.',
}

function missingChoice(value: JsonValue, { oneOf }: Schema, path: string): string[] {
  const key = oneOf === undefined ? undefined : (['type', 'method'] as const).find((choice) => oneOf[0]?.properties?.[choice])
  if (key === undefined || !isObject(value) || keysOf(value).length === 0 || at(value, key) !== undefined) return []
  const misspelt = nearest(key, keysOf(value))
  const hint = misspelt === undefined ? '' : ` Is '${misspelt}' meant to be '${key}'?`
  return [`'${path}' has no '${key}', so it has no effect. ${CHOICES[key]}${hint}`]
}

const unknownKeysOf = (object: JsonObject, known: readonly string[], path: string) =>
  keysOf(object).flatMap((key) => (known.includes(key) || isNote(key) ? [] : [unknown(key, known, path)]))

/** Notes that a user interface keeps for itself. */
const isNote = (key: string) => /^#?__/.test(key)

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolved(ROOT.$defs[schema.$ref.slice('#/$defs/'.length)]!)

/** The schema that fits the value: references followed, one of several chosen by its `type` or `method`. */
function schemaOf(schema: Schema, value: JsonValue): Schema | undefined {
  if (schema.$ref !== undefined) return schemaOf(resolved(schema), value)
  const several = schema.oneOf ?? schema.anyOf
  if (several === undefined) return schema
  return several
    .map((one) => schemaOf(one, value))
    .find((one) => one !== undefined && (one.properties !== undefined || !isObject(value)) && isChosen(one, value))
}

function isChosen({ properties = {}, required = [] }: Schema, value: JsonValue): boolean {
  return Object.entries(properties).every(([key, { const: only, enum: some }]) => {
    const isChoice = only !== undefined || (some !== undefined && (key === 'type' || key === 'function'))
    if (!isChoice) return true
    const given = at(value, key)
    return given === undefined ? !required.includes(key) : only === given || some?.includes(given) === true
  })
}

function unknown(key: string, known: readonly string[], path: string): string {
  const meant = nearest(key, known)
  const elsewhere = placesOf(key).find((place) => place !== `${path}.${key}`)
  const hint =
    meant !== undefined
      ? `Did you mean '${meant}'?`
      : elsewhere !== undefined
        ? `There is '${elsewhere}'.`
        : `Known here: ${known.join(', ')}.`
  return `Unknown key '${path}.${key}' is ignored. ${hint}`
}

/** Where a key of that name has a meaning. */
function placesOf(key: string): string[] {
  const { api, config } = ROOT.properties!
  const sections: Record<string, Schema | undefined> = {
    config,
    'config.jobs[]': JOB,
    api,
    'api.http': api?.properties?.http,
    'api.retryConfig': api?.properties?.retryConfig,
    'api.retryConfig.http': api?.properties?.retryConfig?.properties?.http,
  }
  return Object.entries(sections).flatMap(([place, section]) =>
    section?.properties && Object.hasOwn(section.properties, key) ? [`${place}.${key}`] : [],
  )
}

/** Any key of `config` may be an attribute; one that no expression reads is rather a setting misspelt. */
function unreadAttributes(config: JsonObject, read: ReadonlySet<string>): string[] {
  const known = Object.keys(CONFIG.properties!)
  return keysOf(config).flatMap((key) => {
    if (known.includes(key) || read.has(key) || OF_AUTHENTICATION.has(key) || isNote(key)) return []
    const meant = nearest(key, known)
    const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`
    return [`'config.${key}' is neither a setting nor an attribute that an expression reads.${hint}`]
  })
}

/** Read by the authentication itself. */
const OF_AUTHENTICATION: ReadonlySet<string> = new Set(['username', '#username', 'password', '#password'])

/** First segments of all paths in {"attr": "path"}, wherever they stand. */
function attributesRead(value: JsonValue): string[] {
  if (isArray(value)) return value.flatMap(attributesRead)
  if (typeof value === 'string' && value.includes('"attr"'))
    return [...value.matchAll(/"attr"\s*:\s*"([^"]*)"/g)].flatMap((m) => startsOf(m[1]!))
  if (!isObject(value)) return []
  const path = memberOf(value, 'attr')
  return [
    ...(typeof path === 'string' ? startsOf(path) : []),
    ...entriesOf(value).flatMap(([, member]) => attributesRead(member)),
  ]
}

/** A key may itself have dots: every start of the path is counted. */
function startsOf(path: string): string[] {
  const segments = path.split('.')
  return segments.map((_, i) => segments.slice(0, i + 1).join('.'))
}
