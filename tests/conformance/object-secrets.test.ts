// Z1 of corrections-2: what stands below a name with # is a secret, also an object or a list of objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pino from 'pino'
import { createEncryption } from '../../server/src/services/access/encryption/encryption.ts'
import { sealStored } from '../../server/src/services/configuration/configurations/sealing.ts'
import { sealStoredJobs } from '../../server/src/services/jobs/queue/sealing.ts'
import { openCore } from '../../server/src/wiring/core.ts'
import { type Job, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()
const SECRET = { user: 'canary-user', port: 5432, on: true, list: [{ password: 'canary-password' }], none: null }
const LIST = [{ password: 'canary-of-a-list' }]
const CIPHER = /^KBC::ProjectSecure::[\w+/=]+$/

interface Stored {
  readonly id: string
  readonly version: number
  readonly configuration: { readonly parameters: Record<string, unknown> }
  readonly state: Record<string, unknown>
}

test('Z1: a configuration, its rows and states keep objects below # as ciphers, and versions, copies and branches carry them', async () => {
  const { add, request, ok } = await withOk()
  await add('test.objects', 'true')
  const C = '/v2/storage/components/test.objects/configs'
  const parameters = { '#credentials': SECRET, '#list': LIST, plain: 1 }
  const made = await ok<Stored>('POST', C, { name: 'n', configuration: { parameters }, state: { component: { '#s': SECRET } } })
  const sealed = made.configuration.parameters
  assert.match(String(sealed['#credentials']), CIPHER)
  assert.match(String(sealed['#list']), CIPHER)
  assert.match(String((made.state.component as Record<string, unknown>)['#s']), CIPHER)
  await ok('PUT', `${C}/${made.id}/state`, { state: { component: { '#s': SECRET } } })
  const row = await ok<Stored>('POST', `${C}/${made.id}/rows`, { rowId: 'r', configuration: { parameters } })
  assert.match(String(row.configuration.parameters['#credentials']), CIPHER)

  const again = await ok<Stored>('PUT', `${C}/${made.id}`, { configuration: { parameters } })
  assert.equal(again.version, 2, 'the same clear value makes no version')
  const pushed = await ok<Stored>('PUT', `${C}/${made.id}`, { configuration: { parameters: sealed } })
  assert.equal(pushed.version, 2, 'nor does its cipher')
  const changed = { ...parameters, '#credentials': { ...SECRET, port: 1 } }
  const other = await ok<Stored>('PUT', `${C}/${made.id}`, { configuration: { parameters: changed } })
  assert.equal(other.version, 3)
  assert.equal(other.configuration.parameters['#list'], sealed['#list'], 'what did not change keeps its cipher')
  await ok('POST', `${C}/${made.id}/versions/2/rollback`, {})
  const back = await ok<Stored>('GET', `${C}/${made.id}`)
  assert.deepEqual(back.configuration.parameters, sealed)
  const copy = await ok<Stored>('POST', `${C}/${made.id}/versions/2/create`, { name: 'copy' })
  assert.deepEqual((await ok<Stored>('GET', `${C}/${copy.id}`)).configuration.parameters, sealed)
  const seen = [
    `${C}/${made.id}`,
    `${C}/${made.id}/versions/2`,
    `${C}/${made.id}/rows/r/effective`,
    C,
    '/v2/storage/components?include=configuration,rows,state',
  ]
  for (const path of seen) assert.doesNotMatch((await request('GET', path)).text, /canary|5432/, path)
})

test('Z1: a run gets the object, and its texts are hidden in events, errors and the state', async () => {
  const { add, configure, request, ok, wait } = await withOk()
  const state = JSON.stringify({ '#kept': { token: 'canary-of-state' } })
  const script = `cat "$KBC_DATADIR/config.json"; echo '${state}' > "$KBC_DATADIR/out/state.json"; grep -q '"port":5432,"on":true' "$KBC_DATADIR/config.json" || exit 1; grep -q canary-filled-in "$KBC_DATADIR/config.json" || exit 1; echo canary-password >&2; [ -z "$(grep '"fail":true' "$KBC_DATADIR/config.json")" ] || { echo failed with canary-of-a-list >&2; exit 1; }`
  await add('test.uses', script)
  const V = '/v2/storage/components/keboola.variables/configs'
  const variables = { variables: [{ name: 'pw', type: 'string' }] }
  await ok('POST', V, { name: 'v', configurationId: 'vz1', configuration: variables })
  const mixed = { user: 'canary-of-mixed', password: '{{ pw }}' }
  const config = await configure('test.uses', {
    parameters: { '#credentials': SECRET, '#list': LIST, '#mixed': mixed },
    variables_id: 'vz1',
  })
  const run = async (body: object) =>
    wait(
      await ok<Job>('POST', '/queue/jobs', {
        component: 'test.uses',
        variableValuesData: { values: [{ name: 'pw', value: 'canary-filled-in' }] },
        ...body,
      }),
    )
  const shown = async (job: Job) => JSON.stringify(job) + (await request('GET', `/queue/jobs/${job.id}/events`)).text
  const good = await run({ config })
  assert.equal(good.status, 'success', JSON.stringify(good))
  assert.doesNotMatch((await shown(good)).replaceAll('canary-filled-in', ''), /canary/)
  const after = await ok<Stored>('GET', `/v2/storage/components/test.uses/configs/${config}`)
  assert.match(JSON.stringify(after.state), /"#kept":"KBC::ProjectSecure::/)
  const parameters = { '#credentials': SECRET, '#list': LIST, '#pw': { p: 'canary-filled-in' }, fail: true }
  const bad = await run({ configData: { parameters }, variableValuesData: undefined })
  assert.equal(bad.status, 'error')
  assert.doesNotMatch(await shown(bad), /canary/)
})

test('Z1: what was stored in clear before is sealed after a start, in every version and in jobs', async (t) => {
  const { add, configure, request, ok, wait, platform, projectId, dataDir } = await withOk()
  await add('test.old', 'true')
  const parameters = { '#credentials': { password: 'x' } }
  const config = await configure('test.old', { parameters }, [
    { rowId: 'r', configuration: { parameters }, state: { '#s': { a: 'x' } } },
  ])
  const C = `/v2/storage/components/test.old/configs/${config}`
  await ok('PUT', C, { configuration: { parameters: { '#credentials': { password: 'y' } } } })
  const job = await wait(await ok<Job>('POST', '/queue/jobs', { component: 'test.old', configData: { parameters } }))
  const { db, inTransaction } = platform.metadata
  const clear = '{"parameters":{"#credentials":{"password":"canary-in-clear"}}}'
  const mine = sql`project_id = ${projectId}`
  await inTransaction(async (trx) => {
    await sql`update configuration set state = ${clear}, secrets_stale = 1 where ${mine}`.execute(trx)
    await sql`update configuration_version set content = ${clear} where ${mine} and content is not null`.execute(trx)
    await sql`update configuration_row set content = ${clear}, state = ${clear} where ${mine}`.execute(trx)
    await sql`update configuration_row_version set content = ${clear} where ${mine}`.execute(trx)
    await sql`update queue_job set config_data = ${clear}, secrets_stale = 1 where ${mine}`.execute(trx)
    await sql`update job_state_text set content = ${clear} where ${mine}`.execute(trx)
  })
  const paths = [C, `${C}/versions/1`, `${C}/versions/2`, `${C}/rows/r`, `${C}/rows/r/versions/1`, `/queue/jobs/${job.id}`]
  const texts = async () => (await Promise.all(paths.map(async (path) => (await request('GET', path)).text))).join('\n')
  const log = { warn: (details: object, text: string) => assert.fail(`${text} ${JSON.stringify(details)}`) }
  const core = await openCore({ dataDir, log: pino({ level: 'silent' }) })
  t.after(() => core.metadata.close())
  const { secretsOf, encrypterOf } = createEncryption({ keyRing: core.keyRing, componentNames: (id) => [id] })
  await sealStored({ db, inTransaction, secretsOf, log })
  await sealStoredJobs({ db, inTransaction, encrypterOf, log })
  const sealed = await texts()
  assert.doesNotMatch(sealed, /canary/)
  assert.match(sealed, /KBC::ProjectSecure::/)
  const left = await sql<{ n: number }>`select
    (select count(*) from job_state_text where ${mine} and content like '%canary%')
    + (select count(*) from configuration where ${mine} and secrets_stale = 1)
    + (select count(*) from queue_job where ${mine} and secrets_stale = 1) as n`.execute(db)
  assert.equal(Number(left.rows[0]!.n), 0)
  await sealStored({ db, inTransaction, secretsOf, log })
  assert.equal(await texts(), sealed, 'once is enough')
})

async function withOk() {
  const stack = await startProject()
  const ok = async <T = unknown>(method: string, path: string, json?: object): Promise<T> => {
    const answer = await stack.request(method, path, json === undefined ? {} : { json })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer.json<T>()
  }
  return { ...stack, ok }
}
