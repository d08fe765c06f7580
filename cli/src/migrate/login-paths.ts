// Old configurations of the HTTP extractor name values of the login response by a plain text in `apiRequest`. Here such a text is sent as
// it is written, so a text that cannot be meant literally becomes {"response": path} (corrections-2 X1).

import type { MovedConfiguration, MovedRow, MovedVersion } from '../configuration/project-folder.ts'

export interface RewrittenPath {
  readonly place: string
  readonly path: string
  readonly was: string
}

const EXTRACTORS: ReadonlySet<string> = new Set(['keboola.ex-generic-v2', 'ex-generic-v2', 'platform.ex-http'])

/** The path of a credential: names joined by dots, the last of which names the credential. No API expects the word itself. */
const CREDENTIAL =
  /^([A-Za-z_]\w*\.)*(token|access_?token|auth_?token|id_?token|session_?token|session_?id|session|sid|jwt|ticket|api_?key)$/i

export function rewriteLoginPaths(moved: MovedConfiguration, note: (rewritten: RewrittenPath) => void): MovedConfiguration {
  if (!EXTRACTORS.has(moved.componentId)) return moved
  const place = `configuration ${moved.id} of ${moved.componentId}`
  const version = <V extends MovedVersion>(one: V, notes: typeof note): V => ({
    ...one,
    configuration: rewritten(one.configuration, place, notes),
    rows: one.rows.map((row: MovedRow) => ({
      ...row,
      configuration: rewritten(row.configuration, `row ${row.id} of ${place}`, notes),
    })),
  })
  return { ...version(moved, note), versions: moved.versions.map((one) => version(one, () => {})) }
}

function rewritten(configuration: unknown, place: string, note: (rewritten: RewrittenPath) => void): unknown {
  const at = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
  const parameters = at(configuration, 'parameters')
  const api = at(parameters, 'api')
  const authentication = at(api, 'authentication')
  const apiRequest = at(authentication, 'apiRequest')
  if (!isObject(apiRequest) || at(authentication, 'type') !== 'login') return configuration
  const part = (name: string): unknown => {
    const values = apiRequest[name]
    if (!isObject(values)) return values
    const entries = Object.entries(values).map(([key, value]): [string, unknown] => {
      if (typeof value !== 'string' || !CREDENTIAL.test(value)) return [key, value]
      note({ place, path: `parameters.api.authentication.apiRequest.${name}.${key}`, was: value })
      return [key, { response: value }]
    })
    return Object.fromEntries(entries)
  }
  const changed = Object.fromEntries(Object.keys(apiRequest).map((name) => [name, part(name)]))
  return {
    ...(configuration as object),
    parameters: {
      ...(parameters as object),
      api: { ...(api as object), authentication: { ...(authentication as object), apiRequest: changed } },
    },
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
