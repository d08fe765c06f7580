// millrace connector: connectors of the catalogue, and configurations of platform.ex-manifest made from them.

import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { type Client, createClient } from '../client.ts'
import { print } from '../json-output.ts'
import { lineDiff } from '../line-diff.ts'
import { table, UserError } from '../output.ts'
import { type Chosen, placeOf, readJsonFile, withBranch } from './config-requests.ts'
import { checkTrial, triedOnRecording } from './connector-update.ts'
import { rehearsalText } from './proposal.ts'

const COMPONENT = 'platform.ex-manifest'
const EXTRACTOR = 'keboola.ex-generic-v2'

interface Entry {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly categories: readonly string[]
  readonly licence: string
  /** The licence is to be accepted before the manifest is used. */
  readonly isRestricted: boolean
  readonly source: string
  /** The URL of the index that lists it; empty for others. */
  readonly catalogue: string
}

interface Form {
  readonly properties?: Readonly<
    Record<string, { readonly title?: string; readonly description?: string; readonly default?: unknown }>
  >
  readonly required?: readonly string[]
}

interface Connector extends Entry {
  readonly documentationUrl: string
  readonly licenceNotice: string
  readonly manifest: string
  readonly form: Form
  readonly streams: readonly string[]
  readonly pythonClasses: readonly string[]
}

interface Catalogue {
  readonly connectors: readonly Entry[]
  readonly public?: { readonly connectors: readonly Entry[]; readonly withoutManifest: number }
}

interface Configuration {
  readonly configuration: {
    readonly parameters?: { readonly manifest?: unknown; readonly connector?: Partial<Entry>; readonly config?: object }
  }
}

interface ChosenCatalogue extends Chosen {
  readonly catalogue?: string
}

interface UpdateOptions extends ChosenCatalogue {
  readonly apply?: boolean
  readonly try?: boolean
  readonly untried?: boolean
}

