// Confirmation of what cannot be undone, for stacks that are not on this machine. --yes answers it; without a terminal it is needed.

import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { UserError } from './output.ts'
import { isLocal, stackOf } from './stack-choice.ts'

export const withYes = (command: Command): Command =>
  command.option('--yes', 'skip the confirmation that commands against a stack of another machine require')

/** Before a change of the stack that the command talks to. `what` begins a question: "Delete table x". */
export async function confirm(command: Command, what: string): Promise<void> {
  const { url } = stackOf(command)
  if (!isLocal(url)) await ask(command, `${what} at ${url}`)
}

/** Before a change of the installation of this machine, when the stack that is chosen is another one. */
export async function confirmHere(command: Command, what: string, dataDir: string): Promise<void> {
  const { url } = stackOf(command)
  if (!isLocal(url)) await ask(command, `${what} of the installation in ${dataDir}, not at ${url}`)
}

async function ask(command: Command, what: string): Promise<void> {
  if (command.opts<{ yes?: boolean }>().yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UserError(`${what}: this requires confirmation, and there is no terminal. Use --yes.`)
  const line = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await line.question(`${what}? [y/N] `)
  line.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new UserError('Not confirmed: nothing was changed.')
}
