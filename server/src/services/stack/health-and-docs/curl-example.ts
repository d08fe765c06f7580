// A request that can be copied into a shell, for each operation: examples of the schemas where there are some, plain values elsewhere.

import { type DocumentedRoute, exampleBody, exampleOf, type Parameter, parametersOf, pathOf } from '../../../http/openapi.ts'
import { shellQuoted } from '../../../kit/text/shell-quoted.ts'

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

function examplePath(route: DocumentedRoute, parameters: readonly Parameter[]): string {
  const exampleIn = (name: string): string => {
    const found = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)
    return encodeURIComponent(textOf(found ? exampleOf(found.schema) : name))
  }
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const search = query.map(({ name, schema }) => `${name}=${encodeURIComponent(textOf(exampleOf(schema)))}`).join('&')
  return pathOf(route).replace(/\{(\w+)\}/g, (_, name: string) => exampleIn(name)) + (search && `?${search}`)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
