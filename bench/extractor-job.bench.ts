// The extractor through the platform (queue, data folder, load into tables, state) against the same extraction by the program alone. `thin`
// is the hardest case: rows of four short fields, which are parsed faster than any table can load them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { cpuSecondsBelow, inTurns, median, report, round, runNode, startBare } from './support/measure.ts'

const ITEMS = 200_000
const ROUNDS = 5
const MAIN = fileURLToPath(new URL('../components/http-extractor/src/main.ts', import.meta.url))

const cleanups: Array<() => unknown> = []
/** One warm table worker, as a stack has by default. */
const env = { MILLRACE_EGRESS_ALLOW: '127.0.0.1', MILLRACE_TABLE_WARM_WORKERS: '1' }
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }, { env }) // it passes one function without parameters
const api = await startBare('extractor-api.ts', String(ITEMS))

async function compare(endpoint: string) {
  const parameters = {
    api: { baseUrl: api.url, pagination: { method: 'cursor', idKey: 'id', param: 'since' } },
    config: { jobs: [{ endpoint, dataType: 'items', dataField: 'items', params: { since: 0 } }] },
  }
  await stack.post('/v2/storage/components/platform.ex-http/configs', {
    name: endpoint,
    configurationId: endpoint,
    configuration: { parameters },
  })
  await runJob(endpoint) // warm
  const cpu = { alone: [] as number[], platform: [] as number[] }
  const alone = async () => {
    const run = await runAlone(parameters)
    cpu.alone.push(run.cpuSeconds)
    return run.seconds
  }
  const platform = async () => {
    const before = cpuSecondsBelow([api.pid])
    const seconds = await runJob(endpoint)
    cpu.platform.push(cpuSecondsBelow([api.pid]) - before)
    return seconds
  }
  const wall = await inTurns(ROUNDS, { alone, platform })
  return { ...wall, aloneCpu: median(cpu.alone), platformCpu: median(cpu.platform) }
}

const full = await compare('items')
const thin = await compare('thin')
report({
  bench: 'extractor-job',
  ratio: full.alone / full.platform,
  target: '>= 0.8',
  items: ITEMS,
  aloneSeconds: round(full.alone),
  platformSeconds: round(full.platform),
  thinRatio: round(thin.alone / thin.platform),
  thinAloneSeconds: round(thin.alone),
  thinPlatformSeconds: round(thin.platform),
})
// The whole stack, its table workers included, while the job runs: what a run costs, however busy the machine is.
report({
  bench: 'extractor-job-cpu',
  ratio: full.platformCpu / full.aloneCpu,
  target: '<= 1.3',
  aloneCpuSeconds: round(full.aloneCpu),
  platformCpuSeconds: round(full.platformCpu),
  thinRatio: round(thin.platformCpu / thin.aloneCpu),
})
await api.stop()
for (const cleanup of cleanups) await cleanup()

async function runAlone(parameters: object) {
  const data = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  for (const path of ['in', 'out/tables']) mkdirSync(join(data, path), { recursive: true })
  writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters }))
  const run = await runNode([MAIN], { KBC_DATADIR: `${data}/` })
  rmSync(data, { recursive: true })
  return run
}

/** Waits on the stream of the job's events, which ends with the job: polling would take the processor from what is measured. */
async function runJob(config: string): Promise<number> {
  const started = performance.now()
  const { id } = (await stack.post('/queue/platform.ex-http/run', { config })).body as { id: string }
  const headers = { 'x-storageapi-token': stack.masterToken, accept: 'text/event-stream' }
  await (await fetch(`${stack.url}/queue/jobs/${id}/events`, { headers })).text()
  const seconds = (performance.now() - started) / 1000
  const job = (await stack.get(`/queue/jobs/${id}`)).body as { status: string; result: { message?: string } }
  if (job.status !== 'success') throw new Error(job.result.message ?? job.status)
  return seconds
}
