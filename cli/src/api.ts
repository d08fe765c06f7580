// millrace api: any request of the API, for what has no command of its own. The console shows every action in this form.

import { constants, openAsBlob } from 'node:fs'
import { access } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Command } from 'commander'
import { type ClientRequest, createClient, stackOptions } from './client.ts'
import { UserError } from './output.ts'

interface BodyFlags {
  readonly data?: string
  readonly file?: string
  readonly field?: readonly string[]
}

export function addApiCommand(program: Command): void {
  stackOptions(program.command('api <method> <path>').description('send a request to the API and print the response unchanged'))
    .option('--data <json>', 'the body')
    .option('--file <path>', 'a file as the body; with --field as the part "data" of a form')
    .option('--field <name=value...>', 'a field of the form')
    .action(async (method: string, path: string, flags: BodyFlags, command: Command) => {
      const response = await createClient(command).send(method.toUpperCase(), path, await bodyOf(flags))
      const body = Readable.fromWeb((response.body ?? new Blob([]).stream()) as ReadableStream) // the same stream by another name in the types of Node
      await pipeline(body, process.stdout, { end: false })
      process.stdout.write('\n')
    })
}

async function bodyOf({ data, file, field = [] }: BodyFlags): Promise<ClientRequest> {
  if (data !== undefined && (file !== undefined || field.length > 0))
    throw new UserError('--data is the whole body and cannot be combined with --file or --field.')
  if (data !== undefined) return { jsonText: data }
  const bytes = file === undefined ? undefined : await openFile(file)
  if (field.length === 0) return bytes ? { content: bytes, headers: { 'Content-Type': 'application/octet-stream' } } : {}
  const form = new FormData()
  for (const text of field) form.append(...nameAndValue(text))
  if (file !== undefined && bytes) form.append('data', bytes, basename(file))
  return { content: form }
}

async function openFile(path: string): Promise<Blob> {
  await access(path, constants.R_OK).catch((cause: Error) => {
    throw new UserError(`--file ${path}: ${cause.message}`)
  })
  return openAsBlob(path)
}

function nameAndValue(text: string): [name: string, value: string] {
  const end = text.indexOf('=')
  if (end < 1) throw new UserError(`--field ${text}: write it as name=value.`)
  return [text.slice(0, end), text.slice(end + 1)]
}
