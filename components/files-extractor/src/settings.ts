// parameters of the configuration: where files lie (`source`), and what one row reads of them.

import { hostKeyAt } from '../../connector-kit/src/host-key.ts'
import {
  choiceAt,
  type Fields,
  flagAt,
  isEmpty,
  listAt,
  objectAt,
  portAt,
  refuseUnknown,
  textAt,
} from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { FtpSettings } from './stores/ftp.ts'
import type { S3Settings } from './stores/s3.ts'
import type { SftpSettings } from './stores/sftp.ts'

export type SourceSettings =
  | ({ readonly type: 's3' } & S3Settings)
  | { readonly type: 'http'; readonly user: string; readonly password: string }
  | ({ readonly type: 'sftp' } & SftpSettings)
  | ({ readonly type: 'ftp' } & FtpSettings)
  | { readonly type: 'folder'; readonly folder: string }

export const FORMATS = ['auto', 'csv', 'jsonl', 'json', 'xml', 'excel', 'parquet', 'avro'] as const
export type Format = Exclude<(typeof FORMATS)[number], 'auto'>

export interface RowSettings {
  /** Of every source but http. */
  readonly path: string
  readonly urls: readonly string[]
  readonly format: (typeof FORMATS)[number]
  readonly delimiter: string
  readonly enclosure: string
  /** Names of the columns of CSV files without a header line. */
  readonly columns: readonly string[] | undefined
  /** Where the list of rows is in JSON and XML: names with dots between. */
  readonly recordPath: readonly string[]
  /** Of Excel: its name or number. */
  readonly sheet: string
  /** Of Excel: the part of the sheet, whose first row names the columns. */
  readonly range: CellRange | undefined
  /** Files only grow: what follows the position of the last run is read. */
  readonly growing: boolean
  readonly outputTable: string
  readonly primaryKey: readonly string[]
  readonly newOnly: boolean
  readonly incremental: boolean
  readonly badRows: 'fail' | 'aside'
  readonly addFileName: boolean
  readonly addLine: boolean
}

const SOURCE_FIELDS = {
  s3: ['endpoint', 'region', 'bucket', 'accessKeyId', '#secretKey', '#sessionToken'],
  http: ['user', '#password'],
  sftp: ['host', 'port', 'user', '#password', '#privateKey', 'hostKey'],
  ftp: ['host', 'port', 'user', '#password', 'tls'],
  folder: ['folder'],
} as const

export function readSourceSettings(parameters: Fields): SourceSettings {
  const source = objectAt(parameters, 'source', 'parameters.source')
  const type = choiceAt(source, 'type', ['s3', 'http', 'sftp', 'ftp', 'folder'], 'source.type')
  // A form may leave empty fields of another type.
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => !isEmpty(value) && value !== false))
  refuseUnknown(set, ['type', ...SOURCE_FIELDS[type]], `source (${type})`)
  const text = (name: string): string => textAt(source, name, `source.${name}`)
  const needed = (name: string): string => {
    if (text(name) === '') throw new UserError(`source.${name} is missing.`)
    return text(name)
  }
  if (type === 'folder') return { type, folder: needed('folder') }
  if (type === 'http') return { type, user: text('user'), password: text('#password') }
  if (type === 's3')
    return {
      type,
      endpoint: endpointOf(text('endpoint')),
      region: text('region') || 'us-east-1',
      bucket: needed('bucket'),
      accessKeyId: text('accessKeyId'),
      secretKey: text('#secretKey'),
      sessionToken: text('#sessionToken'),
    }
  const port = portAt(source, 'port', 'source.port')
  const login = { host: needed('host'), user: text('user'), password: text('#password') }
  if (type === 'ftp') return { type, ...login, port: port ?? 21, isTls: flagAt(source, 'tls', 'source.tls', false) }
  return { type, ...login, port: port ?? 22, privateKey: text('#privateKey'), hostKey: hostKeyAt(source, 'source.hostKey') }
}

