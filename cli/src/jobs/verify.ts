// millrace verify: proves that tables are equal to the database that they were read from.

import type { Command } from 'commander'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { type Client, createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { UserError } from '../output.ts'
import { type Job, saidBy, waitFor } from './job.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly isDisabled: boolean
  readonly configuration: Content
}

interface Named {
  readonly outputTable?: string
  readonly tableName?: string
}

interface Content {
  readonly parameters?: {
    readonly mode?: string
    readonly outputTable?: string
    readonly table?: { readonly tableName?: string }
    /** Of a row that reads several tables, and of the change capture. */
    readonly tables?: readonly Named[]
  }
  readonly storage?: {
    readonly output?: { readonly tables?: readonly { readonly source: string; readonly destination: string }[] }
  }
}

interface Configuration {
  readonly configuration: Content
  readonly rows: readonly Row[]
}

interface Options {
  readonly component: string
  readonly row?: readonly string[]
  readonly table?: string
  readonly repair?: boolean
}

interface Result {
  readonly row: string | null
  readonly job: string
  readonly status: string
  readonly lines: readonly string[]
}

const DATABASE = 'platform.ex-database'
const CAPTURE = 'platform.ex-database-changes'

export function addVerifyCommand(program: Command): void {
  stackOptions(program.command('verify <config>'))
    .description('prove by checksums that the tables of a database extractor are equal to their source')
    .option('--component <id>', `${DATABASE} or ${CAPTURE}`, DATABASE)
    .option('--row <id...>', 'only these rows, also when they are disabled')
    .option('--table <id>', 'the table of the project to compare, for one row')
    .option('--repair', 'read the ranges again in which they differ, and verify once more')
    .action(async (config: string, options: Options, command: Command) => {
      const client = createClient(command)
      const results: Result[] = []
      for (const part of await partsOf(client, config, options)) {
        const first = await run(client, config, options.component, part, 'verify')
        results.push(first)
        if (options.repair !== true || first.status === 'success') continue
        results.push(await run(client, config, options.component, part, 'repair'))
        results.push(await run(client, config, options.component, part, 'verify'))
      }
      print(command, results, (all) => all.flatMap(({ lines }) => lines).join('\n'))
      const last = new Map(results.map((result) => [result.row, result]))
      if ([...last.values()].some(({ status }) => status !== 'success')) process.exitCode = 1
    })
}

interface Part {
  readonly row: string | null
  readonly content: Content
}

/** One for each row that reads; the whole configuration when it has no rows. */
async function partsOf(client: Client, config: string, { component, row: wanted, table }: Options): Promise<readonly Part[]> {
  if (component !== DATABASE && component !== CAPTURE)
    throw new UserError(`--component must be ${DATABASE} or ${CAPTURE}: tables of other components cannot be verified.`)
  const path = `v2/storage/components/${component}/configs/${encodeURIComponent(config)}`
  const { configuration, rows } = await client.request<Configuration>('GET', path)
  const unknown = wanted?.find((id) => !rows.some((row) => row.id === id))
  if (unknown !== undefined) throw new UserError(`The configuration ${config} has no row "${unknown}".`)
  const chosen = rows.filter(({ id, isDisabled, configuration: own }) =>
    wanted ? wanted.includes(id) : !isDisabled && (own.parameters?.mode ?? 'read') === 'read',
  )
  if (rows.length > 0 && chosen.length === 0)
    throw new UserError(`The configuration ${config} has no enabled row that reads a table.`)
  if (table !== undefined && chosen.length > 1) throw new UserError('--table needs one row: choose it with --row.')
  const root = JSON.stringify(configuration)
  if (rows.length === 0) return [{ row: null, content: verified(configuration, component, table) }]
  return chosen.map(({ id, configuration: own }) => {
    const whole = JSON.parse(effectiveConfiguration(root, JSON.stringify(own)).text) as Content
    return { row: id, content: verified(whole, component, table) }
  })
}

/** The settings of tables in the mapping become settings of each: a job that verifies writes a report, not the tables. */
function verified({ storage, ...content }: Content, component: string, table: string | undefined): Content {
  const { outputTable, table: source, tables } = content.parameters ?? {}
  const mappedTo = ({ outputTable: own, tableName }: Named): string | undefined => {
    const name = `${own || tableName?.replace(/[^A-Za-z0-9_-]/g, '_')}.csv`
    return storage?.output?.tables?.find((one) => one.source === name)?.destination
  }
  const hasList = component === DATABASE && (tables?.length ?? 0) > 0
  if (hasList && table !== undefined) throw new UserError('--table is for a row that reads one table.')
  const mapped = hasList ? undefined : (table ?? mappedTo({ ...source, ...(outputTable && { outputTable }) }))
  const each = tables?.map((one) => ({ ...(mappedTo(one) && { verifyTable: mappedTo(one) }), ...one })) ?? []
  const parameters = {
    ...content.parameters,
    ...(hasList && { tables: each }),
    ...(mapped !== undefined && { verifyTable: mapped }),
  }
  const { tables: _, ...output } = storage?.output ?? {}
  return { ...content, parameters, ...(storage && { storage: { ...storage, output } }) }
}

/** Lines of the log that are about the comparison. */
const SHOWN =
  /^(Verified: |Repaired )|(: \d+ rows in the source, \d+ here)|more ranges of|rows were changed in the source|rows exist in/

async function run(client: Client, config: string, component: string, { row, content }: Part, mode: string): Promise<Result> {
  const configData = { ...content, parameters: { ...content.parameters, mode } }
  const created = await client.request<Job>('POST', 'queue/jobs', { json: { component, config, mode: 'run', configData } })
  const ended = await waitFor(client, created.id)
  const said = (await saidBy(client, created.id)).map(({ message }) => message).filter((message) => SHOWN.test(message))
  const problem = ended.status === 'success' ? [] : [ended.error?.message ?? ended.result.message ?? `The job ${ended.status}.`]
  return { row, job: ended.id, status: ended.status, lines: [...said, ...problem] }
}
