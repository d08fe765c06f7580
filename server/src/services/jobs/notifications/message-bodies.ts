// An event as each kind of receiver reads it: the payload itself for programs, messages for Slack and Teams, a template of the
// user's own, and the text of a mail.

import { textOf, valueAt } from './filters.ts'
import type { Payload } from './payloads.ts'

/** `payload`, `slack`, `teams`, or JSON of the user's own with `{{path}}` in its texts. */
export type Template = 'payload' | 'slack' | 'teams' | Readonly<Record<string, unknown>>

export interface Message {
  readonly title: string
  readonly lines: readonly string[]
  readonly url: string | undefined
}

export function webhookBody(template: Template, payload: Payload): unknown {
  if (template === 'payload') return payload
  const message = messageOf(payload)
  if (template === 'slack') return slackBody(message)
  if (template === 'teams') return teamsBody(message)
  return filled(template, { title: message.title, text: textBody(message), ...payload })
}

export const textBody = ({ lines, url }: Message): string => [...lines, ...(url === undefined ? [] : [url])].join('\n')

const TITLES: Readonly<Record<string, string>> = {
  'job-failed': 'Job failed',
  'job-succeeded': 'Job succeeded',
  'job-succeeded-with-warning': 'Job succeeded with a warning',
  'job-processing-long': 'Job runs longer than usual',
  'phase-job-failed': 'Phase failed',
  'phase-job-succeeded': 'Phase succeeded',
  'phase-job-succeeded-with-warning': 'Phase succeeded with a warning',
  'phase-job-processing-long': 'Phase runs longer than usual',
  'schedule-missed': 'Schedule missed',
  'table-not-updated': 'Table was not updated',
  'storage-nearly-full': 'Storage is nearly full',
  'dashboard-alert': 'Figure of a dashboard beyond its bound',
  'data-tests-failed': 'Data tests failed',
}

/** The lines of a message: a label, and the paths whose first value is shown. */
const LINES: readonly (readonly [label: string, ...paths: readonly string[]])[] = [
  ['Project', 'project.name', 'project.id'],
  ['Configuration', 'job.configuration.name', 'job.configuration.id'],
  ['Component', 'job.component.name', 'job.component.id'],
  ['Phase', 'phase.name', 'phase.id'],
  ['Job', 'job.id'],
  ['Schedule', 'schedule.configurationId'],
  ['Due', 'schedule.dueTime'],
  ['Table', 'table.id'],
  ['Started', 'job.startTime'],
  ['Ended', 'job.endTime'],
  ['Error', 'errorMessage'],
  ['Over the average by (percent)', 'durationOvertimePercentage'],
  ['Average duration (seconds)', 'averageDuration'],
  ['Duration so far (seconds)', 'currentDuration'],
  ['Last update', 'table.lastUpdate'],
  ['Hours since the last update', 'hoursSinceUpdate'],
  ['Used (percent)', 'usedPercentage'],
  ['Dashboard', 'dashboard.name'],
  ['Figure', 'tile.title'],
  ['Value', 'value'],
  ['Alert', 'operator'],
  ['Bound', 'bound'],
  ['Reason', 'reason'],
]

export function messageOf(payload: Payload): Message {
  const found = LINES.flatMap(([label, ...paths]) => {
    const text = paths.map((path) => textOf(valueAt(payload, path))).find((value) => value !== '')
    return text === undefined ? [] : [`${label}: ${text}`]
  })
  const message = textOf(payload.message)
  const title = textOf(payload.title) || (TITLES[payload.eventType] ?? payload.eventType)
  const name = textOf(valueAt(payload, 'job.configuration.name'))
  return {
    title: `${payload.isTest === true ? 'Test: ' : ''}${title}${name === '' || payload.title ? '' : `: ${name}`}`,
    lines: message === '' ? found : [message],
    url: textOf(valueAt(payload, 'job.url')) || undefined,
  }
}

/** https://api.slack.com/reference/messaging/payload: `&`, `<` and `>` are control characters there. */
const slackText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const slackBody = ({ title, lines, url }: Message) => ({
  text: slackText(title),
  blocks: [
    { type: 'header', text: { type: 'plain_text', text: title.slice(0, 150) } },
    { type: 'section', text: { type: 'mrkdwn', text: slackText(lines.join('\n') || title).slice(0, 3000) } },
    ...(url === undefined ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: `<${url}|Open the job>` } }]),
  ],
})

/** An Adaptive Card, as Teams workflows take it. */
const teamsBody = ({ title, lines, url }: Message) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          { type: 'TextBlock', size: 'Medium', weight: 'Bolder', wrap: true, text: title },
          ...lines.map((text) => ({ type: 'TextBlock', wrap: true, spacing: 'Small', text })),
        ],
        actions: url === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open the job', url }],
      },
    },
  ],
})

const PLACEHOLDER = /\{\{\s*([\w.-]{1,200})\s*\}\}/g

/** A text that is one placeholder becomes the value itself; others become text. */
function filled(template: unknown, values: Payload): unknown {
  if (typeof template === 'string') {
    const [whole] = template.matchAll(PLACEHOLDER)
    if (whole?.[0] === template.trim()) return valueAt(values, whole[1]!) ?? null
    return template.replace(PLACEHOLDER, (_, path: string) => textOf(valueAt(values, path)))
  }
  if (Array.isArray(template)) return template.map((item) => filled(item, values))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, values)]))
}
