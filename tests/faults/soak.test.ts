// Many runs, one after the other: the memory of the stack stays where it was, and an idle stack gives it back.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const RUNS = process.env.MILLRACE_LONG ? 1_000 : 30
const IDLE_LIMIT_MB = 300

interface Process {
  readonly pid: number
  readonly parent: number
  readonly residentMb: number
}

async function addComponent(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'components'), { recursive: true })
  const command = ['/bin/sh', '-c', `printf 'id,v\\n1,a\\n2,b\\n' > "$KBC_DATADIR/out/tables/in.c-soak.t.csv"`]
  const description = { id: 'test.soak', type: 'extractor', name: 'soak', hasRun: true }
  const data = { definition: { type: 'command', uri: '', tag: '1', command } }
  await writeFile(join(dataDir, 'components', 'test.soak.json'), JSON.stringify({ ...description, data }))
}

async function runOnce(stack: Stack): Promise<void> {
  const { id } = (await stack.post('/queue/jobs', { component: 'test.soak', configData: {} })).body as { id: string }
  const status = await until(`job ${id} has ended`, async () => {
    const job = (await stack.get(`/queue/jobs/${id}`)).body as { isFinished: boolean; status: string }
    return job.isFinished && job.status
  })
  assert.equal(status, 'success')
}

/** The server, and everything that it started. */
async function residentMb(stack: Stack): Promise<{ readonly server: number; readonly all: number }> {
  const server = Number(await readFile(join(stack.dataDir, 'stack.pid'), 'utf8'))
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = (await Promise.all(pids.map(processOf))).flatMap((one) => one ?? [])
  const family = new Set([server])
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { pid, parent } of found) if (family.has(parent)) family.add(pid)
  }
  const sum = (some: readonly Process[]) => some.reduce((total, { residentMb }) => total + residentMb, 0)
  return { server: sum(found.filter(({ pid }) => pid === server)), all: sum(found.filter(({ pid }) => family.has(pid))) }
}

async function processOf(pid: string): Promise<Process | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '') // it may just have ended
  const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return status === '' ? undefined : { pid: Number(pid), parent: number('PPid'), residentMb: number('VmRSS') / 1024 }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

test(`the memory of the server is flat over ${RUNS} runs`, async (t) => {
  const stack = await startStack(t)
  await addComponent(stack.dataDir)
  await until('the component is known', async () => (await stack.get('/v2/storage/components/test.soak')).status === 200)
  await stack.post('/v2/storage/buckets', { name: 'soak', stage: 'in' })
  const measured: number[] = []
  for (let run = 0; run < RUNS; run++) {
    await runOnce(stack)
    measured.push((await residentMb(stack)).server)
  }
  const [first, middle, last] = [0, 1, 2].map((third) => median(measured.slice((third * RUNS) / 3, ((third + 1) * RUNS) / 3)))
  t.diagnostic(`server: ${first!.toFixed(0)} MB, ${middle!.toFixed(0)} MB, ${last!.toFixed(0)} MB in each third of ${RUNS} runs`)
  // Caches fill in the first third; what still grows afterwards would grow for ever.
  assert.ok(last! < middle! * 1.15, `${middle} MB, then ${last} MB`)
  if (!process.env.MILLRACE_LONG) return
  await until(`the idle stack has less than ${IDLE_LIMIT_MB} MB`, async () => (await residentMb(stack)).all < IDLE_LIMIT_MB)
  t.diagnostic(`idle: ${(await residentMb(stack)).all.toFixed(0)} MB with all processes`)
})
