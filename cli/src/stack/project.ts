// millrace project: projects of this installation, made on its data folder (or database) directly.

import type { Command } from 'commander'
import { SETTING_NAMES } from '../../../server/src/services/access/tokens/project-settings.ts'
import type { Projects } from '../../../server/src/services/access/tokens/projects.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import { confirmHere, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { table, timeText, UserError } from '../output.ts'

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('projects of this installation')

  withYes(project.command('create <name>'))
    .description('create a project; its master token is shown once')
    .action(async (name: string, _options, command: Command) => {
      const config = readConfig()
      await confirmHere(command, `Create a project "${name}"`, config.dataDir)
      const made = await withCore(config, ({ tokens }) => tokens.createProject(name))
      const answer = { id: made.project.id, name: made.project.name, masterToken: made.master.value }
      print(
        command,
        answer,
        () => `Project ${answer.id} "${answer.name}"\nMaster token   ${answer.masterToken}\nStore it: it is shown only once.`,
      )
    })

  project
    .command('list')
    .description('all projects')
    .action(async (_options, command: Command) => {
      const projects = await withCore(readConfig(), ({ tokens }) => tokens.listProjects())
      const answer = projects.map(({ id, name, createdAt, pausedReason, deleteAfter }) => ({
        id,
        name,
        created: timeText(createdAt),
        state: deleteAfter
          ? `deleted, gone after ${timeText(deleteAfter)}`
          : pausedReason === undefined
            ? ''
            : `paused: ${pausedReason}`,
      }))
      print(command, answer, (rows) =>
        table(
          ['ID', 'NAME', 'CREATED', 'STATE'],
          rows.map((row) => [row.id, row.name, row.created, row.state]),
        ),
      )
    })

  const change = async (
    command: Command,
    id: string,
    question: string,
    work: (projects: Projects, id: number) => Promise<{ readonly name: string }>,
    what: string,
  ) => {
    const config = readConfig()
    await confirmHere(command, `${question} project ${id}`, config.dataDir)
    const { name } = await withCore(config, ({ tokens }) => work(tokens.projects, projectIdFrom(id)))
    print(command, { id: Number(id), name }, () => `Project ${id} "${name}" ${what}.`)
  }

  withYes(project.command('rename <id> <name>'))
    .description('rename a project')
    .action((id: string, name: string, _options, command: Command) =>
      change(command, id, 'Rename', (projects, at) => projects.rename(at, name, {}), 'has its new name'),
    )

  withYes(project.command('pause <id>'))
    .description('nothing starts or changes in the project; it can be read')
    .option('--reason <text>', 'shown in the error of refused requests', '')
    .action((id: string, { reason }: { reason: string }, command: Command) =>
      change(command, id, 'Pause', (projects, at) => projects.pause(at, reason, {}), 'is paused'),
    )

  withYes(project.command('resume <id>'))
    .description('resume a paused project')
    .action((id: string, _options, command: Command) =>
      change(command, id, 'Resume', (projects, at) => projects.resume(at, {}), 'resumed'),
    )

  withYes(project.command('delete <id>'))
    .description('delete a project; its tokens stop working immediately, its data is deleted after the grace period')
    .option('--days <days>', 'the grace time, 2 to 90 days', Number, 7)
    .action((id: string, { days }: { days: number }, command: Command) =>
      change(
        command,
        id,
        'Delete',
        (projects, at) => projects.remove(at, days, {}),
        `is deleted; restore it within ${days} days`,
      ),
    )

  withYes(project.command('restore <id>'))
    .description('bring a deleted project back')
    .action((id: string, _options, command: Command) =>
      change(command, id, 'Restore', (projects, at) => projects.restore(at, {}), 'is back'),
    )

  withYes(project.command('set <id> <settings...>'))
    .description(`change settings of a project: name=value, or name= for the default. Settings: ${SETTING_NAMES.join(', ')}`)
    .action(async (id: string, settings: string[], _options, command: Command) => {
      const given = Object.fromEntries(settings.map(nameAndValue))
      const config = readConfig()
      await confirmHere(command, `Change settings of project ${id}`, config.dataDir)
      const { name, settings: now } = await withCore(config, ({ tokens }) => tokens.setProject(projectIdFrom(id), given))
      print(command, { id: Number(id), name, settings: now }, () => `Project ${id} "${name}"   ${describe(now)}`)
    })
}

const nameAndValue = (text: string): [string, string] => {
  const at = text.indexOf('=')
  if (at < 1) throw new UserError(`"${text}" is not of the form name=value.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function projectIdFrom(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UserError(`"${text}" is not the number of a project; millrace project list shows them.`)
  return Number(text)
}

const describe = (settings: object): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'all settings have their defaults'
