// Requests about configurations and rows that several commands send: their addresses, their fields, the texts of their files.

import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readJson } from '../../../server/src/kit/text/json-text.ts'
import { type Client, stackOptions } from '../client.ts'
import { UserError } from '../output.ts'
import { type FileMembers, objectText } from './config-text.ts'

export interface Chosen {
  readonly branch: string
}

export interface ChangeOptions extends Chosen {
  readonly name?: string
  readonly description?: string
  readonly file?: string
  readonly id?: string
  readonly message?: string
  readonly disable?: boolean
  readonly enable?: boolean
  readonly ifVersion?: string
}

export const withBranch = (command: Command): Command =>
  stackOptions(command).option('--branch <id>', 'branch id or default', 'default')

export const withFields = (command: Command): Command =>
  withBranch(command)
    .option('--name <name>')
    .option('--description <text>')
    .option('--file <path>', 'file with the JSON of the configuration node; - reads standard input')
    .option('--message <text>', 'description of the change')
    .option('--disable', 'disable it')
    .option('--enable', 'let it run')

export const placeOf = (branch: string, component: string, rest = ''): string =>
  `/v2/storage/branch/${encodeURIComponent(branch)}/components/${encodeURIComponent(component)}/configs${rest === '' ? '' : `/${rest}`}`

export const getText = async (client: Client, path: string): Promise<string> => (await client.send('GET', path)).text()

export const sendText = async (
  client: Client,
  method: string,
  path: string,
  jsonText: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> => (await client.send(method, path, { jsonText, headers })).text()

/** The body of a create or update, with the file's text in it exactly as it is. */
export async function bodyOf(options: ChangeOptions, more: FileMembers = {}): Promise<string> {
  if (options.disable && options.enable) throw new UserError('Use --disable or --enable, not both.')
  const members: Record<string, string> = { ...more }
  if (options.name !== undefined) members.name = JSON.stringify(options.name)
  if (options.description !== undefined) members.description = JSON.stringify(options.description)
  if (options.message !== undefined) members.changeDescription = JSON.stringify(options.message)
  if (options.disable || options.enable) members.isDisabled = String(options.disable === true)
  if (options.file !== undefined) members.configuration = await readJsonFile(options.file)
  return objectText(members)
}

/** The text of a file with JSON, exactly as it is; `-` is standard input. */
export async function readJsonFile(path: string): Promise<string> {
  const content =
    path === '-'
      ? await readAll(process.stdin)
      : await readFile(path, 'utf8').catch(() => {
          throw new UserError(`${path} cannot be read.`)
        })
  const read = readJson(content)
  if (!read.ok) throw new UserError(`${path} cannot be used: ${read.reason}.`)
  return content.trim()
}
