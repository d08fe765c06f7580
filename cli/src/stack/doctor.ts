// millrace doctor: checks this installation. Each line is one check with its result; exit code 1 if something must be fixed.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, constants, stat, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import { findHolder } from '../../../server/src/engines/data-dir/folder-lock.ts'
import { createJsonFolder } from '../../../server/src/engines/json-folder/json-folder.ts'
import { WORTH_TELLING_MS } from '../../../server/src/engines/metadata-db/database-clock.ts'
import { findIsolation } from '../../../server/src/engines/runner/isolation.ts'
import type { KeyRing } from '../../../server/src/services/access/encryption/key-ring.ts'
import { findRunningStack, type StackAddresses } from '../../../server/src/start/admin-listener.ts'
import { type Config, readConfig } from '../../../server/src/start/config.ts'
import { BUILD } from '../../../server/src/start/version.ts'
import { METADATA_FILE, ROOT_KEYS_FILE } from '../../../server/src/wiring/data-files.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { timeText } from '../output.ts'

interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export const MIN_NODE = 24
const LITTLE_SPACE_BYTES = 5e9
const NO_SPACE_BYTES = 5e8
const REPOSITORY_WAIT_MS = 10_000

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check versions, ports, disk, database, object store, components, templates, clock and keys of this installation',
    )
    .action(async (_options, command: Command) => {
      const config = readConfig()
      const running = await findRunningStack(config.dataDir)
      const findings = [
        versions(),
        await duckDb(),
        await dataFolder(config),
        await space(config),
        runningStack(config, running),
        ...(running ? [await eventLoop(config, running)] : []),
        await port('stack port', config, portIn(running) ?? config.listen.port),
        ...(config.s3.external
          ? [await externalStore(config, config.s3.external)]
          : [await port('object store port', config, running?.s3Port ?? config.listen.s3Port)]),
        await keyFile(config),
        await isolation(config),
        await components(config),
        ...(await templates(config)),
        ...(await database(config)),
      ]
      const isWell = findings.every((finding) => finding.status !== 'problem')
      print(command, { ok: isWell, version: BUILD, findings }, () =>
        findings.map(({ check, status, text }) => `${MARK[status]}  ${check.padEnd(18)} ${text}`).join('\n'),
      )
      if (!isWell) process.exitCode = 1
    })
}

const MARK = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const

function versions(): Finding {
  const { node, sqlite, tz } = process.versions
  const text = `Millrace ${BUILD}, Node ${node}, SQLite ${sqlite}, time zones ${tz}`
  return Number(node.split('.')[0]) >= MIN_NODE
    ? { check: 'versions', status: 'ok', text }
    : { check: 'versions', status: 'problem', text: `${text}. Node ${MIN_NODE} or newer is required; npm start brings its own.` }
}

const LOAD_MS = 60_000
const LOAD_DUCKDB = `
  const { DuckDBInstance, version } = require(process.argv[1])
  DuckDBInstance.create().then((instance) => instance.connect()).then((connection) => connection.run('SELECT 1')).then(() => console.log(version()))`

/** In a process of its own: damaged native code ends the process that loads it. */
async function duckDb(): Promise<Finding> {
  const check = 'DuckDB'
  try {
    const path = createRequire(import.meta.url).resolve('@duckdb/node-api')
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', LOAD_DUCKDB, path], { timeout: LOAD_MS })
    return { check, status: 'ok', text: stdout.trim() }
  } catch (error) {
    const { signal, stderr = '' } = error as { signal?: string; stderr?: string } // of execFile
    const reason = signal ?? /^\w*Error: .*/m.exec(stderr)?.[0] ?? 'it is missing'
    return { check, status: 'problem', text: `cannot be loaded (${reason}), so tables do not work. Install Millrace again.` }
  }
}

async function dataFolder({ dataDir }: Config): Promise<Finding> {
  const check = 'data folder'
  try {
    await access(dataDir, constants.R_OK | constants.W_OK)
    const mode = (await stat(dataDir)).mode & 0o777
    return (mode & 0o077) === 0
      ? { check, status: 'ok', text: dataDir }
      : { check, status: 'warning', text: `${dataDir} has mode ${mode.toString(8)}: others can look into it. chmod 700 it.` }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? { check, status: 'warning', text: `${dataDir} does not exist yet; the first start creates it.` }
      : { check, status: 'problem', text: `${dataDir} cannot be written by this user.` }
  }
}

