// millrace file: upload, download, list, show, delete and tag files of a stack.

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { progress, table, timeText, UserError } from '../output.ts'
import { blobUrl, loadSdk, type StackFile, s3ClientOf, uploadFile } from './file-upload.ts'

interface UploadFlags {
  readonly name?: string
  readonly tag?: string[]
  readonly permanent?: boolean
}

interface ListFlags {
  readonly tag?: string[]
  readonly query?: string
  readonly limit: number
  readonly offset: number
  readonly showExpired?: boolean
}

export function addFileCommands(program: Command): void {
  const file = program.command('file').description('files of a stack')

  stackOptions(file.command('upload'))
    .description('upload a file; run it again to resume an interrupted upload')
    .argument('<path>')
    .option('--name <name>', 'name on the stack (default: the name of the file)')
    .option('--tag <tag...>', 'tags')
    .option('--permanent', 'keep it permanently instead of 15 days')
    .action(async (path: string, { name, tag, permanent }: UploadFlags, command: Command) => {
      const line = progress(`Uploading ${path}`)
      const uploaded = await uploadFile(createClient(command), path, {
        name,
        tags: tag,
        isPermanent: permanent,
        onProgress: line.update,
        onResume: (bytes) => line.say(`resuming after ${(bytes / 1e6).toFixed(1)} MB`),
      })
      line.done('done')
      print(command, uploaded, details)
    })

  stackOptions(file.command('download'))
    .description('download a file; slices are joined in order. Exported slices have no header: `table export` writes one')
    .argument('<id>', 'id of the file', wholeNumber)
    .option('-o, --output <path>', 'where to (default: the name of the file; - is standard output)')
    .action(async (id: number, { output }: { output?: string }, command: Command) => {
      const client = createClient(command)
      const found = await client.request<StackFile>('GET', `/v2/storage/files/${id}`, { query: { federationToken: 1 } })
      const path = output ?? (found.name.replace(/[/\\\0]/g, '_') || `file-${id}`)
      if (path === '-') return pipeline(bytesOf(found), process.stdout)
      const line = progress(`Downloading ${found.name}`)
      await save(
        bytesOf(found, (bytes) => line.update(bytes, found.sizeBytes || undefined)),
        path,
      )
      line.done('done')
      return print(command, { id, path }, () => path)
    })

  stackOptions(file.command('list'))
    .description('files, newest first')
    .option('--tag <tag...>', 'files with any of these tags')
    .option('-q, --query <query>', 'for example: tags:"table-export" AND name:orders*')
    .option('--limit <number>', 'how many', wholeNumber, 100)
    .option('--offset <number>', 'how many to skip', wholeNumber, 0)
    .option('--show-expired', 'expired ones too')
    .action(async ({ tag = [], query, limit, offset, showExpired }: ListFlags, command: Command) => {
      const tags = Object.fromEntries(tag.map((one, i) => [`tags[${i}]`, one]))
      const files = await createClient(command).request<StackFile[]>('GET', '/v2/storage/files', {
        query: { limit, offset, q: query, showExpired: showExpired ? 1 : undefined, ...tags },
      })
      print(command, files, (rows) =>
        table(
          ['ID', 'NAME', 'BYTES', 'CREATED', 'TAGS'],
          rows.map((row) => [row.id, row.name, row.sizeBytes, timeText(row.created), row.tags.join(', ')]),
        ),
      )
    })

  stackOptions(file.command('show'))
    .description('one file and a link to download it')
    .argument('<id>', 'id of the file', wholeNumber)
    .action(async (id: number, _: unknown, command: Command) =>
      print(command, await createClient(command).request<StackFile>('GET', `/v2/storage/files/${id}`), details),
    )

  withYes(stackOptions(file.command('delete')))
    .description('delete files')
    .argument('<id...>', 'ids of the files')
    .action(async (ids: string[], _: unknown, command: Command) => {
      await confirm(command, `Delete ${ids.length === 1 ? 'file' : 'files'} ${ids.join(', ')}`)
      const client = createClient(command)
      for (const id of ids.map(wholeNumber)) await client.request('DELETE', `/v2/storage/files/${id}`)
      print(command, { deleted: ids.map(Number) }, ({ deleted }) => `deleted ${deleted.join(', ')}`)
    })

  stackOptions(file.command('tag'))
    .description('add tags to a file, or remove them')
    .argument('<id>', 'id of the file', wholeNumber)
    .argument('<tag...>')
    .option('--remove', 'remove them instead')
    .action(async (id: number, tags: string[], { remove }: { remove?: boolean }, command: Command) => {
      const client = createClient(command)
      for (const tag of tags) await changeTag(client, id, tag, remove ?? false)
      print(command, await client.request<StackFile>('GET', `/v2/storage/files/${id}`), details)
    })
}

