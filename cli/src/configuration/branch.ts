// millrace branch: development branches of the project.

import type { Command } from 'commander'
import { createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { progress, table, timeText } from '../output.ts'

interface Branch {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  readonly created: string
}

export function addBranchCommands(program: Command): void {
  const branch = program.command('branch').description('development branches; other commands take one with --branch')
  const show = (one: Branch) => `${one.id}  ${one.name}${one.isDefault ? '  (default)' : ''}`

  stackOptions(branch.command('list'))
    .description('all branches')
    .action(async (_: object, command: Command) => {
      const found = await createClient(command).request<Branch[]>('GET', '/v2/storage/dev-branches')
      print(command, found, (rows) =>
        table(
          ['ID', 'NAME', 'DEFAULT', 'CREATED', 'DESCRIPTION'],
          rows.map((one) => [one.id, one.name, one.isDefault ? 'yes' : '', timeText(one.created), one.description]),
        ),
      )
    })

  stackOptions(branch.command('show <id>'))
    .description('one branch')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).request<Branch>('GET', pathOf(id)), show)
    })

  stackOptions(branch.command('create <name>'))
    .description('create a branch from the current state of the project')
    .option('--description <text>')
    .action(async (name: string, { description = '' }: { description?: string }, command: Command) => {
      const client = createClient(command)
      const job = await client.request<StorageJob>('POST', '/v2/storage/dev-branches', { json: { name, description } })
      const line = progress(`branch ${name}`)
      const { results } = await client.waitForJob(job, line.say)
      line.done('created')
      print(command, results as Branch, show) // of this operation
    })

  withYes(stackOptions(branch.command('delete <id>')))
    .description('delete a branch with everything in it')
    .action(async (id: string, _: object, command: Command) => {
      await confirm(command, `Delete branch ${id} with everything in it`)
      const client = createClient(command)
      await client.waitForJob(await client.request<StorageJob>('DELETE', pathOf(id)))
      print(command, { id }, () => `Branch ${id} is deleted.`)
    })
}

const pathOf = (id: string): string => `/v2/storage/dev-branches/${encodeURIComponent(id)}`
