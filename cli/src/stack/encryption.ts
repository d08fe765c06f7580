// millrace encrypt: a secret becomes a cipher. millrace encryption rotate: a new root key, on the data folder, beside a running stack.

import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readConfig } from '../../../server/src/start/config.ts'
import { stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { UserError } from '../output.ts'
import { stackOf } from '../stack-choice.ts'

interface Scope {
  readonly component?: string
  readonly project?: string
  readonly config?: string
  readonly branchType?: string
}

export function addEncryptionCommands(program: Command): void {
  stackOptions(program.command('encrypt'))
    .description('encrypt a secret read from standard input: one text, or JSON with # fields (--document)')
    .option('--component <id>', 'component that may use it')
    .option('--project <id>', 'project that may use it')
    .option('--config <id>', 'configuration that may use it')
    .option('--branch-type <type>', 'default or dev')
    .option('--document', 'the input is JSON; its # fields are encrypted')
    .action(async (options: Scope & { document?: boolean }, command: Command) => {
      if (process.stdin.isTTY)
        throw new UserError('Pass the secret on standard input, to keep it out of the shell history: millrace encrypt < file')
      const input = await readAll(process.stdin)
      const address = new URL('/encryption/encrypt', stackOf(command).url)
      for (const [name, value] of [
        ['componentId', options.component],
        ['projectId', options.project],
        ['configId', options.config],
        ['branchType', options.branchType],
      ] as const)
        if (value !== undefined) address.searchParams.set(name, value)
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'Content-Type': options.document ? 'application/json' : 'text/plain' },
        body: options.document ? input : input.replace(/\r?\n$/, ''),
      })
      const answer = await response.text()
      if (!response.ok) throw new UserError((JSON.parse(answer) as { error: string }).error)
      print(command, options.document ? (JSON.parse(answer) as unknown) : answer, () => answer)
    })

  program
    .command('encryption')
    .description('the keys of this installation')
    .command('rotate')
    .description(
      'create a new root key and re-encrypt all data keys; stored ciphertext stays valid, and a running stack keeps working',
    )
    .action(async (_options: object, command: Command) => {
      const result = await withCore(readConfig(), ({ keyRing }) => keyRing.rotate())
      print(command, result, ({ rootKeyId, rewrapped }) => `Root key ${rootKeyId} now protects ${rewrapped} data keys.`)
    })
}
