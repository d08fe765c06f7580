// Writes client/src/operations.ts from docs/openapi.json: every operation with its address, parameters, body and answer as types.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Schema {
  readonly format?: string
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
}
interface Operation {
  readonly operationId: string
  readonly summary?: string
  /** What belongs to the whole project cannot be requested in a branch. */
  readonly 'x-branch'?: 'refused'
  readonly 'x-minimum-role'?: string
  readonly 'x-required-right'?: string
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>
}
type Named = Readonly<Record<string, Schema>>

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const HEAD = '// Made by tools/client-operations.ts from docs/openapi.json. Do not edit.\n'
const DOCUMENT = new URL('../docs/openapi.json', import.meta.url)
const TARGET = new URL('../client/src/operations.ts', import.meta.url)

const LEAST_ROLE = 'viewer'
/** Rights that every token of a project has, at least for its own objects, and those of people. */
const COMMON_RIGHTS = [
  'nothing',
  'session',
  'person',
  'token',
  'newToken',
  'ownToken',
  'ownFile',
  'ownEvent',
  'ownJob',
  'trigger',
]

const isName = (text: string) => /^[A-Za-z_$][\w$]*$/.test(text)
const key = (text: string) => (isName(text) ? text : `'${text.replaceAll("'", "\\'")}'`)

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'array') return `ReadonlyArray<${schema.items ? typeOf(schema.items) : 'unknown'}>`
  if (schema.type === 'object') return objectOf(schema)
  if (schema.format === 'binary') return 'unknown' // bytes, a stream or a blob
  const plain: Readonly<Record<string, string>> = {
    string: 'string',
    integer: 'number',
    number: 'number',
    boolean: 'boolean',
    null: 'null',
  }
  return plain[schema.type as string] ?? 'unknown'
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value)

function objectOf({ properties, required = [], patternProperties, additionalProperties }: Schema): string {
  const rest =
    Object.values(patternProperties ?? {})[0] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  if (!properties || Object.keys(properties).length === 0) return `Readonly<Record<string, ${rest ? typeOf(rest) : 'unknown'}>>`
  const members = Object.entries(properties).map(([name, schema]) => member(name, required.includes(name), schema))
  return `{ ${members.join('; ')} }`
}

const member = (name: string, isRequired: boolean, schema: Schema): string =>
  `readonly ${key(name)}${isRequired ? '' : '?'}: ${typeOf(schema)}`

/** What a call must pass stands without a question mark; what the operation does not have can only be left out. */
function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const place = (name: 'path' | 'query'): string => {
    const own = parameters.filter((one) => one.in === name)
    if (own.length === 0) return `${name}?: undefined`
    const members = own.map((one) => member(one.name, one.required ?? false, one.schema))
    return `${name}${own.some(({ required }) => required) ? '' : '?'}: { ${members.join('; ')} }`
  }
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  const body = schema ? `body${requestBody?.required ? '' : '?'}: ${typeOf(schema)}` : 'body?: undefined'
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const answer = answers.map(([, { content }]) => Object.values(content ?? {})[0]?.schema)
  // Only a call of `client.dryRun` is answered with one.
  const types = [...new Set(answer.map((schema) => (schema ? typeOf(schema) : 'undefined')))].filter((one) => one !== 'DryRun')
  return `{ ${place('path')}; ${place('query')}; ${body}; answer: ${types.join(' | ') || 'unknown'} }`
}

/** Where a call names a development branch; nothing when it cannot. */
function branchPlaceOf(path: string, { parameters = [], requestBody, ...operation }: Operation, schemas: Named): string {
  if (/^\/v2\/storage\/(?!branch\/)/.test(path) && operation['x-branch'] !== 'refused') return ", 'address'"
  if (parameters.some((one) => one.in === 'query' && one.name === 'branchId')) return ", 'query'"
  const body = Object.values(requestBody?.content ?? {})[0]?.schema
  const named = body?.$ref ? schemas[body.$ref.split('/').at(-1)!] : body
  return named?.properties?.branchId ? ", 'body'" : ''
}

export function operationsSource({ paths, components }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const routes = all.map(({ path, method, operation }) => {
    const place = branchPlaceOf(path, operation, components.schemas)
    return `  '${operation.operationId}': ['${method}', '${path}'${place}],`
  })
  const roles = all.flatMap(({ operation: { operationId, 'x-minimum-role': role = LEAST_ROLE } }) =>
    role === LEAST_ROLE ? [] : [`  '${operationId}': '${role}',`],
  )
  const rights = all.flatMap(({ method, operation: { operationId, 'x-required-right': right = 'nothing' } }) =>
    method === 'GET' || COMMON_RIGHTS.includes(right) ? [] : [`  '${operationId}': '${right}',`],
  )
  const types = all.map(({ operation }) => `  '${operation.operationId}': ${operationType(operation)}`)
  return `${HEAD}
${schemas.join('\n')}

/** Method and address of every operation, and where it takes the id of a development branch. */
export const ROUTES = {
${routes.join('\n')}
} as const

/** The lowest role of people that may call an operation; viewers may call all others of their project. */
export const LOWEST_ROLES = {
${roles.join('\n')}
} as const

/** The right of a token that an operation needs, of those that change something; other operations take any token. */
export const REQUIRED_RIGHTS = {
${rights.join('\n')}
} as const

export interface Operations {
${types.join('\n')}
}
`
}

if (import.meta.main) {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApi // written by tools/openapi-doc.ts
  writeFileSync(fileURLToPath(TARGET), operationsSource(document))
}
