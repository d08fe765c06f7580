// parameters of the configuration: where files go (`target`), and what one row writes there.

import { hostKeyAt } from '../../connector-kit/src/host-key.ts'
import type { InputTable } from '../../connector-kit/src/input-table.ts'
import { type MailSettings, readMail } from '../../connector-kit/src/mail.ts'
import {
  choiceAt,
  type Fields,
  flagAt,
  isEmpty,
  listAt,
  numberAt,
  objectAt,
  portAt,
  refuseUnknown,
  textAt,
} from '../../connector-kit/src/settings.ts'
import type { FtpSettings } from '../../files-extractor/src/stores/ftp.ts'
import type { S3Settings } from '../../files-extractor/src/stores/s3.ts'
import type { SftpSettings } from '../../files-extractor/src/stores/sftp.ts'
import { UserError } from '../../http-extractor/src/errors.ts'

export interface WebhookSettings {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly bearerToken: string
}

export type TargetSettings =
  | ({ readonly type: 's3' } & S3Settings)
  | ({ readonly type: 'sftp' } & SftpSettings)
  | ({ readonly type: 'ftp' } & FtpSettings)
  | { readonly type: 'folder'; readonly folder: string }
  | ({ readonly type: 'mail' } & MailSettings)
  | ({ readonly type: 'webhook' } & WebhookSettings)

const TARGET_FIELDS = {
  folder: ['folder'],
  s3: ['endpoint', 'region', 'bucket', 'accessKeyId', '#secretKey', '#sessionToken'],
  sftp: ['host', 'port', 'user', '#password', '#privateKey', 'hostKey'],
  ftp: ['host', 'port', 'user', '#password', 'tls'],
  mail: ['host', 'port', 'user', '#password', 'security', 'from', 'to'],
  webhook: ['url', 'method', '#bearerToken'],
} as const

export function readTarget(parameters: Fields): TargetSettings {
  const target = objectAt(parameters, 'target', 'parameters.target')
  const type = choiceAt(target, 'type', ['folder', 's3', 'sftp', 'ftp', 'mail', 'webhook'], 'target.type')
  // A form may leave empty fields, and its defaults, of another type.
  const set = Object.entries(target).filter(([name, value]) => !isEmpty(value) && value !== false && !DEFAULTS.has(name))
  refuseUnknown(Object.fromEntries(set), ['type', ...TARGET_FIELDS[type]], `target (${type})`)
  const text = (name: string): string => textAt(target, name, `target.${name}`)
  const needed = (name: string): string => {
    if (text(name) === '') throw new UserError(`target.${name} is missing.`)
    return text(name)
  }
  const port = portAt(target, 'port', 'target.port')
  if (type === 'folder') return { type, folder: needed('folder') }
  if (type === 's3')
    return {
      ...{ type, endpoint: addressAt(text('endpoint'), 'endpoint'), region: text('region') || 'us-east-1' },
      ...{ bucket: needed('bucket'), accessKeyId: text('accessKeyId'), secretKey: text('#secretKey') },
      sessionToken: text('#sessionToken'),
    }
  if (type === 'webhook')
    return {
      ...{ type, url: addressAt(needed('url'), 'url'), bearerToken: text('#bearerToken') },
      method: choiceAt(target, 'method', ['POST', 'PUT'], 'target.method'),
    }
  if (type === 'mail') return { type, ...readMail(target, 'target') }
  const login = { host: needed('host'), user: text('user'), password: text('#password') }
  if (type === 'ftp') return { type, ...login, port: port ?? 21, isTls: flagAt(target, 'tls', 'target.tls', false) }
  return { type, ...login, port: port ?? 22, privateKey: text('#privateKey'), hostKey: hostKeyAt(target, 'target.hostKey') }
}

const DEFAULTS = new Set(['security', 'method'])

