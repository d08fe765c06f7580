// millrace workspace: SQL workspaces of the project.

import type { Command } from 'commander'
import { counted } from '../../../contract/counted.ts'
import { createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { progress, table, timeText } from '../output.ts'

interface Workspace {
  readonly id: number
  readonly name: string
  readonly component: string | null
  readonly configurationId: string | null
  readonly created: string
  readonly connection: {
    readonly host: string
    readonly port?: number
    readonly database: string
    readonly schema: string
    readonly user: string
    readonly password?: string
  }
}

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('SQL workspaces: databases of their own beside the tables')

  stackOptions(workspace.command('list'))
    .description('all workspaces')
    .action(async (_: object, command: Command) => {
      print(command, await createClient(command).call('workspaces.list'), (rows) =>
        table(
          ['ID', 'NAME', 'COMPONENT', 'CONFIG', 'CREATED'],
          rows.map((one) => [one.id, one.name, one.component, one.configurationId, timeText(one.created)]),
          'no workspaces',
        ),
      )
    })

  stackOptions(workspace.command('show <id>'))
    .description('one workspace and how to connect to it')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('workspaces.get', { path: { id } }), textOf)
    })

  stackOptions(workspace.command('create'))
    .description('create a workspace; its password is shown once')
    .option('--timeout <seconds>', 'most time of a statement')
    .action(async ({ timeout }: { timeout?: string }, command: Command) => {
      const body = timeout === undefined ? {} : { statementTimeoutSeconds: Number(timeout) }
      // Only the answer of the request itself has the password; the results of a job are kept.
      const made = await createClient(command).call('workspaces.create', { query: { async: false }, body })
      print(command, made as Workspace, textOf) // without async
    })

  stackOptions(workspace.command('load <id> <table...>'))
    .description('load tables into a workspace, each under its own name')
    .option('--preserve', 'keep other tables of the workspace')
    .action(async (id: string, tables: string[], { preserve = false }: { preserve?: boolean }, command: Command) => {
      const client = createClient(command)
      const line = progress('load')
      const input = tables.map((source) => ({ source, destination: source.split('.').at(-1) }))
      const job = await client.call('workspaces.load', { path: { id }, body: { input, preserve } })
      const ended = await client.waitForJob(job as StorageJob, line.say) // the same record
      line.done(ended.status)
      print(command, { id, tables }, () => `Loaded ${counted(tables.length, 'table')} into workspace ${id}.`)
    })

  stackOptions(workspace.command('reset-password <id>'))
    .description('reset the password; the old one stops working')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('workspaces.resetPassword', { path: { id } }), ({ password }) => password)
    })

  withYes(stackOptions(workspace.command('delete <id>')))
    .description('delete a workspace and its tables')
    .action(async (id: string, _: object, command: Command) => {
      await confirm(command, `Delete workspace ${id} with its tables`)
      await createClient(command).send('DELETE', `/v2/storage/workspaces/${encodeURIComponent(id)}`)
      print(command, { id }, () => `Workspace ${id} is deleted.`)
    })
}

const textOf = ({ id, name, connection: { host, port, database, schema, user, password } }: Workspace): string =>
  [
    `Workspace ${id} ${name}`,
    `  host      ${host}${port === undefined ? '' : `:${port}`}`,
    `  database  ${database}, schema ${schema}`,
    `  user      ${user}`,
    ...(password === undefined ? [] : [`  password  ${password}   (shown only once)`]),
  ].join('\n')
