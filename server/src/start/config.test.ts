import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../kit/default-limits.ts'
import { DEFAULT_WORKER } from '../model/worker-settings.ts'
import { ConfigError, type Environment, readConfig, VARIABLES } from './config.ts'

const problemsOf = (environment: Environment) => {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.problems
  }
}

test('an empty environment gives the defaults', () => {
  const config = readConfig({})
  assert.deepEqual(config.listen, {
    host: '127.0.0.1',
    port: 8000,
    s3Port: 8001,
    sqlPort: undefined,
    drainTimeoutMs: 10_000,
    drainMs: 0,
    drainJobsMs: 0,
  })
  assert.equal(config.dataDir, resolve('data'))
  assert.deepEqual(config.roles, ['api', 'worker', 'scheduler'])
  assert.equal(config.database.url, undefined)
  assert.equal(config.s3.external, undefined)
  assert.equal(config.http.maintenance, undefined)
})

test('the object store listens on the next port, and on any when the stack does', () => {
  assert.equal(readConfig({ PORT: '9100' }).listen.s3Port, 9101)
  assert.equal(readConfig({ PORT: '0' }).listen.s3Port, 0)
  assert.equal(readConfig({ PORT: '0', MILLRACE_S3_PORT: '9' }).listen.s3Port, 9)
})

test('every bad value is reported at once, with name, value and reason', () => {
  const problems = problemsOf({
    PORT: 'http',
    MILLRACE_ROLES: 'api,cook',
    MILLRACE_PUBLIC_URL: 'data.example.com',
    MILLRACE_LOG_LEVEL: 'loud',
  })
  assert.deepEqual(
    problems.map(({ name, value }) => [name, value]),
    [
      ['PORT', 'http'],
      ['MILLRACE_PUBLIC_URL', 'data.example.com'],
      ['MILLRACE_ROLES', 'api,cook'],
      ['MILLRACE_LOG_LEVEL', 'loud'],
    ],
  )
  for (const { reason } of problems) assert.match(reason, /^is .*\.$/)
})

test('git repositories have a branch after #, and credentials go by host', () => {
  const { templateRepositories } = readConfig({
    MILLRACE_TEMPLATE_REPOSITORIES: 'https://git.example.com/team/a.git#release/1, http://other.example.com/b',
    MILLRACE_TEMPLATE_CREDENTIALS: 'https://ada:p%40ss@git.example.com',
  })
  assert.deepEqual(templateRepositories, [
    {
      url: 'https://git.example.com/team/a.git',
      ref: 'release/1',
      credentials: { origin: 'https://git.example.com', username: 'ada', password: 'p@ss' },
    },
    { url: 'http://other.example.com/b', ref: '', credentials: undefined },
  ])
  assert.equal(problemsOf({ MILLRACE_TEMPLATE_REPOSITORIES: 'https://ada:hush@git.example.com/a' }).length, 1)
  for (const wrong of [
    'git@example.com:a.git',
    'https://ada:hush@git.example.com/a',
    'https://git.example.com',
    'https://a.example/b#../c',
  ])
    for (const { name, value, reason } of problemsOf({ MILLRACE_TEMPLATE_REPOSITORIES: wrong }))
      assert.deepEqual([name, `${value} ${reason}`.includes('hush')], ['MILLRACE_TEMPLATE_REPOSITORIES', false])
  for (const wrong of ['hush', 'https://git.example.com', 'https://ada:%hush@git.example.com'])
    assert.equal(problemsOf({ MILLRACE_TEMPLATE_CREDENTIALS: wrong }).length, 1, wrong)
})

test('the value of a secret variable is never repeated', () => {
  const environment = {
    MILLRACE_ENCRYPTION_KEY: 'hunter2-key',
    MILLRACE_DATABASE_URL: 'mysql://root:hunter2@host/db',
    MILLRACE_MASTER_TOKEN: 'hunter2 is short',
    MILLRACE_S3_SECRET_ACCESS_KEY: 'hunter2 hunter2',
  }
  assert.throws(
    () => readConfig(environment),
    (error: Error) =>
      !error.message.includes('hunter2') && Object.keys(environment).every((name) => error.message.includes(name)),
  )
})

