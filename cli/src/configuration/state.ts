// millrace state: what a configuration or a row remembers from one run to the next.

import type { Command } from 'commander'
import { membersOf } from '../../../server/src/kit/text/json-text.ts'
import { createClient } from '../client.ts'
import { print, printJson } from '../json-output.ts'
import { type Chosen, getText, placeOf, readJsonFile, withBranch } from './config-requests.ts'
import { laidOut } from './config-text.ts'

interface StateOptions extends Chosen {
  readonly row?: string
}

export function addStateCommands(program: Command): void {
  const state = program.command('state').description('the stored state of a configuration or one of its rows')
  const withPlace = (command: Command) =>
    withBranch(command)
      .argument('<component>')
      .argument('<config>', 'id of the configuration')
      .option('--row <id>', 'of this row instead of the configuration')
  const ownerOf = (component: string, config: string, { branch, row }: StateOptions) =>
    placeOf(branch, component, [config, ...(row === undefined ? [] : ['rows', row])].map(encodeURIComponent).join('/'))

  withPlace(state.command('get'))
    .description('print the state as JSON')
    .action(async (component: string, config: string, options: StateOptions, command: Command) => {
      const record = await getText(createClient(command), ownerOf(component, config, options))
      printJson(command, laidOut(membersOf(record).get('state') ?? '{}'))
    })

  withPlace(state.command('set'))
    .description('replace the state')
    .option('--file <path>', 'file with the JSON; - reads standard input', '-')
    .action(async (component: string, config: string, options: StateOptions & { file: string }, command: Command) => {
      const jsonText = `{"state":${await readJsonFile(options.file)}}`
      await createClient(command).send('PUT', `${ownerOf(component, config, options)}/state`, { jsonText })
      print(command, { component, config, row: options.row ?? null }, () => 'The state is set.')
    })

  withPlace(state.command('reset'))
    .description('reset the state: the next run starts from the beginning')
    .action(async (component: string, config: string, options: StateOptions, command: Command) => {
      await createClient(command).send('PUT', `${ownerOf(component, config, options)}/state`, { json: { state: {} } })
      print(
        command,
        { component, config, row: options.row ?? null },
        () => 'The state is reset; the next run starts from the beginning.',
      )
    })
}
