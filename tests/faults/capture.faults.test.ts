// A continuous change capture, while the stack, the source and the network between them are killed and a writer never stops: in the end the
// table equals the source, and it was read whole once.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { chance, count, kills, SEED } from '../support/chance.ts'
import { frozenProxy } from '../support/servers/frozen-proxy.ts'
import { startPostgres } from '../support/servers/postgres-server.ts'
import { connectionTo } from '../support/servers/source-database.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(3, 1_000)
const COMPONENT = 'platform.ex-database-changes'
const ID = 'live'
const TABLE = `"in.c-platform-ex-database-changes-${ID}".busy`
const below = (number: number) => Math.floor(chance() * number)

/** A server of its own, since it is killed. Statements are tried until they succeed. */
async function startSource(t: TestContext) {
  const server = await startPostgres()
  t.after(server.stop)
  let client: pg.Client | undefined
  const connected = async (): Promise<pg.Client> => {
    if (client) return client
    const next = new pg.Client({ connectionString: server.url, options: '-c synchronous_commit=on' })
    next.on('error', () => {
      client = undefined
    })
    await next.connect()
    client = next
    return next
  }
  const run = (sql: string): Promise<pg.QueryResult> =>
    until('the source answers', async () => {
      try {
        return await (await connected()).query(sql)
      } catch (error) {
        if (/^(22|23|42)/.test((error as { code?: string }).code ?? '')) throw error // the test is wrong
        client = undefined
        return false
      }
    })
  t.after(async () => client?.end().catch(() => {}))
  return { url: server.url, run }
}

type Source = Awaited<ReturnType<typeof startSource>>

async function writeAlways({ run }: Source, isOver: () => boolean): Promise<void> {
  for (let n = 1; !isOver(); n++) {
    const id = below(3000)
    const statements = [
      `insert into busy values (${id}, ${n}, 'insert') on conflict (id) do update set n = busy.n + 1`,
      `update busy set n = n + 1, word = repeat('u', ${below(50)}) where id between ${id} and ${id + 30}`,
      `delete from busy where id between ${id} and ${id + 3}`,
      `update busy set id = ${id + 5000} where id = ${id} and not exists (select 1 from busy where id = ${id + 5000})`,
    ]
    await run(statements[below(statements.length)] ?? '')
    await new Promise((resolve) => setTimeout(resolve, 5)) // it leaves the machine something to do
  }
}

const FAULTS = {
  async stack(stack: Stack): Promise<void> {
    await stack.kill()
    await stack.start()
  },
  /** Kills a process of the server, which then ends all others and recovers from its log. */
  async source(_: Stack, { run }: Source): Promise<void> {
    const { rows } = await run(
      "select pid from pg_stat_activity where backend_type in ('walsender', 'client backend') order by random() limit 1",
    )
    process.kill(Number(rows[0].pid), 'SIGKILL')
  },
  async network(_: Stack, __: Source, way: Awaited<ReturnType<typeof frozenProxy>>): Promise<void> {
    way.cut()
    await new Promise((resolve) => setTimeout(resolve, below(200)))
    way.join()
  },
}

test(`${KILLS} kills of stack, source and network: no change is lost, and nothing is read whole again`, async (t) => {
  const source = await startSource(t)
  const way = await frozenProxy(source.url)
  t.after(way.close)
  await source.run(`create table busy (id int primary key, n int, word text); insert into busy select i, 0, 'start' from generate_series(1, 2000) as i;
    create table marks (id int primary key)`)
  const stack = await startStack(t, { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1', MILLRACE_JOB_ATTEMPTS: '100' } })
  const tables = [{ tableName: 'busy' }, { tableName: 'marks' }]
  const parameters = { db: connectionTo(way.url), tables, continuousMinutes: 300, batchSeconds: 0.2 }
  await stack.post(`/v2/storage/components/${COMPONENT}/configs`, {
    configurationId: ID,
    name: ID,
    configuration: { parameters },
  })

  const ask = async (sql: string): Promise<string[]> => {
    const { status, body } = await stack.post('/v2/storage/query', { sql })
    return status === 200 ? (body as { rows: unknown[][] }).rows.map(String).sort() : []
  }
  const isRunning = async (): Promise<boolean> => {
    const { body } = await stack.get(`/queue/jobs?component=${COMPONENT}&limit=1`)
    return (body as { isFinished: boolean }[])[0]?.isFinished === false
  }
  /** Until a change that is made now has arrived; a job that has ended is followed by another one. */
  const caughtUp = async (mark: number, what: string): Promise<void> => {
    await source.run(`insert into marks values (${mark}) on conflict do nothing`)
    await until(`mark ${mark} arrives after a fault of the ${what} (seed ${SEED})`, async () => {
      if (!(await isRunning())) await stack.post('/queue/jobs', { component: COMPONENT, config: ID, mode: 'run' })
      const sql = `select id from "in.c-platform-ex-database-changes-${ID}".marks where id = ${mark}`
      return (await ask(sql)).length === 1
    })
  }

  let isOver = false
  const writing = writeAlways(source, () => isOver)
  try {
    await caughtUp(0, 'start')
    const names = Object.keys(FAULTS) as (keyof typeof FAULTS)[]
    for (let kill = 1; kill <= KILLS; kill++) {
      const name = KILLS <= names.length ? names[kill - 1]! : names[below(names.length)]! // each at least once
      await FAULTS[name](stack, source, way)
      count('kills')
      await caughtUp(kill, name)
    }
  } finally {
    isOver = true
    await writing
  }
  await caughtUp(KILLS + 1, 'end')
  const { rows } = await source.run('select id, n, word from busy')
  const expected = rows.map((row) => Object.values(row).join(',')).sort()
  await until(
    'the table equals the source',
    async () => (await ask(`select id, n, word from ${TABLE}`)).join(' ') === expected.join(' '),
  )
  const q = encodeURIComponent('message:"whole"')
  const { body } = await stack.get(`/v2/storage/events?component=${COMPONENT}&q=${q}&limit=100`)
  const whole = (body as { message: string }[]).map(({ message }) => message).filter((one) => one.startsWith('Read '))
  assert.equal(whole.length, 2, `each table was read whole once (seed ${SEED}): ${whole.join(' ')}`)
})
