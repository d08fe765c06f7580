// The program by itself, with a data folder and a folder that outlives a run, and an API that counts what it gets.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { completeRows } from '../../connector-kit/src/input-table.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export interface Got {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `answer` may take its time. */
export async function startApi(t: TestContext, answer: (got: Got, count: number) => Answer | Promise<Answer>) {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    got.push(one)
    const { status, body: content = {}, headers = {} } = await answer(one, got.length)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(content))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number } // a TCP listener has one
  return { url: `http://127.0.0.1:${port}/v1/`, got }
}

type Rows = readonly (readonly (string | null)[])[]

export interface Table {
  readonly columns: Readonly<Record<string, string>>
  readonly rows: Rows
  readonly primaryKey?: readonly string[]
}

export function startFolder(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-http-writer-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [data, checkpoint] = [join(home, 'data'), join(home, 'checkpoint')]
  mkdirSync(checkpoint)

  /** As the platform makes it; `state` is that of the last run. */
  function prepare(
    parameters: object,
    { columns, rows, primaryKey = [] }: Table,
    { state = {}, action = 'run' }: { state?: object; action?: string } = {},
  ) {
    rmSync(data, { recursive: true, force: true })
    for (const folder of ['in/tables', 'out/tables']) mkdirSync(join(data, folder), { recursive: true })
    const cell = (value: string | null) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`)
    writeFileSync(
      join(data, 'in/tables/t'),
      [Object.keys(columns), ...rows].map((row) => `${row.map(cell).join(',')}\n`).join(''),
    )
    const schema = Object.entries(columns).map(([name, type]) => ({ name, data_type: { base: { type } }, nullable: true }))
    const manifest = {
      id: 'in.c-shop.t',
      columns: Object.keys(columns),
      primary_key: primaryKey,
      rows_count: rows.length,
      schema,
    }
    writeFileSync(join(data, 'in/tables/t.manifest'), JSON.stringify(manifest))
    writeFileSync(join(data, 'in/state.json'), JSON.stringify(state))
    writeFileSync(join(data, 'config.json'), JSON.stringify({ parameters, action }))
  }

  function start(environment: Record<string, string> = {}): ChildProcess {
    return spawn(process.execPath, [PROGRAM], {
      env: {
        ...{ PATH: process.env.PATH, KBC_DATADIR: data, KBC_RUNID: '7', MILLRACE_CHECKPOINT_DIR: checkpoint },
        MILLRACE_EGRESS_POLICY: JSON.stringify({ mode: 'guarded', allow: ['127.0.0.1'] }),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async function run(environment: Record<string, string> = {}) {
    const child = start(environment)
    let [out, error] = ['', '']
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    child.stderr?.on('data', (chunk) => {
      error += chunk
    })
    const [code] = (await once(child, 'close')) as [number]
    return { code, out, error }
  }

  /** Receipts by the names of their columns. */
  function receipts(): Record<string, string | null>[] {
    const manifest = JSON.parse(readFileSync(join(data, 'out/tables/receipts.csv.manifest'), 'utf8')) as {
      schema: { name: string }[]
      treat_values_as_null: string[]
    } // written by the program
    const { rows } = completeRows(readFileSync(join(data, 'out/tables/receipts.csv'), 'utf8'), manifest.schema.length, true)
    const [marker] = manifest.treat_values_as_null
    return rows.map((row) =>
      Object.fromEntries(manifest.schema.map(({ name }, at) => [name, row[at] === marker ? null : (row[at] ?? '')])),
    )
  }

  const state = (): object => JSON.parse(readFileSync(join(data, 'out/state.json'), 'utf8')) as object // written by the program
  /** What the platform does after a run that succeeded. */
  const forget = () => {
    rmSync(checkpoint, { recursive: true })
    mkdirSync(checkpoint)
  }
  return { prepare, start, run, receipts, state, forget }
}
