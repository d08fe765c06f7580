// Connectors that a user can choose: the manifests of our own in catalogue/, and those of a public index on request.
// A manifest from elsewhere is returned with its licence and version, and is kept in the configuration of the user; we ship none.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { specOf } from '../commands.ts'
import { ConnectorError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Send } from '../http/transport.ts'
import { loadManifest } from '../manifest/load.ts'
import { nearestOf } from '../manifest/nearest.ts'
import { type Dict, isDict } from '../python/values.ts'
import { formOf } from './form.ts'

/** The index of Airbyte's open source connectors. Another one of the same format is given by its URL. */
export const PUBLIC_INDEX = 'https://connectors.airbyte.com/files/registries/v0/oss_registry.json'

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
  readonly icon: string
  /** `millrace`, or the URL of the manifest. */
  readonly source: string
  /** The URL of the index that lists it; empty for others. */
  readonly catalogue: string
}

export interface Connector extends CatalogueEntry {
  readonly licenceNotice: string
  readonly manifest: string
  /** The JSON schema of a form for `config`. */
  readonly form: Dict
  readonly streams: readonly string[]
  /** Python classes that the manifest names: streams that use one are not supported. */
  readonly pythonClasses: readonly string[]
}

const SHIPPED = fileURLToPath(new URL('../../catalogue', import.meta.url))
const MAX_INDEX_BYTES = 64 * 1024 * 1024
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [])

export function shippedConnectors(): CatalogueEntry[] {
  return readdirSync(SHIPPED)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => shippedEntry(file.replace(/\.yaml$/, '')))
}

const shippedText = (name: string): string => readFileSync(`${SHIPPED}/${name}.yaml`, 'utf8')

const shippedEntry = (name: string): CatalogueEntry => entryOf(name, parse(shippedText(name)) as Dict, 'millrace') // our own files

/** The description of a connector that its manifest has itself. */
function entryOf(name: string, manifest: Dict, source: string): CatalogueEntry {
  const metadata = isDict(manifest.metadata) ? manifest.metadata : {}
  return {
    name,
    title: text(metadata.title) || name,
    description: text(manifest.description),
    version: text(metadata.version),
    categories: texts(metadata.categories),
    licence: text(metadata.licence),
    isRestricted: isRestricted(text(metadata.licence)),
    documentationUrl: text(metadata.documentationUrl),
    icon: text(metadata.icon),
    source,
    catalogue: '',
  }
}

export interface PublicIndex {
  readonly connectors: readonly CatalogueEntry[]
  /** Connectors of the index that are programs in Python or Java. */
  readonly withoutManifest: number
}

export async function publicConnectors(send: Send, index: string): Promise<PublicIndex> {
  const answer = parseIndex(await fetched(send, index, MAX_INDEX_BYTES), index)
  const connectors = answer.flatMap((source) => publicEntry(source, index) ?? [])
  return {
    connectors: connectors.toSorted((a, b) => a.title.localeCompare(b.title)),
    withoutManifest: answer.length - connectors.length,
  }
}

function parseIndex(body: string, index: string): Dict[] {
  try {
    const parsed: unknown = JSON.parse(body)
    if (isDict(parsed) && Array.isArray(parsed.sources)) return parsed.sources.filter(isDict)
  } catch {
    // reported below
  }
  throw new ConnectorError(`${index} is not an index of connectors: expected a JSON object with the list 'sources'.`)
}

/** Undefined for a connector that is not a manifest alone. */
function publicEntry(source: Dict, index: string): CatalogueEntry | undefined {
  const [repository, version] = [text(source.dockerRepository), text(source.dockerImageTag)]
  if (
    !texts(source.tags).includes('language:manifest-only') ||
    !/^[\w.-]+\/[\w.-]+$/.test(repository) ||
    !/^[\w.-]+$/.test(version)
  )
    return undefined
  return {
    name: repository.split('/')[1]!.replace(/^source-/, ''),
    title: text(source.name),
    description: '',
    version,
    categories: [text(source.sourceType)].filter((each) => each !== ''),
    licence: text(source.license),
    isRestricted: isRestricted(text(source.license)),
    documentationUrl: text(source.documentationUrl),
    icon: text(source.iconUrl),
    source: new URL(`/files/metadata/${repository}/${version}/manifest.yaml`, index).href,
    catalogue: index,
  }
}

