// The parameters of a run: the manifest, the configuration of its connector, and the streams that become tables.

import { ConnectorError } from '../errors.ts'
import { nearestOf } from '../manifest/nearest.ts'
import { type Dict, isDict, setKey } from '../python/values.ts'
import { DRIFTS, type Drift } from './table.ts'

export const LOADS = ['append', 'deduped', 'overwrite'] as const
export type Load = (typeof LOADS)[number]

export interface WantedStream {
  readonly name: string
  readonly table?: string
  readonly load?: Load
  readonly primaryKey?: readonly string[]
  readonly schemaDrift?: Drift
  /** A field that is set when the record was deleted. */
  readonly deletedField?: string
  /** Objects and lists of objects: JSON text, or tables of their own. */
  readonly nested?: Nested
}

const NESTED = ['json', 'tables'] as const
export type Nested = (typeof NESTED)[number]

export interface Parameters {
  readonly manifest: string | Dict
  readonly config: Dict
  /** All streams of the manifest when empty. */
  readonly streams: readonly WantedStream[]
  /** A file of the project gets every request with its answer. */
  readonly isRecorded: boolean
  /** A run that fails is continued by the next one. */
  readonly isResumed: boolean
}

/** `connector` names the source of the manifest; a run does not need it. */
const NAMES = [
  'manifest',
  'connector',
  'config',
  'streams',
  'stream',
  'table',
  'load',
  'primaryKey',
  'schemaDrift',
  'deletedField',
  'nested',
  'record',
  'resume',
]
const CATALOGUE_NAMES = ['name', 'catalogue']

export function readParameters(parameters: unknown): Parameters {
  const { manifest, config = {}, streams = [], stream, record = false, resume = false, ...others } = known(parameters, NAMES)
  if (typeof manifest !== 'string' && !isDict(manifest))
    throw new ConnectorError("'parameters.manifest' is required: an object, or the text of a YAML document.")
  if (!isDict(config)) throw new ConnectorError("'parameters.config' must be an object.")
  if (typeof record !== 'boolean') throw new ConnectorError("'parameters.record' must be true or false.")
  if (typeof resume !== 'boolean') throw new ConnectorError("'parameters.resume' must be true or false.")
  if (record && resume)
    throw new ConnectorError(
      "'parameters.record' and 'parameters.resume' cannot both be true: a recording needs every request, and a resumed run does not send those of the run before.",
    )
  if (!Array.isArray(streams)) throw new ConnectorError("'parameters.streams' must be a list.")
  // A row is a stream: its settings stand beside its name.
  const { table, load, primaryKey, schemaDrift, deletedField, nested } = others
  const wanted =
    stream === undefined
      ? streams.map((each, i) => streamOf(each, `parameters.streams.${i}`))
      : [streamOf({ name: stream, table, load, primaryKey, schemaDrift, deletedField, nested }, 'parameters')]
  return { manifest, config: withoutMarks(config) as Dict, streams: wanted, isRecorded: record, isResumed: resume }
}

/** A query of the catalogue: a name, and the index to look in besides our own. */
export function readCatalogueParameters(parameters: unknown): { name: string | undefined; index: string | undefined } {
  const { name, catalogue } = known(parameters ?? {}, CATALOGUE_NAMES)
  if (name !== undefined && (typeof name !== 'string' || name === ''))
    throw new ConnectorError("'parameters.name' must be a text.")
  if (catalogue !== undefined && catalogue !== 'public' && !(typeof catalogue === 'string' && /^https?:\/\//.test(catalogue)))
    throw new ConnectorError("'parameters.catalogue' must be 'public' or the URL of an index.")
  return { name, index: catalogue }
}

function known(parameters: unknown, names: readonly string[]): Dict {
  if (!isDict(parameters)) throw new ConnectorError("'parameters' must be an object.")
  for (const name of Object.keys(parameters)) {
    if (names.includes(name)) continue
    const near = nearestOf(name, names)
    throw new ConnectorError(
      `'parameters.${name}' is unknown.${near ? ` Did you mean '${near}'?` : ` Known: ${names.join(', ')}.`}`,
    )
  }
  return parameters
}

function streamOf(value: unknown, where: string): WantedStream {
  const settings = typeof value === 'string' ? { name: value } : value
  if (!isDict(settings) || typeof settings.name !== 'string' || settings.name === '')
    throw new ConnectorError(`'${where}' must name a stream.`)
  const { name, table, load, primaryKey, schemaDrift, deletedField, nested } = settings
  if (schemaDrift !== undefined && !DRIFTS.some((each) => each === schemaDrift))
    throw new ConnectorError(`'${where}.schemaDrift' must be one of ${DRIFTS.join(', ')}.`)
  if (nested !== undefined && !NESTED.some((each) => each === nested))
    throw new ConnectorError(`'${where}.nested' must be one of ${NESTED.join(', ')}.`)
  if (deletedField !== undefined && (typeof deletedField !== 'string' || deletedField === ''))
    throw new ConnectorError(`'${where}.deletedField' must be a text.`)
  if (table !== undefined && (typeof table !== 'string' || table === ''))
    throw new ConnectorError(`'${where}.table' must be a text.`)
  if (load !== undefined && !LOADS.some((each) => each === load))
    throw new ConnectorError(`'${where}.load' must be one of ${LOADS.join(', ')}.`)
  if (primaryKey !== undefined && !(Array.isArray(primaryKey) && primaryKey.every((each) => typeof each === 'string')))
    throw new ConnectorError(`'${where}.primaryKey' must be a list of texts.`)
  return {
    name,
    ...(typeof table === 'string' && { table }),
    ...(load !== undefined && { load: load as Load }), // checked above
    ...(Array.isArray(primaryKey) && { primaryKey: primaryKey as string[] }), // checked above
    ...(schemaDrift !== undefined && { schemaDrift: schemaDrift as Drift }), // checked above
    ...(typeof deletedField === 'string' && { deletedField }),
    ...(nested !== undefined && { nested: nested as Nested }), // checked above
  }
}

/** Secrets are written with a `#`, which the connector does not expect. */
export function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isDict(value)) return value
  const out: Dict = {}
  for (const [name, member] of Object.entries(value)) setKey(out, name.replace(/^#/, ''), withoutMarks(member))
  return out
}

/** Values that were written with a `#`. */
export function* secretsIn(value: unknown, isSecret = false): Iterable<unknown> {
  if (Array.isArray(value)) for (const each of value) yield* secretsIn(each, isSecret)
  else if (isDict(value))
    for (const [name, member] of Object.entries(value)) yield* secretsIn(member, isSecret || name.startsWith('#'))
  else if (isSecret) yield value
}
