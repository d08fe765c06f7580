// millrace contract: data contracts of tables (ODCS, YAML). millrace bisect: the load after which a check fails.

import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { counted } from '../../../contract/counted.ts'
import { defined } from '../../../server/src/kit/defined.ts'
import { createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { timeText, UserError } from '../output.ts'

interface Contract {
  readonly tableId: string
  readonly contract: string
  readonly isDraft: boolean
  readonly checks: readonly { readonly name: string; readonly severity: string }[]
  readonly notChecked: readonly string[]
}

interface Break {
  readonly tableId: string
  readonly problems: readonly { readonly name: string; readonly message: string }[]
  readonly usedBy: readonly { readonly componentId?: string; readonly configurationId?: string; readonly name?: string }[]
}

interface Bisected {
  readonly tableId: string
  readonly status: 'found' | 'holds' | 'failedBefore' | 'unchanged'
  readonly message: string
  readonly states: number
  readonly checks: number
  readonly lastGood?: { readonly time: string }
  readonly firstBad?: { readonly time: string; readonly rowsCount: number | null }
  readonly cause?: {
    readonly event: string
    readonly token: string
    readonly jobId: string | null
    readonly componentId: string | null
    readonly configurationId: string | null
    readonly configurationVersion: number | null
    /** Of an extraction with a recording. */
    readonly answer: Answer | null
  } | null
}

interface Answer {
  readonly fileId: string
  readonly line: number
  readonly method: string
  readonly url: string
  readonly status: number
}

export function addContractCommands(program: Command): void {
  const contract = program.command('contract').description('data contracts of tables, as YAML of the Open Data Contract Standard')

  stackOptions(contract.command('export <table>'))
    .description('print the contract of a table, or a draft based on it')
    .action(async (tableId: string, _: object, command: Command) => {
      const found = await createClient(command).request<Contract>('GET', pathOf(tableId))
      print(command, found, ({ contract: text }) => text.trimEnd())
    })

  stackOptions(contract.command('import <table> <file>'))
    .description('check the loads of a table against a contract')
    .option('--force', 'import it also if the table breaks it now')
    .action(async (tableId: string, file: string, { force }: { force?: boolean }, command: Command) => {
      const text = await readFile(file, 'utf8').catch((error: Error) => {
        throw new UserError(`${file} cannot be read: ${error.message}`)
      })
      const json = { contract: text, ...defined({ force }) }
      const saved = await createClient(command).request<Contract>('PUT', pathOf(tableId), { json })
      print(command, saved, ({ checks, notChecked }) =>
        [
          `Contract of ${tableId} imported, ${counted(checks.length, 'check')} in every load`,
          ...notChecked.map((one) => `  not checked: ${one}`),
        ].join('\n'),
      )
    })

  stackOptions(contract.command('breaks'))
    .description('tables of a development branch that break contracts of the default branch; exit code 1 if there are any')
    .requiredOption('--branch <id>', 'the development branch')
    .action(async ({ branch }: { readonly branch: string }, command: Command) => {
      const path = `v2/storage/branch/${encodeURIComponent(branch)}/contract-breaks`
      const found = await createClient(command).request<Break[]>('GET', path)
      print(command, found, (all) => (all.length === 0 ? 'no contract is broken' : all.flatMap(linesOf).join('\n')))
      if (found.length > 0) process.exitCode = 1
    })

  withYes(stackOptions(contract.command('delete <table>')))
    .description('delete the contract of a table')
    .action(async (tableId: string, _: object, command: Command) => {
      await confirm(command, `Delete the contract of ${tableId}`)
      await createClient(command).request('DELETE', pathOf(tableId))
      print(command, { tableId }, () => `Contract of ${tableId} deleted`)
    })

  stackOptions(program.command('bisect <table>'))
    .description('find the load after which a check fails that held before; nothing is run again')
    .requiredOption('--good <time>', 'when the check held: an ISO time, or a phrase such as "-2 days"')
    .option('--bad <time>', 'when it fails (default: now)')
    .option('--test <id>', 'a data test of the table')
    .option('--sql <query>', 'the check as a query whose rows are failures')
    .action(async (tableId: string, { good, bad, test, sql }: BisectOptions, command: Command) => {
      if ((test === undefined) === (sql === undefined)) throw new UserError('Name the check with --test or with --sql.')
      const client = createClient(command)
      const json = { goodAt: good, ...defined({ badAt: bad, testId: test, sql }) }
      const job = await client.request<StorageJob>('POST', `/v2/storage/tables/${encodeURIComponent(tableId)}/bisect`, { json })
      const { results } = await client.waitForJob(job)
      print(command, results as Bisected, textOf) // of a job that bisects
    })
}

interface BisectOptions {
  readonly good: string
  readonly bad?: string
  readonly test?: string
  readonly sql?: string
}

function textOf({ tableId, status, message, states, checks, lastGood, firstBad, cause }: Bisected): string {
  if (status !== 'found' || !firstBad || !lastGood) return message
  const by = cause?.jobId
    ? `job ${cause.jobId} of ${cause.componentId}/${cause.configurationId}, version ${cause.configurationVersion}`
    : (cause?.token ?? 'unknown')
  return [
    `${tableId} is broken since ${timeText(firstBad.time)}: ${message}`,
    `  by      ${cause?.event ?? 'an unknown change'}, ${by}`,
    ...(cause?.answer ? [`  answer  ${answerText(cause.answer)}`] : []),
    `  before  ${timeText(lastGood.time)} the check held`,
    `  ${checks} checks over ${states} states`,
  ].join('\n')
}

const answerText = ({ method, url, status, fileId, line }: Answer): string =>
  `${method} ${url} (${status}), line ${line} of the recording, file ${fileId}`

const linesOf = ({ tableId, problems, usedBy }: Break): string[] => [
  tableId,
  ...problems.map(({ name, message }) => `  ${name}: ${message}`),
  ...usedBy.map(({ componentId, configurationId, name }) =>
    `  used by ${componentId}/${configurationId} ${name ?? ''}`.trimEnd(),
  ),
]

const pathOf = (tableId: string): string => `/v2/storage/tables/${encodeURIComponent(tableId)}/contract`
