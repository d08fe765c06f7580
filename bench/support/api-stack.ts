// A stack in this process, and what a client of its API does: make tables, load files, wait for jobs.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createLog } from '../../server/src/kit/log.ts'
import { createSecrets } from '../../server/src/kit/secrets.ts'
import { createPlatform } from '../../server/src/wiring/platform.ts'

interface Job {
  readonly id: number
}

export async function startApiStack() {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const platform = await createPlatform({
    version: 'bench',
    region: 'us-east-1',
    bucket: 'millrace',
    bodyLimitBytes: 8 << 20,
    corsOrigins: [],
    log: createLog({ level: 'fatal', secrets: createSecrets() }),
    dataDir: join(dir, 'data'),
  })
  const { master } = await platform.tokens.createProject('Bench')
  await platform.start()
  const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  await platform.objects.listen(0, '127.0.0.1')
  const actor = await platform.tokens.authenticate(master.value)
  if (!actor) throw new Error('the master token is not valid')
  const headers = { 'X-StorageApi-Token': master.value, 'Content-Type': 'application/json' }

  const send = async (path: string, options: RequestInit): Promise<Response> => {
    const answer = await fetch(`${url}/v2/storage/${path}`, { headers, ...options })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer
  }
  const get = (path: string) => send(path, {})
  const post = (path: string, body: object, method = 'POST') => send(path, { method, body: JSON.stringify(body) })

  /** Waits inside the process: polling by HTTP would be part of the measured processor time, the more the slower the machine. */
  async function ended(answer: Response): Promise<void> {
    const { id } = (await answer.json()) as Job
    const job = await platform.storageJobs.waitFor(actor!.projectId, id)
    if (job.status !== 'success') throw new Error(JSON.stringify(job))
  }

  /** The id of a file with these bytes. */
  async function upload(path: string): Promise<number> {
    const origin = { runId: null, remoteAddress: null, userAgent: null }
    const described = async () => ({ name: basename(path) })
    return (await platform.files.upload(actor!, basename(path), createReadStream(path), described, origin)).id
  }

  /** A typed table with the rows of a CSV file. */
  async function load(bucketId: string, name: string, columns: readonly object[], csv: string): Promise<void> {
    await ended(await post(`buckets/${bucketId}/tables-definition`, { name, primaryKeysNames: [], columns }))
    await ended(await post(`tables/${bucketId}.${name}/import-async`, { dataFileId: await upload(csv) }))
  }

  return {
    dir,
    get,
    post,
    ended,
    upload,
    load,
    /** The result of a query as CSV. */
    query: async (sql: string): Promise<string> => (await post('query', { sql, format: 'csv' })).text(),
    close: async (): Promise<void> => {
      await platform.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
