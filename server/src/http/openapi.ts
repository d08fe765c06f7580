// OpenAPI 3.1, made from the routes as they are registered: the schemas that validate are the schemas that are published.

import type { FastifyInstance, RouteOptions } from 'fastify'
import { TAGS } from './openapi-tags.ts'
import { ErrorSchema } from './record-schemas.ts'
import { REQUEST_EXAMPLES } from './request-examples.ts'
import { type Needs, RIGHTS } from './rights.ts'
import { type MinimumRole, minimumRole } from './roles.ts'

export interface DocumentedRoute {
  readonly method: string
  readonly url: string
  readonly operation: string | undefined
  readonly summary: string | undefined
  readonly needs: Needs
  /** Undefined: public, or about the caller's own account. */
  readonly role: MinimumRole | undefined
  readonly branch: string
  readonly schema: RouteSchemas
  /** Members of a body that is read as a stream. */
  readonly form: JsonSchema | undefined
  readonly isStream: boolean
  /** The handler reads the body itself, by its media type. */
  readonly isRaw: boolean
  readonly consumes: readonly string[] | undefined
  readonly produces: readonly string[]
  /** Headers the route reads, with a sentence each. */
  readonly headers: Readonly<Record<string, string>>
}

type RouteSchemas = Readonly<Record<string, JsonSchema | undefined>>
type JsonSchema = Readonly<Record<string, unknown>>

/** A parameter of a route: in its address, its query, its headers or, at the first level, its body. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'body'
  readonly required: boolean
  readonly description: string | undefined
  readonly schema: JsonSchema
}

/** Collects every route registered after it. One that is not fully described is refused, so that no stack starts with it. */
export function collectRoutes(app: FastifyInstance): DocumentedRoute[] {
  const routes: DocumentedRoute[] = []
  const ids = new Set<string>()
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (method === 'HEAD' || method === 'OPTIONS' || !METHODS.has(method)) continue
      const described = describe(method, route)
      const id = idOf(described)
      const missing = [...missingFrom(described), ...(ids.has(id) ? ['operation name of its own'] : [])]
      if (missing.length > 0) throw new Error(`The route ${method} ${route.url} has no ${missing.join(', no ')}.`)
      ids.add(id)
      routes.push(described)
    }
  })
  return routes
}

/** Of a route without `config`, which is refused. */
const UNDECLARED = {} as { readonly needs: Needs }

const describe = (method: string, { url, config = UNDECLARED, schema }: RouteOptions): DocumentedRoute => ({
  method,
  url,
  operation: config.operation,
  summary: config.summary,
  needs: config.needs,
  role: minimumRole(method, config),
  branch: config.branch ?? 'allowed',
  schema: (schema ?? {}) as RouteSchemas, // TypeBox schemas, which are JSON schemas
  form: config.form as JsonSchema | undefined, // as above
  isStream: config.body === 'stream',
  isRaw: config.body === 'text' || config.body === 'bytes',
  consumes: config.consumes,
  produces: config.produces ?? ['application/json'],
  headers: config.headers ?? {},
})

/** What the document would have to leave out of a route. */
function missingFrom(route: DocumentedRoute): string[] {
  const { params, response } = route.schema
  const known = propertiesOf(params)
  return [
    ...(route.operation ? [] : ['operation name']),
    ...(route.summary ? [] : ['summary']),
    ...(Object.hasOwn(RIGHTS, route.needs ?? '') ? [] : ['right (`config.needs`)']),
    ...(Object.keys(response ?? {}).some((status) => /^([23]|501)/.test(status)) ? [] : ['response schema']),
    ...(route.isStream && !route.form && !route.consumes ? ['form'] : []),
    ...(route.isRaw && !route.consumes ? ['media types of its body'] : []),
    ...pathNames(route.url)
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => `schema of the parameter ${name}`),
    ...parametersOf(route)
      .filter(({ description }) => !description)
      .map((parameter) => `description of ${parameter.name} (${parameter.in})`),
  ]
}

/** One handler for every method below an address is one operation for each of them. */
const idOf = ({ method, url, operation }: DocumentedRoute): string =>
  method === 'GET' || !url.endsWith('*') ? `${operation}` : `${operation}.${method.toLowerCase()}`

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Names of the parameters in an address; `*` is the rest of it. */
const pathNames = (url: string): string[] => url.match(/(?<=:)\w+|\*$/g) ?? []

