// millrace row: rows of a configuration.

import type { Command } from 'commander'
import { membersOf } from '../../../server/src/kit/text/json-text.ts'
import { createClient } from '../client.ts'
import { print, printJson } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { bodyOf, type ChangeOptions, type Chosen, getText, placeOf, sendText, withBranch, withFields } from './config-requests.ts'
import { laidOut, stringOf } from './config-text.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly isDisabled: boolean
}

export function addRowCommands(program: Command): void {
  const row = program.command('row').description('rows of a configuration; a job runs them in their order')
  const placeOfRows = (branch: string, component: string, config: string, rest = '') =>
    placeOf(branch, component, `${encodeURIComponent(config)}/rows${rest === '' ? '' : `/${encodeURIComponent(rest)}`}`)
  const ofConfig = (command: Command) => command.argument('<component>').argument('<config>', 'id of the configuration')
  const ofRow = (command: Command) => ofConfig(command).argument('<row>', 'id of the row')

  ofConfig(withBranch(row.command('list')))
    .description('rows in the order they run')
    .action(async (component: string, config: string, { branch }: Chosen, command: Command) => {
      const found = await createClient(command).request<Row[]>('GET', placeOfRows(branch, component, config))
      print(command, found, (rows) =>
        table(
          ['ID', 'NAME', 'VERSION', 'DISABLED'],
          rows.map((one) => [one.id, one.name, one.version, one.isDisabled ? 'yes' : '']),
          'no rows',
        ),
      )
    })

  ofRow(withBranch(row.command('show')))
    .description('one row, with its state')
    .action(async (component: string, config: string, id: string, { branch }: Chosen, command: Command) => {
      printJson(command, laidOut(await getText(createClient(command), placeOfRows(branch, component, config, id))))
    })

  ofConfig(withFields(row.command('create')))
    .description('add a row at the end')
    .option('--id <id>', 'id of the new row')
    .action(async (component: string, config: string, options: ChangeOptions, command: Command) => {
      const body = await bodyOf(options, options.id === undefined ? {} : { rowId: JSON.stringify(options.id) })
      report(command, await sendText(createClient(command), 'POST', placeOfRows(options.branch, component, config), body))
    })

  ofRow(withFields(row.command('update')))
    .description('update a row; creates one version')
    .action(async (component: string, config: string, id: string, options: ChangeOptions, command: Command) => {
      const place = placeOfRows(options.branch, component, config, id)
      report(command, await sendText(createClient(command), 'PUT', place, await bodyOf(options)))
    })

  ofRow(withBranch(row.command('delete')))
    .description('delete a row; a rollback of the configuration brings it back')
    .action(async (component: string, config: string, id: string, { branch }: Chosen, command: Command) => {
      await createClient(command).send('DELETE', placeOfRows(branch, component, config, id))
      print(command, { id }, () => `Row ${id} is deleted.`)
    })

  ofConfig(withBranch(row.command('order')))
    .description('set the order in which rows run; those that are not named follow in their present order')
    .argument('<row...>', 'ids of rows')
    .action(async (component: string, config: string, ids: string[], { branch }: Chosen, command: Command) => {
      const client = createClient(command)
      const present = (await client.request<Row[]>('GET', placeOfRows(branch, component, config))).map(({ id }) => id)
      const unknown = ids.filter((id) => !present.includes(id))
      if (unknown.length > 0)
        throw new UserError(`Row ${unknown.join(', ')} does not exist. Existing rows: ${present.join(', ')}.`)
      const rowsSortOrder = [...new Set([...ids, ...present])]
      await client.send('PUT', placeOf(branch, component, encodeURIComponent(config)), { json: { rowsSortOrder } })
      print(command, { rowsSortOrder }, () => rowsSortOrder.join('\n'))
    })
}

function report(command: Command, record: string): void {
  const members = membersOf(record)
  const [id, name, version] = [stringOf(members.get('id')), stringOf(members.get('name')), Number(members.get('version'))]
  print(command, { id, name, version }, () => `Row ${id} "${name}" version ${version}`)
}