function addressAt(text: string, name: string): string {
  if (text === '' || /^https?:\/\/[^/?#\s]+(\/[^#\s]*)?$/.test(text)) return text
  throw new UserError(`target.${name} must be an address such as https://files.example.com.`)
}

const FORMATS = ['csv', 'jsonl', 'parquet', 'excel'] as const
export type Format = (typeof FORMATS)[number]

export interface RowSettings {
  /** With dates in it, as written. */
  readonly path: string
  readonly format: Format
  readonly gzip: boolean
  readonly delimiter: string
  readonly header: boolean
  /** Columns by their places. */
  readonly partitionBy: readonly number[]
  readonly maxRows: number | undefined
  readonly ifExists: 'replace' | 'append' | 'fail'
  readonly skipEmpty: boolean
  readonly manifest: boolean
  readonly sheet: string
  /** Name of a file of the input mapping; empty: the only workbook among them, if there is one. */
  readonly template: string
  readonly startCell: string
  readonly subject: string
  readonly text: string
  readonly dryRun: boolean
}

const ROW_FIELDS = [
  ...['path', 'format', 'gzip', 'delimiter', 'header', 'partitionBy', 'maxRowsPerFile', 'ifExists', 'skipEmpty', 'manifest'],
  ...['sheet', 'template', 'startCell', 'subject', 'text', 'dryRun'],
]

export function readRow(parameters: Fields, input: InputTable, target: TargetSettings): RowSettings {
  refuseUnknown(parameters, ['target', ...ROW_FIELDS], 'parameters')
  const text = (name: string): string => textAt(parameters, name, name)
  const path = text('path')
  if (path === '') throw new UserError('path is missing: the name of the file, such as exports/orders-{{date}}.csv.')
  const format = choiceAt(parameters, 'format', FORMATS, 'format')
  const ifExists = choiceAt(parameters, 'ifExists', ['replace', 'append', 'fail'], 'ifExists')
  const gzip = flagAt(parameters, 'gzip', 'gzip', false)
  const partitionBy = (listAt(parameters, 'partitionBy', 'partitionBy') ?? []).map((name) => {
    const at = input.columns.findIndex((column) => column.name === name)
    if (at === -1)
      throw new UserError(
        `partitionBy names "${name.slice(0, 60)}", which is not a column of ${input.id}. It has ${input.columns.map((column) => column.name).join(', ')}.`,
      )
    return at
  })
  const maxRows = numberAt(parameters, 'maxRowsPerFile', 'maxRowsPerFile') || undefined
  const isText = format === 'csv' || format === 'jsonl'
  const isAttached = target.type === 'mail' || target.type === 'webhook'
  const delimiter = text('delimiter') || ','
  const problem =
    (gzip && !isText && 'gzip is for csv and jsonl: parquet and excel are compressed already.') ||
    (ifExists === 'append' && !isText && `ifExists "append" is for csv and jsonl, not for ${format}.`) ||
    (ifExists === 'append' &&
      (target.type === 's3' || isAttached) &&
      `ifExists "append" is not possible with ${target.type}: write a file per run, such as orders-{{datetime}}.csv.`) ||
    (ifExists === 'fail' && isAttached && `ifExists is not possible with ${target.type}, which has no files.`) ||
    (partitionBy.length > 0 && isAttached && `partitionBy is not possible with ${target.type}.`) ||
    (maxRows !== undefined && !Number.isInteger(maxRows) && 'maxRowsPerFile must be a whole number.') ||
    (!/^[^"\r\n]$/.test(delimiter) && 'delimiter must be one character, other than a quote.') ||
    (text('template') !== '' && format !== 'excel' && 'template is for the format excel.')
  if (problem) throw new UserError(problem)
  const startCell = (text('startCell') || 'A1').toUpperCase()
  if (!/^[A-Z]{1,2}[1-9]\d{0,6}$/.test(startCell)) throw new UserError('startCell must be the name of a cell, such as A2.')
  return {
    ...{ path, format, gzip, delimiter, partitionBy, maxRows, ifExists, startCell },
    header: flagAt(parameters, 'header', 'header', true),
    skipEmpty: flagAt(parameters, 'skipEmpty', 'skipEmpty', false),
    manifest: flagAt(parameters, 'manifest', 'manifest', false),
    sheet: text('sheet'),
    template: text('template'),
    subject: text('subject') || 'Data of {{date}}',
    text: text('text'),
    dryRun: flagAt(parameters, 'dryRun', 'dryRun', false),
  }
}
