// millrace bucket: buckets of a running stack.

import type { Command } from 'commander'
import { createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table } from '../output.ts'

interface Bucket {
  readonly id: string
  readonly displayName: string
  readonly description: string
  readonly created: string
  readonly rowsCount: number
  readonly dataSizeBytes: number
  readonly sharing: string | null
  readonly isLinkedBucket: boolean
  readonly tables: readonly { readonly id: string; readonly rowsCount: number | null }[] | string
}

export function addBucketCommands(program: Command): void {
  const bucket = program.command('bucket').description('buckets: folders of tables')

  stackOptions(bucket.command('list'))
    .description('all buckets')
    .action(async (_: object, command: Command) => {
      const found = await createClient(command).request<Bucket[]>('GET', '/v2/storage/buckets')
      print(command, found, (rows) =>
        table(
          ['ID', 'NAME', 'ROWS', 'BYTES', 'SHARED'],
          rows.map((row) => [
            row.id,
            row.displayName,
            row.rowsCount,
            row.dataSizeBytes,
            row.isLinkedBucket ? 'linked' : row.sharing,
          ]),
          'no buckets yet; create one with: millrace bucket create main',
        ),
      )
    })

  stackOptions(bucket.command('show <bucket>'))
    .description('a bucket and its tables')
    .action(async (id: string, _: object, command: Command) => {
      const found = await createClient(command).request<Bucket>('GET', `/v2/storage/buckets/${encodeURIComponent(id)}`)
      print(command, found, (one) => {
        const tables = Array.isArray(one.tables) ? one.tables : []
        const head = `${one.id}  ${one.displayName}${one.description ? `  ${one.description}` : ''}`
        return `${head}\n${table(
          ['TABLE', 'ROWS'],
          tables.map((row) => [row.id, row.rowsCount]),
          'no tables',
        )}`
      })
    })

  stackOptions(bucket.command('create <name>'))
    .description('create a bucket')
    .option('--stage <stage>', 'in, out or sys', 'in')
    .option('--display-name <name>')
    .option('--description <text>')
    .action(async (name: string, options: { stage: string; displayName?: string; description?: string }, command: Command) => {
      const made = await createClient(command).request<Bucket>('POST', '/v2/storage/buckets', { json: { name, ...options } })
      print(command, made, (one) => `Bucket ${one.id} created`)
    })

  withYes(stackOptions(bucket.command('drop <bucket>')))
    .description('delete a bucket')
    .option('--force', 'with all its tables')
    .action(async (id: string, { force }: { force?: boolean }, command: Command) => {
      await confirm(command, `Delete bucket ${id}${force ? ' with all its tables' : ''}`)
      const client = createClient(command)
      const query = { async: 1, force: force ? 1 : 0 }
      const job = await client.waitForJob(
        await client.request<StorageJob>('DELETE', `/v2/storage/buckets/${encodeURIComponent(id)}`, { query }),
      )
      print(command, job, () => `Bucket ${id} is gone`)
    })
}
