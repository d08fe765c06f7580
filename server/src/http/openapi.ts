// OpenAPI 3.1, made from the routes as they are registered: the schemas that validate are the schemas that are published.

import type { FastifyInstance, RouteOptions } from 'fastify'
import { ErrorSchema } from './record-schemas.ts'

export interface DocumentedRoute {
  readonly method: string
  readonly url: string
  readonly operation: string | undefined
  readonly summary: string | undefined
  readonly needs: string
  readonly isStream: boolean
  readonly schema: RouteOptions['schema']
}

/** Collects every route registered after it. One that is not fully described is refused, so that no stack starts with it. */
export function collectRoutes(app: FastifyInstance): DocumentedRoute[] {
  const routes: DocumentedRoute[] = []
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (method === 'HEAD' || method === 'OPTIONS' || !METHODS.has(method)) continue
      const described = {
        method,
        url: route.url,
        operation: route.config?.operation,
        summary: route.config?.summary,
        needs: route.config?.needs ?? 'token',
        isStream: route.config?.body === 'stream',
        schema: route.schema,
      }
      const missing = missingFrom(described, routes)
      if (missing.length > 0) throw new Error(`The route ${method} ${route.url} has no ${missing.join(', no ')}.`)
      routes.push(described)
    }
  })
  return routes
}

/** What the document would have to leave out of a route. */
function missingFrom(route: DocumentedRoute, others: readonly DocumentedRoute[]): string[] {
  const { params, response } = (route.schema ?? {}) as Readonly<Record<string, JsonSchema | undefined>> // TypeBox schemas
  const known = (params?.properties ?? {}) as Readonly<Record<string, unknown>> // of a TypeBox object
  const isBuilt = !Object.hasOwn(response ?? {}, '501')
  const names = isBuilt ? [...route.url.matchAll(/:(\w+)/g)].map((match) => match[1]!) : []
  return [
    ...(route.operation ? [] : ['operation name']),
    ...(others.some((other) => idOf(other) === idOf(route)) ? ['operation name of its own'] : []),
    ...(route.summary ? [] : ['summary']),
    ...(Object.keys(response ?? {}).some((status) => /^([23]|501)/.test(status)) ? [] : ['response schema']),
    ...names.filter((name) => !Object.hasOwn(known, name)).map((name) => `schema of the parameter ${name}`),
  ]
}

/** One handler for every method below an address is one operation for each of them. */
const idOf = ({ method, url, operation }: DocumentedRoute): string =>
  method === 'GET' || !url.endsWith('*') ? `${operation}` : `${operation}.${method.toLowerCase()}`

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

type JsonSchema = Readonly<Record<string, unknown>>

export function openApiDocument(routes: readonly DocumentedRoute[], version: string, serverUrl: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = operationOf(route)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, description: 'Files, tables, configurations, jobs and schedules of one stack.' },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      schemas: { Error: ErrorSchema },
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-StorageApi-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function operationOf(route: DocumentedRoute) {
  const { querystring, params, body, response } = (route.schema ?? {}) as Readonly<Record<string, JsonSchema | undefined>> // TypeBox schemas
  const needsToken = route.needs !== 'nothing'
  return {
    operationId: idOf(route),
    tags: [route.operation?.split('.')[0]],
    summary: route.summary,
    'x-scopes': [route.needs],
    security: needsToken ? [{ token: [] }, { bearer: [] }] : [],
    parameters: [...pathParameters(route.url, params), ...parametersFrom('query', querystring)],
    ...(body && { requestBody: { content: contentOf(body) } }),
    ...(route.isStream && { requestBody: { content: { 'multipart/form-data': { schema: { type: 'object' } } } } }),
    responses: { ...responsesOf(response), ...errorResponses(needsToken) },
  }
}

const contentOf = (schema: JsonSchema) => ({
  'application/json': { schema },
  'application/x-www-form-urlencoded': { schema },
  'multipart/form-data': { schema },
})

function pathParameters(url: string, schema: JsonSchema | undefined) {
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, JsonSchema>> // of a TypeBox object
  const names = [...url.matchAll(/:(\w+)/g)].map((match) => match[1]!)
  if (url.endsWith('*')) names.push('path')
  return names.map((name) => ({ name, in: 'path', required: true, schema: properties[name] ?? { type: 'string' } }))
}

function parametersFrom(where: 'query', schema: JsonSchema | undefined) {
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, JsonSchema>> // of a TypeBox object
  const required = new Set((schema?.required ?? []) as readonly string[])
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.has(name),
    schema: property,
  }))
}

function responsesOf(response: JsonSchema | undefined) {
  const entries = Object.entries((response ?? {}) as Readonly<Record<string, JsonSchema>>) // status to schema
  return Object.fromEntries(
    entries.map(([status, schema]) => [
      status,
      schema.type === 'null'
        ? { description: 'No content' }
        : { description: 'Success', content: { 'application/json': { schema } } },
    ]),
  )
}

function errorResponses(needsToken: boolean) {
  const error = (description: string) => ({
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  })
  return {
    ...(needsToken && { '401': error('No token, or not a valid one'), '403': error('The token may not do this') }),
    '4XX': error('The request is wrong'),
    '503': error('Try again later'),
  }
}
