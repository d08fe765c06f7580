// millrace proposal: what agents propose, and the decision of a person.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Answer } from '../../../client/src/client.ts'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'

type Review = Answer<'proposals.get'>
type Rehearsal = Answer<'proposals.rehearsal'>

const POLL_MS = 500

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

  stackOptions(group.command('rehearse <id>'))
    .description('rehearse a proposal offline in its branch, and show the rows that would differ')
    .action(async (id: string, _: object, command: Command) => {
      const client = createClient(command)
      let found = await client.call('proposals.rehearse', { path: { id } })
      while (found.state === 'running') {
        await delay(POLL_MS)
        found = await client.call('proposals.rehearsal', { path: { id } })
      }
      print(command, found, rehearsalText)
    })

  stackOptions(group.command('create <branch>'))
    .description('propose the changes of a development branch, and request a decision')
    .requiredOption('--title <text>', 'title of the proposal')
    .option('--description <text>', 'why', '')
    .option('--run <component/configuration...>', 'configurations to run once it is accepted')
    .action(async (branch: string, options: { title: string; description: string; run?: string[] }, command: Command) => {
      const client = createClient(command)
      const { title, description, run = [] } = options
      const body = { title, description, run: run.map(runOf) }
      const { id } = await client.call('proposals.begin', { body: { branchId: Number(branch) } })
      const made = await client.call('proposals.submit', { path: { id: String(id) }, body })
      print(command, made, () => `Proposal ${id} submitted: ${made.link}`)
    })

  stackOptions(group.command('undo <id>'))
    .description('undo an accepted proposal as a whole')
    .action(async (id: string, _: object, command: Command) => {
      const { state } = await createClient(command).call('proposals.undo', { path: { id } })
      print(command, { id, state }, () => `Proposal ${id} undone`)
    })

  stackOptions(group.command('accept <id>'))
    .description('approve a submitted proposal; it is applied as a whole')
    .option('--reason <text>', 'why')
    .option('--no-run', 'do not start the jobs that it wants to run')
    .action(async (id: string, { reason, run }: { reason?: string; run: boolean }, command: Command) => {
      const body = { runJobs: run, ...(reason === undefined ? {} : { reason }) }
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

export function reviewText(review: Review): string {
  const { id, state, title, description, token, changes, storageChanges, refusal } = review
  const { runs, tables, hosts, schedules, runBy, destinations, costs } = review
  const lines = [
    `Proposal ${id} of ${token.description}: ${state}`,
    ...(title === null ? [] : [title]),
    ...(description ? [description] : []),
    ...(refusal === null ? [] : [`refused by ${refusal.by}: ${refusal.reason}`]),
  ]
  for (const { componentId, configurationId, name, kind, isConflict, differences } of changes) {
    lines.push('', `${kind} ${componentId} ${configurationId} "${name}"${isConflict ? CONFLICT : ''}`)
    lines.push(...differences.map(differenceText))
  }
  for (const { kind, tableId, name, change, isConflict, differences } of storageChanges) {
    const what = name === tableId ? `${KINDS[kind] ?? kind} ${tableId}` : `${KINDS[kind] ?? kind} of ${tableId} "${name}"`
    lines.push('', `${change} ${what}${isConflict ? CONFLICT : ''}`, ...differences.map(differenceText))
  }
  if (tables.length > 0) lines.push('', `tables: ${tables.join(', ')}`)
  for (const { componentId, configurationId, jobId, problem } of runs)
    lines.push(
      `runs when accepted: ${componentId} ${configurationId}${jobId === null ? '' : `, job ${jobId}`}${problem ? `: ${problem}` : ''}`,
    )
  for (const one of runBy) lines.push(`run by ${placeText(one)}`)
  for (const one of destinations) lines.push(`destination ${placeText(one)}`)
  for (const { configurationId, cronTab } of schedules) lines.push(`schedule ${configurationId}: ${cronTab}`)
  for (const { host, isNew } of hosts) lines.push(`host ${host}${isNew ? ' (NEW: no configuration of production names it)' : ''}`)
  for (const { componentId, configurationId, runs, usualMs } of costs)
    lines.push(
      `cost of ${componentId} ${configurationId}: ${((usualMs ?? 0) / 1000).toFixed(1)} s (median of ${runs} ${runs === 1 ? 'run' : 'runs'})`,
    )
  return lines.join('\n')
}

function runOf(text: string): { component: string; config: string } {
  const [component = '', config = '', ...rest] = text.split('/')
  if (!component || !config || rest.length > 0)
    throw new UserError(`"${text}" names no configuration. Write component/configuration.`)
  return { component, config }
}

const CONFLICT = ' (conflict with the default branch)'
const KINDS: Readonly<Record<string, string>> = {
  dataTest: 'data test',
  dataContract: 'data contract',
  table: 'table',
  tableMetadata: 'description',
}

const differenceText = ({ pointer, before, after, copiedFrom }: Review['changes'][number]['differences'][number]): string =>
  `  ${pointer || 'all of it'}: ${before ?? '-'} -> ${after ?? '-'}${copiedFrom === null ? '' : ` (COPIED FROM DATA: ${copiedFrom})`}`

const placeText = ({ componentId, configurationId, name }: Review['runBy'][number]): string =>
  `${componentId} ${configurationId} "${name}"`

export function rehearsalText({ summary, steps, notRun, tables, hiddenTables, deliveries }: Rehearsal): string {
  const lines = [summary]
  for (const { componentId, configurationId, status, error } of steps)
    lines.push(`  ran ${componentId} ${configurationId}: ${status}${error === null ? '' : `: ${error}`}`)
  for (const { componentId, configurationId, reason } of notRun)
    lines.push(`  not run: ${componentId} ${configurationId}: ${reason}`)
  for (const { id, added, removed, changed, addedColumns, removedColumns, samples, problem } of tables) {
    lines.push(`  ${id}: ${problem ?? `${added} added, ${removed} removed, ${changed} changed`}`)
    for (const name of addedColumns) lines.push(`    new column ${name}`)
    for (const name of removedColumns) lines.push(`    column ${name} goes`)
    for (const { kind, before, after } of samples)
      lines.push(
        `    ${kind}: ${[before, after]
          .filter((one) => one !== null)
          .map((one) => one.join(', '))
          .join(' -> ')}`,
      )
  }
  if (hiddenTables > 0) lines.push(`  ${hiddenTables} more tables differ, which this token may not read`)
  for (const { componentId, configurationId, rows } of deliveries)
    lines.push(`  would be sent by ${componentId} ${configurationId}: ${rows} rows that differ`)
  return lines.join('\n')
}