/** `name`: of the shipped ones, of the index where one is given, or the URL of a manifest. */
export async function connectorNamed(send: Send, name: string, index: string | undefined): Promise<Connector> {
  if (/^https?:\/\//.test(name)) return described(await fetched(send, name, MAX_MANIFEST_BYTES), nameOfUrl(name), name)
  const shipped = shippedConnectors()
  const known = shipped.find((each) => each.name === name)
  if (known) return described(shippedText(name), name, 'millrace')
  const others = index === undefined ? [] : (await publicConnectors(send, index)).connectors
  const entry = others.find((each) => each.name === name)
  if (!entry) {
    const near = nearestOf(
      name,
      [...shipped, ...others].map((each) => each.name),
    )
    throw new ConnectorError(
      `The connector '${name}' is not in the catalogue.${near ? ` Did you mean '${near}'?` : ''}${index === undefined ? " Set 'catalogue' to 'public' to look in the public index." : ''}`,
    )
  }
  const connector = described(await fetched(send, entry.source, MAX_MANIFEST_BYTES), entry.name, entry.source)
  return { ...connector, ...entry, licenceNotice: noticeOf(entry.licence) }
}

/** The folder above `manifest.yaml`, or the file itself. */
function nameOfUrl(url: string): string {
  const parts = new URL(url).pathname.split('/').filter((each) => each !== '')
  const file = (parts.at(-1) ?? 'connector').replace(/\.ya?ml$/, '')
  return (file === 'manifest' ? (parts.at(-2) ?? file) : file).replace(/^source-/, '')
}

function described(manifestText: string, name: string, source: string): Connector {
  const manifest = loadManifest(manifestText)
  const entry = entryOf(name, manifest, source)
  const spec = specOf(manifest)
  return {
    ...entry,
    documentationUrl: entry.documentationUrl || text(spec.documentationUrl),
    licenceNotice: noticeOf(entry.licence),
    manifest: manifestText,
    form: formOf(spec.connectionSpecification),
    streams: streamNamesOf(manifest),
    pythonClasses: [...new Set(classNamesIn(manifest))].sort(),
  }
}

/** Without those that are made from answers of the API. */
export const streamNamesOf = (manifest: Dict): string[] =>
  [manifest.streams].flat().flatMap((stream) => (isDict(stream) && typeof stream.name === 'string' ? [stream.name] : []))

function* classNamesIn(value: unknown): Iterable<string> {
  if (Array.isArray(value)) for (const each of value) yield* classNamesIn(each)
  if (!isDict(value)) return
  if (typeof value.class_name === 'string') yield value.class_name
  for (const each of Object.values(value)) yield* classNamesIn(each)
}

const OPEN_LICENCES = ['Apache-2.0', 'MIT']

const isRestricted = (licence: string): boolean => !OPEN_LICENCES.includes(licence)

/** What a licence means for users of a stack. */
function noticeOf(licence: string): string {
  if (!isRestricted(licence)) return `The manifest is under ${licence}: it can be used, changed and offered to others.`
  if (/^(ELv2|Elastic-2\.0)$/i.test(licence))
    return 'The manifest is under the Elastic License 2.0 (https://www.elastic.co/licensing/elastic-license): you may run and change it for yourself, and may not offer it to others as a hosted or managed service.'
  return licence === ''
    ? 'The manifest names no licence. Ask its author before you offer it to others.'
    : `The manifest is under the licence '${licence}'. Read it before you offer the manifest to others.`
}

async function fetched(send: Send, url: string, maxBytes: number): Promise<string> {
  const answer: HttpResponse = await send({ method: 'GET', url, headers: {} })
  if (answer.status !== 200) throw new ConnectorError(`${url} answers with status ${answer.status}.`)
  if (answer.body.length > maxBytes) throw new ConnectorError(`${url} is larger than ${maxBytes} bytes.`)
  return answer.body.toString('utf8')
}
