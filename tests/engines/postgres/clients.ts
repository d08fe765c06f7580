// Real clients of PostgreSQL against the port, each with a workspace of its own: what they read and write, transactions, COPY in both directions,
// parameters. Part `clients` of `npm run test:engines`; `node --test tests/engines/postgres/clients.ts` runs it alone. It needs Python 3, Go, Java,
// Maven, psql and, the first time, their package indexes; MILLRACE_CLIENTS names another folder for the packages. What is missing fails the test of
// that client. The statements they send are replayed by postgres-clients.test.ts.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tableClient } from '../../support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../support/test-stack.ts'

const run = promisify(execFile)
const FOLDER = process.env.MILLRACE_CLIENTS ?? join(tmpdir(), 'millrace-clients')
const HERE = fileURLToPath(new URL('./', import.meta.url))
const WAIT_MS = 600_000

const PYTHON_PACKAGES = [
  'psycopg[binary]==3.3.9',
  'psycopg2-binary==2.9.13',
  'asyncpg==0.32.0',
  'sqlalchemy==2.1.8',
  'pandas==3.1.1',
  'polars==2.1.0',
  'connectorx==0.4.6',
  'adbc-driver-postgresql==1.13.0',
  'pyarrow==26.0.1',
  'duckdb==1.5.5',
  'duckdb-extension-postgres-scanner==1.5.5',
  'ibis-framework[postgres]==12.0.0',
  'packaging', // of Ibis, which does not declare it
  'sqlglot==27.29.0', // with version 30, Ibis sends DROP VIEW IF EXISTS without a name
]
const NODE_PACKAGES = ['postgres@3.4.9', 'pg@8.23.1', 'pg-copy-streams@7.0.0', 'knex@3.3.0']
const GO_PACKAGES = ['github.com/jackc/pgx/v5@v5.12.0', 'github.com/lib/pq@v1.12.3']
const JDBC = 'org.postgresql:postgresql:42.7.14'

let stack: TestStack
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { sessions: 8 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Žďár\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

/** Of a new workspace and a token that only reads. */
async function environment(): Promise<Record<string, string>> {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = made.json<{ connection: { user: string; password: string } }>().connection
  const reading = { description: 'reader', bucketPermissions: { 'in.c-main': 'read' } }
  const { token } = (await stack.request('POST', '/v2/storage/tokens', { json: reading })).json<{ token: string }>()
  const named = { PORT: String(port), TOKEN: token, USER: user, PASSWORD: password, CLIENTS: FOLDER }
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ...Object.fromEntries(Object.entries(named).map(([name, value]) => [`MILLRACE_${name}`, value])),
  }
}

/** Runs a program and returns how many of its checks were right. */
async function use(program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<number> {
  const options = { env: { ...(await environment()), ...more }, timeout: WAIT_MS, maxBuffer: 64 << 20, cwd: FOLDER }
  const { stdout } = await run(program, args, options).catch((error: { stdout?: string; stderr?: string; message: string }) =>
    assert.fail(`${program} ${args.join(' ')}\n${error.stdout}${error.stderr ?? error.message}`),
  )
  return stdout.split('\n').filter((line) => line.startsWith('ok ')).length
}

const once = new Map<string, Promise<void>>()

/** Once for each folder; other packages are installed again. */
function installed(kind: string, packages: readonly string[], install: () => Promise<unknown>): Promise<void> {
  const mark = join(FOLDER, `${kind}-${packages.join(' ').replaceAll(/[^\w .=@-]/g, '_')}`.slice(0, 200))
  const work = async () => {
    await mkdir(FOLDER, { recursive: true })
    const isThere = await access(mark).then(
      () => true,
      () => false,
    )
    if (isThere) return
    await install()
    await writeFile(mark, '')
  }
  const found = once.get(kind) ?? work()
  once.set(kind, found)
  return found
}

const python = () =>
  installed('python', PYTHON_PACKAGES, async () => {
    await run('python3', ['-m', 'venv', join(FOLDER, 'python')])
    await run(join(FOLDER, 'python', 'bin', 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES], { timeout: WAIT_MS })
  })

const node = () =>
  installed('node', NODE_PACKAGES, async () => {
    await writeFile(join(FOLDER, 'package.json'), '{"private": true}')
    await run('npm', ['install', '--no-audit', '--no-fund', ...NODE_PACKAGES], { cwd: FOLDER, timeout: WAIT_MS })
  })

async function go(): Promise<string> {
  const folder = join(FOLDER, 'go')
  const options = { cwd: folder, timeout: WAIT_MS }
  await installed('go', GO_PACKAGES, async () => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'go.mod'), 'module clients\n\ngo 1.24\n')
    await run('go', ['get', ...GO_PACKAGES], options)
  })
  await copyFile(join(HERE, 'clients.go'), join(folder, 'main.go'))
  await run('go', ['build', '-o', 'clients', '.'], options)
  return join(folder, 'clients')
}

async function jdbc(): Promise<string> {
  await installed('jdbc', [JDBC], () =>
    run('mvn', ['-q', 'dependency:copy', `-Dartifact=${JDBC}`, `-DoutputDirectory=${FOLDER}`], { timeout: WAIT_MS }),
  )
  return join(FOLDER, `${JDBC.split(':').slice(1).join('-')}.jar`)
}

for (const client of ['psycopg3', 'psycopg2', 'asyncpg', 'sqlalchemy', 'pandas', 'polars', 'adbc', 'duckdb', 'ibis'])
  test(`${client} reads the project and works in a workspace`, async () => {
    await python()
    assert.ok((await use(join(FOLDER, 'python', 'bin', 'python'), [join(HERE, 'clients.py'), client])) > 2)
  })

for (const client of ['postgresJs', 'nodePostgres', 'knex'])
  test(`${client} reads the project and works in a workspace`, async () => {
    await node()
    assert.ok((await use(process.execPath, [join(HERE, 'clients.mjs'), client])) > 2)
  })

for (const client of ['pgx', 'pq'])
  test(`${client} reads the project and works in a workspace`, async () => {
    assert.ok((await use(await go(), [client])) > 2)
  })

test('the JDBC driver reads the project and works in a workspace', async () => {
  assert.ok((await use('java', ['-cp', await jdbc(), join(HERE, 'PostgresClient.java')])) > 2)
})

test('psql runs its commands about tables', async () => {
  const shown = [
    '\\l',
    '\\dn',
    '\\dt',
    '\\dt *.*',
    '\\d',
    '\\d+ "in.c-main".orders',
    '\\du',
    '\\df',
    '\\di',
    '\\dp',
    '\\dv',
    '\\ds',
    'CREATE TEMP TABLE wanted (id INTEGER)',
    '\\d wanted',
    '\\dt',
    `\\copy wanted FROM PROGRAM 'seq 3'`,
    'SELECT * FROM wanted JOIN "in.c-main".orders ON orders.id = wanted.id::TEXT',
  ]
  const commands = [...shown, 'SELECT count(*) FROM "in.c-main".orders', 'COPY (SELECT 1 AS a) TO STDOUT (FORMAT csv, HEADER)']
  await mkdir(FOLDER, { recursive: true })
  const address = ['-h', '127.0.0.1', '-p', String(port), '-U', 'me', '-v', 'ON_ERROR_STOP=1', 'default']
  await use('psql', [...address, ...commands.flatMap((command) => ['-c', command])], { PGPASSWORD: stack.masterToken })
})