const changeTag = (client: Client, id: number, tag: string, remove: boolean): Promise<unknown> =>
  remove
    ? client.request('DELETE', `/v2/storage/files/${id}/tags/${encodeURIComponent(tag)}`)
    : client.request('POST', `/v2/storage/files/${id}/tags`, { json: { tag } })

const details = (file: StackFile): string =>
  [
    `File ${file.id} "${file.name}"`,
    `  size      ${file.sizeBytes} bytes${file.isSliced ? ', sliced' : ''}`,
    `  created   ${timeText(file.created)}`,
    `  kept      ${file.maxAgeDays === null ? 'for ever' : `${file.maxAgeDays} days`}`,
    `  tags      ${file.tags.join(', ') || 'none'}`,
    `  download  ${file.url}`,
  ].join('\n')

/** The bytes of a file by its link; of a sliced one, slice after slice with its credentials. */
export async function* bytesOf(file: StackFile, onProgress: (doneBytes: number) => void = () => {}): AsyncGenerator<Uint8Array> {
  let done = 0
  for await (const chunk of file.isSliced ? joined(slicesOf(file)) : linkOf(file)) {
    done += chunk.length
    onProgress(done)
    yield chunk
  }
}

async function* linkOf({ url, id }: StackFile): AsyncGenerator<Uint8Array> {
  const response = await fetch(url)
  if (response.status === 404) throw new UserError(`File ${id} was prepared, but nothing has been uploaded to it.`)
  if (!response.ok || !response.body) throw new UserError(`The object store answered ${response.status}.`)
  yield* Readable.fromWeb(response.body)
}

async function* joined(slices: AsyncIterable<Slice>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of slices) yield* bytes
}

export interface Slice {
  /** Whether it is packed, by its name. */
  readonly isPacked: boolean
  readonly bytes: AsyncIterable<Uint8Array>
}

/** The slices of a file in the order of its manifest. */
export async function* slicesOf(file: StackFile): AsyncGenerator<Slice> {
  const { credentials, endpoint, s3Path, region, absCredentials, absPath } = file
  const chunks: Uint8Array[] = []
  for await (const chunk of linkOf(file)) chunks.push(chunk)
  const { entries } = JSON.parse(Buffer.concat(chunks).toString()) as { entries: { url: string }[] } // the contract of manifests
  if (absCredentials && absPath) {
    const isPast = new RegExp(`^azure://[^/]+/${absPath.container}/`)
    for (const { url } of entries)
      yield {
        isPacked: url.endsWith('.gz'),
        bytes: linkOf({ ...file, url: blobUrl(absCredentials, absPath.container, url.replace(isPast, '')) }),
      }
    return
  }
  if (!credentials || !s3Path) throw new UserError('The stack gave no credentials that this program can use (provider gcp?).')
  const { GetObjectCommand } = await loadSdk()
  const s3 = await s3ClientOf(credentials, endpoint, region)
  for (const { url } of entries) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: s3Path.bucket, Key: url.split('/').slice(3).join('/') }))
    yield { isPacked: url.endsWith('.gz'), bytes: Body as AsyncIterable<Uint8Array> } // in Node the SDK hands out Node streams
  }
}

/** Under another name until it is whole. */
export async function save(bytes: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const partial = `${path}.millrace-download`
  try {
    await pipeline(bytes, createWriteStream(partial))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
