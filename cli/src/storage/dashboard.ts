// millrace dashboard: dashboards of the project, their rows, and links to them.

import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'

const DAY_SECONDS = 86_400

interface Rows {
  readonly columns: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

export function addDashboardCommands(program: Command): void {
  const group = program.command('dashboard').description('pages of charts and tables over saved queries')

  stackOptions(group.command('list'))
    .description('all dashboards, by name')
    .action(async (_: object, command: Command) => {
      print(command, await createClient(command).call('dashboards.list'), (rows) =>
        table(
          ['ID', 'NAME', 'TILES', 'CHANGED'],
          rows.map(({ id, name, tiles, updated }) => [id, name, String(tiles.length), updated]),
          'no dashboards',
        ),
      )
    })

  stackOptions(group.command('show <id>'))
    .description('the rows of every tile of a dashboard')
    .option('--filter <name=value...>', 'values of filters')
    .action(async (id: string, { filter = [] }: { filter?: readonly string[] }, command: Command) => {
      const client = createClient(command)
      const path = { dashboardId: id }
      const dashboard = await client.call('dashboards.get', { path })
      const filters = JSON.stringify(Object.fromEntries(filter.map(pairOf)))
      const tiles: { readonly title: string; readonly result: Rows }[] = []
      for (const tile of dashboard.tiles) {
        const result = await client.call('dashboards.result', { path: { ...path, tileId: tile.id }, query: { filters } })
        tiles.push({ title: tile.title, result: result as Rows }) // described loosely
      }
      print(command, { name: dashboard.name, tiles }, () => tiles.map(tileText).join('\n\n'))
    })

  stackOptions(group.command('link <id>'))
    .description('create a link that shows a dashboard without a token; it is printed once')
    .option('--days <number>', 'days until it expires', '7')
    .action(async (id: string, { days }: { days: string }, command: Command) => {
      const client = createClient(command)
      if (!/^\d{1,3}$/.test(days)) throw new UserError(`--days takes a whole number of days, not "${days}".`)
      const body = { expiresIn: Number(days) * DAY_SECONDS }
      const { value, expires, id: linkId } = await client.call('dashboards.createLink', { path: { dashboardId: id }, body })
      const url = `${client.url.replace(/\/$/, '')}/console/shared#${value}`
      print(command, { id: linkId, url, expires }, () => url)
    })

  stackOptions(group.command('revoke <id> <link>'))
    .description('revoke a link to a dashboard')
    .action(async (id: string, link: string, _: object, command: Command) => {
      await createClient(command).call('dashboards.removeLink', { path: { dashboardId: id, linkId: link } })
      print(command, { id: link, revoked: true }, () => `Link ${link} revoked`)
    })
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UserError(`--filter takes name=value, not "${text}".`)
  return [text.slice(0, at), text.slice(at + 1)]
}

const tileText = ({ title, result: { columns, rows } }: { readonly title: string; readonly result: Rows }): string =>
  `${title}\n${table(
    columns.map(({ name }) => name),
    rows.map((row) =>
      row.map((value) => (value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value))),
    ),
    'no rows',
  )}`
