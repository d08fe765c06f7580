// millrace merge-request: reviewed merges of development branches.

import type { Command } from 'commander'
import { createClient, type StorageJob, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { progress, table } from '../output.ts'

interface MergeRequest {
  readonly id: number
  readonly title: string
  readonly state: string
}

interface Branch {
  readonly id: number
  readonly isDefault: boolean
}

export function addMergeRequestCommands(program: Command): void {
  const group = program.command('merge-request').description('reviewed merges of development branches into the default branch')

  stackOptions(group.command('list'))
    .description('all merge requests, newest first')
    .action(async (_: object, command: Command) => {
      print(command, await createClient(command).call('mergeRequests.list'), (rows) =>
        table(
          ['ID', 'STATE', 'TITLE'],
          rows.map((one) => [one.id, one.state, one.title]),
          'no merge requests',
        ),
      )
    })

  stackOptions(group.command('show <id>'))
    .description('one merge request')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('mergeRequests.get', { path: { id } }), textOf)
    })

  stackOptions(group.command('create <branch>'))
    .description('request the merge of a branch into the default branch')
    .requiredOption('--title <title>', 'what it is about')
    .option('--description <text>')
    .action(async (branch: string, { title, description }: { title: string; description?: string }, command: Command) => {
      const client = createClient(command)
      const branches = await client.request<Branch[]>('GET', '/v2/storage/dev-branches')
      const branchIntoId = branches.find(({ isDefault }) => isDefault)?.id ?? 0 // every project has one
      const body = { title, branchFromId: Number(branch), branchIntoId, ...(description !== undefined && { description }) }
      print(command, await client.call('mergeRequests.create', { body }), textOf)
    })

  stackOptions(group.command('conflicts <id>'))
    .description('configurations that changed on both sides')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('mergeRequests.conflicts', { path: { id } }), (found) =>
        found.length === 0 ? 'no conflicts' : JSON.stringify(found, null, 2),
      )
    })

  for (const [verb, words] of [
    ['request-review', 'request a review of a merge request'],
    ['approve', 'approve a merge request'],
    ['request-changes', 'send a merge request back to its author'],
  ] as const)
    stackOptions(group.command(`${verb} <id>`))
      .description(words)
      .option('--reason <text>', 'why')
      .action(async (id: string, { reason }: { reason?: string }, command: Command) => {
        const body = reason === undefined ? {} : { reason }
        print(command, await createClient(command).call(`mergeRequests.${verb}`, { path: { id }, body }), textOf)
      })

  stackOptions(group.command('merge <id>'))
    .description('merge an approved request')
    .action(async (id: string, _: object, command: Command) => {
      const client = createClient(command)
      const line = progress('merge')
      const job = await client.call('mergeRequests.merge', { path: { id } })
      line.done((await client.waitForJob(job as StorageJob, line.say)).status) // the same record
      print(command, await client.call('mergeRequests.get', { path: { id } }), textOf)
    })
}

const textOf = ({ id, title, state }: MergeRequest): string => `Merge request ${id} "${title}": ${state}`
