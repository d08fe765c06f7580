// millrace start: the stack in the foreground, as npm start does it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'

/** The server. */
export const MAIN = fileURLToPath(new URL('../../../server/src/main.ts', import.meta.url))

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('start the stack; docs/environment-variables.md lists its settings')
    .action(async () => {
      // A process of its own, so that its exit code and signals are those of npm start.
      const child = spawn(process.execPath, [MAIN], { stdio: 'inherit' })
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal))
      process.exitCode = await new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
    })
}