function endpointOf(text: string): string {
  if (text === '' || /^https?:\/\/[^/?#\s]+(\/[^?#\s]*)?$/.test(text)) return text
  throw new UserError('source.endpoint must be an address such as https://s3.example.com.')
}

const ROW_FIELDS = [
  ...[
    'path',
    'urls',
    'format',
    'delimiter',
    'enclosure',
    'columns',
    'recordPath',
    'sheet',
    'range',
    'growing',
    'outputTable',
    'primaryKey',
  ],
  ...['newOnly', 'incremental', 'badRows', 'addFileName', 'addLine'],
]

export function readRowSettings(parameters: Fields, { wantsTable = true } = {}): RowSettings {
  refuseUnknown(parameters, ['source', ...ROW_FIELDS], 'parameters')
  const outputTable = textAt(parameters, 'outputTable', 'outputTable')
  if (wantsTable && !/^[A-Za-z0-9_-]{1,80}$/.test(outputTable))
    throw new UserError('outputTable is the name of the table: letters, digits, underscores and dashes, 80 at most.')
  const newOnly = flagAt(parameters, 'newOnly', 'newOnly', true)
  return {
    path: textAt(parameters, 'path', 'path'),
    urls: listAt(parameters, 'urls', 'urls') ?? [],
    format: choiceAt(parameters, 'format', FORMATS),
    delimiter: oneCharacter(textAt(parameters, 'delimiter', 'delimiter') || ',', 'delimiter'),
    enclosure: oneCharacter(textAt(parameters, 'enclosure', 'enclosure') || '"', 'enclosure'),
    columns: listAt(parameters, 'columns', 'columns'),
    recordPath: textAt(parameters, 'recordPath', 'recordPath')
      .split('.')
      .filter((name) => name !== ''),
    sheet: textAt(parameters, 'sheet', 'sheet'),
    range: rangeOf(textAt(parameters, 'range', 'range')),
    growing: isGrowing(parameters, newOnly),
    outputTable,
    primaryKey: listAt(parameters, 'primaryKey', 'primaryKey') ?? [],
    newOnly,
    incremental: flagAt(parameters, 'incremental', 'incremental', newOnly),
    badRows: choiceAt(parameters, 'badRows', ['fail', 'aside']),
    addFileName: flagAt(parameters, 'addFileName', 'addFileName', true),
    addLine: flagAt(parameters, 'addLine', 'addLine', false),
  }
}

export interface CellRange {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

const MAX_CELL = 1_048_576

/** `B3:F200`, or `B3` for everything from there on. */
function rangeOf(text: string): CellRange | undefined {
  if (text === '') return undefined
  const found = /^([A-Z]{1,3})([1-9]\d{0,6})(?::([A-Z]{1,3})([1-9]\d{0,6}))?$/i.exec(text)
  if (!found) throw new UserError('range must be cells such as B3:F200, or the first cell such as B3.')
  const column = (letters: string | undefined, fallback: number): number =>
    letters === undefined ? fallback : [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
  const range = {
    ...{ left: column(found[1], 1), top: Number(found[2]) },
    ...{ right: column(found[3], MAX_CELL), bottom: Number(found[4] ?? MAX_CELL) },
  }
  if (range.right < range.left || range.bottom <= range.top)
    throw new UserError('range must have at least two rows, from top left to bottom right.')
  return range
}

function isGrowing(parameters: Fields, newOnly: boolean): boolean {
  const growing = flagAt(parameters, 'growing', 'growing', false)
  if (growing && !newOnly) throw new UserError('growing needs newOnly: the position of the last run is where reading begins.')
  return growing
}

function oneCharacter(text: string, place: string): string {
  const character = text === '\\t' ? '\t' : text
  if (character.length !== 1) throw new UserError(`${place} must be one character.`)
  return character
}