interface AddOptions extends ChosenCatalogue {
  readonly id?: string
  readonly name?: string
  readonly config?: string
  readonly stream: readonly string[]
  readonly acceptLicence?: boolean
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

const withCatalogue = (command: Command): Command =>
  withBranch(command).option('--catalogue <url>', 'also search this index of connectors; "public" is that of Airbyte')

export function addConnectorCommands(program: Command): void {
  const connector = program.command('connector').description('connectors from declarative manifests')

  withCatalogue(connector.command('list [words]'))
    .description('connectors of the catalogue, those that contain the words')
    .action(async (words: string | undefined, { branch, catalogue }: ChosenCatalogue, command: Command) => {
      const found = await act<Catalogue>(createClient(command), branch, 'catalogue', { ...(catalogue && { catalogue }) })
      const shown = [...found.connectors, ...(found.public?.connectors ?? [])].filter((entry) => contains(entry, words ?? ''))
      print(command, shown, (entries) =>
        table(
          ['NAME', 'TITLE', 'VERSION', 'LICENCE', 'SOURCE'],
          entries.map((one) => [
            one.name,
            one.title,
            one.version,
            one.licence,
            one.source === 'millrace' ? 'Millrace' : 'public',
          ]),
        ),
      )
    })

  withBranch(connector.command('convert <source>'))
    .description('a manifest or an OpenAPI document as a configuration of the HTTP extractor, or the reverse')
    .option('--to <format>', 'manifest or extractor; by default the other format')
    .action(async (source: string, { branch, to }: Chosen & { readonly to?: string }, command: Command) => {
      if (to !== undefined && to !== 'manifest' && to !== 'extractor') throw new UserError('--to is manifest or extractor.')
      const converted = await convert(createClient(command), branch, source, to)
      for (const note of converted.notes) process.stderr.write(`${note}\n`)
      print(command, converted, ({ notes: _, manifest, ...configuration }) => JSON.stringify(manifest ?? configuration, null, 2))
    })

  withCatalogue(connector.command('show <connector>'))
    .description('streams, settings and licence of a connector; a name, a file or the URL of a manifest')
    .action(async (name: string, { branch, catalogue }: ChosenCatalogue, command: Command) => {
      print(command, await connectorOf(createClient(command), branch, name, catalogue), shownConnector)
    })

  withCatalogue(connector.command('add <connector>'))
    .description('create a configuration from a connector; a name, a file or the URL of a manifest')
    .option('--id <id>', 'id of the new configuration')
    .option('--name <name>', 'name of the configuration; by default that of the connector')
    .option('--config <path>', 'file with the JSON object of the settings; - reads standard input')
    .option('--stream <name>', 'read this stream, as a row of the configuration; may be repeated; without it all', collect, [])
    .option('--accept-licence', 'accept a licence that restricts the use of the manifest')
    .action(async (name: string, options: AddOptions, command: Command) => {
      const client = createClient(command)
      const found = await connectorOf(client, options.branch, name, options.catalogue)
      const unknown = options.stream.filter((each) => found.streams.length > 0 && !found.streams.includes(each))
      if (unknown.length > 0)
        throw new UserError(`${found.title} has no stream "${unknown[0]}". It has: ${found.streams.join(', ')}.`)
      if (found.isRestricted && !options.acceptLicence)
        throw new UserError(`${found.licenceNotice} Add --accept-licence to use it.`)
      const config = { ...defaultsOf(found.form), ...(options.config === undefined ? {} : await settingsOf(options.config)) }
      const made = await create(client, found, config, options)
      const missing = (found.form.required ?? []).filter((field) => !(field in config))
      print(command, { componentId: COMPONENT, id: made, missing }, () =>
        [
          `Configuration ${COMPONENT}/${made} created from ${found.title} ${found.version}.`.replace(' .', '.'),
          ...(missing.length > 0 ? [`Set these before it runs: ${missing.join(', ')} (parameters.config).`] : []),
          `Run it: millrace job run ${COMPONENT} ${made}`,
        ].join('\n'),
      )
    })

  withBranch(connector.command('streams <configuration>'))
    .description('streams that a configuration can read')
    .action(async (id: string, { branch }: Chosen, command: Command) => {
      const client = createClient(command)
      const { configuration } = await configurationOf(client, branch, id)
      const { streams } = await act<{
        streams: readonly { name: string; primaryKey?: string[]; incremental?: boolean; problem?: string }[]
      }>(client, branch, 'streams', configuration.parameters ?? {})
      print(command, streams, (all) =>
        table(
          ['STREAM', 'KEY', 'LOADS', 'PROBLEM'],
          all.map((one) => [
            one.name,
            one.primaryKey?.join(', ') ?? '',
            one.problem ? '' : one.incremental ? 'incremental' : 'full',
            one.problem ?? '',
          ]),
        ),
      )
    })

  withCatalogue(connector.command('update <configuration>'))
    .description('show what a newer version of the connector changes; --apply saves it')
    .option('--try', 'run the newer manifest with recorded responses of the API, and show which rows would differ')
    .option(
      '--apply',
      'save the newer manifest as a version of the configuration, if it runs with the recorded responses (if there are any) and its connection test succeeds',
    )
    .option('--untried', 'with --apply: do not run it with the recorded responses')
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const client = createClient(command)
      const { configuration } = await configurationOf(client, options.branch, id)
      const { manifest, connector: before } = configuration.parameters ?? {}
      if (typeof before?.name !== 'string' || before.source === 'file' || typeof manifest !== 'string')
        throw new UserError(`${COMPONENT}/${id} does not record its connector, so there is nothing to compare.`)
      const isListed = before.source === 'millrace' || Boolean(before.catalogue)
      const name = isListed ? before.name : String(before.source)
      const newer = await connectorOf(client, options.branch, name, options.catalogue ?? before.catalogue)
      const isSame = newer.manifest === manifest
      const parameters = { ...configuration.parameters, manifest: newer.manifest, connector: originOf(newer) }
      const isTried = !isSame && (options.try || (options.apply && !options.untried)) && options.branch === 'default'
      const trial = isTried
        ? await triedOnRecording(client, { componentId: COMPONENT, id, configuration: { ...configuration, parameters } })
        : undefined
      if (options.apply && !isSame) {
        if (trial) checkTrial(trial)
        await act(client, options.branch, 'testConnection', parameters)
        await client.request('PUT', placeOf(options.branch, COMPONENT, encodeURIComponent(id)), {
          json: {
            configuration: { ...configuration, parameters },
            changeDescription: `Update ${newer.name} from ${before.version} to ${newer.version}`,
          },
        })
      }
      const applied = !isSame && options.apply === true
      const result = { id, from: before.version, to: newer.version, changed: !isSame, applied, trial: trial ?? null }
      print(command, result, ({ changed, applied, from, to }) => {
        if (!changed) return `${COMPONENT}/${id} has the newest manifest (${to}).`
        const tried = trial
          ? [`On the recorded answers: ${rehearsalText(trial)}`, '']
          : isTried
            ? ["There are no recorded answers to try it on: set 'record' to true, and run the configuration once.", '']
            : []
        const end = applied ? `Saved as a new version of ${COMPONENT}/${id}.` : 'Nothing was changed. Add --apply to save it.'
        return [lineDiff(manifest, newer.manifest), '', ...tried, `Version ${from} to ${to}. ${end}`].join('\n')
      })
    })
}

const contains = ({ name, title, description, categories }: Entry, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => [name, title, description, ...categories].join(' ').toLowerCase().includes(word))

const act = <T>(client: Client, branch: string, action: string, parameters: object, componentId = COMPONENT): Promise<T> =>
  client.request<T>('POST', '/sync-actions/actions', {
    json: { componentId, action, configData: { parameters }, ...(branch !== 'default' && { branchId: branch }) },
  })

