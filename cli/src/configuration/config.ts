// millrace config: configurations of a running stack: look, change, roll back, copy, compare, and keep them in a folder.

import type { Command } from 'commander'
import { itemsOf, membersOf } from '../../../server/src/kit/text/json-text.ts'
import { type Client, createClient } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print, printJson, wantsJson } from '../json-output.ts'
import { lineDiff } from '../line-diff.ts'
import { table, UserError } from '../output.ts'
import { addDryRunCommand } from './config-dry-run.ts'
import { planPush, readFolder, type Step, writeFolder } from './config-folder.ts'
import { bodyOf, type ChangeOptions, type Chosen, getText, placeOf, sendText, withBranch, withFields } from './config-requests.ts'
import { type ConfigurationFile, type FileMembers, filesOf, laidOut, objectText, stringOf, wholeText } from './config-text.ts'

export function addConfigCommands(program: Command): void {
  const config = program.command('config').description('component configurations of a running stack')
  withBranch(config.command('list'))
    .description('configurations, of all components or of one component')
    .argument('[component]', 'component id')
    .action(async (component: string | undefined, { branch }: Chosen, command: Command) => {
      const all = await listAll(createClient(command), branch, component)
      const rows = all.map(({ componentId, id, version, members, rows: own }) => ({
        component: componentId,
        id,
        name: stringOf(members.name),
        version,
        rows: own.length,
        isDisabled: members.isDisabled === 'true',
      }))
      print(command, rows, (found) =>
        table(
          ['COMPONENT', 'ID', 'NAME', 'VERSION', 'ROWS', 'DISABLED'],
          found.map((one) => [one.component, one.id, one.name, one.version, one.rows, one.isDisabled ? 'yes' : '']),
          'no configurations',
        ),
      )
    })

  withBranch(config.command('show'))
    .description('a configuration with its rows, or one version of it')
    .argument('<component>')
    .argument('<id>')
    .option('--version-id <number>', 'an older version')
    .action(async (component: string, id: string, options: Chosen & { versionId?: string }, command: Command) => {
      const path =
        options.versionId === undefined
          ? encodeURIComponent(id)
          : `${encodeURIComponent(id)}/versions/${encodeURIComponent(options.versionId)}`
      printJson(command, laidOut(await getText(createClient(command), placeOf(options.branch, component, path))))
    })

  withFields(config.command('create'))
    .description('create a configuration')
    .argument('<component>')
    .option('--id <id>', 'id of the new configuration')
    .action(async (component: string, options: ChangeOptions, command: Command) => {
      if (options.name === undefined) throw new UserError('A configuration requires a name: use --name.')
      const body = await bodyOf(options, options.id === undefined ? {} : { configurationId: JSON.stringify(options.id) })
      const made = await sendText(createClient(command), 'POST', placeOf(options.branch, component), body)
      report(command, component, made)
    })

  withFields(config.command('update'))
    .description('update a configuration; creates one version')
    .argument('<component>')
    .argument('<id>')
    .option('--if-version <number>', 'refuse when the configuration is at another version')
    .action(async (component: string, id: string, options: ChangeOptions, command: Command) => {
      const headers = options.ifVersion === undefined ? {} : { 'If-Match': `"${options.ifVersion}"` }
      const place = placeOf(options.branch, component, encodeURIComponent(id))
      report(command, component, await sendText(createClient(command), 'PUT', place, await bodyOf(options), headers))
    })

  withYes(withBranch(config.command('delete')))
    .description('move a configuration to the trash; --purge permanently deletes one that is in the trash')
    .argument('<component>')
    .argument('<id>')
    .option('--purge', 'remove it for good')
    .action(async (component: string, id: string, options: Chosen & { purge?: boolean }, command: Command) => {
      if (options.purge) await confirm(command, `Remove ${component}/${id} for good`)
      const client = createClient(command)
      const place = placeOf(options.branch, component, encodeURIComponent(id))
      const isInTrash = await listDeleted(client, options.branch, component).then((ids) => ids.includes(id))
      if (isInTrash && !options.purge)
        throw new UserError(
          `${component}/${id} is already in the trash. --purge deletes it permanently, "config restore" restores it.`,
        )
      for (let times = options.purge && !isInTrash ? 2 : 1; times > 0; times--) await client.send('DELETE', place)
      print(command, { component, id, isPurged: options.purge === true }, () =>
        options.purge
          ? `${component}/${id} is gone.`
          : `${component}/${id} is in the trash; "millrace config restore ${component} ${id}" brings it back.`,
      )
    })

  withBranch(config.command('restore'))
    .description('restore a configuration from the trash; without an id, list the trash')
    .argument('<component>')
    .argument('[id]')
    .action(async (component: string, id: string | undefined, { branch }: Chosen, command: Command) => {
      const client = createClient(command)
      if (id === undefined) {
        const ids = await listDeleted(client, branch, component)
        return print(command, ids, (found) => found.join('\n') || 'nothing is in the trash')
      }
      await client.send('POST', placeOf(branch, component, `${encodeURIComponent(id)}/restore`), { json: {} })
      print(command, { component, id }, () => `${component}/${id} is back.`)
    })

  withBranch(config.command('rollback'))
    .description('roll back to a version, including rows; creates a version, the state is unchanged')
    .argument('<component>')
    .argument('<id>')
    .argument('<version>')
    .action(async (component: string, id: string, version: string, { branch }: Chosen, command: Command) => {
      const place = placeOf(branch, component, `${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}/rollback`)
      const made = await createClient(command).request<{ version: string }>('POST', place, { json: {} })
      print(command, made, () => `${component}/${id} is at version ${made.version}, like version ${version}.`)
    })

  withBranch(config.command('copy'))
    .description('create a new configuration from a version')
    .argument('<component>')
    .argument('<id>')
    .argument('<version>')
    .requiredOption('--name <name>', 'name of the copy')
    .action(async (component: string, id: string, version: string, options: Chosen & { name: string }, command: Command) => {
      const place = placeOf(options.branch, component, `${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}/create`)
      const made = await createClient(command).request<{ id: string }>('POST', place, { json: { name: options.name } })
      print(command, made, () => `${component}/${made.id}`)
    })

  withBranch(config.command('diff'))
    .description('what differs between two versions, rows included')
    .argument('<component>')
    .argument('<id>')
    .argument('<from>', 'version')
    .argument('<to>', 'version')
    .action(async (...given: [string, string, string, string, Chosen, Command]) => {
      const [component, id, from, to, { branch }, command] = given
      const client = createClient(command)
      const versionOf = async (version: string) =>
        filesOf(
          component,
          await getText(client, placeOf(branch, component, `${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`)),
        )
      const [before, after] = [wholeText(await versionOf(from)), wholeText(await versionOf(to))]
      const diff = lineDiff(before, after)
      print(command, { from, to, isEqual: diff === '', diff }, () => diff || 'no difference')
    })

  addDryRunCommand(config)

  withBranch(config.command('pull'))
    .description('write the configurations of the project into a folder, secrets as ciphers')
    .argument('<folder>')
    .action(async (folder: string, { branch }: Chosen, command: Command) => {
      const all = await listAll(createClient(command), branch)
      const changed = await writeFolder(folder, all)
      print(
        command,
        { configurations: all.length, changedFiles: changed },
        () => `${all.length} configurations, ${changed} files changed`,
      )
    })

  withBranch(config.command('push'))
    .description('bring the folder to the project: shows the plan, then does it')
    .argument('<folder>')
    .option('--plan', 'show the plan only')
    .option('--force', 'also overwrite configurations that changed on the stack since the pull')
    .action(async (folder: string, options: Chosen & { plan?: boolean; force?: boolean }, command: Command) => {
      const client = createClient(command)
      const local = await readFolder(folder)
      const steps = planPush(local, await listAll(client, options.branch))
      const lines = steps.map(describe)
      if (!wantsJson(command)) for (const line of lines) process.stderr.write(`${line}\n`)
      const conflicts = steps.filter((step) => step.kind === 'update' && step.isConflict)
      if (conflicts.length > 0 && !options.force) {
        throw new UserError(
          `${conflicts.length} configurations changed on the stack since the pull. Pull again and reapply your changes, or use --force.`,
        )
      }
      if (!options.plan) {
        for (const step of steps) await apply(client, options.branch, step)
        if (steps.length > 0) await writeFolder(folder, await listAll(client, options.branch))
      }
      print(
        command,
        { plan: lines, isApplied: !options.plan },
        () => `${steps.length} ${options.plan ? 'changes planned' : 'changes done'}`,
      )
    })
}

