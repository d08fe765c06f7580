// What can be watched: every number that the alert rules and the dashboard name exists, and is correct.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const RULES = new URL('../../deploy/prometheus/millrace.rules.yaml', import.meta.url)
const DASHBOARD = new URL('../../deploy/grafana/millrace.json', import.meta.url)

/** What Prometheus itself adds. */
const NOT_OURS = new Set(['up'])
const WORDS = /\b(?!by\b|max\b|sum\b|rate\b|increase\b|unless\b|or\b|time\b|abs\b|histogram_quantile\b)[a-z][a-z_0-9]+\b/g

/** Names of metrics in an expression: words outside of braces, brackets and the lists of `by`. */
const metricsIn = (expression: string): readonly string[] =>
  expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|\d+e\d+/g, ' ')
    .match(WORDS)
    ?.filter((name) => !NOT_OURS.has(name)) ?? []

async function expressions(): Promise<readonly string[]> {
  const rules = parse(await readFile(RULES, 'utf8')) as { groups: { rules: { expr: string }[] }[] }
  const dashboard = JSON.parse(await readFile(DASHBOARD, 'utf8')) as { panels: { targets: { expr: string }[] }[] }
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap((panel) => panel.targets.map(({ expr }) => expr)),
  ]
}

test('every number that the alert rules and the dashboard name is exposed', async (t) => {
  const { request } = await startTestStack(t)
  await request('GET', '/health')
  const { text } = await request('GET', '/metrics')
  const exposed = new Set(text.split('\n').map((line) => line.split(/[{ ]/)[0]))
  const named = new Set((await expressions()).flatMap(metricsIn))
  assert.ok(named.size > 10, [...named].join(' '))
  for (const name of named) assert.ok(exposed.has(name), `${name} is not exposed`)
})

test('queues, outcomes, storage and schedules are counted as they are', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-metrics-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await mkdir(join(dataDir, 'components'))
  const go = join(dataDir, 'go')
  const script = `while [ ! -e ${go} ]; do sleep 0.05; done; exit $(cat ${go})`
  const data = { definition: { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', script] } }
  await writeFile(
    join(dataDir, 'components/test.wait.json'),
    JSON.stringify({ id: 'test.wait', type: 'application', name: 'wait', hasRun: true, data }),
  )
  const { request } = await startTestStack(t, { dataDir })
  const read = async (name: string): Promise<number> => {
    const line = (await request('GET', '/metrics')).text.split('\n').find((one) => one.startsWith(`${name} `))
    assert.ok(line, name)
    return Number(line.split(' ')[1])
  }
  const depth = (status: string) => read(`millrace_queue_depth{queue="jobs",status="${status}"}`)
  const ended = (outcome: string) => read(`millrace_jobs_ended_total{queue="jobs",outcome="${outcome}"}`)
  assert.deepEqual([await depth('processing'), await depth('waiting'), await ended('error')], [0, 0, 0])
  assert.equal(await read('millrace_oldest_waiting_job_seconds{queue="jobs"}'), 0)

  const config = await request('POST', '/v2/storage/components/test.wait/configs', { json: { name: 'c', configuration: {} } })
  const run = () => request('POST', '/queue/jobs', { json: { component: 'test.wait', config: config.json().id, mode: 'run' } })
  await run()
  await until('the first job runs', async () => (await depth('processing')) === 1)
  await run() // the same configuration: it waits for the first
  await until('the second job waits', async () => (await depth('waiting')) === 1)
  await until('it has waited for a while', async () => (await read('millrace_oldest_waiting_job_seconds{queue="jobs"}')) > 0)

  await writeFile(`${go}.new`, '1')
  await rename(`${go}.new`, go) // with its content, or not at all
  await until('both failed', async () => (await ended('error')) === 2)
  assert.deepEqual([await depth('processing'), await depth('waiting'), await ended('success')], [0, 0, 0])
  assert.equal(await read('millrace_oldest_waiting_job_seconds{queue="jobs"}'), 0)
  assert.equal(await read('millrace_schedule_lag_seconds'), 0)
  assert.ok((await read('millrace_disk_free_bytes')) > 0)
  assert.ok((await read('millrace_disk_free_bytes')) <= (await read('millrace_disk_size_bytes')))
  assert.equal(await read('millrace_table_work{lane="long",state="waiting"}'), 0)
})
