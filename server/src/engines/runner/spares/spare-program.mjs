// The first module of a process that is started before its job: `spare-program.mjs ahead|boot <entry> [argument ...]`.
//   ahead  loads the program, which waits in untilJob() of contract/started-ahead.ts
//   boot   waits, then loads the program
// Its job comes over descriptor 3, once. The end of that descriptor without a job means that none will come.

import { closeSync, readSync, writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const JOB = 3
const [node, , mode, entry, ...rest] = process.argv
process.argv = [node, entry, ...rest]

let hasJob = false

/** Blocks: a process without a job has nothing else to do. */
function receiveJob() {
  if (hasJob) return
  const parts = []
  const part = Buffer.alloc(65_536)
  for (let read = readSync(JOB, part); read > 0; read = readSync(JOB, part)) parts.push(Buffer.from(part.subarray(0, read)))
  if (parts.length === 0) process.exit(0)
  hasJob = true
  writeSync(JOB, 'taken') // from here on the job has begun
  closeSync(JOB)
  const { environment, cwd } = JSON.parse(Buffer.concat(parts).toString())
  Object.assign(process.env, environment)
  process.chdir(cwd)
}

if (mode === 'ahead') globalThis[Symbol.for('millrace.untilJob')] = receiveJob
else receiveJob()
await import(pathToFileURL(entry).href)
