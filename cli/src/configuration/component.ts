// millrace component: look at components, and make one: scaffold it, check its description, run it on a data folder without a stack.

import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { readJson } from '../../../server/src/kit/text/json-text.ts'
import type { ReadDescription } from '../../../server/src/services/configuration/components/description.ts'
import { createClient, stackOptions } from '../client.ts'
import { print, printJson } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { LANGUAGES, type Language, writeScaffold } from './component-scaffold.ts'
import { laidOut } from './config-text.ts'
import { programFolder, runLocally } from './local-run.ts'

interface Listed {
  readonly id: string
  readonly aliases: readonly string[]
  readonly type: string
  readonly name: string
  readonly description: string
}

export function addComponentCommands(program: Command): void {
  const component = program.command('component').description('components of a stack, and the making of your own')

  stackOptions(component.command('list'))
    .description('all components of the stack')
    .option('--type <type>', 'extractor, writer, application, transformation, processor, ...')
    .action(async ({ type }: { type?: string }, command: Command) => {
      const { components } = await createClient(command).request<{ components: Listed[] }>('GET', '/v2/storage')
      // An entry under an alias repeats the component.
      const found = components.filter((one) => !one.aliases.includes(one.id) && (type === undefined || one.type === type))
      print(command, found, (rows) =>
        table(
          ['ID', 'TYPE', 'NAME'],
          rows.map((one) => [one.id, one.type, one.name]),
          'no components',
        ),
      )
    })

  stackOptions(component.command('show <id>'))
    .description('the description of a component, as JSON')
    .action(async (id: string, _: object, command: Command) => {
      const answer = await createClient(command).send('GET', `/v2/storage/components/${encodeURIComponent(id)}`)
      printJson(command, laidOut(await answer.text()))
    })

  component
    .command('validate <file>')
    .description('check the description of a component; names every field that is wrong')
    .action(async (file: string, _: object, command: Command) => {
      const read = await readDescriptionFile(file)
      const problems = read.ok ? programProblems(file, read) : read.problems
      print(command, { isValid: problems.length === 0, problems }, () =>
        problems.length === 0 ? `${file} is valid.` : problems.map((problem) => `${file}: ${problem}`).join('\n'),
      )
      if (problems.length > 0) process.exitCode = 1
    })

  component
    .command('new <id>')
    .description('a new component in a folder of its own: program, description and a data folder to try it on')
    .addOption(new Option('--language <name>').choices(LANGUAGES).default('python'))
    .option('--folder <path>', 'where to create the folder', '.')
    .action(async (id: string, { language, folder }: { language: Language; folder: string }, command: Command) => {
      const made = await writeScaffold(id, language, folder)
      print(command, made, ({ path, description, data }) =>
        [
          `Created ${path}. Try it:`,
          `  millrace component run ${description} ${data}`,
          'Then copy it to a stack, which reads it within seconds:',
          `  mkdir -p data/components && cp -r ${path} ${description} data/components/     (data: the data folder that the start printed)`,
        ].join('\n'),
      )
    })

  component
    .command('run <description> <data>')
    .description('run a component on a data folder, without a stack and without isolation')
    .action(async (file: string, data: string, _: object, command: Command) => {
      const read = await readDescriptionFile(file)
      if (!read.ok)
        throw new UserError(`The description is not valid:\n${read.problems.map((one) => `  ${file}: ${one}`).join('\n')}`)
      const outcome = await runLocally(read.description, file, data)
      print(command, outcome, ({ tables, files, state }) =>
        [
          'The component succeeded.',
          ...tables.map((name) => `  table ${name}`),
          ...files.map((name) => `  file ${name}`),
          ...(state ? ['  state out/state.json'] : []),
        ].join('\n'),
      )
    })
}

async function readDescriptionFile(file: string): Promise<ReadDescription> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UserError(`${file} cannot be read.`)
  })
  const read = readJson(text)
  const { readDescription } = await import('../../../server/src/services/configuration/components/description.ts')
  return read.ok ? readDescription(read.value) : { ok: false, problems: [read.reason] }
}

/** What is well formed and would not run. */
function programProblems(file: string, { description }: Extract<ReadDescription, { ok: true }>): string[] {
  const { type, command, uri } = description.data.definition
  if (type !== 'command') return []
  return [
    ...(command === undefined ? ['data.definition.command: a command needs its program and arguments'] : []),
    ...(programFolder(description, file) === undefined
      ? [`data.definition.uri: the folder "${uri}" does not exist beside the description`]
      : []),
  ]
}