async function listAll(client: Client, branch: string, component?: string): Promise<readonly ConfigurationFile[]> {
  if (component !== undefined) {
    return itemsOf(await getText(client, placeOf(branch, component))).map((record) => filesOf(component, record))
  }
  const path = `/v2/storage/branch/${encodeURIComponent(branch)}/components?include=configuration,rows`
  return itemsOf(await getText(client, path)).flatMap((text) => {
    const members = membersOf(text)
    return itemsOf(members.get('configurations') ?? '[]').map((record) => filesOf(stringOf(members.get('id')), record))
  })
}

const listDeleted = async (client: Client, branch: string, component: string): Promise<readonly string[]> =>
  (await client.request<{ id: string }[]>('GET', placeOf(branch, component), { query: { isDeleted: true } })).map(({ id }) => id)

function report(command: Command, component: string, record: string): void {
  const { id, version, members } = filesOf(component, record)
  print(command, { component, id, version }, () => `${component}/${id} "${stringOf(members.name)}" version ${version}`)
}

function describe(step: Step): string {
  if (step.kind === 'create') return `+ ${step.key} "${stringOf(step.file.members.name)}" with ${step.file.rows.length} rows`
  if (step.kind === 'delete') return `- ${step.key} "${stringOf(step.file.members.name)}"`
  const { create, update, delete: gone } = step.rows
  const parts = [
    step.fields.join(', '),
    create.length > 0 ? `new rows ${create.map((row) => row.id).join(', ')}` : '',
    update.length > 0 ? `changed rows ${update.map((row) => row.id).join(', ')}` : '',
    gone.length > 0 ? `rows gone ${gone.join(', ')}` : '',
  ]
  return `${step.isConflict ? '!' : '~'} ${step.key}: ${parts.filter((part) => part !== '').join('; ')}`
}

