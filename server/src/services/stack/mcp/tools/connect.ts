// Tools that connect other systems: connectors of the catalogue with their streams, extractors from descriptions of an API, deliveries.

import { Type } from 'typebox'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Api } from '../api.ts'
import { pointerOf } from '../data-values.ts'
import {
  Anything,
  asData,
  ComponentId,
  ConfigurationId,
  Data,
  defineTool,
  Items,
  Name,
  Next,
  objectOf,
  optionalText,
  TableId,
  type Tool,
  text,
} from '../tool.ts'
import { addRow, askForSecrets, Content, create, Saved } from './build.ts'
import { type Passage, page } from './look.ts'

const EXTRACTOR = 'keboola.ex-generic-v2'
const MANIFESTS = 'platform.ex-manifest'

interface Entry {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly categories: readonly string[]
  readonly licence: string
  readonly isRestricted: boolean
  readonly source: string
  readonly catalogue: string
}

interface Form {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown; readonly title?: string; readonly type?: unknown }>>
  readonly required?: readonly string[]
}

interface Connector extends Entry {
  readonly licenceNotice: string
  readonly manifest: string
  readonly form: Form
  readonly streams: readonly string[]
}

interface Delivery {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string | null
  readonly rowId: string | null
  readonly tableId: string
  readonly state: string
  readonly behindSeconds: number | null
  readonly lastDelivery: { readonly jobId: string; readonly time: string } | null
  readonly failure: { readonly jobId: string; readonly kind: string | null } | null
}

export const connectTools = (readDocs: (question: string) => Promise<readonly Passage[]>): readonly Tool[] => [
  defineTool('build', 'choose_connector', {
    description: 'Ready connectors to APIs that contain a word, or one of them with its settings and streams.',
    input: { search: optionalText('Words.'), connector: optionalText('Its name.'), next: Next },
    output: { connector: Type.Optional(Anything), items: Items },
    kind: 'reads',
    run: async ({ search = '', connector, next }, api) => {
      if (connector === undefined) {
        const found = (await catalogue(api)).filter((entry) => contains(entry, search))
        return page(
          found.map(({ name, title, description, version, categories }) => ({ name, title, description, version, categories })),
          next,
        )
      }
      const { name, title, version, licenceNotice, form, streams } = await connectorOf(api, connector)
      return {
        connector: {
          name,
          title,
          version,
          licence: licenceNotice,
          settings: form.properties ?? {},
          required: form.required ?? [],
        },
        ...page(
          streams.map((stream) => ({ stream })),
          next,
        ),
      }
    },
  }),

  defineTool('build', 'add_connector', {
    description: `Create a configuration of ${MANIFESTS} that reads the chosen streams of a connector, each as a row.`,
    input: {
      connector: text('Name from choose_connector.'),
      name: Type.Optional(Name),
      settings: Type.Optional(objectOf('Without secrets: request_secret /parameters/config/#name.')),
      streams: Type.Array(Type.String(), { minItems: 1 }),
    },
    output: { ...Saved, missing: Items },
    kind: 'writes',
    run: async ({ connector, name, settings = {}, streams }, api) => {
      const found = await connectorOf(api, connector)
      if (found.isRestricted) throw invalid(`${found.licenceNotice} A person adds it in the console.`)
      const unknown = streams.find((stream) => !found.streams.includes(stream))
      if (unknown !== undefined)
        throw invalid(
          `${found.title} has no stream ${unknown.slice(0, 60)}. Its streams: ${found.streams.slice(0, 50).join(', ')}.`,
        )
      const defaults = Object.entries(found.form.properties ?? {}).flatMap(([key, member]) =>
        member.default === undefined ? [] : [[key, member.default]],
      )
      const config = { ...Object.fromEntries(defaults), ...settings }
      const { version, licence, source } = found
      const saved = await create(api, MANIFESTS, {
        ...{ name: name ?? found.title, description: '' },
        configuration: {
          parameters: {
            manifest: found.manifest,
            connector: { name: found.name, version, licence, source, catalogue: found.catalogue },
            config,
          },
        },
      })
      for (const stream of streams)
        await addRow(api, MANIFESTS, saved.configuration.id, { name: stream, configuration: { parameters: { stream } } })
      const missing = (found.form.required ?? []).filter((key) => !Object.hasOwn(config, key))
      const pointers = missing.filter((key) => key.startsWith('#')).map((key) => pointerOf(['parameters', 'config', key]))
      const place = { component: MANIFESTS, configuration: saved.configuration.id }
      const secrets = [...(saved.secrets ?? []), ...(await askForSecrets(api, place, pointers))]
      return { ...saved, missing, ...(secrets.length > 0 && { secrets }) }
    },
  }),

  defineTool('build', 'propose_extractor', {
    description: `Turn a curl command, an OpenAPI document, a HAR or a description into a configuration of ${EXTRACTOR}. Saves nothing.`,
    input: {
      curl: Type.Optional(Type.String()),
      openapi: optionalText('OpenAPI as JSON or YAML.'),
      har: Type.Optional(Anything),
      description: optionalText('What to read, with the address of the API.'),
    },
    output: { data: Data },
    kind: 'reads',
    run: async ({ curl, openapi, har, description }, api) => {
      if (description !== undefined) return { data: asData(await described(api, description, readDocs)) }
      const [action, parameters] =
        curl !== undefined
          ? ['curlToConfig', { curl }]
          : openapi !== undefined
            ? ['openapiToConfig', { openapi }]
            : ['harToConfig', { har }]
      return { data: asData({ proposal: await act(api, EXTRACTOR, String(action), { parameters }) }) }
    },
  }),

  defineTool('build', 'test_configuration', {
    description:
      'Try a configuration before it is saved. Extractor: previewPage, walkPages (page by page), testConnection, suggest; connectors: streams, preview; writers: preview.',
    input: {
      component: Type.Optional(Type.String({ description: `${EXTRACTOR} by default.` })),
      content: Content,
      action: optionalText('previewPage by default.'),
    },
    output: { data: Data },
    needsDirect: true,
    kind: 'writes',
    isOpenWorld: true,
    run: async ({ component = EXTRACTOR, content, action = 'previewPage' }, api) => ({
      data: asData({ result: await act(api, component, action, content) }),
    }),
  }),

  defineTool('build', 'create_delivery', {
    description:
      'Send a table to another system: a new configuration of a writer (list_components) with one row, or another row of `configuration`.',
    input: {
      component: ComponentId,
      configuration: Type.Optional(ConfigurationId),
      name: Name,
      table: TableId,
      isChangesOnly: Type.Optional(Type.Boolean({ description: 'What changed since the last delivery.' })),
      connection: Type.Optional(objectOf('parameters of the configuration, without secrets.')),
      parameters: Type.Optional(objectOf('parameters of the row.')),
    },
    output: { ...Saved, row: Anything },
    kind: 'writes',
    run: async ({ component, configuration, name, table, isChangesOnly = false, connection = {}, parameters = {} }, api) => {
      const source = { source: table, ...(isChangesOnly && { changes: true }) }
      const owner =
        configuration === undefined
          ? await create(api, component, { name, description: '', configuration: { parameters: connection } })
          : { configuration: { component, id: configuration }, secrets: undefined }
      const row = await addRow(api, component, owner.configuration.id, {
        ...{ name, configuration: { parameters, storage: { input: { tables: [source] } } } },
      })
      const secrets = [...(owner.secrets ?? []), ...(row.secrets ?? [])]
      const { configuration: made, problems } = row
      return { configuration: owner.configuration, row: made, problems, ...(secrets.length > 0 && { secrets }) }
    },
  }),

  defineTool('run', 'list_deliveries', {
    description: 'Tables that writers deliver, and how far their targets are behind.',
    input: { next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ next }, api) => {
      const all = await api.get<readonly Delivery[]>('/v2/storage/deliveries')
      const shown = all.map(({ componentId, configurationId, rowId, tableId, ...rest }) => ({
        ...{ table: tableId, component: componentId, configuration: configurationId, row: rowId, name: rest.name },
        ...{ state: rest.state, behindSeconds: rest.behindSeconds, lastDelivery: rest.lastDelivery?.time ?? null },
        ...(rest.failure && { failedJob: rest.failure.jobId, cause: rest.failure.kind }),
      }))
      return page(shown, next)
    },
  }),
]