/** Everything a route can be given, in the order path, query, header, body. */
export function parametersOf(route: DocumentedRoute): Parameter[] {
  const { querystring, params, body } = route.schema
  const inPath = propertiesOf(params)
  return [
    ...(route.branch === 'required' ? [BRANCH] : []),
    ...pathNames(route.url).flatMap((name) => {
      const schema = inPath[name]
      return schema ? [parameter('path', name === '*' ? 'path' : name, schema, true)] : []
    }),
    ...membersOf('query', querystring),
    ...Object.entries(route.headers).map(([name, description]) =>
      parameter('header', name, { type: 'string', description }, false),
    ),
    ...membersOf('body', route.form ?? body),
  ]
}

const BRANCH: Parameter = {
  name: 'branch',
  in: 'path',
  required: true,
  description: 'Id of the branch, or `default`.',
  schema: { type: 'string', examples: ['default'] },
}

function membersOf(where: 'query' | 'body', schema: JsonSchema | undefined): Parameter[] {
  const required = requiredOf(schema)
  return Object.entries(propertiesOf(schema)).map(([name, property]) => parameter(where, name, property, required.includes(name)))
}

function parameter(where: Parameter['in'], name: string, { description, ...schema }: JsonSchema, required: boolean): Parameter {
  return { name, in: where, required, description: typeof description === 'string' ? description : undefined, schema }
}

/** Of a TypeBox object, or of several that a body has to match at once. */
function propertiesOf(schema: JsonSchema | undefined): Readonly<Record<string, JsonSchema>> {
  const parts = (schema?.allOf ?? []) as readonly JsonSchema[]
  return Object.assign({}, schema?.properties, ...parts.map(propertiesOf))
}

function requiredOf(schema: JsonSchema | undefined): readonly string[] {
  const parts = (schema?.allOf ?? []) as readonly JsonSchema[]
  return [...((schema?.required ?? []) as readonly string[]), ...parts.flatMap(requiredOf)]
}

/** The request that a newcomer would send first: one of the list, or what is required and what has an example. */
export function exampleBody(route: DocumentedRoute): Readonly<Record<string, unknown>> {
  const listed = REQUEST_EXAMPLES[idOf(route)]
  if (listed) return listed
  const members = parametersOf(route).filter((parameter) => parameter.in === 'body')
  const shown = members.filter(({ required, schema }) => required || schema.examples !== undefined)
  return Object.fromEntries(shown.map(({ name, schema }) => [name, exampleOf(schema)]))
}

/** The example of a schema, or the plainest value that it allows. */
export function exampleOf(schema: JsonSchema): unknown {
  const [example] = (schema.examples ?? []) as readonly unknown[] // a list, by JSON schema
  if (example !== undefined) return example
  if (schema.const !== undefined) return schema.const
  const [first] = (schema.anyOf ?? []) as readonly JsonSchema[] // a list of schemas, by JSON schema
  if (first) return exampleOf(first)
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [exampleOf((schema.items ?? {}) as JsonSchema)] // a schema, by JSON schema
    case 'object':
      return {}
    default:
      return 'example'
  }
}

/** The address as clients write it. What exists in a branch only carries the branch. */
export function pathOf({ url, branch }: DocumentedRoute): string {
  const path = url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
  return branch === 'required' ? path.replace('/v2/storage/', '/v2/storage/branch/{branch}/') : path
}

/** Some operations only report that they are not implemented. */
export const isBuilt = ({ schema }: DocumentedRoute): boolean => !Object.hasOwn(schema.response ?? {}, '501')

/** The group of an operation: the part of its name before the dot. */
export const tagOf = ({ operation }: DocumentedRoute): string => operation?.split('.')[0] ?? 'other'

/**
 * Sorted by address, so that the document depends on the routes alone and not on the order in which they were registered. Routes that only
 * answer 501 are left out: generated clients would offer them.
 */
export function openApiDocument(all: readonly DocumentedRoute[], version: string, serverUrl: string) {
  const routes = all.filter(isBuilt)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))) {
    paths[pathOf(route)] ??= {}
    paths[pathOf(route)]![route.method.toLowerCase()] = operationOf(route)
  }
  const schemas: Record<string, unknown> = {}
  const named = withNamedSchemas(paths, schemas)
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, description: DESCRIPTION, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map(tagOf))].sort().map((name) => ({ name, description: TAGS[name] ?? '' })),
    security: [{ token: [] }],
    paths: named,
    components: {
      schemas: { Error: ErrorSchema, ...Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))) },
      responses: ERROR_RESPONSES,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-StorageApi-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'millrace_session' },
        manageToken: { type: 'apiKey', in: 'header', name: 'X-KBC-ManageApiToken' },
      },
    },
  }
}

const DESCRIPTION = `Files, tables, configurations, jobs and schedules of one stack.

URLs below \`/v2/storage/\` refer to the default branch; use \`/v2/storage/branch/{branch}/\` for another branch, if the resource exists in branches.
The header \`X-KBC-RunId\` assigns everything that a request creates to a run.`

