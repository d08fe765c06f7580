import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

test('a table is loaded, looked at, exported, kept, restored and deleted from the command line', async (t) => {
  const { url, masterToken } = await startTestStack(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const millrace = (...args: string[]) => runCli(args, { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken }, { cwd: folder })
  const succeed = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await millrace(...args)
    assert.equal(code, 0, `${args.join(' ')}: ${out}${err}`)
    return out
  }
  await writeFile(join(folder, 'orders.csv'), 'id;city\n1;Praha\n2;Brno\n')
  await writeFile(join(folder, 'more.csv'), 'id,city\n2,Ostrava\n3,Brno\n')

  assert.match(
    await succeed('table', 'import', 'in.c-main.orders', 'orders.csv', '--delimiter', ';', '--primary-key', 'id'),
    /has 2 rows/,
  )
  assert.match(await succeed('table', 'import', 'in.c-main.orders', 'more.csv', '--incremental'), /has 3 rows now/)
  await writeFile(join(folder, 'one.csv'), 'id\n1\n')
  assert.match(await succeed('table', 'import', 'in.c-main.one', 'one.csv'), /has 1 row\n/)
  assert.match(await succeed('table', 'import', 'in.c-main.one', 'one.csv'), /has 1 row now\n/)
  await succeed('table', 'drop', 'in.c-main.one')
  assert.match(await succeed('table', 'preview', 'in.c-main.orders', '--where', 'id>=2', '--columns', 'city,id'), /^city +id\n/)
  await succeed('table', 'export', 'in.c-main.orders', 'out.csv', '--where', 'city!=Praha', '--columns', 'id')
  assert.deepEqual((await readFile(join(folder, 'out.csv'), 'utf8')).trim().split('\n').sort(), ['"2"', '"3"', '"id"'])
  assert.equal(await succeed('table', 'export', 'in.c-main.orders', '--where', 'id=1'), '"id","city"\n"1","Praha"\n')
  assert.equal(
    await succeed('table', 'export', 'in.c-main.orders', '--where', 'id=1', '--format', 'jsonl'),
    '{"id":"1","city":"Praha"}\n',
  )
  assert.match(await succeed('table', 'export', 'in.c-main.orders', '--format', 'parquet'), /^PAR1.*PAR1$/s)
  const listed = JSON.parse(await succeed('table', 'list', '--json')) as { id: string; rowsCount: number }[]
  assert.deepEqual(
    listed.map(({ id, rowsCount }) => [id, rowsCount]),
    [['in.c-main.orders', 3]],
  )
  assert.match(await succeed('table', 'history', 'in.c-main.orders'), /^The history of in\.c-main\.orders is disabled/)
  const kept = JSON.parse(await succeed('table', 'history', 'in.c-main.orders', 'on', '--json')) as { historyTableId: string }
  assert.equal(kept.historyTableId, 'in.c-main.orders_history')
  assert.match(await succeed('table', 'history', 'in.c-main.orders', 'off'), /is disabled/)
  const snapshot = JSON.parse(await succeed('table', 'snapshot', 'in.c-main.orders', '--json')) as { id: string }
  await succeed('table', 'restore', snapshot.id, 'in.c-main.copy')
  assert.match(await succeed('bucket', 'show', 'in.c-main'), /in\.c-main\.copy +3/)
  const exporting = await fetch(`${url}/v2/storage/tables/in.c-main.copy/export-async`, {
    method: 'POST',
    headers: { 'X-StorageApi-Token': masterToken },
  })
  const job = (await exporting.json()) as { id: number; url: string }
  assert.equal(await succeed('job', 'wait', String(job.id), '--storage'), `Job ${job.id} success\n`)
  assert.equal(await succeed('job', 'wait', job.url), `Job ${job.id} success\n`)
  assert.equal((await millrace('job', 'wait', '987654', '--storage')).code, 1)
  await succeed('table', 'drop', 'in.c-main.orders')
  const refused = await millrace('bucket', 'drop', 'in.c-main')
  assert.deepEqual([refused.code, /There are \d+ tables/.test(refused.err)], [1, true])
  assert.match(await succeed('bucket', 'drop', 'in.c-main', '--force'), /is gone/)
  await writeFile(join(folder, 'bad.csv'), 'id\n"1\n')
  await succeed('bucket', 'create', 'main')
  const broken = await millrace('table', 'create', 'in.c-main.bad', 'bad.csv')
  assert.deepEqual([broken.code, /line 2/.test(broken.err)], [1, true])
})
