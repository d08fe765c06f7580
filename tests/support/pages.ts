// The pages of the documentation that have commands, run as they stand, with what each must have done.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type CommandsRun, runCommandsOf } from './document-commands.ts'
import type { Job } from './shell-stack.ts'
import { type Answer, type RequestOptions, send, startTestStack, type TestScope, type TestStack } from './test-stack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MINUTE = 60_000

const textOf = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8')

/** In the order of the index, which a reader would follow. */
export const PAGES: readonly string[] = (() => {
  const index = [
    'README.md',
    ...Array.from(textOf('docs/README.md').matchAll(/\]\(([\w-]+\.md)\)/g), ([, name]) => `docs/${name}`),
  ]
  const all = new Set([
    ...index,
    ...['docs', 'docs/agents'].flatMap((folder) =>
      readdirSync(`${ROOT}/${folder}`)
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    ),
  ])
  return [...all].filter((path) => /^```sh$/m.test(textOf(path)))
})()

export interface PagesStack extends TestStack {
  /** Brings the next full minute forward, once for every schedule that a page activates. */
  hurry(isDue: () => Promise<boolean>): () => void
}

export async function startPagesStack(t: TestScope): Promise<PagesStack> {
  let aheadMs = 0
  const stack = await startTestStack(t, {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    worker: { path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] },
  })
  const hurry: PagesStack['hurry'] = (isDue) => {
    const watching = setInterval(async () => {
      if (!(await isDue())) return
      clearInterval(watching)
      aheadMs += MINUTE - ((Date.now() + aheadMs) % MINUTE)
    }, 300)
    return () => clearInterval(watching)
  }
  return { ...stack, hurry }
}

/** Runs one page with the token of a project, in an empty folder; answers how many commands it has. */
export async function runPage(t: TestContext, page: string, stack: PagesStack, token: string): Promise<number> {
  const request = (method: string, path: string, options: RequestOptions = {}) =>
    send(stack.url, method, path, { token, ...options })
  const stop = HURRIED.has(page)
    ? stack.hurry(async () => (await request('GET', '/scheduler/schedules')).json<unknown[]>().length > 0)
    : () => {}
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: token, MILLRACE_DATA_DIR: stack.dataDir }
  const run = await runCommandsOf(t, page, env).finally(stop)
  await CHECKS[page]?.({ run, request })
  return run.commands
}

/** Pages that wait for a schedule to fire. */
const HURRIED = new Set(['docs/walkthrough.md'])

interface Done {
  readonly run: CommandsRun
  readonly request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
}

const rowsOf = async ({ request }: Done, table: string): Promise<number> =>
  (await request('GET', `/v2/storage/tables/${table}`)).json<{ rowsCount: number }>().rowsCount

/** Beyond that no command failed. */
const CHECKS: Readonly<Record<string, (done: Done) => Promise<void>>> = {
  'README.md': async (done) => {
    const { run, request } = done
    assert.ok((await rowsOf(done, 'in.c-keboola-ex-generic-v2-shop.orders')) >= 250)
    assert.ok((await rowsOf(done, 'in.c-keboola-ex-generic-v2-shop.orders_items')) > 250)
    const detail = await request('GET', '/v2/storage/components/keboola.ex-generic-v2/configs/shop')
    assert.doesNotMatch(detail.text, /lovelace/)
    const [bad, shop] = (await request('GET', '/queue/jobs')).json<Job[]>()
    assert.deepEqual([shop!.status, bad!.status], ['success', 'error'])
    assert.ok(textOf('README.md').includes(bad!.result.message), `the README quotes: ${bad!.result.message}`)
    assert.ok(run.output.includes(bad!.result.message), 'the command does not say why the run failed')
  },
  'docs/agents/change-configurations.md': async ({ run }) => {
    assert.match(await run.readFile('plan.txt'), /skill/)
    assert.match(await run.readFile('diff.txt'), /select 2 as id/)
  },
  'docs/agents/propose-changes.md': async ({ run, request }) => {
    assert.match(await run.readFile('rehearsal.txt'), /1 row differs in 1 table/)
    assert.match(await run.readFile('review.txt'), /price::int > 15/)
    const kept = await request('GET', '/v2/storage/components/keboola.duckdb-transformation/configs/proposed')
    assert.doesNotMatch(kept.text, /price::int/, 'production is as it was')
  },
  'docs/tutorial.md': async (done) => {
    const runs = await done.request('GET', '/v2/storage/tables/in.c-tutorial.orders/data-tests/runs')
    const [first, inFlow] = runs.json<{ status: string }[]>().toReversed()
    assert.deepEqual([first?.status, inFlow?.status], ['passed', 'passed'], 'the tests run alone, and in the load of the flow')
    assert.ok((await rowsOf(done, 'out.c-tutorial.revenue')) >= 1)
  },
  'docs/sample-api.md': async (done) => {
    assert.equal(await rowsOf(done, 'in.c-keboola-ex-generic-v2-both.customers'), 57)
    assert.equal(await rowsOf(done, 'in.c-keboola-ex-generic-v2-both.orders'), 250)
  },
  'docs/flows.md': async ({ run }) => {
    assert.match(
      await run.readFile('run.txt'),
      /✔ Flow \d+ {2}success.*✔ Extract.*✔ Transform.*└─ ✔ Export.*3 tasks were processed\./s,
    )
    const orders = await run.readFile('orders.csv')
    assert.match(orders, /^"?orders"?,"?revenue"?\n"?25\d"?,/, 'the shop keeps 250 orders, and gets new ones')
    assert.equal(await run.readFile('totals.csv'), orders, 'the totals by customer add up to those of all orders')
    const files = await run.readJson<{ name: string }[]>('files.json')
    assert.equal(files[0]?.name, 'table.csv')
  },
  'docs/walkthrough.md': async ({ run }) => {
    assert.equal(await run.readFile('joined.csv'), '"1","Ann"\n"2","Bob"\n"3","Cyril"\n')
    const versions = await run.readJson<{ version: number; changeDescription: string }[]>('versions.json')
    assert.deepEqual(
      versions.map(({ version }) => version),
      [4, 3, 2, 1],
    )
    assert.equal(versions[0]?.changeDescription, 'Greet all users')
    assert.equal((await run.readJson<{ version: string }>('rolled-back.json')).version, '5')
    assert.match((await run.readJson<{ id: string }>('copy.json')).id, /^\w+$/)
    const { executions } = await run.readJson<{ executions: { status: string }[] }>('fired.json')
    assert.equal(executions[0]?.status, 'started')
  },
  'docs/getting-data-out.md': async ({ run }) => {
    assert.equal(await run.readFile('table.csv'), '"id","amount"\n"1","10"\n"2","20"\n')
    assert.equal(await run.readFile('table.jsonl'), '{"id":"1","amount":"10"}\n{"id":"2","amount":"20"}\n')
    assert.match(await run.readFile('table.parquet'), /^PAR1.*PAR1$/s)
  },
  'docs/schedules.md': async ({ run }) => {
    assert.equal((await run.readJson<unknown[]>('preview.json')).length, 3)
    assert.equal((await run.readJson<unknown[]>('next.json')).length, 5)
  },
  'docs/notifications.md': async ({ run }) => {
    const { id } = await run.readJson<{ id: string }>('job.json')
    const messages = (await run.readFile('messages.jsonl')).trim().split('\n')
    assert.deepEqual(
      messages.map((line) => JSON.parse(line).job.id as string),
      ['0', id],
    )
    assert.match(await run.readFile('log.txt'), /job-failed .* delivered +1 +200 thanks/)
  },
  'docs/streams.md': async ({ run }) => {
    const orders = (await run.readFile('orders.csv')).trim().split('\n')
    assert.deepEqual(orders.slice(1).sort(), ['"",""," "', '"7","Ann","sale 7"', '"8",""," 8"'].sort())
    assert.equal(await run.readFile('spans.csv'), '"name","service"\n"GET /orders","shop"\n')
  },
  'docs/files.md': async ({ run }) => {
    assert.equal(await run.readFile('back.csv'), 'id,name\n1,Ann\n2,Bob\n')
    assert.equal((await run.readJson<{ sizeBytes: number }>('imported.json')).sizeBytes, 20)
    assert.equal((await run.readJson<unknown[]>('found.json')).length, 2)
  },
}
