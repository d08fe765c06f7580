// millrace notify: who is notified of which event, and what became of every message.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface Filter {
  readonly field: string
  readonly operator: string
  readonly value: string
}

interface Subscription {
  readonly id: string
  readonly event: string
  readonly filters: readonly Filter[]
  readonly recipient: { readonly channel: string; readonly address: string; readonly signingSecret?: string }
  readonly expiresAt: string | null
  readonly warnings: readonly string[]
}

interface Delivery {
  readonly id: string
  readonly event: string
  readonly status: string
  readonly createdAt: string
  readonly recipient: { readonly address: string }
  readonly attempts: readonly { readonly statusCode: number | null; readonly answer: string; readonly error: string | null }[]
}

interface AddOptions {
  readonly webhook?: string
  readonly email?: string
  readonly filter?: string[]
  readonly template?: string
  readonly expires?: string
}

const SUBSCRIPTIONS = 'notification/project-subscriptions'
const FILTER = /^\s*([\w.-]+)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*$/

export function addNotifyCommands(program: Command): void {
  const notify = program.command('notify').description('messages about jobs, schedules, tables and the disk')

  stackOptions(notify.command('list'))
    .description('subscriptions of the project')
    .option('--event <name>', 'only to this event')
    .action(async ({ event }: { event?: string }, command: Command) => {
      const found = await createClient(command).request<Subscription[]>('GET', SUBSCRIPTIONS, { query: { event } })
      print(command, found, (rows) =>
        table(
          ['ID', 'EVENT', 'FILTERS', 'TO', 'EXPIRES'],
          rows.map((one) => [one.id, one.event, filtersText(one.filters), one.recipient.address, timeText(one.expiresAt)]),
        ),
      )
    })

  stackOptions(notify.command('add <event>'))
    .description('subscribe to an event, such as job-failed')
    .option('--webhook <url>', 'post the message to this URL')
    .option('--email <address>', 'recipient, by mail')
    .option('--filter <condition...>', 'such as job.configuration.id==123; all must hold')
    .option('--template <name>', 'of a webhook: payload, slack, teams, or a file with JSON and {{path}} in its texts', 'payload')
    .option('--expires <time>', 'when it ends: a time, or words such as "+24 hours"')
    .action(
      async (event: string, { webhook, email, filter = [], template = 'payload', expires }: AddOptions, command: Command) => {
        if ((webhook === undefined) === (email === undefined)) throw new UserError('Use --webhook or --email.')
        const recipient =
          webhook === undefined
            ? { channel: 'email', address: email }
            : { channel: 'webhook', url: webhook, template: templateOf(template) }
        const json = { event, filters: filter.map(filterOf), recipient, expiresAt: expires ?? null }
        const made = await createClient(command).request<Subscription>('POST', SUBSCRIPTIONS, { json })
        print(command, made, ({ id, recipient: { address, signingSecret }, warnings }) =>
          [
            `subscription ${id}: ${event} to ${address}`,
            ...(signingSecret === undefined ? [] : [`messages are signed with ${signingSecret}; it is shown only now`]),
            ...warnings.map((warning) => `note: ${warning}`),
          ].join('\n'),
        )
      },
    )

  stackOptions(notify.command('delete <id>'))
    .description('delete a subscription; its pending messages are not sent')
    .action(async (id: string, _: object, command: Command) => {
      await createClient(command).request('DELETE', `${SUBSCRIPTIONS}/${encodeURIComponent(id)}`)
      print(command, { id }, () => `subscription ${id} is deleted`)
    })

  stackOptions(notify.command('test <id>'))
    .description('send a test message now, once')
    .action(async (id: string, _: object, command: Command) => {
      const sent = await createClient(command).request<Delivery>('POST', `${SUBSCRIPTIONS}/${encodeURIComponent(id)}/test`)
      print(command, sent, (delivery) => `${delivery.status}: ${outcomeOf(delivery)}`)
      if (sent.status !== 'delivered') process.exitCode = 1
    })

  stackOptions(notify.command('log'))
    .description('messages, the newest first, with the last attempt of each')
    .option('--subscription <id>', 'only of this subscription')
    .option('--status <name>', 'waiting, delivered, failed or cancelled')
    .option('--limit <number>', 'most messages to show', '20')
    .action(
      async ({ subscription, status, limit }: { subscription?: string; status?: string; limit: string }, command: Command) => {
        const query = { subscriptionId: subscription, status, limit }
        const found = await createClient(command).request<Delivery[]>('GET', 'notification/deliveries', { query })
        print(command, found, (rows) =>
          table(
            ['ID', 'CREATED', 'EVENT', 'TO', 'STATUS', 'ATTEMPTS', 'LAST ANSWER'],
            rows.map((one) => [
              one.id,
              timeText(one.createdAt),
              one.event,
              one.recipient.address,
              one.status,
              one.attempts.length,
              outcomeOf(one),
            ]),
          ),
        )
      },
    )
}

function filterOf(text: string): Filter {
  const [, field, operator, value] = FILTER.exec(text) ?? []
  if (field === undefined || operator === undefined || value === undefined)
    throw new UserError(
      `--filter "${text}" is not a condition. Write one such as job.configuration.id==123 or hoursSinceUpdate>=24.`,
    )
  return { field, operator, value }
}

function templateOf(name: string): unknown {
  if (name === 'payload' || name === 'slack' || name === 'teams') return name
  try {
    return JSON.parse(readFileSync(name, 'utf8'))
  } catch (error) {
    throw new UserError(
      `--template "${name}" is not payload, slack or teams, and not a file with JSON either: ${(error as Error).message}`, // of node:fs or JSON.parse
    )
  }
}

const filtersText = (filters: readonly Filter[]): string =>
  filters.map(({ field, operator, value }) => `${field}${operator}${value}`).join(' ')

function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  return last === undefined ? '' : (last.error ?? `${last.statusCode ?? ''} ${last.answer}`.trim()).slice(0, 80)
}
