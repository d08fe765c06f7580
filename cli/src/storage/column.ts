// millrace column and millrace key: columns and the primary key of a table.

import type { Command } from 'commander'
import { type Client, createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { progress, UserError } from '../output.ts'

const INVALID = ['refuse', 'null'] as const

export function addColumnCommands(program: Command): void {
  const column = program.command('column').description('columns of a table')

  stackOptions(column.command('add <table> <name>'))
    .description('add a column; it is empty in all rows')
    .option('--type <type>', 'of a typed table: STRING, INTEGER, NUMERIC, FLOAT, BOOLEAN, DATE or TIMESTAMP')
    .action(async (tableId: string, name: string, { type }: { type?: string }, command: Command) => {
      const client = createClient(command)
      const body = { name, ...(type !== undefined && { basetype: type }) }
      await ended(client, client.call('tables.addColumn', { path: { tableId }, body }))
      print(command, { tableId, column: name }, () => `Column ${name} is added to ${tableId}.`)
    })

  stackOptions(column.command('change-type <table> <name> <type>'))
    .description('change the type of a column and rewrite its values')
    .option('--invalid <what>', `handling of values that do not fit the type: ${INVALID.join(' or ')}`, 'refuse')
    .action(async (tableId: string, name: string, type: string, { invalid }: { invalid: string }, command: Command) => {
      const invalidValues = INVALID.find((one) => one === invalid)
      if (invalidValues === undefined) throw new UserError(`--invalid ${invalid}: use ${INVALID.join(' or ')}.`)
      const client = createClient(command)
      await ended(
        client,
        client.call('tables.changeColumnType', { path: { tableId, column: name }, body: { type, invalidValues } }),
      )
      print(command, { tableId, column: name, type }, () => `Column ${name} of ${tableId} has the type ${type}.`)
    })

  withYes(stackOptions(column.command('drop <table> <name>')))
    .description('delete a column with its values')
    .option('--force', 'also from the aliases of the table')
    .action(async (tableId: string, name: string, { force = false }: { force?: boolean }, command: Command) => {
      await confirm(command, `Delete column ${name} of table ${tableId}`)
      const client = createClient(command)
      await ended(client, client.call('tables.deleteColumn', { path: { tableId, column: name }, query: { force } }))
      print(command, { tableId, column: name }, () => `Column ${name} of ${tableId} is deleted.`)
    })

  const key = program.command('key').description('the primary key of a table')

  stackOptions(key.command('set <table> <columns...>'))
    .description('set the primary key; no two rows may have the same values in these columns')
    .action(async (tableId: string, columns: string[], _: object, command: Command) => {
      const client = createClient(command)
      await ended(client, client.call('tables.addPrimaryKey', { path: { tableId }, body: { columns } }))
      print(command, { tableId, primaryKey: columns }, () => `The primary key of ${tableId} is ${columns.join(', ')}.`)
    })

  withYes(stackOptions(key.command('drop <table>')))
    .description('delete the primary key; rows and columns stay')
    .action(async (tableId: string, _: object, command: Command) => {
      await confirm(command, `Delete the primary key of table ${tableId}`)
      const client = createClient(command)
      await ended(client, client.call('tables.deletePrimaryKey', { path: { tableId } }))
      print(command, { tableId, primaryKey: [] }, () => `${tableId} has no primary key.`)
    })
}

async function ended(client: Client, job: Promise<unknown>): Promise<StorageJob> {
  const line = progress('job')
  const done = await client.waitForJob((await job) as StorageJob, line.say) // of these operations
  line.done(done.status)
  return done
}
