// The parameters of a run: the program, its configuration, and the streams that become tables.

import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { nearestOf } from '../../manifest-connector/src/manifest/nearest.ts'
import { withoutMarks } from '../../manifest-connector/src/platform/parameters.ts'
import { DRIFTS, type Drift } from '../../manifest-connector/src/platform/table.ts'
import { type Dict, isDict } from '../../manifest-connector/src/python/values.ts'

export const LOADS = ['append', 'deduped', 'overwrite'] as const
export type Load = (typeof LOADS)[number]

export interface StreamSettings {
  readonly name: string
  readonly table?: string | undefined
  readonly load?: Load | undefined
  readonly primaryKey?: readonly string[] | undefined
  readonly replicationKey?: string | undefined
  readonly fields?: readonly string[] | undefined
  readonly schemaDrift?: Drift | undefined
  /** A field that is set when the record was deleted. */
  readonly deletedField?: string | undefined
}

export interface Settings {
  /** Requirements of Python packages that are installed for the program. */
  readonly packages: readonly string[]
  readonly command: readonly string[]
  readonly config: Dict
  /** A declarative manifest, for the reference engine. */
  readonly manifest: string | Dict | undefined
  readonly componentsPy: string | undefined
  readonly streams: readonly StreamSettings[]
  readonly silenceMs: number
}

const NAMES = ['package', 'command', 'config', 'manifest', 'componentsPy', 'streams', 'silenceSeconds', 'connector']
const STREAM_NAMES = ['table', 'load', 'primaryKey', 'replicationKey', 'fields', 'schemaDrift', 'deletedField']
const MAX_PACKAGES = 20
const DEFAULT_SILENCE = 1800

export function readSettings(parameters: unknown, kind: 'tap' | 'source' | 'target'): Settings {
  if (!isDict(parameters)) throw new ConnectorError("'parameters' must be an object.")
  const known = [...NAMES, 'stream', ...STREAM_NAMES]
  for (const name of Object.keys(parameters)) refuseUnknown(name, known, 'parameters')
  const { package: given, command, config = {}, manifest, componentsPy, streams = [], stream, silenceSeconds } = parameters
  const packages = given === undefined ? [] : typeof given === 'string' ? [given] : given
  if (!isTexts(packages) || packages.length > MAX_PACKAGES || !packages.every(isRequirement))
    throw new ConnectorError(
      `'parameters.package' must be a package such as "tap-csv==1.1.0", or a list of at most ${MAX_PACKAGES}.`,
    )
  if (command !== undefined && !(isTexts(command) && command.length > 0))
    throw new ConnectorError(`'parameters.command' must be a list of texts, such as ["tap-csv"].`)
  if (!isDict(config)) throw new ConnectorError("'parameters.config' must be an object.")
  if (!Array.isArray(streams)) throw new ConnectorError("'parameters.streams' must be a list.")
  if (silenceSeconds !== undefined && !(typeof silenceSeconds === 'number' && silenceSeconds >= 1 && silenceSeconds <= 86_400))
    throw new ConnectorError("'parameters.silenceSeconds' must be a number from 1 to 86400.")
  if (manifest !== undefined && typeof manifest !== 'string' && !isDict(manifest))
    throw new ConnectorError("'parameters.manifest' must be an object, or the text of a YAML document.")
  if (componentsPy !== undefined && typeof componentsPy !== 'string')
    throw new ConnectorError("'parameters.componentsPy' must be a text.")
  const program =
    command ??
    (manifest !== undefined ? ['source-declarative-manifest'] : packages.length > 0 ? [programOf(packages[0]!)] : undefined)
  if (!program)
    throw new ConnectorError(
      `'parameters.package' is required: what installs the ${kind}, such as "${kind}-example==1.0.0". A program of the node is named by 'command'.`,
    )
  const own = Object.fromEntries(STREAM_NAMES.map((name) => [name, parameters[name]]))
  return {
    packages: packages.length === 0 && manifest !== undefined && command === undefined ? [REFERENCE] : packages,
    command: program,
    config: withoutMarks(config) as Dict,
    manifest: manifest as string | Dict | undefined, // checked above
    componentsPy,
    streams:
      stream === undefined
        ? streams.map((each, i) => streamOf(each, `parameters.streams.${i}`))
        : [streamOf({ ...own, name: stream }, 'parameters')],
    silenceMs: (typeof silenceSeconds === 'number' ? silenceSeconds : DEFAULT_SILENCE) * 1000,
  }
}

/** What runs manifests with components in Python. */
export const REFERENCE = 'airbyte-cdk==7.39.1'

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')
/** A word that begins with a dash would be an option of the installer. */
const isRequirement = (text: string) => /^[A-Za-z0-9]/.test(text) && text.length <= 500 && !text.includes('\n')
/** `tap-csv[extra]==1.1.0` is started as `tap-csv`; Airbyte's packages are named after their programs. */
const programOf = (requirement: string) =>
  (/^[A-Za-z0-9._-]+/.exec(requirement)?.[0] ?? requirement).replace(/^airbyte-(?=source-)/, '')

function streamOf(value: unknown, where: string): StreamSettings {
  const settings = typeof value === 'string' ? { name: value } : value
  if (!isDict(settings) || typeof settings.name !== 'string' || settings.name === '')
    throw new ConnectorError(`'${where}' must name a stream.`)
  for (const name of Object.keys(settings)) refuseUnknown(name, ['name', ...STREAM_NAMES], where)
  const { name, table, load, primaryKey, replicationKey, fields, schemaDrift, deletedField } = settings
  const text = (value: unknown, member: string) => {
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new ConnectorError(`'${where}.${member}' must be a text.`)
    return value as string | undefined // checked above
  }
  const texts = (value: unknown, member: string) => {
    if (value !== undefined && !isTexts(value)) throw new ConnectorError(`'${where}.${member}' must be a list of texts.`)
    return value as string[] | undefined // checked above
  }
  const choice = <T extends string>(value: unknown, member: string, of: readonly T[]) => {
    if (value !== undefined && !of.some((each) => each === value))
      throw new ConnectorError(`'${where}.${member}' must be one of ${of.join(', ')}.`)
    return value as T | undefined // checked above
  }
  return {
    name,
    table: text(table, 'table'),
    load: choice(load, 'load', LOADS),
    primaryKey: texts(primaryKey, 'primaryKey'),
    replicationKey: text(replicationKey, 'replicationKey'),
    fields: texts(fields, 'fields'),
    schemaDrift: choice(schemaDrift, 'schemaDrift', DRIFTS),
    deletedField: text(deletedField, 'deletedField'),
  }
}

function refuseUnknown(name: string, known: readonly string[], where: string): void {
  if (known.includes(name)) return
  const near = nearestOf(name, known)
  throw new ConnectorError(`'${where}.${name}' is unknown.${near ? ` Did you mean '${near}'?` : ` Known: ${known.join(', ')}.`}`)
}
