// One message on its way: as blocks of Slack, as a card of Teams, as a mail with HTML, or as JSON.

import type { EgressGuard } from '../../../contract/egress-guard.ts'
import { openMail } from '../../connector-kit/src/mail.ts'
import { type HttpAnswer, httpSend, refusalOf } from '../../files-writer/src/targets/http-send.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Channel } from './settings.ts'

export interface Content {
  readonly title: string
  readonly text: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
  /** Of the table; more than are shown. */
  readonly allRows: number
  readonly picture: Buffer | undefined
}

/** What the channel gets, without sending it. */
export function payloadOf(channel: Channel, content: Content): unknown {
  if (channel.type === 'slack') return slackMessage(content)
  if (channel.type === 'teams') return teamsCard(content)
  if (channel.type === 'mail') return { to: channel.to, subject: content.title, html: htmlOf(content) }
  return webhookBody(content)
}

export async function sendMessage(channel: Channel, content: Content, guard: EgressGuard): Promise<void> {
  if (channel.type === 'mail') return sendMail(channel, content, guard)
  if (channel.type === 'slack' && channel.token !== '') return sendToSlack(channel, content, guard)
  const payload = JSON.stringify(payloadOf(channel, content))
  if (channel.type === 'teams' && Buffer.byteLength(payload) > MAX_TEAMS_BYTES)
    throw new UserError(
      `Teams takes messages of at most ${MAX_TEAMS_BYTES / 1024} KiB, and this one has ${Math.ceil(payload.length / 1024)}. Show fewer rows, or no chart.`,
    )
  await post(new URL(channel.url), payload, {}, guard)
}

const MAX_TEAMS_BYTES = 28 * 1024
/** Slack cuts longer texts of a block off. */
const MAX_BLOCK = 2900

async function post(
  url: URL,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  guard: EgressGuard,
): Promise<HttpAnswer> {
  const type = { 'content-type': 'application/json; charset=utf-8', ...headers }
  const answer = await httpSend(url, { method: 'POST', headers: () => type, body: Buffer.from(body) }, guard)
  // The path of a webhook is its secret.
  if (answer.status < 200 || answer.status > 299) throw refusalOf(new URL(url.origin), answer)
  return answer
}

const more = ({ rows, allRows }: Content): string => (allRows > rows.length ? `${rows.length} of ${allRows} rows` : '')

function slackMessage(content: Content) {
  const { title, text, columns, rows } = content
  const mrkdwn = (words: string) => ({ type: 'section', text: { type: 'mrkdwn', text: words } })
  const table = rows.length === 0 || columns.length === 0 ? '' : textTable(columns, rows, MAX_BLOCK)
  return {
    text: title || text,
    blocks: [
      ...(title === '' ? [] : [{ type: 'header', text: { type: 'plain_text', text: title.slice(0, 150) } }]),
      ...(text === '' ? [] : [mrkdwn(text.slice(0, MAX_BLOCK))]),
      ...(table === '' ? [] : [mrkdwn(`\`\`\`${slackText(table)}\`\`\``)]),
      ...(more(content) === '' ? [] : [{ type: 'context', elements: [{ type: 'mrkdwn', text: more(content) }] }]),
    ],
  }
}

/** The picture is uploaded first; sharing it and the message are two calls of the API. */
async function sendToSlack(channel: Channel & { type: 'slack' }, content: Content, guard: EgressGuard): Promise<void> {
  const { token, channelId } = channel
  const call = async (method: string, body: string, type = 'application/json; charset=utf-8') => {
    const url = new URL(method, channel.apiUrl.endsWith('/') ? channel.apiUrl : `${channel.apiUrl}/`)
    const { body: json, text } = await post(url, body, { authorization: `Bearer ${token}`, 'content-type': type }, guard)
    const answer = parsed(json)
    if (answer?.ok !== true) throw new UserError(`Slack refused ${method}: ${String(answer?.error ?? text).slice(0, 200)}.`)
    return answer
  }
  await call('chat.postMessage', JSON.stringify({ channel: channelId, ...slackMessage(content) }))
  if (!content.picture) return
  const place = await call(
    'files.getUploadURLExternal',
    new URLSearchParams({ filename: 'chart.png', length: String(content.picture.length) }).toString(),
    'application/x-www-form-urlencoded',
  )
  await post(new URL(String(place.upload_url)), content.picture, { 'content-type': 'image/png' }, guard)
  const files = [{ id: place.file_id, title: content.title || 'Chart' }]
  await call('files.completeUploadExternal', JSON.stringify({ files, channel_id: channelId }))
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown> // looked at member by member
  } catch {
    return undefined
  }
}

