// millrace test: tests on the data of tables. `millrace test` alone runs them all and fails for CI.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Command, Option } from 'commander'
import { defined } from '../../../server/src/kit/defined.ts'
import { type Client, createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface DataTest {
  readonly id: string
  readonly tableId: string
  readonly name: string
  readonly type: string
  readonly severity: string
  readonly isEnabled: boolean
  readonly parameters: object
}

interface TestRun {
  readonly tableId: string
  readonly status: string
  readonly trigger: string
  readonly endedAt: string
  readonly results: readonly {
    readonly name: string
    readonly severity: string
    readonly status: string
    readonly message: string | null
    readonly fileId: number | null
  }[]
}

interface ChangeOptions {
  readonly name?: string
  readonly parameters?: string
  readonly severity?: string
  readonly on?: boolean
  readonly off?: boolean
}

const TESTS = '/v2/storage/data-tests'
const PAGE = 1000
const severity = () => new Option('--severity <severity>', 'effect of a failure on a load').choices(['warn', 'stop'])

export function addTestCommands(program: Command): void {
  const test = program.command('test').description('tests on the data of tables')

  stackOptions(test.command('run [tables...]', { isDefault: true }))
    .description('run the tests of tables, of all tables by default; exit code 1 if one fails')
    .option('--strict', 'a test of severity warn that fails is a failure, too')
    .action(async (tables: string[], { strict = false }: { strict?: boolean }, command: Command) => {
      const client = createClient(command)
      const wanted = tables.length > 0 ? tables : await client.request<string[]>('GET', '/v2/storage/data-tested-tables')
      const runs: TestRun[] = []
      for (const id of wanted) runs.push(await runTests(client, id))
      print(command, runs, (all) => (all.length === 0 ? 'no table has tests' : all.map(textOf).join('\n')))
      if (runs.some(({ status }) => status === 'failed' || (strict && status === 'warning'))) process.exitCode = 1
    })

  stackOptions(test.command('list [table]'))
    .description('tests of the project, or of a table')
    .action(async (tableId: string | undefined, _: object, command: Command) => {
      const client = createClient(command)
      const all: DataTest[] = []
      for (let page: DataTest[] | undefined; page === undefined || page.length === PAGE; all.push(...page))
        page = await client.request<DataTest[]>('GET', TESTS, {
          query: { limit: PAGE, offset: all.length, ...defined({ tableId }) },
        })
      print(command, all, (tests) =>
        table(
          ['ID', 'TABLE', 'NAME', 'TYPE', 'SEVERITY', 'STATE'],
          tests.map((one) => [one.id, one.tableId, one.name, one.type, one.severity, one.isEnabled ? 'on' : 'off']),
        ),
      )
    })

  stackOptions(test.command('add <table> <name> <type> <parameters>'))
    .description('create a test; the parameters are JSON (docs/data-tests.md has those of each type)')
    .addOption(severity())
    .action(async (...given: unknown[]) => {
      const command = given.at(-1) as Command // the last that commander passes
      const [tableId, name, type, text = ''] = command.args
      const { severity: level } = command.opts<ChangeOptions>()
      const json = { tableId, name, type, parameters: parsed(text), ...defined({ severity: level }) }
      const created = await createClient(command).request<DataTest>('POST', TESTS, { json })
      print(command, created, ({ id }) => `Test ${id} created`)
    })

  stackOptions(test.command('change <id>'))
    .description('change, enable or disable a test')
    .option('--name <name>', 'its new name')
    .option('--parameters <json>', 'its new parameters')
    .addOption(severity())
    .option('--on', 'run it')
    .option('--off', 'disable it')
    .action(async (id: string, { name, parameters, severity: level, on, off }: ChangeOptions, command: Command) => {
      const json = {
        ...defined({ name, severity: level }),
        ...(parameters !== undefined && { parameters: parsed(parameters) }),
        ...((on || off) && { isEnabled: on === true }),
      }
      const changed = await createClient(command).request<DataTest>('PUT', pathOf(id), { json })
      print(command, changed, () => `Test ${id} changed`)
    })

  withYes(stackOptions(test.command('delete <id>')))
    .description('delete a test')
    .action(async (id: string, _: object, command: Command) => {
      await confirm(command, `Delete test ${id}`)
      await createClient(command).request('DELETE', pathOf(id))
      print(command, { id }, () => `Test ${id} deleted`)
    })

  addImportCommand(test)

  stackOptions(test.command('results <table>'))
    .description('what the last runs of the tests of a table found')
    .action(async (tableId: string, _: object, command: Command) => {
      const runs = await createClient(command).request<TestRun[]>('GET', `${tablePath(tableId)}/runs`)
      print(command, runs, (all) => (all.length === 0 ? 'no test has run' : all.map(textOf).join('\n')))
    })
}

interface ImportOptions {
  readonly manifest?: string
  readonly schema?: readonly string[]
  readonly table?: string
}

interface ImportAnswer {
  readonly runs: readonly TestRun[]
  readonly leftOut: number
}

function addImportCommand(test: Command): void {
  stackOptions(test.command('import <file>'))
    .description('import test results of dbt (run_results.json); exit code 1 if a test failed')
    .option('--manifest <file>', 'the manifest.json of the same run; by default the one in the same folder')
    .option('--schema <schema=bucket...>', 'the bucket that has the tables of a schema of dbt')
    .option('--table <table>', 'the table of tests whose table is not known')
    .action(async (file: string, { manifest, schema = [], table: tableId }: ImportOptions, command: Command) => {
      const beside = join(dirname(file), 'manifest.json')
      const path = manifest ?? (existsSync(beside) ? beside : undefined)
      const json = {
        runResults: readResults(file),
        ...(path !== undefined && { manifest: neededOf(readDocument(path)) }),
        schemas: schema.map(schemaOf),
        ...defined({ tableId }),
      }
      const answer = await createClient(command).request<ImportAnswer>('POST', `${TESTS}/import`, { json })
      print(command, answer, ({ runs, leftOut }) =>
        [
          ...runs.map(textOf),
          ...(leftOut > 0 ? [`${leftOut} results belong to no known table; --schema and --table name one`] : []),
        ].join('\n'),
      )
      if (answer.runs.some(({ status }) => status === 'failed')) process.exitCode = 1
    })
}

type Document = Readonly<Record<string, unknown>>

function readDocument(path: string): Document {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Document
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  throw new UserError(`${path} is not a JSON object`)
}

/** Results carry the SQL of every test, which nothing is made of here. */
function readResults(path: string): Document {
  const { results } = readDocument(path)
  if (!Array.isArray(results)) throw new UserError(`${path} is not a run_results.json of dbt: it has no list of results`)
  return { results: results.map(({ compiled_code: _, ...result }: Document) => result) }
}

const MEMBERS = ['name', 'alias', 'identifier', 'schema', 'attached_node', 'depends_on', 'column_name', 'test_metadata', 'config']

/** A manifest has the SQL of the whole project in it; the stack needs names and the severity of tests. */
function neededOf(manifest: Document): Document {
  const slim = (nodes: unknown): Document =>
    Object.fromEntries(
      Object.entries((nodes ?? {}) as Record<string, Document>).map(([id, node]) => [
        id,
        Object.fromEntries(
          MEMBERS.filter((name) => name in node).map((name) => [name, name === 'config' ? severityIn(node[name]) : node[name]]),
        ),
      ]),
    )
  return { nodes: slim(manifest.nodes), sources: slim(manifest.sources) }
}

const severityIn = (config: unknown): Document => defined({ severity: ((config ?? {}) as Document).severity })

function schemaOf(text: string): { schema: string; bucket: string } {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1)
    throw new UserError(`--schema ${text} is not of the form schema=bucket, such as analytics=out.c-analytics`)
  return { schema: text.slice(0, at), bucket: text.slice(at + 1) }
}

async function runTests(client: Client, tableId: string): Promise<TestRun> {
  const job = await client.waitForJob(await client.request<StorageJob>('POST', `${tablePath(tableId)}/run`))
  return job.results as TestRun // of a job that runs tests
}

/** A line for the table, and one for each test that did not pass. */
function textOf({ tableId, status, trigger, endedAt, results }: TestRun): string {
  const failed = results.filter((one) => one.status !== 'passed')
  const lines = failed.map(
    ({ name, severity: level, message, fileId }) =>
      `  ${level} ${name}: ${message ?? ''}${fileId === null ? '' : ` Rows: file ${fileId}.`}`,
  )
  const head = `${timeText(endedAt)} ${status} ${tableId} (${trigger}): ${results.length - failed.length} of ${results.length} passed`
  return [head, ...lines].join('\n')
}

const pathOf = (id: string): string => `${TESTS}/${encodeURIComponent(id)}`
const tablePath = (tableId: string): string => `/v2/storage/tables/${encodeURIComponent(tableId)}/data-tests`

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UserError(`The parameters are not JSON: ${text.slice(0, 60)}`)
  }
}
