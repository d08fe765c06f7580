// The part of JSON Schema that components use to describe their configuration: enough for a form, for completion and for marking mistakes.

import { isRecord, type Path, parsed } from './json-text.ts'

export interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly deprecated?: boolean
  readonly format?: string
}

/** Schemas refer to each other from their root. */
export interface SchemaSet {
  readonly root: Schema
}

export function resolve(schema: Schema, set: SchemaSet): Schema {
  if (schema.$ref === undefined) return schema
  const target = schema.$ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), set.root)
  const { $ref: _, ...own } = schema
  return isRecord(target) ? { ...resolve(target as Schema, set), ...own } : own
}

export function choicesOf(schema: Schema, set: SchemaSet): readonly Schema[] {
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map((choice) => resolve(choice, set))
  const names = new Set(choices.flatMap(marksOf).map(([name]) => name))
  return choices.map((choice) => withMarks(choice, names))
}

/** A kind with several names (`query`, `url.query`) lists them where its siblings have a constant: the first is written. */
function withMarks(choice: Schema, names: ReadonlySet<string>): Schema {
  const several = Object.entries(choice.properties ?? {}).filter(
    ([name, { const: mark, enum: values }]) => names.has(name) && mark === undefined && values !== undefined,
  )
  if (several.length === 0) return choice
  const marked = several.map(([name, property]) => [name, { ...property, const: property.enum![0] }] as const)
  return { ...choice, properties: { ...choice.properties, ...Object.fromEntries(marked) } }
}

