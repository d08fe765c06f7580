// millrace proposal: what agents propose, and the decision of a person.

import type { Command } from 'commander'
import type { Answer } from '../../../client/src/client.ts'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table } from '../output.ts'

type Review = Answer<'proposals.get'>

export function addProposalCommands(program: Command): void {
  const group = program.command('proposal').description('changes that agents propose, and the decision about them')

  stackOptions(group.command('list'))
    .description('all proposals, newest first')
    .action(async (_: object, command: Command) => {
      print(command, await createClient(command).call('proposals.list'), (rows) =>
        table(
          ['ID', 'STATE', 'BY', 'TITLE'],
          rows.map((one) => [one.id, one.state, one.token.description, one.title ?? '']),
          'no proposals',
        ),
      )
    })

  stackOptions(group.command('show <id>'))
    .description('what a proposal changes and touches')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('proposals.get', { path: { id } }), reviewText)
    })

  stackOptions(group.command('accept <id>'))
    .description('approve a submitted proposal; it is applied as one')
    .option('--reason <text>', 'why')
    .action(async (id: string, { reason }: { reason?: string }, command: Command) => {
      const body = reason === undefined ? {} : { reason }
      const { state } = await createClient(command).call('proposals.accept', { path: { id }, body })
      print(
        command,
        { id, state },
        () => `Proposal ${id} approved; it is ${state === 'accepted' ? 'applied' : 'applied as soon as enough have approved it'}`,
      )
    })

  stackOptions(group.command('refuse <id>'))
    .description('refuse a submitted proposal; its agent reads the reason')
    .requiredOption('--reason <text>', 'why')
    .action(async (id: string, { reason }: { reason: string }, command: Command) => {
      const { state } = await createClient(command).call('proposals.refuse', { path: { id }, body: { reason } })
      print(command, { id, state }, () => `Proposal ${id} refused`)
    })

  stackOptions(group.command('discard <id>'))
    .description('delete a proposal that was not accepted, with its branch')
    .action(async (id: string, _: object, command: Command) => {
      await createClient(command).call('proposals.discard', { path: { id } })
      print(command, { id, discarded: true }, () => `Proposal ${id} discarded`)
    })
}

function reviewText({ id, state, title, description, token, changes, tables, hosts, schedules }: Review): string {
  const lines = [
    `Proposal ${id} of ${token.description}: ${state}`,
    ...(title === null ? [] : [title]),
    ...(description ? [description] : []),
  ]
  for (const { componentId, configurationId, name, kind, isConflict, differences } of changes) {
    lines.push(
      '',
      `${kind} ${componentId} ${configurationId} "${name}"${isConflict ? ' (conflict with the default branch)' : ''}`,
    )
    for (const { pointer, before, after } of differences) lines.push(`  ${pointer}: ${before ?? '-'} -> ${after ?? '-'}`)
  }
  if (tables.length > 0) lines.push('', `tables: ${tables.join(', ')}`)
  for (const { configurationId, cronTab } of schedules) lines.push(`schedule ${configurationId}: ${cronTab}`)
  for (const { host, isNew } of hosts) lines.push(`host ${host}${isNew ? ' (NEW: no configuration of production names it)' : ''}`)
  return lines.join('\n')
}