async function space({ dataDir }: Config): Promise<Finding> {
  const check = 'disk space'
  const { bavail, bsize } = await statfs(dataDir).catch(() => statfs('.'))
  const free = bavail * bsize
  const text = `${(free / 1e9).toFixed(1)} GB free`
  if (free < NO_SPACE_BYTES) return { check, status: 'problem', text: `${text}. New data will soon be refused; free some space.` }
  return { check, status: free < LITTLE_SPACE_BYTES ? 'warning' : 'ok', text }
}

/** A second start on the same folder is refused, so it is reported before the attempt. */
function runningStack({ dataDir }: Config, running: StackAddresses | undefined): Finding {
  const holder = existsSync(dataDir) ? findHolder(dataDir) : undefined
  const at = running === undefined ? '' : ` at ${running.url}`
  const text = holder ? `${holder} uses this data folder${at}; a second start is refused` : 'no'
  return { check: 'running', status: 'ok', text }
}

const METRICS_WAIT_MS = 5000
const LONG_DELAY_SECONDS = '0.2'

/** Whether requests had to wait for one that held the event loop, since the stack was started. */
async function eventLoop({ secrets: { metricsToken } }: Config, running: StackAddresses): Promise<Finding> {
  const check = 'event loop'
  const headers = metricsToken === undefined ? {} : { authorization: `Bearer ${metricsToken}` }
  const text = await fetch(`${running.localUrl}/metrics`, { headers, signal: AbortSignal.timeout(METRICS_WAIT_MS) })
    .then((answer) => (answer.ok ? answer.text() : ''))
    .catch(() => '')
  const metricOf = (name: string): number => {
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1) ?? Number.NaN)
  }
  const name = 'millrace_event_loop_delay'
  const long = metricOf(`${name}_seconds_count`) - metricOf(`${name}_seconds_bucket{le="${LONG_DELAY_SECONDS}"}`)
  const maxMs = Math.round(metricOf(`${name}_max_seconds`) * 1000)
  if (Number.isNaN(long)) return { check, status: 'ok', text: `unknown: ${running.localUrl}/metrics did not answer` }
  if (long === 0) return { check, status: 'ok', text: `never held for more than 200 ms; at most ${maxMs || 0} ms` }
  const many = `held ${long} ${long === 1 ? 'time' : 'times'} for more than 200 ms, at most ${maxMs} ms`
  return { check, status: 'warning', text: `${many}. The log names the operations: look for "the event loop was held".` }
}

/** The port of the running stack; this environment may name another one. */
function portIn(running: StackAddresses | undefined): number | undefined {
  if (running === undefined) return undefined
  const { port: number, protocol } = new URL(running.localUrl)
  return number === '' ? (protocol === 'https:' ? 443 : 80) : Number(number)
}

/** Free, or held by the stack of this data folder; anything else would stop a start. */
async function port(check: string, { dataDir, listen }: Config, number: number): Promise<Finding> {
  if (number === 0) return { check, status: 'ok', text: 'any free port' }
  if (await isFree(listen.host, number)) return { check, status: 'ok', text: `${number} is free` }
  const isOurs = existsSync(dataDir) && findHolder(dataDir) !== undefined
  return isOurs
    ? { check, status: 'ok', text: `${number} is held by the running stack` }
    : { check, status: 'problem', text: `${number} is held by another program. Stop it, or choose another port.` }
}

/** The external S3 answers, has the bucket and takes the keys. */
async function externalStore({ s3 }: Config, external: NonNullable<Config['s3']['external']>): Promise<Finding> {
  const check = 'object store'
  const { region, bucket } = s3
  const { checkBucket } = await import('../../../server/src/engines/object-store/reach-bucket.ts')
  return checkBucket({ ...external, region, bucket }).then(
    () => ({ check, status: 'ok', text: `bucket ${bucket} at ${external.endpoint}` }),
    (error: Error) => ({ check, status: 'problem', text: error.message }),
  )
}

const isFree = (host: string, number: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(number, host, () => server.close(() => resolve(true)))
  })

async function keyFile({ dataDir, secrets }: Config): Promise<Finding> {
  const check = 'encryption key'
  if (secrets.encryptionKeys) return { check, status: 'ok', text: 'from MILLRACE_ENCRYPTION_KEY' }
  const path = join(dataDir, ROOT_KEYS_FILE)
  const found = await stat(path).catch(() => undefined)
  if (!found) return { check, status: 'warning', text: 'none yet; the first secret creates it.' }
  const mode = (found.mode & 0o777).toString(8)
  return (found.mode & 0o077) === 0
    ? { check, status: 'ok', text: `${path}, mode ${mode}` }
    : { check, status: 'problem', text: `${path} has mode ${mode}: others can read it. chmod 600 it.` }
}

