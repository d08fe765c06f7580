// Starts the supervisor of postgres-supervisor.ts and waits for the server's address.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** The address of the server that `npm test` shares among all files. */
export const SHARED_POSTGRES = 'MILLRACE_TEST_POSTGRES_URL'

export async function startPostgres(): Promise<PostgresServer> {
  // In a process group of its own: Ctrl-C or a group kill ends the tests, and the closed pipe ends the supervisor in good order.
  const child = spawn(process.execPath, [fileURLToPath(new URL('./postgres-supervisor.ts', import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const line = await Promise.race([firstLine(child), once(child, 'exit').then(() => undefined)])
  if (line === undefined) throw new Error(`PostgreSQL for the tests did not start: ${complaint}`)
  const { url } = JSON.parse(line) as { url: string } // written by our own supervisor
  // A test process ends when its tests have ended; the server must not keep it.
  for (const handle of [child, child.stdin, child.stdout, child.stderr]) (handle as Partial<{ unref(): void }>).unref?.()
  return {
    url,
    async stop() {
      const exited = child.exitCode === null ? once(child, 'exit') : undefined
      child.ref()
      child.stdin.end()
      await exited
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  for await (const line of createInterface({ input: child.stdout! })) return line
  return undefined
}
