// millrace oauth: OAuth credentials that components use.

import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table, timeText } from '../output.ts'
import { readJsonFile } from './config-requests.ts'

interface Credentials {
  readonly id: string
  readonly authorizedFor: string
  readonly provider: string | null
  readonly created: string
  readonly expires: string | null
  readonly problem: string | null
}

interface LinkOptions {
  readonly id?: string
  readonly for?: string
  readonly provider?: string
}

export function addOauthCommands(program: Command): void {
  const oauth = program.command('oauth').description('OAuth credentials that components use')

  stackOptions(oauth.command('list <component>'))
    .description('credentials of a component; secrets are ciphers')
    .action(async (componentId: string, _: object, command: Command) => {
      print(command, await createClient(command).call('oauth.listCredentials', { path: { componentId } }), (rows) =>
        table(
          ['ID', 'AUTHORIZED FOR', 'PROVIDER', 'CREATED', 'EXPIRES', 'PROBLEM'],
          rows.map((one) => [one.id, one.authorizedFor, one.provider, timeText(one.created), timeText(one.expires), one.problem]),
          'no credentials',
        ),
      )
    })

  stackOptions(oauth.command('show <component> <id>'))
    .description('one of them')
    .action(async (componentId: string, id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('oauth.credentials', { path: { componentId, id } }), textOf)
    })

  stackOptions(oauth.command('providers'))
    .description('providers that credentials can be authorised at')
    .action(async (_: object, command: Command) => {
      print(command, await createClient(command).call('oauth.listProviders'), (rows) =>
        table(
          ['ID', 'NAME', 'OAUTH', 'SCOPE'],
          rows.map((one) => [one.id, one.name, one.oauthVersion, one.scope]),
          'no providers',
        ),
      )
    })

  stackOptions(oauth.command('link <component>'))
    .description('create an authorisation link for a user, valid for one hour')
    .option('--id <id>', 'id of the credentials')
    .option('--for <name>', 'whom they are authorised for')
    .option('--provider <id>', 'the provider, if the component has no default')
    .action(async (componentId: string, { id, for: authorizedFor, provider }: LinkOptions, command: Command) => {
      const body = { componentId, ...(id && { id }), ...(authorizedFor && { authorizedFor }), ...(provider && { provider }) }
      print(command, await createClient(command).call('oauth.makeLink', { body }), ({ url }) => url)
    })

  stackOptions(oauth.command('add <component> <id>'))
    .description('add credentials that you already have')
    .requiredOption('--for <name>', 'whom they are authorised for')
    .option('--file <path>', 'file with the JSON of the tokens; - reads standard input', '-')
    .option('--provider <id>', 'the provider')
    .action(async (componentId: string, id: string, options: LinkOptions & { for: string; file: string }, command: Command) => {
      const data = await readJsonFile(options.file)
      const body = { id, authorizedFor: options.for, '#data': data, ...(options.provider && { provider: options.provider }) }
      print(command, await createClient(command).call('oauth.addCredentials', { path: { componentId }, body }), textOf)
    })

  stackOptions(oauth.command('test <component> <id>'))
    .description('whether the provider accepts the credentials')
    .action(async (componentId: string, id: string, _: object, command: Command) => {
      const tested = await createClient(command).call('oauth.testCredentials', { path: { componentId, id } })
      print(command, tested, ({ status, message }) => `${status}: ${message}`)
      if (tested.status === 'error') process.exitCode = 1
    })

  stackOptions(oauth.command('refresh <component> <id>'))
    .description('exchange the refresh token for a new access token now')
    .action(async (componentId: string, id: string, _: object, command: Command) => {
      print(command, await createClient(command).call('oauth.refreshCredentials', { path: { componentId, id } }), textOf)
    })

  withYes(stackOptions(oauth.command('delete <component> <id>')))
    .description('delete credentials; the provider is not informed')
    .action(async (componentId: string, id: string, _: object, command: Command) => {
      await confirm(command, `Delete credentials ${id} of ${componentId}`)
      await createClient(command).call('oauth.deleteCredentials', { path: { componentId, id } })
      print(command, { componentId, id }, () => `Credentials ${id} of ${componentId} are deleted.`)
    })
}

const textOf = ({ id, authorizedFor, provider, created, expires, problem }: Credentials): string =>
  [
    `Credentials ${id}, authorised for ${authorizedFor}`,
    `  provider  ${provider ?? 'none'}`,
    `  created   ${timeText(created)}`,
    ...(expires === null ? [] : [`  expires   ${timeText(expires)}`]),
    ...(problem === null ? [] : [`  problem   ${problem}`]),
  ].join('\n')
