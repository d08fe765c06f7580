// millrace demo: a stack to look at, in a temporary folder. It has the sample shop, a flow with a schedule that reads it, a data app over its
// orders, and a job that failed, to repair. Everything is removed when it ends.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { readStackAddresses } from '../../../server/src/start/admin-listener.ts'
import { type Client, clientOf } from '../client.ts'
import { progress, UserError } from '../output.ts'
import { MAIN } from './start.ts'

const APP = new URL('../../../examples/data-app/app.mjs', import.meta.url)
const EXTRACTOR = 'keboola.ex-generic-v2'
const LOOK_MS = 100

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start a stack with sample data in a temporary folder, which is removed at the end; PORT chooses its port')
    .action(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'millrace-demo-'))
      try {
        await show(folder)
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
        console.error('The demo and its data are removed.')
      }
    })
}

async function show(folder: string): Promise<void> {
  const dataDir = join(folder, 'data')
  const logFile = join(folder, 'log')
  const token = `1-1-${randomBytes(24).toString('hex')}`
  const { PATH = '', PORT = '0' } = process.env
  // Nothing else of the environment: the demo must not reach the database or the bucket of a real stack. The last variable ends it with us.
  const env = {
    PATH,
    PORT,
    MILLRACE_S3_PORT: '0',
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_MASTER_TOKEN: token,
    npm_lifecycle_event: 'start',
  }
  const stack = spawn(process.execPath, [MAIN], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  const log = createWriteStream(logFile)
  for (const stream of [stack.stdout, stack.stderr]) stream.pipe(log, { end: false })
  const ended = once(stack, 'exit')
  let isStopped = false
  const stop = () => {
    isStopped = true
    stack.kill('SIGTERM')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  try {
    const steps = progress('demo')
    steps.say('starting')
    const url = await addressOf(dataDir, () => stack.exitCode !== null)
    if (url === undefined) {
      if (isStopped) return
      throw new UserError(`The demo did not start.\n${readFileSync(logFile, 'utf8').trim()}`)
    }
    const app = await fill(clientOf(url, token), url, steps.say).catch((error: unknown) => {
      if (!isStopped) throw error
    })
    steps.done('ready')
    if (!isStopped) console.error(introduction(url, token, app ?? '', readFileSync(logFile, 'utf8')))
    await ended
  } finally {
    if (stack.exitCode === null && stack.signalCode === null) {
      stack.kill('SIGTERM')
      await ended
    }
    log.end()
  }
}

/** Undefined when it ended instead. */
async function addressOf(dataDir: string, hasEnded: () => boolean): Promise<string | undefined> {
  while (!hasEnded()) {
    const url = readStackAddresses(dataDir)?.localUrl
    if (url !== undefined) return url
    await sleep(LOOK_MS)
  }
  return undefined
}

/** Returns where the data app is, or why it cannot run here. */
async function fill(client: Client, url: string, say: (text: string) => void): Promise<string> {
  say('reading the sample shop')
  const used = await client.request<{ outputs: { configurations: { componentId: string; configurationId: string }[] } }>(
    'POST',
    'templates/v1/repositories/millrace/templates/shop-pipeline/default/use',
    {
      json: {
        name: 'Sample shop',
        branch: 'default',
        steps: [
          { id: 'source', inputs: [{ id: 'password', value: 'lovelace' }] },
          { id: 'schedule', inputs: [] },
        ],
      },
    },
  )
  const flow = used.outputs.configurations.find(({ componentId }) => componentId === 'keboola.flow')!.configurationId // of the template
  await run(client, 'keboola.flow', flow)
  say('starting a data app')
  const app = await startApp(client)
  say('failing on purpose')
  await client.request('POST', `v2/storage/components/${EXTRACTOR}/configs`, {
    json: { configurationId: 'to-repair', name: 'Orders with a bad record', configuration: badConfiguration(url) },
  })
  await run(client, EXTRACTOR, 'to-repair')
  return app
}

async function startApp(client: Client): Promise<string> {
  const tables = await client.request<{ id: string }[]>('GET', 'v2/storage/tables')
  const orders = tables.find(({ id }) => id.endsWith('.orders'))!.id // the flow has loaded it
  const parameters = { script: readFileSync(APP, 'utf8'), dataApp: { secrets: { TABLE: orders } } }
  const json = { name: 'Orders', type: 'node', config: { parameters } }
  const { id } = await client.request<{ id: string }>('POST', 'data-science/apps', { json })
  try {
    await client.request('PATCH', `data-science/apps/${id}`, { json: { desiredState: 'running' } })
    const { url } = await client.request<{ url: string }>('POST', `data-science/apps/${id}/links`)
    return url
  } catch (error) {
    return `"Orders" cannot run on this machine: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The shop sends a record that does not fit when `bad` is requested. */
const badConfiguration = (url: string) => ({
  parameters: {
    api: {
      baseUrl: `${url}/sample/`,
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } },
      },
    },
    config: { '#password': 'lovelace', jobs: [{ endpoint: 'orders', dataField: 'orders', params: { bad: 'yes' } }] },
  },
})

/** Until it has ended, well or not. */
async function run(client: Client, component: string, config: string): Promise<void> {
  const { id } = await client.request<{ id: string }>('POST', 'queue/jobs', { json: { component, config, mode: 'run' } })
  while (!(await client.request<{ isFinished: boolean }>('GET', `queue/jobs/${id}`)).isFinished) await sleep(LOOK_MS)
}

const introduction = (url: string, token: string, app: string, log: string): string => `
  The demo is ready: ${url}/

    Sign in        ${/^ +Sign in +(\S+)$/m.exec(log)?.[1] ?? `${url}/console/`}
    Flow           "Sample shop" reads the orders of the shop, sums them up, and runs every morning
    Data app       ${app}
    To repair      the last job of "Orders with a bad record" failed; its page says why and what to change
    Command line   export MILLRACE_URL=${url} MILLRACE_TOKEN=${token}

  Ctrl-C ends it and removes its data.
`
