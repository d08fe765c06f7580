// The admin listener: how the command line reaches the stack that has the data folder open. A listener of its own on the loopback
// address, and a key that only the owner of the data folder can read. Nothing of it is part of the API.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createRawListener } from '../http/raw-listener.ts'
import { PlatformError } from '../kit/errors.ts'
import type { BackupOrder, BackupProgress, BackupResult } from './backup.ts'

const ADMIN_FILE = 'admin.json'
const LOOPBACK = '127.0.0.1'
const MAX_ORDER_BYTES = 64 * 1024
const PROGRESS_EVERY_MS = 500

interface AdminAddress {
  readonly url: string
  readonly key: string
  readonly stack: StackAddresses
}

/** How the stack of a data folder is reached, and its process. */
export interface StackAddresses {
  /** By people: what links begin with. */
  readonly url: string
  /** From this machine. */
  readonly localUrl: string
  /** Of the embedded object store. */
  readonly s3Port?: number
  readonly pid: number
}

/** One line each, in this order: any number of `progress`, then the end of it. */
type Line =
  | { readonly progress: BackupProgress }
  | { readonly result: BackupResult }
  | { readonly error: { readonly message: string; readonly isOurs: boolean } }

export interface AdminListenerDeps {
  readonly dataDir: string
  readonly stack: StackAddresses
  backUp(order: BackupOrder, onProgress: (progress: BackupProgress) => void): Promise<BackupResult | undefined>
  onError(error: unknown): void
}

/** Opens the listener; the returned function closes it. */
export async function openAdminListener({ dataDir, stack, backUp, onError }: AdminListenerDeps): Promise<() => Promise<void>> {
  const key = randomBytes(32).toString('hex')
  const file = join(dataDir, ADMIN_FILE)

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isKey(message.headers['x-admin-key'], key)) return void response.writeHead(401).end()
    if (message.method !== 'POST' || message.url !== '/backup') return void response.writeHead(404).end()
    const order = orderOf(await textOf(message))
    if (!order) return void response.writeHead(400).end()
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const say = (line: Line) => response.write(`${JSON.stringify(line)}\n`)
    let progress: BackupProgress = { doneBytes: 0, totalBytes: 0 }
    const ticker = setInterval(() => say({ progress }), PROGRESS_EVERY_MS)
    try {
      say({ result: (await backUp(order, (now) => { progress = now }))! }) // biome-ignore format: one thought
    } catch (error) {
      const isOurs = !(error instanceof PlatformError) || error.kind === 'bug'
      if (isOurs) onError(error)
      say({ error: { message: error instanceof Error ? error.message : String(error), isOurs } })
    } finally {
      clearInterval(ticker)
      response.end()
    }
  }

  const listener = createRawListener((message, response) => {
    serve(message, response).catch((error) => {
      onError(error)
      response.destroy()
    })
  })
  const port = await listener.listen(0, LOOPBACK)
  await rm(file, { force: true }) // of a stack that was killed
  await writeFile(file, `${JSON.stringify({ url: `http://${LOOPBACK}:${port}`, key, stack } satisfies AdminAddress)}\n`, {
    mode: 0o600,
    flag: 'wx',
  })
  return async () => {
    await rm(file, { force: true })
    await listener.close(0)
  }
}

const readAddress = (dataDir: string): Promise<AdminAddress | undefined> =>
  readFile(join(dataDir, ADMIN_FILE), 'utf8').then(
    (text) => JSON.parse(text) as AdminAddress, // written by openAdminListener
    () => undefined,
  )

/** Addresses of the stack that runs on the data folder; undefined when none does, or the folder is not the caller's. */
export async function findRunningStack(dataDir: string): Promise<StackAddresses | undefined> {
  const address = await readAddress(dataDir)
  if (!address?.stack) return undefined
  // A killed stack leaves the file behind: its listener is gone, or belongs to another program, which does not accept the key.
  const response = await fetch(address.url, { headers: { 'x-admin-key': address.key } }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.status === 404 ? address.stack : undefined
}

/** The same without connecting to it, for callers that cannot wait: a process with the id of the stack runs. */
export function readStackAddresses(dataDir: string): StackAddresses | undefined {
  try {
    const { stack } = JSON.parse(readFileSync(join(dataDir, ADMIN_FILE), 'utf8')) as AdminAddress // written by openAdminListener
    process.kill(stack.pid, 0)
    return stack
  } catch {
    return undefined
  }
}

export type Outcome =
  | { readonly result: BackupResult }
  | { readonly error: { readonly message: string; readonly isOurs: boolean } }

/** Requests a backup of the stack that runs on the data folder; undefined when none runs. */
export async function askForBackup(
  dataDir: string,
  order: BackupOrder,
  onProgress: (progress: BackupProgress) => void,
): Promise<Outcome | undefined> {
  const address = await readAddress(dataDir)
  if (!address) return undefined
  const response = await fetch(`${address.url}/backup`, {
    method: 'POST',
    headers: { 'x-admin-key': address.key },
    body: JSON.stringify(order),
  }).catch(() => undefined)
  // A file that a killed stack left behind: no process listens there, or one with another key.
  if (response?.status !== 200 || !response.body) return undefined
  let unread = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (unread + chunk).split('\n')
    unread = lines.pop() ?? ''
    for (const text of lines) {
      const line = JSON.parse(text) as Line // as openAdminListener sends them
      if (!('progress' in line)) return line
      onProgress(line.progress)
    }
  }
  return { error: { message: 'The stack stopped before the backup was done.', isOurs: false } }
}

const isKey = (given: unknown, key: string): boolean =>
  typeof given === 'string' && given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key))

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk
    if (text.length > MAX_ORDER_BYTES) break
  }
  return text
}

function orderOf(text: string): BackupOrder | undefined {
  try {
    const { folder, withKey } = JSON.parse(text) as Partial<Record<string, unknown>>
    return typeof folder === 'string' && typeof withKey === 'boolean' ? { folder, withKey } : undefined
  } catch {
    return undefined
  }
}