test('values that contradict each other are refused', () => {
  assert.match(problemsOf({ PORT: '9000', MILLRACE_S3_PORT: '9000' })[0]?.reason ?? '', /needs its own/)
  assert.match(problemsOf({ PORT: '65535' })[0]?.reason ?? '', /no next port/)
  assert.equal(problemsOf({ MILLRACE_S3_ENDPOINT: 'https://s3.example.com' }).length, 3)
  assert.match(problemsOf({ MILLRACE_S3_BUCKET: 'files' })[0]?.reason ?? '', /without MILLRACE_S3_ENDPOINT/)
})

test('set to nothing counts as not set', () => {
  assert.deepEqual(readConfig({ PORT: '', MILLRACE_MAINTENANCE: '  ' }), readConfig({}))
})

test('an external S3 is taken whole', () => {
  const { external, bucket } = readConfig({
    MILLRACE_S3_ENDPOINT: 'https://s3.example.com/',
    MILLRACE_S3_BUCKET: 'files',
    MILLRACE_S3_ACCESS_KEY_ID: 'id',
    MILLRACE_S3_SECRET_ACCESS_KEY: 'secret',
  }).s3
  assert.deepEqual(external, {
    endpoint: 'https://s3.example.com',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    roleArn: undefined,
  })
  assert.equal(bucket, 'files')
})

test('a key is 32 bytes, in hexadecimal or base64', () => {
  const bytes = Buffer.alloc(32, 7)
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    assert.deepEqual(
      Buffer.from(readConfig({ MILLRACE_ENCRYPTION_KEY: bytes.toString(encoding) }).secrets.encryptionKeys?.[0] ?? []),
      bytes,
    )
  assert.equal(problemsOf({ MILLRACE_ENCRYPTION_KEY: bytes.subarray(1).toString('base64') }).length, 1)
})

test('targets of the egress guard are hosts, networks and ports', () => {
  const good = [
    '*',
    'localhost',
    '*.internal.example',
    '10.0.0.0/8',
    'fd00::/8',
    '127.0.0.1:9000',
    '[::1]:9000',
    '::1',
    'api.local:80',
  ]
  assert.deepEqual(readConfig({ MILLRACE_EGRESS_ALLOW: good.join(', ') }).egressAllow, good)
  for (const bad of ['10.0.0.0/33', 'host:0', 'host:70000', 'http://host', 'a b', 'a,,b'])
    assert.equal(problemsOf({ MILLRACE_EGRESS_ALLOW: bad }).length, 1, bad)
})

test('misspelt variables are named, those of the tests are not', () => {
  assert.deepEqual(readConfig({ MILLRACE_DATADIR: 'x', MILLRACE_LONG: '1', MILLRACE_TEST_POSTGRES_URL: 'x' }).unknown, [
    'MILLRACE_DATADIR',
  ])
})

test('nobody can change the configuration', () => {
  const config = readConfig({ MILLRACE_ENCRYPTION_KEY: 'ab'.repeat(32) })
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.listen) && Object.isFrozen(config.roles))
})

test('docs/environment-variables.md lists the same variables, defaults and sentences, both ways', () => {
  const text = readFileSync(new URL('../../../docs/environment-variables.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, name, fallback, sentence]) => ({
    name,
    fallback,
    sentence,
  }))
  const known = Object.entries(VARIABLES).map(([name, spec]) => ({ name, fallback: spec.shownDefault, sentence: spec.sentence }))
  assert.deepEqual(documented, known)
})

test('an empty environment gives engines and modules what they use without one', () => {
  const { worker, sessions, tables, sql, apps, database, agentCallsPerDay } = readConfig({})
  // Tests run without isolation and reach their own servers.
  assert.deepEqual({ ...worker, isolation: DEFAULT_WORKER.isolation, egressAllow: [] }, DEFAULT_WORKER)
  assert.equal(worker.isolation.uid, DEFAULT_WORKER.isolation.uid)
  assert.deepEqual(
    { sessions, tables, sql, apps, agentCallsPerDay, databaseConnections: database.maxConnections },
    {
      sessions: DEFAULT_LIMITS.sessions,
      tables: DEFAULT_LIMITS.tables,
      sql: { ...DEFAULT_LIMITS.sql, ...DEFAULT_LIMITS.workspaces },
      apps: DEFAULT_LIMITS.apps,
      agentCallsPerDay: DEFAULT_LIMITS.agentCallsPerDay,
      databaseConnections: DEFAULT_LIMITS.databaseConnections,
    },
  )
})
