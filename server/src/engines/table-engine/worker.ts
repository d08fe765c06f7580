// The table worker process: DuckDB and the CSV scanner, one job at a time, jobs in and results out over the IPC channel.
// It ends with its parent: when the channel closes, there is no process left to report to.

import { flushCompileCache } from 'node:module'
import type { DuckDBInstance } from '@duckdb/node-api'
import { PlatformError } from '../../kit/errors.ts'
import { connect, type Database, openInstance } from './database.ts'
import { checkFiles } from './foreign-files.ts'
import { convertFile } from './formats/convert-file.ts'
import { loadSlices, nameDuckDbError, outOfMemory } from './load-slices.ts'
import { count, findDuplicateKey, findUnfit, preview, profile } from './queries.ts'
import { resolveKeys } from './resolve-keys.ts'
import { deleteRows, nameDeletes, writeSegment } from './rewrite.ts'
import { unload } from './unload.ts'
import type { FromWorker, Jobs, ToWorker, WorkerError, WorkerJob, WorkerSettings } from './worker-protocol.ts'

const HANDLERS: { [Kind in keyof Jobs]: (db: Database, job: Jobs[Kind]['job']) => Promise<Jobs[Kind]['result']> } = {
  loadSlices,
  convertFile,
  resolveKeys,
  deleteRows,
  nameDeletes,
  writeSegment,
  unload,
  preview,
  count,
  findDuplicateKey,
  findUnfit,
  profile,
  checkFiles,
}

const WATCH_MS = 100

let opening: Promise<DuckDBInstance> | undefined
let settings: WorkerSettings | undefined

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')) // a plain exit would wait for DuckDB's running statement
process.on('message', (message: ToWorker) => {
  if (message.type === 'job') run(message.job)
  else {
    settings = message.settings
    opening = start(settings)
  }
})

async function start(started: WorkerSettings): Promise<DuckDBInstance> {
  const instance = await openInstance(started)
  // The first statement loads code; do that before the first request.
  const db = await connect(instance, started)
  await db.run(`SELECT count(*) FROM range(10) t(i) WHERE i::VARCHAR <> ''`)
  db.close()
  send({ type: 'ready' })
  flushCompileCache() // workers are killed, and what ends that way leaves no cache
  return instance
}

async function run(job: WorkerJob): Promise<void> {
  if (!opening || !settings) throw new Error('a job came before the start message')
  const { limitMb } = settings
  send({ type: 'started' })
  const db = await connect(await opening, settings)
  // DuckDB keeps to its share, but not everything it does is counted. A worker that outgrows its limit gives up the job, not the
  // machine: the pool ends a worker that responds with that much memory.
  const watch = setInterval(() => {
    if (rssMb() <= limitMb) return
    clearInterval(watch)
    send({ type: 'failed', error: portable(outOfMemory(limitMb)), rssMb: rssMb() })
  }, WATCH_MS)
  try {
    // The compiler cannot see that kind and handler belong together; the mapped type of HANDLERS guarantees it.
    const handler = HANDLERS[job.kind] as (db: Database, job: WorkerJob) => Promise<unknown>
    send({ type: 'done', result: await handler(db, job), rssMb: rssMb() })
  } catch (error) {
    send({ type: 'failed', error: portable(nameDuckDbError(error, limitMb)), rssMb: rssMb() })
  } finally {
    clearInterval(watch)
    db.close()
  }
}

const send = (message: FromWorker): void => {
  process.send?.(message, () => {}) // a parent that is gone does not listen, and the disconnect ends this process
}
const rssMb = (): number => process.memoryUsage.rss() / (1 << 20)

function portable(error: unknown): WorkerError {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (!(error instanceof PlatformError)) return { code: 'tableEngine.failed', details: { reason: firstLine(error) }, cause: text }
  const params = error.params === undefined ? {} : { params: error.params }
  return { code: error.code, details: error.details, cause: text, ...params }
}

/** For the caller: without the paths of this machine, which only the log may contain. */
const firstLine = (error: unknown): string =>
  ((error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '').replace(/"?\/[^\s"']+"?/g, '(file)')