async function isolation({ worker, dataDir }: Config): Promise<Finding> {
  const check = 'isolation'
  const { mode, problem } = await findIsolation({ ...worker.isolation, path: worker.path, hidden: [dataDir] })
  if (problem === undefined) return { check, status: 'ok', text: 'components that are commands are isolated' }
  return mode === 'require'
    ? { check, status: 'problem', text: `components that are commands cannot run: ${problem}.` }
    : { check, status: 'warning', text: `components that are commands run as ordinary processes: ${problem}.` }
}

async function components({ dataDir }: Config): Promise<Finding> {
  const check = 'components'
  const { createComponents } = await import('../../../server/src/services/configuration/components/components.ts')
  const known = createComponents({ folder: createJsonFolder(join(dataDir, 'components')), log: { warn() {}, info() {} } })
  await known.reload()
  const problems = known.problems()
  return problems.length === 0
    ? { check, status: 'ok', text: `${known.list().length} descriptions` }
    : {
        check,
        status: 'problem',
        text: `${problems.join('; ')}. Fix it in ${join(dataDir, 'components')}; no restart is needed.`,
      }
}

/** Neither a folder that is gone nor a host that is away keeps the stack from starting: warnings only. */
async function templates({ templateFolders = [], templateRepositories, egressAllow }: Config): Promise<Finding[]> {
  const check = 'templates'
  const { lookAtRepository } = await import('../../../server/src/engines/git/git-checkout.ts')
  const policy = egressPolicyFrom(egressAllow)
  const missing = templateFolders.filter((folder) => !existsSync(folder)).map((folder) => `${folder} is not there.`)
  const looks = templateRepositories.map(async (repository) => {
    const credentialsIn = 'MILLRACE_TEMPLATE_CREDENTIALS'
    const problem = await lookAtRepository({ ...repository, credentialsIn, policy, timeoutMs: REPOSITORY_WAIT_MS })
    return problem === undefined ? [] : [`${repository.url}: ${problem}`]
  })
  const problems = [...missing, ...(await Promise.all(looks)).flat()]
  const count = templateFolders.length + templateRepositories.length
  return problems.length === 0
    ? [
        {
          check,
          status: 'ok',
          text: count === 0 ? 'those that come with the stack' : `${count} repositories besides the stack's own`,
        },
      ]
    : problems.map((text) => ({ check, status: 'warning', text }))
}

const ADVICE = { sqlite: 'Restore a backup.', postgres: 'See docs/cluster.md for how to create it.' } as const

async function database(config: Config): Promise<Finding[]> {
  if (config.database.url === undefined && !(await stat(join(config.dataDir, METADATA_FILE)).catch(() => undefined)))
    return [{ check: 'database', status: 'warning', text: 'none yet; the first start creates it.' }]
  try {
    return await withCore(config, async ({ metadata, tokens, events, keyRing }) => {
      const damage = await metadata.check()
      const projects = await tokens.listProjects()
      const newest = await events.newestAt()
      return [
        damage.length === 0
          ? {
              check: 'database',
              status: 'ok',
              text: `${metadata.dialect}, whole, ${projects.length} project${projects.length === 1 ? '' : 's'}`,
            }
          : { check: 'database', status: 'problem', text: [...damage.slice(0, 3), ADVICE[metadata.dialect]].join(' ') },
        await secrets(keyRing),
        clock(newest, metadata.clock.differenceMs()),
      ]
    })
  } catch (error) {
    return [{ check: 'database', status: 'problem', text: error instanceof Error ? error.message : String(error) }]
  }
}

async function secrets(keyRing: KeyRing): Promise<Finding> {
  const check = 'stored secrets'
  return keyRing.check().then(
    () => ({ check, status: 'ok', text: 'can be opened with the root key' }),
    (error: Error) => ({ check, status: 'problem', text: error.message }),
  )
}

/** A clock that stands before what already happened was set back: schedules would wait, links would not expire. */
function clock(newest: Date | undefined, differenceMs: number): Finding {
  const now = new Date()
  const ahead = `${(Math.abs(differenceMs) / 1000).toFixed(1)} s ${differenceMs > 0 ? 'ahead of' : 'behind'} the database's clock`
  if (Math.abs(differenceMs) > WORTH_TELLING_MS)
    return {
      check: 'clock',
      status: 'warning',
      text: `${now.toISOString()} is ${ahead}. The stack follows the database; synchronise the clocks.`,
    }
  const behindMs = newest ? newest.getTime() - now.getTime() : 0
  return behindMs > 60_000
    ? {
        check: 'clock',
        status: 'problem',
        text: `${timeText(now)} lies ${Math.round(behindMs / 1000)} s before the newest event. Set the clock.`,
      }
    : { check: 'clock', status: 'ok', text: timeText(now) }
}
