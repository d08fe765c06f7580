// Connectors from manifests: the catalogue, and settings and streams of the manifest of a configuration.

import { useQuery } from '@tanstack/react-query'
import { isRecord, parsed, valueIn } from '../document/json-text.ts'
import type { Schema } from '../document/schema.ts'
import { runAction } from './run-action.ts'
import type { Schemas } from './use-configuration.ts'

export const MANIFEST_COMPONENT = 'platform.ex-manifest'
export const PUBLIC_CATALOGUE = 'public'

export interface CatalogueEntry {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly categories: readonly string[]
  readonly licence: string
  /** The licence is to be accepted before the manifest is used. */
  readonly isRestricted: boolean
  readonly documentationUrl: string
  readonly source: string
  readonly catalogue: string
}

export interface Connector extends CatalogueEntry {
  readonly licenceNotice: string
  readonly manifest: string
  readonly form: Schema
  readonly streams: readonly string[]
  readonly pythonClasses: readonly string[]
}

export interface Catalogue {
  readonly connectors: readonly CatalogueEntry[]
  readonly public?: { readonly connectors: readonly CatalogueEntry[]; readonly withoutManifest: number }
}

export interface ConnectorStream {
  readonly name: string
  readonly primaryKey?: readonly string[]
  readonly incremental?: boolean
  /** Why it cannot be read. */
  readonly problem?: string
}

export const ofConnector = <T>(action: string, parameters: object): Promise<T> =>
  runAction<T>(MANIFEST_COMPONENT, action, JSON.stringify({ parameters }))

/** `index`: also the connectors of a public index. */
export const useConnectorCatalogue = (index: string | undefined) =>
  useQuery<Catalogue, Error>({
    queryKey: ['connectors', index],
    queryFn: () => ofConnector<Catalogue>('catalogue', index === undefined ? {} : { catalogue: index }),
    staleTime: Number.POSITIVE_INFINITY,
  })

interface Specification {
  readonly form: Schema
  readonly streams: readonly string[]
  /** Settings that an authorised account fills. */
  readonly authorized: readonly (readonly string[])[]
}

/** The manifest logs in by OAuth: an account can be authorised for it. */
export const isAuthorisable = (componentId: string, configuration: unknown): boolean =>
  componentId === MANIFEST_COMPONENT &&
  /OAuthAuthenticator|advanced_auth/.test(JSON.stringify(valueIn(configuration, ['parameters', 'manifest']) ?? ''))

const NO_STREAMS: readonly string[] = []

/** The schemas of a configuration with the settings of its manifest in their place, and the streams to choose from. */
export function useConnectorSchemas(componentId: string, rootText: string, schemas: Schemas) {
  const isConnector = componentId === MANIFEST_COMPONENT
  const isAuthorised = isConnector && valueIn(parsed(rootText), ['authorization', 'oauth_api', 'id']) !== undefined
  const manifest = isConnector ? valueIn(parsed(rootText), ['parameters', 'manifest']) : undefined
  const { data } = useQuery<Specification, Error>({
    queryKey: ['connector specification', manifest],
    queryFn: () => ofConnector<Specification>('spec', { manifest }),
    enabled: typeof manifest === 'string' || isRecord(manifest),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return {
    schemas: data ? { ...schemas, root: withForm(schemas.root, isAuthorised ? withoutFilled(data) : data.form) } : schemas,
    streams: data?.streams ?? NO_STREAMS,
  }
}

/** Settings that the authorised account fills are not entered. */
const withoutFilled = ({ form, authorized }: Specification): Schema =>
  authorized.reduce((schema, path) => withoutMember(schema, path), form)

function withoutMember(schema: Schema, [name, ...rest]: readonly string[]): Schema {
  const isIt = (key: string) => key === name || key === `#${name}`
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, member]) =>
    !isIt(key) ? [[key, member] as const] : rest.length === 0 ? [] : [[key, withoutMember(member, rest)] as const],
  )
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(members) }),
    ...(schema.required && rest.length === 0 && { required: schema.required.filter((key) => !isIt(key)) }),
    ...(schema.oneOf && { oneOf: schema.oneOf.map((choice) => withoutMember(choice, [name!, ...rest])) }),
  }
}

function withForm(root: Schema | undefined, form: Schema): Schema | undefined {
  const parameters = root?.properties?.parameters
  if (!root?.properties || !parameters?.properties) return root
  // The text of the manifest and where it comes from are named by the form, and edited as JSON.
  const { config: _, manifest: _manifest, connector: _connector, ...others } = parameters.properties
  const config: Schema = { ...form, title: 'Settings of the connector' }
  return { ...root, properties: { ...root.properties, parameters: { ...parameters, properties: { config, ...others } } } }
}
