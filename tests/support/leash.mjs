// `node leash.mjs program args...` runs a program that cannot outlive whoever holds the other end of stdin:
// when the pipe closes, by the end of a test or its kill -9, the program and its process group are killed.
// Lines on stdin: `kill` sends SIGKILL to the program alone, `term` SIGTERM. Output passes through; the exit code is the program's.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [program, ...args] = process.argv.slice(2)
const child = spawn(program, args, { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
child.on('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(127)
})
child.on('exit', (code, signal) => {
  killGroup() // what the program started and left behind
  process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143))
})

createInterface({ input: process.stdin })
  .on('line', (line) => child.kill(line === 'kill' ? 'SIGKILL' : 'SIGTERM'))
  .on('close', killGroup)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, killGroup)

function killGroup() {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // nobody is left
  }
}
