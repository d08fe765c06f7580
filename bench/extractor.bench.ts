// The HTTP extractor against Node's bare fetch and JSON.parse, both as processes of their own, over the same pages of the same API.
// EXTRACTOR_ITEMS changes the size of the runs (300,000), EXTRACTOR_LONG_ITEMS that of the long one for memory (1,000,000).

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, median, type NodeRun as Run, report, round, runNode, startBare } from './support/measure.ts'

const ROUNDS = 3
const items = Number(process.env.EXTRACTOR_ITEMS ?? 300_000)
const longItems = Number(process.env.EXTRACTOR_LONG_ITEMS ?? 1_000_000)
const program = fileURLToPath(new URL('../components/http-extractor/src/main.ts', import.meta.url))
const bare = fileURLToPath(new URL('support/extractor-bare.ts', import.meta.url))
const script = fileURLToPath(new URL('support/extractor-script.ts', import.meta.url))
const column = (destination: string) => ({ mapping: { destination } })
const scalars = ['name', 'email', 'active', 'score', 'created_at', 'country', 'note', 'deleted_at', 'kind']
const mappings = {
  items: {
    id: { mapping: { destination: 'id', primaryKey: true } },
    ...Object.fromEntries(
      [...scalars, 'address.street', 'address.city', 'address.zip'].map((path) => [path, column(path.replace('.', '_'))]),
    ),
    lines: { type: 'table', destination: 'items_lines', tableMapping: { sku: column('sku'), qty: column('qty') } },
  },
}

function extract(url: string, endpoint: string, more: object = {}, since = 0): Promise<Run> {
  const job = { endpoint, dataType: 'items', dataField: 'items', params: { since } }
  const pagination = { method: 'cursor', idKey: 'id', param: 'since' }
  return runConfiguration({ api: { baseUrl: url, pagination }, config: { jobs: [job], ...more } })
}

const runConfiguration = (configuration: object): Promise<Run> =>
  inFolder(async (dataDir) => {
    mkdirSync(join(dataDir, 'in'))
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify(configuration))
    const run = await runNode([program], { KBC_DATADIR: dataDir })
    if (statSync(join(dataDir, 'out', 'tables', 'items')).size === 0) throw new Error('The extractor wrote an empty table.')
    return run
  })

async function inFolder(work: (folder: string) => Promise<Run>): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'extractor-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const runs: Run[] = []
const noted = async (run: Promise<Run>) => {
  runs.push(await run)
  return runs.at(-1)!.seconds
}

const api = await startBare('extractor-api.ts', String(items))
const runBare = (endpoint: string, since: number) => runNode([bare, api.url + endpoint, String(since)])
const speed = await inTurns(ROUNDS, {
  bare: async () => (await runBare('items', 0)).seconds,
  automatic: () => noted(extract(api.url, 'items')),
  mapped: async () => (await extract(api.url, 'items', { mappings })).seconds,
})
const perSecond = (seconds: number) => Math.round(items / seconds)
const cpuSeconds = median(runs.map((run) => run.cpuSeconds))
report({
  bench: 'extractor-automatic',
  ratio: speed.bare / speed.automatic,
  target: '>= 0.5',
  items,
  rowsPerSecond: perSecond(speed.automatic),
  bareRowsPerSecond: perSecond(speed.bare),
})
report({
  bench: 'extractor-mapped',
  ratio: speed.bare / speed.mapped,
  target: '>= 0.6',
  items,
  rowsPerSecond: perSecond(speed.mapped),
  bareRowsPerSecond: perSecond(speed.bare),
})
report({
  bench: 'extractor-cpu',
  ratio: items / cpuSeconds / 34_000,
  target: '>= 1',
  rowsPerCpuSecond: perSecond(cpuSeconds),
  note: 'of 34,000 rows per CPU second, start of the process included',
})

// The same tables as a script of a page writes them. Processor time: what both wait for is the same.
const effort = await inTurns(ROUNDS, {
  script: async () => (await inFolder((folder) => runNode([script, `${api.url}items`, folder]))).cpuSeconds,
  automatic: async () => (await extract(api.url, 'items')).cpuSeconds,
})
report({
  bench: 'extractor-script',
  ratio: effort.automatic / effort.script,
  target: '<= 1.3',
  items,
  cpuSeconds: round(effort.automatic),
  scriptCpuSeconds: round(effort.script),
})

// One item per page, five milliseconds per answer. Two lengths, so that the start of the processes falls out of the difference.
const [fewPages, manyPages] = [50, 400]
const slow = await inTurns(ROUNDS, {
  bareFew: async () => (await runBare('slow', manyPages - fewPages)).seconds,
  bareMany: async () => (await runBare('slow', 0)).seconds,
  oursFew: async () => (await extract(api.url, 'slow', {}, manyPages - fewPages)).seconds,
  oursMany: async () => (await extract(api.url, 'slow')).seconds,
})

// Children of fifty milliseconds each; again two numbers of them, so that the start of the processes falls out of the difference.
const [fewChildren, manyChildren] = [16, 176]
const family = async (concurrency: number, count: number) => {
  const children = [{ endpoint: 'families/{id}', dataType: 'children', dataField: 'items', placeholders: { id: 'id' } }]
  const jobs = [{ endpoint: 'families', params: { count }, dataType: 'items', dataField: 'items', children }]
  return (await runConfiguration({ api: { baseUrl: api.url }, config: { concurrency, jobs } })).seconds
}
const families = await inTurns(ROUNDS, {
  fewSequential: () => family(1, fewChildren),
  manySequential: () => family(1, manyChildren),
  fewParallel: () => family(8, fewChildren),
  manyParallel: () => family(8, manyChildren),
})
const sequentialSeconds = families.manySequential - families.fewSequential
const parallelSeconds = families.manyParallel - families.fewParallel
report({
  bench: 'extractor-concurrency',
  ratio: sequentialSeconds / parallelSeconds,
  target: '>= 6',
  sequentialSeconds: Number(sequentialSeconds.toFixed(2)),
  parallelSeconds: Number(parallelSeconds.toFixed(2)),
})
await api.stop()
const perPageMs = (few: number, many: number) => ((many - few) / (manyPages - fewPages)) * 1000
const overheadMs = perPageMs(slow.oursFew, slow.oursMany) - perPageMs(slow.bareFew, slow.bareMany)
report({
  bench: 'extractor-page-overhead',
  ratio: overheadMs / 0.5,
  target: '<= 1',
  overheadMs: Number(overheadMs.toFixed(3)),
  pageMs: Number(perPageMs(slow.oursFew, slow.oursMany).toFixed(3)),
})

const long = await startBare('extractor-api.ts', String(longItems))
const short = await startBare('extractor-api.ts', String(longItems / 10))
const shortRun = await extract(short.url, 'items')
const longRun = await extract(long.url, 'items')
report({
  bench: 'extractor-memory',
  ratio: longRun.mib / 200,
  target: '<= 1',
  items: longItems,
  mib: Math.round(longRun.mib),
  mibForATenth: Math.round(shortRun.mib),
})
report({ bench: 'extractor-memory-growth', ratio: longRun.mib / shortRun.mib, target: '<= 1.15', items: longItems })
await short.stop()
await long.stop()