/** What distinguishes one choice from the others: `{ type: 'login' }`. */
export const marksOf = (choice: Schema): readonly (readonly [string, unknown])[] =>
  Object.entries(choice.properties ?? {}).flatMap(([name, { const: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  )

/** Shapes without a constant are distinguished by the members that they need. */
const hasWhatItNeeds =
  (value: unknown) =>
  ({ required = [] }: Schema): boolean =>
    required.every((name) => isRecord(value) && name in value)

export function choiceFor(value: unknown, choices: readonly Schema[]): Schema | undefined {
  const fitting = choices.filter((choice) => hasTypeOf(choice, value))
  const isOf = ({ properties = {} }: Schema, name: string, mark: unknown) =>
    isRecord(value) && (value[name] === mark || properties[name]?.enum?.includes(value[name]) === true)
  const isUnsaid = ({ required = [] }: Schema, name: string) => isRecord(value) && !(name in value) && !required.includes(name)
  const marked = fitting.filter((choice) => marksOf(choice).length > 0)
  return (
    marked.find((choice) => marksOf(choice).every(([name, mark]) => isOf(choice, name, mark))) ??
    marked.find((choice) => marksOf(choice).every(([name, mark]) => isOf(choice, name, mark) || isUnsaid(choice, name))) ??
    (marked.length === 0 ? (fitting.find(hasWhatItNeeds(value)) ?? fitting[0]) : undefined)
  )
}

const typeNameOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

export const typesOf = (schema: Schema): readonly string[] => {
  if (schema.type !== undefined) return typeof schema.type === 'string' ? [schema.type] : schema.type
  if (schema.properties) return ['object']
  if (schema.items) return ['array']
  return (schema.enum ?? (schema.const === undefined ? [] : [schema.const])).map(typeNameOf)
}

export function hasTypeOf(schema: Schema, value: unknown): boolean {
  const types = typesOf(schema)
  const name = typeNameOf(value)
  return types.length === 0 || types.includes(name) || (name === 'integer' && types.includes('number'))
}

/** The schema of a member: described by name, or what all further members look like. */
export function memberSchema(schema: Schema, name: string | number, value: unknown, set: SchemaSet): Schema | undefined {
  const whole = resolve(schema, set)
  const choices = choicesOf(whole, set)
  const chosen = choices.length > 0 ? choiceFor(value, choices) : undefined
  const described =
    typeof name === 'number' ? (chosen?.items ?? whole.items) : (chosen?.properties?.[name] ?? whole.properties?.[name])
  if (described) return resolve(described, set)
  const further = chosen?.additionalProperties ?? whole.additionalProperties
  return typeof name === 'string' && isRecord(further) ? resolve(further as Schema, set) : undefined
}

export interface SchemaProblem {
  readonly path: Path
  readonly message: string
  readonly isError: boolean
}

/** Violations of the schema, each at its place. A row need not have what the root has. */
export function problemsOf(
  value: unknown,
  schema: Schema,
  set: SchemaSet,
  isPart = false,
  path: Path = [],
): readonly SchemaProblem[] {
  const whole = resolve(schema, set)
  const choices = choicesOf(whole, set)
  const chosen = choices.length > 0 ? choiceFor(value, choices) : undefined
  if (choices.length > 0 && !chosen) return [{ path, isError: true, message: notAChoice(choices) }]
  if (!hasTypeOf(whole, value))
    return [{ path, isError: true, message: `Must be ${typesOf(whole).join(' or ')}, not ${typeNameOf(value)}.` }]
  if (whole.enum && !whole.enum.includes(value))
    return [{ path, isError: true, message: `Must be one of ${whole.enum.map(String).join(', ')}.` }]
  const problemsBelow = (name: string | number, one: unknown): readonly SchemaProblem[] => {
    const described = memberSchema(whole, name, value, set)
    return described ? problemsOf(one, described, set, isPart, [...path, name]) : []
  }
  if (Array.isArray(value)) return value.flatMap((one: unknown, index) => problemsBelow(index, one))
  if (!isRecord(value)) return []
  const required = isPart ? [] : [...(whole.required ?? []), ...(chosen?.required ?? [])]
  const missing = required
    .filter((name) => !(name in value))
    .map((name) => ({ path, isError: true, message: `"${name}" is missing.` }))
  return [...missing, ...Object.entries(value).flatMap(([name, one]) => problemsBelow(name, one))]
}

function notAChoice(choices: readonly Schema[]): string {
  const marks = choices.flatMap(marksOf)
  const name = marks[0]?.[0]
  if (name === undefined) return `Must be ${[...new Set(choices.flatMap(typesOf))].join(' or ')}.`
  return `"${name}" must be one of ${marks
    .filter(([other]) => other === name)
    .map(([, mark]) => String(mark))
    .join(', ')}.`
}

/** Names of members that nothing describes; they are kept as they are. */
export function unknownNames(value: unknown, schema: Schema, set: SchemaSet): readonly string[] {
  if (!isRecord(value)) return []
  return Object.keys(value).filter((name) => memberSchema(schema, name, value, set) === undefined)
}

/** Defaults of the component: single values, in objects that are there. */
export function defaultsOf(
  value: unknown,
  schema: Schema,
  set: SchemaSet,
  path: Path = [],
): readonly (readonly [Path, unknown])[] {
  const whole = resolve(schema, set)
  const below = (name: string | number, one: unknown) => {
    const described = memberSchema(whole, name, value, set)
    return described ? defaultsOf(one, described, set, [...path, name]) : []
  }
  if (Array.isArray(value)) return value.flatMap((one: unknown, index) => below(index, one))
  if (!isRecord(value)) return []
  const members = { ...whole.properties, ...choiceFor(value, choicesOf(whole, set))?.properties }
  const unsaid = Object.entries(members).flatMap(([name, member]) => {
    const { default: taken, deprecated } = resolve(member, set)
    return name in value || deprecated || taken === undefined || typeof taken === 'object'
      ? []
      : [[[...path, name], taken] as const]
  })
  return [...unsaid, ...Object.entries(value).flatMap(([name, one]) => below(name, one))]
}

const ACRONYMS: Readonly<Record<string, string>> = { id: 'id', url: 'address', http: 'HTTP', api: 'API', ssh: 'SSH', aws: 'AWS' }

/** `maxRetries` as "Max retries", for names without a title. */
export function labelOf(name: string, schema: Schema): string {
  if (schema.title) return schema.title
  const words = name
    .replace(/^#/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .split(' ')
  const text = words.map((word) => ACRONYMS[word] ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What typed text is as JSON: nothing, a number where numbers are taken, JSON where it is JSON, else the text. */
export function typedText(text: string, schema: Schema): string | undefined {
  if (text === '') return undefined
  const types = typesOf(schema)
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)
  if (isNumber && (types.length === 0 || types.includes('number') || types.includes('integer'))) return text
  const canBeJson = types.length === 0 || types.some((type) => type !== 'string')
  return canBeJson && /^[[{]/.test(text) && parsed(text) !== undefined ? text : JSON.stringify(text)
}

/** The value of typed text, for places without a schema. */
export const typedValue = (text: string): unknown => parsed(typedText(text, {}) ?? '')