async function apply(client: Client, branch: string, step: Step): Promise<void> {
  const { componentId, id, members, rows } = step.file
  const place = placeOf(branch, componentId, encodeURIComponent(id))
  if (step.kind === 'delete') {
    await client.send('DELETE', place)
    return
  }
  const { rowsSortOrder, ...rest } = members
  if (step.kind === 'create') {
    await sendText(client, 'POST', placeOf(branch, componentId), objectText({ ...rest, configurationId: JSON.stringify(id) }))
    for (const row of rows) await sendText(client, 'POST', `${place}/rows`, rowBody(row.id, row.members))
  } else {
    for (const row of step.rows.create) await sendText(client, 'POST', `${place}/rows`, rowBody(row.id, row.members))
    for (const row of step.rows.update)
      await sendText(client, 'PUT', `${place}/rows/${encodeURIComponent(row.id)}`, objectText(row.members))
    for (const rowId of step.rows.delete) await client.send('DELETE', `${place}/rows/${encodeURIComponent(rowId)}`)
  }
  // Last, because the order may name rows that were made just now.
  await sendText(client, 'PUT', place, objectText(rowsSortOrder === undefined ? rest : { ...rest, rowsSortOrder }))
}

const rowBody = (id: string, members: FileMembers): string => objectText({ ...members, rowId: JSON.stringify(id) })
