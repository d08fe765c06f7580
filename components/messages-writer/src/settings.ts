// parameters of the configuration: where messages go (`channel`), and what one row sends.

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
  refuseUnknown,
  textAt,
} from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { MAX_SERIES } from './chart.ts'

export type Channel =
  | { readonly type: 'slack'; readonly url: string; readonly token: string; readonly channelId: string; readonly apiUrl: string }
  | { readonly type: 'teams'; readonly url: string }
  | { readonly type: 'webhook'; readonly url: string }
  | ({ readonly type: 'mail' } & MailSettings)

const CHANNEL_FIELDS = {
  slack: ['#url', '#botToken', 'channelId', 'apiUrl'],
  teams: ['#url'],
  webhook: ['#url'],
  mail: ['host', 'port', 'user', '#password', 'security', 'from', 'to'],
} as const

export function readChannel(parameters: Fields): Channel {
  const channel = objectAt(parameters, 'channel', 'parameters.channel')
  const type = choiceAt(channel, 'type', ['slack', 'teams', 'mail', 'webhook'], 'channel.type')
  const set = Object.entries(channel).filter(([name, value]) => !isEmpty(value) && name !== 'security')
  refuseUnknown(
    Object.fromEntries(set),
    ['type', ...CHANNEL_FIELDS[type], ...(type === 'mail' ? ['security'] : [])],
    `channel (${type})`,
  )
  const text = (name: string): string => textAt(channel, name, `channel.${name}`)
  const needed = (name: string): string => {
    if (text(name) === '') throw new UserError(`channel.${name} is missing.`)
    return text(name)
  }
  if (type === 'mail') return { type, ...readMail(channel, 'channel') }
  if (type !== 'slack') return { type, url: addressOf(needed('#url'), '#url') }
  const [token, channelId] = [text('#botToken'), text('channelId')]
  if ((token === '') !== (channelId === '')) throw new UserError('channel.#botToken and channel.channelId belong together.')
  const url = token === '' ? addressOf(needed('#url'), '#url') : ''
  return { type, url, token, channelId, apiUrl: addressOf(text('apiUrl') || 'https://slack.com/api/', 'apiUrl') }
}

function addressOf(text: string, name: string): string {
  if (/^https?:\/\/[^/?#\s]+(\/[^#\s]*)?$/.test(text)) return text
  throw new UserError(`channel.${name} must be an address such as https://hooks.example.com/abc.`)
}

export interface Message {
  readonly title: string
  readonly text: string
  /** Places of the columns that are shown, and how many rows; 0: no table. */
  readonly shown: readonly number[]
  readonly maxRows: number
  readonly chart: { readonly kind: 'line' | 'bar'; readonly x: number; readonly y: readonly number[] } | undefined
  readonly onlyWithRows: boolean
  readonly dryRun: boolean
}

const FIELDS = ['title', 'text', 'columns', 'maxRows', 'chart', 'onlyWithRows', 'dryRun']
const MAX_ROWS = 100

export function readMessage(parameters: Fields, input: InputTable, channel: Channel): Message {
  refuseUnknown(parameters, ['channel', ...FIELDS], 'parameters')
  const placeOf = (name: string, place: string): number => {
    const at = input.columns.findIndex((column) => column.name === name)
    if (at === -1)
      throw new UserError(
        `${place} names "${name.slice(0, 60)}", which is not a column of ${input.id}. It has ${input.columns.map((column) => column.name).join(', ')}.`,
      )
    return at
  }
  const columns = listAt(parameters, 'columns', 'columns')?.map((name) => placeOf(name, 'columns'))
  const maxRows = numberAt(parameters, 'maxRows', 'maxRows') ?? 10
  if (!Number.isInteger(maxRows) || maxRows > MAX_ROWS)
    throw new UserError(`maxRows must be a whole number from 0 to ${MAX_ROWS}. Send a file for more: platform.wr-files.`)
  const chart = readChart(parameters, placeOf)
  if (chart && channel.type === 'slack' && channel.token === '')
    throw new UserError(
      'chart: an incoming webhook of Slack takes no pictures. Set channel.#botToken and channel.channelId in place of channel.#url.',
    )
  return {
    title: textAt(parameters, 'title', 'title'),
    text: textAt(parameters, 'text', 'text'),
    shown: columns ?? input.columns.map((_, at) => at),
    maxRows,
    chart,
    onlyWithRows: flagAt(parameters, 'onlyWithRows', 'onlyWithRows', false),
    dryRun: flagAt(parameters, 'dryRun', 'dryRun', false),
  }
}

function readChart(parameters: Fields, placeOf: (name: string, place: string) => number): Message['chart'] {
  if (isEmpty(parameters.chart)) return undefined
  const chart = objectAt(parameters, 'chart', 'chart')
  refuseUnknown(chart, ['kind', 'x', 'y'], 'chart')
  const [x, y] = [textAt(chart, 'x', 'chart.x'), listAt(chart, 'y', 'chart.y') ?? []]
  const kind = choiceAt(chart, 'kind', ['none', 'line', 'bar'], 'chart.kind')
  if (kind === 'none' && x === '' && y.length === 0) return undefined // a form that was left empty
  if (kind === 'none') return undefined
  if (x === '' || y.length === 0)
    throw new UserError('chart.x and chart.y are needed: a column for labels, and columns of numbers.')
  if (y.length > MAX_SERIES) throw new UserError(`chart.y has more than ${MAX_SERIES} columns.`)
  return { kind, x: placeOf(x, 'chart.x'), y: y.map((name) => placeOf(name, 'chart.y')) }
}