async function connectorOf(client: Client, branch: string, name: string, catalogue: string | undefined): Promise<Connector> {
  if (!existsSync(name)) return act<Connector>(client, branch, 'connector', { name, ...(catalogue && { catalogue }) })
  const manifest = readFileSync(name, 'utf8')
  const spec = await act<{ form: Form; documentationUrl?: string }>(client, branch, 'spec', { manifest })
  const title = basename(name).replace(/\.(ya?ml|json)$/, '')
  const entry = {
    name: title,
    title,
    description: '',
    version: '',
    categories: [],
    licence: '',
    isRestricted: false,
    source: 'file',
    catalogue: '',
  }
  const { form, documentationUrl = '' } = spec
  return { ...entry, form, documentationUrl, manifest, licenceNotice: '', streams: [], pythonClasses: [] }
}

const originOf = ({ name, version, licence, source, catalogue }: Entry) => ({ name, version, licence, source, catalogue })

function defaultsOf({ properties = {} }: Form): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => (member.default === undefined ? [] : [[name, member.default]])),
  )
}

async function settingsOf(path: string): Promise<object> {
  const settings: unknown = JSON.parse(await readJsonFile(path))
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw new UserError(`${path} must hold a JSON object.`)
  return settings
}

async function create(client: Client, connector: Connector, config: object, options: AddOptions): Promise<string> {
  const parameters = { manifest: connector.manifest, connector: originOf(connector), config }
  const place = placeOf(options.branch, COMPONENT)
  const { id } = await client.request<{ id: string }>('POST', place, {
    json: {
      ...(options.id !== undefined && { configurationId: options.id }),
      name: options.name ?? connector.title,
      configuration: { parameters },
      changeDescription: `Create from the connector ${connector.name}`,
    },
  })
  for (const stream of options.stream)
    await client.request('POST', placeOf(options.branch, COMPONENT, `${encodeURIComponent(id)}/rows`), {
      json: { name: stream, configuration: { parameters: { stream } } },
    })
  return id
}

const configurationOf = (client: Client, branch: string, id: string): Promise<Configuration> =>
  client.request<Configuration>('GET', placeOf(branch, COMPONENT, encodeURIComponent(id)))

function shownConnector(connector: Connector): string {
  const { title, version, description, documentationUrl, licenceNotice, streams, form, pythonClasses } = connector
  const settings = Object.entries(form.properties ?? {}).map(([name, member]) => [
    name,
    form.required?.includes(name) ? 'required' : '',
    [member.title, member.description].filter((each) => each !== undefined).join(': '),
  ])
  return [
    `${title} ${version}`.trim(),
    ...[description, documentationUrl, licenceNotice].filter((line) => line !== ''),
    '',
    table(['SETTING', '', 'MEANING'], settings),
    ...(streams.length > 0 ? ['', `Streams: ${streams.join(', ')}`] : []),
    ...(pythonClasses.length > 0 ? ['', `Streams that use Python are not supported: ${pythonClasses.join(', ')}`] : []),
  ].join('\n')
}

interface Converted {
  readonly manifest?: object
  readonly parameters?: object
  readonly rows?: readonly { readonly configuration: object }[]
  readonly notes: readonly string[]
}

/** `source`: a file with a manifest, an OpenAPI document or a configuration, or the id of a configuration of the extractor. */
async function convert(client: Client, branch: string, source: string, to: string | undefined): Promise<Converted> {
  if (!existsSync(source)) {
    const { configuration, rows } = await client.request<{ configuration: object; rows: readonly { configuration: object }[] }>(
      'GET',
      `/v2/storage/branch/${branch}/components/${EXTRACTOR}/configs/${encodeURIComponent(source)}`,
    )
    return act<Converted>(client, branch, 'configToManifest', { configuration, rows: rows.map((row) => row.configuration) })
  }
  const text = readFileSync(source, 'utf8')
  if (/^\s*"?(?:openapi|swagger)"?\s*:|^\s*\{\s*"(?:openapi|swagger)"/m.test(text)) {
    const found = await act<Converted>(client, branch, 'openapiToConfig', { openapi: text }, EXTRACTOR)
    if (to === 'extractor') return found
    const rows = (found.rows ?? []).map((row) => row.configuration)
    const made = await act<Converted>(client, branch, 'configToManifest', {
      configuration: { parameters: found.parameters },
      rows,
    })
    return { ...made, notes: [...found.notes, ...made.notes] }
  }
  if (/DeclarativeSource/.test(text)) return act<Converted>(client, branch, 'manifestToConfig', { manifest: text })
  const { rows = [], ...configuration } = JSON.parse(await readJsonFile(source)) as {
    rows?: readonly { configuration: object }[]
  } // as `millrace config get` prints it
  return act<Converted>(client, branch, 'configToManifest', { configuration, rows: rows.map((row) => row.configuration) })
}