const slackText = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replaceAll('```', "'''")

/** Columns of the same width, as many lines as fit. */
function textTable(columns: readonly string[], rows: Content['rows'], maxLength: number): string {
  const lines = [columns, ...rows.map((row) => row.map((value) => (value ?? '').replace(/\s+/g, ' ').slice(0, 40)))]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  const [head = '', ...rest] = lines.map((line) =>
    line
      .map((value, at) => value.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  let text = `${head}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`
  for (const line of rest) {
    if (text.length + line.length + 1 > maxLength) break
    text += `\n${line}`
  }
  return text.slice(0, maxLength)
}

function teamsCard(content: Content) {
  const { title, text, columns, rows, picture } = content
  const block = (words: string, how: object = {}) => ({ type: 'TextBlock', text: words, wrap: true, ...how })
  const line = (cells: readonly (string | null)[]) => ({
    type: 'TableRow',
    cells: cells.map((cell) => ({ type: 'TableCell', items: [block(cell ?? '')] })),
  })
  const body = [
    ...(title === '' ? [] : [block(title, { size: 'Large', weight: 'Bolder' })]),
    ...(text === '' ? [] : [block(text)]),
    ...(picture ? [{ type: 'Image', url: dataUri(picture), altText: title || 'Chart', size: 'Stretch' }] : []),
    ...(rows.length === 0 || columns.length === 0
      ? []
      : [
          {
            type: 'Table',
            firstRowAsHeader: true,
            columns: columns.map(() => ({ width: 1 })),
            rows: [line(columns), ...rows.map(line)],
          },
        ]),
    ...(more(content) === '' ? [] : [block(more(content), { isSubtle: true })]),
  ]
  const card = { $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.5', body }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }] }
}

const webhookBody = ({ title, text, columns, rows, allRows, picture }: Content) => ({
  ...{ title, text, columns, rows, rowsCount: allRows },
  ...(picture && { chart: dataUri(picture) }),
})

const dataUri = (picture: Buffer): string => `data:image/png;base64,${picture.toString('base64')}`

async function sendMail(channel: Channel & { type: 'mail' }, content: Content, guard: EgressGuard): Promise<void> {
  const mail = await openMail(channel, guard)
  const { title, text, columns, rows, picture } = content
  const plain = [text, rows.length > 0 && columns.length > 0 ? textTable(columns, rows, 100_000) : '', more(content)]
  await mail.send({
    to: channel.to,
    subject: title,
    text: plain.filter((part) => part !== '').join('\n\n'),
    html: htmlOf(content),
    ...(picture && { attachments: [{ filename: 'chart.png', content: picture, cid: 'chart' }] }),
  })
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => XML[character] ?? '')

function htmlOf(content: Content): string {
  const { text, columns, rows, picture, title } = content
  const cell = 'style="border:1px solid #d0d4da;padding:4px 8px;text-align:left"'
  const line = (tag: string, cells: readonly (string | null)[]) =>
    `<tr>${cells.map((value) => `<${tag} ${cell}>${escaped(value ?? '')}</${tag}>`).join('')}</tr>`
  return [
    '<div style="font-family:sans-serif;font-size:14px">',
    ...text
      .split('\n')
      .filter((words) => words !== '')
      .map((words) => `<p>${escaped(words)}</p>`),
    ...(picture ? [`<p><img src="cid:chart" alt="${escaped(title)}" style="max-width:100%"></p>`] : []),
    ...(rows.length === 0 || columns.length === 0
      ? []
      : [`<table style="border-collapse:collapse">${line('th', columns)}${rows.map((row) => line('td', row)).join('')}</table>`]),
    ...(more(content) === '' ? [] : [`<p>${more(content)}</p>`]),
    '</div>',
  ].join('\n')
}
