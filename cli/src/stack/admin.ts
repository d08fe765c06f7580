// millrace admin: access for the owner of the machine.

import type { Command } from 'commander'
import { findRunningStack } from '../../../server/src/start/admin-listener.ts'
import { type Config, readConfig } from '../../../server/src/start/config.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'

export function addAdminCommands(program: Command): void {
  const admin = program.command('admin').description('access for the owner of this machine')

  admin
    .command('sign-in-link')
    .description(
      'create a sign-in link that can be used once, within an hour: for a new stack admin, or a user who lost their password',
    )
    .option('--email <email>', 'sign in as this user')
    .action(async ({ email }: { email?: string }, command: Command) => {
      const config = readConfig()
      const value = await withCore(config, ({ people }) => people.makeSignInLink(email))
      const answer = { link: `${await addressOf(config)}/console/#link=${value}` }
      const doubt = await doubtAbout(config)
      print(
        command,
        answer,
        ({ link }) => `${link}\nIt can be used once, within an hour. Anyone with the link can sign in.${doubt}`,
      )
    })
}

/** What links to the stack of this machine begin with: its public address, where it runs, or where it would with this environment. */
export const addressOf = async ({ addresses, tls, listen, dataDir }: Config): Promise<string> =>
  addresses.publicUrl?.replace(/\/+$/, '') ??
  (await findRunningStack(dataDir))?.url ??
  `${tls.mode === 'off' ? 'http' : 'https'}://${listen.host.includes(':') ? `[${listen.host}]` : listen.host}:${listen.port}`

/** Printed below a link when the address of the stack is unknown. */
export const doubtAbout = async ({ addresses, dataDir }: Config): Promise<string> =>
  addresses.publicUrl !== undefined || (await findRunningStack(dataDir))
    ? ''
    : `\nNo stack runs on ${dataDir}, so the URL is taken from this environment. Set MILLRACE_PUBLIC_URL if users reach the stack at another URL.`
