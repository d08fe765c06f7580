// config.record: every exchange of a run is written to out/files, without secrets.
//
// What a login returns is a secret only once it was used, so the lines are kept in the work folder first and redacted at the
// end, when everything is known. They are written also after a failure: that is when they are needed most.

import { closeSync, createReadStream, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Send } from '../http/exchange.ts'
import type { Redactor } from '../redaction.ts'
import { exchangeLine } from './archive.ts'

export const ARCHIVE_FILE = 'http-exchanges.jsonl'

export interface Recorder {
  readonly tap: (send: Send) => Send
  /** Writes the archive to out/files. */
  finish(): Promise<void>
}

export function createRecorder(dataDir: string, redactor: Redactor): Recorder {
  const raw = join(dataDir, '.extractor-record', 'raw.jsonl')
  mkdirSync(dirname(raw), { recursive: true })
  const file = openSync(raw, 'w', 0o600)

  const tap =
    (send: Send): Send =>
    async (request) => {
      const response = await send(request)
      writeSync(file, `${exchangeLine(request, response)}\n`)
      return response
    }

  async function finish(): Promise<void> {
    closeSync(file)
    const target = join(dataDir, 'out', 'files', ARCHIVE_FILE)
    mkdirSync(dirname(target), { recursive: true })
    const out = openSync(`${target}.tmp`, 'w')
    for await (const line of createInterface({ input: createReadStream(raw), crlfDelay: Number.POSITIVE_INFINITY })) {
      writeSync(out, `${redactor.redact(line)}\n`)
    }
    closeSync(out)
    renameSync(`${target}.tmp`, target)
    writeFileSync(`${target}.manifest`, JSON.stringify({ is_permanent: false, tags: ['http-exchanges'] }))
    rmSync(dirname(raw), { recursive: true, force: true })
  }

  return { tap, finish }
}
