// millrace people: who may sign in, on the data folder (or database) directly.

import { type Command, Option } from 'commander'
import type { Role } from '../../../server/src/model/actor.ts'
import { NO_ORIGIN } from '../../../server/src/model/event.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { table } from '../output.ts'
import { addressOf, doubtAbout } from './admin.ts'

export function addPeopleCommands(program: Command): void {
  const people = program.command('people').description('users of this installation')

  people
    .command('list')
    .description('list all users, with their projects')
    .action(async (_options, command: Command) => {
      const answer = await withCore(readConfig(), async ({ people: all, tokens }) =>
        Promise.all(
          (await all.list()).map(async ({ id, name, email, isStackAdmin }) => {
            const projects = (await tokens.people.ofPerson(id)).map(({ projectId, role }) => ({ projectId, role }))
            return { id, name, email, isStackAdmin, projects }
          }),
        ),
      )
      print(command, answer, (rows) =>
        table(
          ['ID', 'NAME', 'E-MAIL', 'STACK ADMIN', 'PROJECTS'],
          rows.map((row) => [
            row.id,
            row.name,
            row.email,
            row.isStackAdmin ? 'yes' : '',
            row.projects.map(({ projectId, role }) => `${projectId} ${role}`).join(', '),
          ]),
        ),
      )
    })

  people
    .command('invite <email>')
    .description('create an invitation link to a project; it can be used once, within 7 days')
    .option('--project <id>', 'project id', Number, 1)
    .addOption(new Option('--role <role>', 'role of the user').choices(['viewer', 'editor', 'admin']).default('viewer'))
    .action(async (email: string, { project, role }: { project: number; role: Role }, command: Command) => {
      const config = readConfig()
      const value = await withCore(config, ({ people: all }) => all.inviteFromMachine(project, email, role))
      const answer = { link: `${await addressOf(config)}/console/#link=${value}` }
      const doubt = await doubtAbout(config)
      print(command, answer, ({ link }) => `${link}\nIt works once, within 7 days.${doubt}`)
    })

  people
    .command('admin <person>')
    .description('make a user (e-mail or id) a stack admin')
    .option('--off', 'not any more')
    .action(async (named: string, { off }: { off?: boolean }, command: Command) => {
      const person = await withCore(readConfig(), async ({ people: all }) =>
        all.setStackAdmin((await all.getNamed(named)).id, !off, NO_ORIGIN),
      )
      const answer = { id: person.id, name: person.name, isStackAdmin: person.isStackAdmin }
      print(command, answer, () => `${person.name} is ${off ? 'no longer a stack admin' : 'a stack admin'}.`)
    })

  people
    .command('remove <person>')
    .description('remove a user (e-mail or id); revokes their sessions, tokens and open streams')
    .action(async (named: string, _options, command: Command) => {
      const { id, name } = await withCore(readConfig(), async ({ people: all }) => {
        const person = await all.getNamed(named)
        await all.remove(person.id, NO_ORIGIN)
        return person
      })
      print(command, { id, name }, () => `${name} is removed. What they created stays.`)
    })
}
