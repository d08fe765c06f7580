// The messages writer as a program: rows of a table become one message, and a line of the table of messages.

import { createHash } from 'node:crypto'
import { counted } from '../../../contract/counted.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { leaveCounts, leaveDryRun } from '../../connector-kit/src/delivered.ts'
import { type Cells, type InputTable, onlyInputTable, rowsOf } from '../../connector-kit/src/input-table.ts'
import { createOutputTable } from '../../connector-kit/src/output-table.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { type Content, payloadOf, sendMessage } from './channels.ts'
import { drawChart } from './chart.ts'
import { type Message, readChannel, readMessage } from './settings.ts'
import { withValues } from './words.ts'

untilJob()

/** Points of a chart; more than a screen has columns would only be slower. */
const MAX_POINTS = 1000
const runId = process.env.KBC_RUNID ?? '0'

async function contentOf(input: InputTable, message: Message, now: Date): Promise<Content> {
  const { shown, maxRows, chart } = message
  const rows: Cells[] = []
  const points: Cells[] = []
  let allRows = 0
  for await (const row of rowsOf(input)) {
    allRows++
    if (rows.length < Math.max(1, maxRows)) rows.push(row)
    if (chart && points.length < MAX_POINTS) points.push(row)
  }
  const names = input.columns.map(({ name }) => name)
  const words = (text: string) => withValues(text, { now, runId, rows: allRows, names, first: rows[0] })
  const title = words(message.title)
  return {
    ...{ title, text: words(message.text), allRows },
    columns: maxRows === 0 ? [] : shown.map((at) => names[at] ?? ''),
    rows: rows.slice(0, maxRows).map((row) => shown.map((at) => row[at] ?? null)),
    picture:
      chart && points.length > 0
        ? drawChart({
            ...{ kind: chart.kind, title, labels: points.map((row) => row[chart.x] ?? '') },
            series: chart.y.map((at) => ({
              name: names[at] ?? '',
              values: points.map((row) => numberOf(row[at] ?? null, names[at])),
            })),
          })
        : undefined,
  }
}

function numberOf(text: string | null, column = ''): number | null {
  if (text === null || text === '') return null
  const number = Number(text)
  if (!Number.isFinite(number))
    throw new UserError(`"${text.slice(0, 60)}" in the column ${column} of the chart is not a number.`)
  return number
}

async function send({ parameters, dataDir, guard, log }: Program): Promise<void> {
  const channel = readChannel(parameters)
  const input = onlyInputTable(dataDir)
  const message = readMessage(parameters, input, channel)
  const now = new Date()
  const content = await contentOf(input, message, now)
  if (content.title === '' && content.text === '' && content.columns.length === 0 && !content.picture)
    throw new UserError('The message is empty: set title, text, maxRows or chart.')
  if (channel.type === 'mail' && content.title === '') throw new UserError('title is missing: it is the subject of the mail.')
  if (message.dryRun || process.env.KBC_COMPONENT_RUN_MODE === 'debug') {
    leaveDryRun(dataDir)
    return log.info(
      `Dry run, nothing was sent: "${content.title}" with ${counted(content.rows.length, 'row')} to ${channel.type}.`,
    )
  }
  if (message.onlyWithRows && content.allRows === 0) return log.info(`${input.id} has no rows, so nothing was sent.`)
  await sendMessage(channel, content, guard)
  const sent = await createOutputTable(dataDir, 'messages_sent', COLUMNS, { primaryKey: ['id'], incremental: true })
  await sent.write([
    createHash('sha256')
      .update(`${runId} ${process.env.KBC_CONFIGROWID ?? ''}`)
      .digest('hex')
      .slice(0, 22),
    ...[runId, channel.type, content.title, input.id, String(content.allRows)],
    now.toISOString().replace('T', ' ').replace('Z', ''),
  ])
  await sent.close()
  leaveCounts(dataDir, { 'messages sent': 1 })
  log.info(
    `Sent "${content.title}" to ${channel.type}: ${content.rows.length} of ${counted(content.allRows, 'row')}${content.picture ? ', with a chart' : ''}.`,
  )
}

const COLUMNS = [
  ...(['id', 'run', 'channel', 'title', 'source'] as const).map((name) => ({ name, base: 'STRING' as const })),
  { name: 'rows', base: 'INTEGER' as const },
  { name: 'sent_at', base: 'TIMESTAMP' as const },
]

await runProgram({
  pointer: '/parameters/channel',
  run: send,
  async act(name, { parameters, dataDir }) {
    if (name !== 'preview') throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use preview.`)
    const channel = readChannel(parameters)
    const input = onlyInputTable(dataDir)
    const { picture, ...content } = await contentOf(input, readMessage(parameters, input, channel), new Date())
    const chart = picture && `data:image/png;base64,${picture.toString('base64')}`
    const payload = payloadOf(channel, { ...content, picture: undefined })
    return { status: 'success', rowsOfTable: input.rowsCount, ...content, payload, ...(chart && { chart }) }
  },
})
