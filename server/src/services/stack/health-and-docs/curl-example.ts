// A request that can be copied into a shell, for each operation: examples of the schemas where there are some, plain values elsewhere.

import { type DocumentedRoute, type Parameter, parametersOf, pathOf } from '../../../http/openapi.ts'
import { shellQuoted } from '../../../kit/text/shell-quoted.ts'

type Schema = Parameter['schema']

export function curlExample(route: DocumentedRoute, baseUrl: string): string {
  const parameters = parametersOf(route)
  const parts = [
    `curl --fail-with-body${route.method === 'GET' || (route.method === 'POST' && hasBody(route)) ? '' : ` -X ${route.method}`}`,
    route.needs === 'nothing' ? '' : '-H "X-StorageApi-Token: $MILLRACE_TOKEN"',
    shellQuoted(`${baseUrl}${examplePath(route, parameters)}`),
    ...bodyParts(route),
  ]
  return parts.filter((part) => part !== '').join(' ')
}

const hasBody = (route: DocumentedRoute): boolean => bodyParts(route).length > 0

function bodyParts(route: DocumentedRoute): string[] {
  const body = exampleBody(route)
  if (route.form)
    return Object.entries(body).map(
      ([name, value]) => `-F ${shellQuoted(`${name}=${name === 'data' ? '@data.csv' : textOf(value)}`)}`,
    )
  return Object.keys(body).length === 0 ? [] : [`--json ${shellQuoted(JSON.stringify(body))}`]
}

/** What is required, and what has an example: the request that a newcomer would send first. */
function exampleBody(route: DocumentedRoute): Readonly<Record<string, unknown>> {
  const members = parametersOf(route).filter((parameter) => parameter.in === 'body')
  const shown = members.filter(({ required, schema }) => required || schema.examples !== undefined)
  return Object.fromEntries(shown.map(({ name, schema }) => [name, exampleOf(schema)]))
}

function examplePath(route: DocumentedRoute, parameters: readonly Parameter[]): string {
  const exampleIn = (name: string): string => {
    const found = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)
    return encodeURIComponent(textOf(found ? exampleOf(found.schema) : name))
  }
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const search = query.map(({ name, schema }) => `${name}=${encodeURIComponent(textOf(exampleOf(schema)))}`).join('&')
  return pathOf(route).replace(/\{(\w+)\}/g, (_, name: string) => exampleIn(name)) + (search && `?${search}`)
}

/** The example of a schema, or the plainest value that it allows. */
function exampleOf(schema: Schema): unknown {
  const [example] = (schema.examples ?? []) as readonly unknown[] // a list, by JSON schema
  if (example !== undefined) return example
  if (schema.const !== undefined) return schema.const
  const [first] = (schema.anyOf ?? []) as readonly Schema[] // a list of schemas, by JSON schema
  if (first) return exampleOf(first)
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [exampleOf((schema.items ?? {}) as Schema)] // a schema, by JSON schema
    case 'object':
      return {}
    default:
      return 'example'
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
