// millrace project: projects of this installation, made on its data folder (or database) directly.

import type { Command } from 'commander'
import { readConfig } from '../../server/src/start/config.ts'
import { withCore } from '../../server/src/start/open-core.ts'
import { print, table } from './output.ts'

export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('projects of this installation')

  project
    .command('create <name>')
    .description('make a project; its master token is shown once')
    .action(async (name: string, _options, command: Command) => {
      const made = await withCore(readConfig(), ({ tokens }) => tokens.createProject(name))
      const answer = { id: made.project.id, name: made.project.name, masterToken: made.master.value }
      print(
        command,
        answer,
        () => `Project ${answer.id} "${answer.name}"\nMaster token   ${answer.masterToken}\nKeep it: it is shown only this once.`,
      )
    })

  project
    .command('list')
    .description('all projects')
    .action(async (_options, command: Command) => {
      const projects = await withCore(readConfig(), ({ tokens }) => tokens.listProjects())
      const answer = projects.map(({ id, name, createdAt }) => ({ id, name, created: createdAt.toISOString() }))
      print(command, answer, (rows) =>
        table(
          ['ID', 'NAME', 'CREATED'],
          rows.map((row) => [row.id, row.name, row.created]),
        ),
      )
    })
}
