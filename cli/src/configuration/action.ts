// millrace action: synchronous actions of components, such as testing a connection.

import type { Command } from 'commander'
import { createClient } from '../client.ts'
import { print } from '../json-output.ts'
import { UserError } from '../output.ts'
import { type Chosen, readJsonFile, withBranch } from './config-requests.ts'

interface RunOptions extends Chosen {
  readonly config?: string
  readonly row?: string
  readonly file?: string
}

export function addActionCommands(program: Command): void {
  const action = program.command('action').description('synchronous actions of components, such as testing a connection')

  withBranch(action.command('list <component>'))
    .description('actions that a component has')
    .action(async (componentId: string, _: object, command: Command) => {
      const { actions } = await createClient(command).call('syncActions.list', { query: { componentId } })
      print(command, actions, (all) => all.join('\n') || 'no actions')
    })

  withBranch(action.command('run <component> <action>'))
    .description('run an action with a configuration and print its result')
    .option('--config <id>', 'a saved configuration, with its variables resolved')
    .option('--row <id>', 'with --config: a row of it')
    .option('--file <path>', 'file with the JSON of a configuration; - reads standard input')
    .action(async (componentId: string, name: string, { branch, config, row, file }: RunOptions, command: Command) => {
      if ((config === undefined) === (file === undefined)) throw new UserError('Use --config or --file.')
      const client = createClient(command)
      const place = branch === 'default' ? {} : { branchId: branch }
      const configData =
        file === undefined
          ? (
              await client.request<{ configuration: object }>('POST', '/sync-actions/configuration/resolve', {
                json: { componentId, configId: config, ...place, ...(row !== undefined && { configRowId: row }) },
              })
            ).configuration
          : (JSON.parse(await readJsonFile(file)) as object)
      const json = { componentId, action: name, configData, ...place }
      const answer = await client.request<unknown>('POST', '/sync-actions/actions', { json })
      print(command, answer, (value) => JSON.stringify(value, null, 2))
    })
}
