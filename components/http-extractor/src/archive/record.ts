// config.record: every exchange of a run is written to out/files, without secrets, also after a failure: that is when it is needed most.
//
// What a login returns is a secret only once it was read, so an exchange is written down when the next one has taken place. Nothing
// unredacted is ever on the disk.

import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Send } from '../http/exchange.ts'
import type { Redactor } from '../redaction.ts'
import { exchangeLine } from './archive.ts'

const ARCHIVE_FILE = 'http-exchanges.jsonl'

export interface Recorder {
  readonly tap: (send: Send) => Send
  /** Moves the archive to out/files. */
  finish(): void
}

export function createRecorder(dataDir: string, redactor: Redactor, began: number): Recorder {
  const unfinished = join(dataDir, '.extractor-record', ARCHIVE_FILE)
  mkdirSync(dirname(unfinished), { recursive: true })
  const file = openSync(unfinished, 'w', 0o600)
  let last: string | undefined
  let isFirst = true

  function writeLast(): void {
    if (last !== undefined) writeSync(file, `${redactor.redact(last)}\n`)
    last = undefined
  }

  const tap =
    (send: Send): Send =>
    async (request) => {
      const response = await send(request)
      writeLast()
      last = exchangeLine(request, response, isFirst ? began : undefined)
      isFirst = false
      return response
    }

  function finish(): void {
    writeLast()
    closeSync(file)
    const target = join(dataDir, 'out', 'files', ARCHIVE_FILE)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(`${target}.manifest`, JSON.stringify({ is_permanent: false, tags: ['http-exchanges'] }))
    renameSync(unfinished, target)
    rmSync(dirname(unfinished), { recursive: true, force: true })
  }

  return { tap, finish }
}
