// millrace vault: variables of the project that configurations refer to as {{ vault.name }}.

import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'

interface Variable {
  readonly hash: string
  readonly key: string
  readonly value: string
  readonly flags: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
}

interface SetOptions {
  readonly value?: string
  readonly encrypted?: boolean
  readonly branch?: string
}

export function addVaultCommands(program: Command): void {
  const vault = program.command('vault').description('variables of the project, used in configurations as {{ vault.name }}')

  stackOptions(vault.command('list'))
    .description('variables; the values of encrypted ones are ciphers')
    .option('--key <name>', 'only this one')
    .option('--branch <id>', 'those that hold in this branch')
    .action(async ({ key, branch }: { key?: string; branch?: string }, command: Command) => {
      const found = await list(createClient(command), branch)
      const shown = found.filter((one) => key === undefined || one.key === key)
      print(command, shown, (rows) =>
        table(
          ['KEY', 'VALUE', 'BRANCH'],
          rows.map((one) => [one.key, isEncrypted(one) ? '(encrypted)' : one.value, one.attributes.branchId]),
        ),
      )
    })

  stackOptions(vault.command('set <key>'))
    .description('set a variable; its value is read from standard input unless --value gives it')
    .option('--value <text>', 'for values that may be in the history of the shell')
    .option('--encrypted', 'store it encrypted; it can be used in # fields only')
    .option('--branch <id>', 'for this branch only')
    .action(async (key: string, { value, encrypted, branch }: SetOptions, command: Command) => {
      if (value === undefined && process.stdin.isTTY)
        throw new UserError('Pass the value on standard input, to keep it out of the shell history, or with --value.')
      const given = value ?? (await readAll(process.stdin)).replace(/\r?\n$/, '')
      const json = {
        key,
        value: given,
        flags: encrypted ? ['encrypted'] : [],
        attributes: branch === undefined ? {} : { branchId: branch },
      }
      const saved = await createClient(command).request<Variable>('POST', 'vault/variables', { json })
      print(command, saved, () => `${key} is set${encrypted ? ', encrypted' : ''}${branch ? `, for branch ${branch}` : ''}`)
    })

  withYes(stackOptions(vault.command('delete <key>')))
    .description('remove a variable')
    .option('--branch <id>', 'the variable of this branch')
    .action(async (key: string, { branch }: { branch?: string }, command: Command) => {
      await confirm(command, `Delete variable ${key}`)
      const client = createClient(command)
      const found = (await list(client)).find((one) => one.key === key && one.attributes.branchId === branch)
      if (!found)
        throw new UserError(
          `The vault has no variable "${key}"${branch === undefined ? '' : ` of branch ${branch}`}. See: millrace vault list`,
        )
      await client.request('DELETE', `vault/variables/${found.hash}`)
      print(command, found, () => `${key} is deleted`)
    })
}

/** A vault holds a thousand at most, which is one page. */
const list = (client: Client, branch?: string): Promise<Variable[]> =>
  branch === undefined
    ? client.request('GET', 'vault/variables', { query: { limit: 1000 } })
    : client.request('GET', `vault/variables/scoped/branch/${encodeURIComponent(branch)}`)

const isEncrypted = ({ flags }: Variable): boolean => flags.includes('encrypted')