const invalid = (reason: string) => new PlatformError('mcp.invalidCall', { reason })

const act = <T>(api: Api, componentId: string, action: string, configData: object): Promise<T> =>
  api.send<T>('POST', '/sync-actions/actions', {
    ...{ componentId, action, configData },
    ...(api.branch !== undefined && { branchId: api.branch }),
  })

const catalogue = async (api: Api): Promise<readonly Entry[]> =>
  (await act<{ connectors: readonly Entry[] }>(api, MANIFESTS, 'catalogue', { parameters: {} })).connectors

const connectorOf = (api: Api, name: string): Promise<Connector> =>
  act<Connector>(api, MANIFESTS, 'connector', { parameters: { name } })

const contains = ({ name, title, description, categories }: Entry, words: string): boolean => {
  const all = [name, title, description, ...categories].join(' ').toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

const ADDRESS = /https?:\/\/[^\s"'<>`]+/

/** What helps to build it without a model: connectors of that name, a first configuration of the address, passages of the guide. */
async function described(api: Api, description: string, readDocs: (question: string) => Promise<readonly Passage[]>) {
  const words = description.slice(0, 2_000)
  const address = ADDRESS.exec(words)?.[0].replace(/[.,;:!?)]+$/, '')
  const connectors = (await catalogue(api)).filter(({ name, title }) =>
    [name, title].some((one) => words.toLowerCase().includes(one.toLowerCase())),
  )
  const proposal =
    address === undefined ? undefined : await act(api, EXTRACTOR, 'curlToConfig', { parameters: { curl: `curl '${address}'` } })
  const passages = (await readDocs(`extractor ${words.replace(ADDRESS, '')}`)).slice(0, 3)
  return {
    connectors: connectors.map(({ name, title }) => ({ name, title })),
    proposal: proposal ?? 'The description has no address (https://...). Give one, a curl command, an OpenAPI document or a HAR.',
    passages: passages.map(({ heading, address: place, passage }) => ({
      heading,
      address: place,
      passage: passage.slice(0, 600),
    })),
  }
}
