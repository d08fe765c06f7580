// Rows to an HTTP API (platform.wr-http), with a journal and receipts, against a plain Node loop with fetch and the same concurrency.
// HTTP_WRITER_ROWS changes the size of the runs (20,000).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, median, report, round, runNode, startBare } from './support/measure.ts'
import { writeFolder } from './support/write-folder.ts'

const ROUNDS = 3
const CONCURRENCY = 8
const rows = Number(process.env.HTTP_WRITER_ROWS ?? 20_000)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const api = await startBare('counting-api.ts')
const folder = writeFolder(
  { id: 'INTEGER', name: 'STRING', total: 'NUMERIC' },
  Array.from({ length: rows }, (_, at) => `"${at}","Customer ${at % 997}","${at % 1000}.50"`),
)
const parameters = {
  api: { baseUrl: api.url },
  requests: { create: { path: 'p' } },
  ...{ concurrency: CONCURRENCY, idempotencyHeader: 'Idempotency-Key', answerFields: [{ column: 'remote_id', path: 'id' }] },
}
writeFileSync(join(folder.path, 'config.json'), JSON.stringify({ parameters }))

const cpu: Record<string, number[]> = { loop: [], writer: [] }
let peak = 0
const { loop, writer } = await inTurns(ROUNDS, {
  loop: async () => {
    const run = await runNode([pathOf('support/post-loop.ts'), folder.file, api.url, String(CONCURRENCY)])
    cpu.loop?.push(run.cpuSeconds)
    return run.seconds
  },
  writer: async () => {
    const checkpoint = mkdtempSync(join(tmpdir(), 'writer-bench-'))
    const run = await runNode([pathOf('../components/http-writer/src/main.ts')], {
      KBC_DATADIR: folder.path,
      MILLRACE_CHECKPOINT_DIR: checkpoint,
    })
    rmSync(checkpoint, { recursive: true, force: true })
    cpu.writer?.push(run.cpuSeconds)
    peak = Math.max(peak, run.mib)
    return run.seconds
  },
})
report({
  bench: 'http-writer',
  ratio: loop / writer,
  target: '>= 0.7',
  rows,
  loopSeconds: round(loop),
  writerSeconds: round(writer),
  cpuRatio: round(median(cpu.loop ?? []) / median(cpu.writer ?? [])),
  peakMib: Math.round(peak),
})
await api.stop()
rmSync(folder.path, { recursive: true, force: true })