/** A schema with a title appears once, under that name, and by reference everywhere else. */
function withNamedSchemas(value: unknown, found: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNamedSchemas(item, found))
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNamedSchemas(member, found)]))
  const { title, type } = copy
  if (typeof title !== 'string' || type !== 'object') return copy
  if (found[title] !== undefined && JSON.stringify(found[title]) !== JSON.stringify(copy))
    throw new Error(`Two schemas have the title ${title}.`)
  found[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

/** Who may use it, for people: the same as the members `x-required-right` and `x-minimum-role`. */
function rightsText({ needs, role }: DocumentedRoute): string {
  const right = `Required right: \`${needs}\`. ${RIGHTS[needs].sentence}`
  return role ? `${right} Lowest role of users: ${role}.` : right
}

function operationOf(route: DocumentedRoute) {
  const { body, response } = route.schema
  const needsToken = route.needs !== 'nothing'
  return {
    operationId: idOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: rightsText(route),
    ...(route.role && { 'x-minimum-role': route.role }),
    'x-required-right': route.needs,
    ...(route.branch === 'refused' && { 'x-branch': 'refused' }),
    security: securityOf(route.needs),
    parameters: parametersOf(route).filter((parameter) => parameter.in !== 'body'),
    ...(body && {
      requestBody: { required: requiredOf(body).length > 0, content: contentOf(titled(body, route), BODIES, exampleBody(route)) },
    }),
    ...(route.form && {
      requestBody: { required: true, content: contentOf(route.form, ['multipart/form-data'], exampleBody(route)) },
    }),
    ...(route.consumes && {
      requestBody: { required: true, content: contentOf(body ?? {}, route.consumes, exampleBody(route)) },
    }),
    // A route of a third-party protocol declares its own errors.
    responses: { ...errorResponses(needsToken), ...responsesOf(response, route.produces) },
  }
}

/** A body is named after its operation unless it has a name of its own. */
const titled = (body: JsonSchema, route: DocumentedRoute): JsonSchema => ({
  title: `${idOf(route).replace(/(?:^|[.-])(\w)/g, (_, letter: string) => letter.toUpperCase())}Body`,
  ...body,
})

const BODIES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']

const contentOf = (schema: JsonSchema, mediaTypes: readonly string[], example: JsonSchema = {}) =>
  Object.fromEntries(
    mediaTypes.map((mediaType) =>
      mediaType === ANY_TYPE
        ? ['application/octet-stream', { schema: BYTES }]
        : [mediaType, { schema, ...bodyExample(mediaType, example) }],
    ),
  )

/** Bytes of any kind. Generators of clients leave out operations with the range itself. */
const ANY_TYPE = '*/*'
const BYTES: JsonSchema = { type: 'string', format: 'binary' }

const bodyExample = (mediaType: string, example: JsonSchema) =>
  Object.keys(example).length > 0 && EXAMPLE_TYPES.has(mediaType) ? { example } : {}

/** Media types in which an object is an example of a body. */
const EXAMPLE_TYPES = new Set(['application/json', 'multipart/form-data'])

function responsesOf(response: JsonSchema | undefined, produces: readonly string[]) {
  const entries = Object.entries((response ?? {}) as Readonly<Record<string, JsonSchema>>) // status to schema
  return Object.fromEntries(
    entries.map(([status, schema]) => [
      status,
      schema.type === 'null' || status.startsWith('3')
        ? { description: status.startsWith('3') ? 'Redirect' : 'No content' }
        : { description: /^[45]/.test(status) ? 'Error' : 'Success', content: contentOf(schema, produces) },
    ]),
  )
}

function securityOf(needs: string) {
  if (needs === 'nothing') return []
  if (needs === 'session') return [{ session: [] }]
  return needs === 'person' ? [{ session: [] }, { manageToken: [] }] : [{ token: [] }, { bearer: [] }, { session: [] }]
}

const errorResponses = (needsToken: boolean) => ({
  ...(needsToken && { '401': reference('NoToken'), '403': reference('NotAllowed') }),
  '4XX': reference('WrongRequest'),
  '503': reference('Unavailable'),
})

const reference = (name: keyof typeof ERROR_RESPONSES) => ({ $ref: `#/components/responses/${name}` })

const errorResponse = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})
const ERROR_RESPONSES = {
  NoToken: errorResponse('No token, or not a valid one'),
  NotAllowed: errorResponse('The token lacks the required right'),
  WrongRequest: errorResponse('Invalid request'),
  Unavailable: errorResponse('Try again later'),
}
