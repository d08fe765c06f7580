// The extractor through the platform (queue, data folder, load into a table, state) against the same extraction by the program alone.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { startStack } from '../tests/faults/stack.ts'
import { inTurns, report } from './measure.ts'

const PAGES = 300
const ITEMS = 1_000
const MAIN = fileURLToPath(new URL('../components/http-extractor/src/main.ts', import.meta.url))

if (isMainThread) await measure()
else serve()

/** In a thread of its own: the program alone is run synchronously. */
function serve(): void {
  const page = (first: number) =>
    JSON.stringify(
      Array.from({ length: ITEMS }, (_, n) => ({ id: first + n, name: `name ${first + n}`, amount: n * 1.5, tag: 'x' })),
    )
  const pages = Array.from({ length: PAGES }, (_, n) => page(n * ITEMS + 1))
  const server = createServer((request, response) => {
    const offset = Number(new URL(request.url ?? '', 'http://api').searchParams.get('offset') ?? 0)
    response.writeHead(200, { 'content-type': 'application/json' }).end(pages[offset / ITEMS] ?? '[]')
  })
  server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port)) // a TCP server has a port
}

async function measure(): Promise<void> {
  const api = new Worker(new URL(import.meta.url))
  const port = await new Promise<number>((resolve) => api.once('message', resolve))
  const parameters = {
    api: { baseUrl: `http://127.0.0.1:${port}/`, pagination: { method: 'offset', limit: ITEMS } },
    config: { jobs: [{ endpoint: 'items', dataType: 'items' }] },
  }
  const cleanups: Array<() => unknown> = [() => api.terminate()]
  const env = { MILLRACE_EGRESS_ALLOW: '127.0.0.1' }
  const stack = await startStack({ after: (work) => cleanups.push(work as () => unknown) }, { env }) // it passes one function without parameters
  const created = await stack.post('/v2/storage/components/platform.ex-http/configs', {
    name: 'bench',
    configuration: { parameters },
  })
  const config = (created.body as { id: string }).id
  const seconds = await inTurns(3, { alone: () => runAlone(parameters), platform: () => runJob(stack, config) })
  report({
    bench: 'extractor-job',
    ratio: seconds.alone / seconds.platform,
    target: '>= 0.8',
    aloneSeconds: seconds.alone,
    platformSeconds: seconds.platform,
    rows: PAGES * ITEMS,
  })
  for (const cleanup of cleanups) await cleanup()
}

function runAlone(parameters: object): number {
  const data = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  for (const path of ['in', 'out/tables']) mkdirSync(join(data, path), { recursive: true })
  writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters }))
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [MAIN], { env: { KBC_DATADIR: `${data}/` }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the extractor ended with ${status}: ${stderr}`)
  rmSync(data, { recursive: true })
  return (performance.now() - started) / 1000
}

async function runJob(stack: Awaited<ReturnType<typeof startStack>>, config: string): Promise<number> {
  const started = performance.now()
  const { id } = (await stack.post('/queue/platform.ex-http/run', { config })).body as { id: string }
  for (;;) {
    const job = (await stack.get(`/queue/jobs/${id}`)).body as {
      status: string
      isFinished: boolean
      result: { message?: string }
    }
    if (job.isFinished && job.status !== 'success') throw new Error(job.result.message)
    if (job.isFinished) return (performance.now() - started) / 1000
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
