// millrace app: data apps, from a file with their code to a link that opens them.

import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface App {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly state: string
  readonly desiredState: string
  readonly configId: string
  readonly configVersion: string
  readonly lastRequestTimestamp: string | null
}

interface CreateOptions {
  readonly script: string
  readonly type: string
  readonly size?: string
  readonly set: readonly string[]
  readonly deploy?: boolean
}

const APPS = 'data-science/apps'
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function addAppCommands(program: Command): void {
  const app = program.command('app').description('data apps: pages over the tables of a project')

  stackOptions(app.command('list'))
    .description('apps of the project')
    .action(async (_options, command: Command) => {
      const found = await createClient(command).request<App[]>('GET', APPS)
      print(command, found, (rows) =>
        table(
          ['ID', 'NAME', 'TYPE', 'STATE', 'WANTED', 'VERSION', 'LAST USED'],
          rows.map((one) => [
            one.id,
            one.name,
            one.type,
            one.state,
            one.desiredState,
            one.configVersion,
            timeText(one.lastRequestTimestamp),
          ]),
        ),
      )
    })

  stackOptions(app.command('create <name>'))
    .description('create an app from a file with its code')
    .requiredOption('--script <file>', 'the code; - reads it from standard input')
    .option('--type <name>', 'runtime: node, python or streamlit', 'node')
    .option('--size <name>', 'most memory: tiny, small, medium or large')
    .option('--set <name=value>', 'a variable of its environment; encrypted when the name begins with #', collect, [])
    .option('--deploy', 'start it immediately')
    .action(async (name: string, { script, type, size, set, deploy }: CreateOptions, command: Command) => {
      const client = createClient(command)
      const parameters = {
        script: script === '-' ? await readAll(process.stdin) : readFileSync(script, 'utf8'),
        ...(size !== undefined && { size }),
        ...(set.length > 0 && { dataApp: { secrets: Object.fromEntries(set.map(settingOf)) } }),
      }
      const made = await client.request<App>('POST', APPS, { json: { name, type, config: { parameters } } })
      const shown = deploy
        ? await client.request<App>('PATCH', `${APPS}/${made.id}`, { json: { desiredState: 'running' } })
        : made
      const state = deploy ? 'deployed' : 'created'
      print(command, shown, ({ id }) => `App ${id} is ${state}. "millrace app open ${id}" prints a link to it.`)
    })

  stackOptions(app.command('deploy <id>'))
    .description('start the newest version of its configuration, or another')
    .option('--config-version <number>', 'the version')
    .option('--restart', 'also if this version is already running')
    .action(async (id: string, { configVersion, restart }: { configVersion?: string; restart?: boolean }, command: Command) => {
      const json = {
        desiredState: 'running',
        ...(configVersion !== undefined && { configVersion }),
        restartIfRunning: restart === true,
      }
      const changed = await createClient(command).request<App>('PATCH', `${APPS}/${encodeURIComponent(id)}`, { json })
      print(command, changed, (one) => `App ${one.id} is deployed at version ${one.configVersion}.`)
    })

  stackOptions(app.command('stop <id>'))
    .description('end it until it is deployed again')
    .action(async (id: string, _options, command: Command) => {
      const json = { desiredState: 'stopped' }
      const changed = await createClient(command).request<App>('PATCH', `${APPS}/${encodeURIComponent(id)}`, { json })
      print(command, changed, (one) => `App ${one.id} is stopped.`)
    })

  stackOptions(app.command('open <id>'))
    .description('print a link that opens the app in a browser, for 12 hours')
    .action(async (id: string, _options, command: Command) => {
      const path = `${APPS}/${encodeURIComponent(id)}/links`
      const link = await createClient(command).request<{ url: string; expiresAt: string }>('POST', path, { json: {} })
      print(command, link, ({ url }) => url)
    })

  stackOptions(app.command('log <id>'))
    .description('the last lines of its log')
    .option('--lines <number>', 'how many', '100')
    .action(async (id: string, { lines }: { lines: string }, command: Command) => {
      const answer = await createClient(command).send('GET', `${APPS}/${encodeURIComponent(id)}/logs/tail`, { query: { lines } })
      process.stdout.write(await answer.text())
    })

  withYes(stackOptions(app.command('delete <id>')))
    .description('end it; its configuration goes to the trash')
    .action(async (id: string, _options, command: Command) => {
      await confirm(command, `Delete app ${id}`)
      await createClient(command).request('DELETE', `${APPS}/${encodeURIComponent(id)}`)
      print(command, { id }, () => `App ${id} is deleted.`)
    })
}

function settingOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UserError(`--set takes name=value, not "${text}".`)
  return [text.slice(0, at), text.slice(at + 1)]
}
