// millrace api: any request of the API, for what has no command of its own. The console shows every action in this form.

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Command } from 'commander'
import { createClient, stackOptions } from './client.ts'
import { withExamples } from './help.ts'

export function addApiCommand(program: Command): void {
  stackOptions(
    withExamples(
      program.command('api <method> <path>').description('one request of the API; the answer goes to stdout as it is'),
      'millrace api GET /v2/storage/tables',
      `millrace api POST /queue/jobs --data '{"component":"keboola.ex-generic-v2","config":"shop","mode":"run"}'`,
    ),
  )
    .option('--data <json>', 'the body')
    .action(async (method: string, path: string, { data }: { data?: string }, command: Command) => {
      const response = await createClient(command).send(method.toUpperCase(), path, data === undefined ? {} : { jsonText: data })
      const body = Readable.fromWeb((response.body ?? new Blob([]).stream()) as ReadableStream) // the same stream by another name in the types of Node
      await pipeline(body, process.stdout, { end: false })
      process.stdout.write('\n')
    })
}
