// Start, listen, drain, stop. main.ts is the program; this is what it does.

import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Isolation } from '../engines/runner/isolation.ts'
import { defined } from '../kit/defined.ts'
import { PlatformError } from '../kit/errors.ts'
import type { Platform } from '../wiring/platform.ts'
import { openAdminListener } from './admin-listener.ts'
import { type Config, ConfigError, dropSecrets, readConfig } from './config.ts'
import { openStack } from './open-stack.ts'
import { createPlannedBackups } from './planned-backups.ts'

/** A listener on all addresses is reached on this machine by these. */
const LOCAL_HOSTS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

const say = (text: string) => process.stderr.write(`${text}\n`)

/** Runs before anything else is loaded or done, so that a parent that ends during the start is noticed, too. */
const parentAtStart = process.ppid

async function serve(): Promise<void> {
  process.umask(0o077) // what the stack writes is for its own user
  const config = readConfig()
  dropSecrets()
  // Until all is open there is nothing to close: what is half done is what a crash leaves.
  let leave = (): void => process.exit(0)
  if (config.isUnderNpm) stopWithParent(() => leave())
  const { platform, log, version, backUp } = await openStack(config)
  for (const name of config.unknown)
    log.warn({ name }, 'an unknown variable that looks like one of ours; docs/environment-variables.md lists them')

  const { host, port } = config.listen
  await platform.app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new PortInUse(port) : error
  })
  const s3Port = await platform.objects.listen(config.listen.s3Port, host).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new PortInUse(config.listen.s3Port) : error
  })
  const sql = await openSqlPort(config, platform).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new PortInUse(config.listen.sqlPort ?? 0) : error
  })
  const address = platform.app.server.address() as AddressInfo // a TCP listener has one
  // After the port is ours: a start that fails must not create a token that is never shown. By nodes that serve the API only: a worker has nothing to
  // do before, and its log is not where users look for the sign-in link.
  const isApi = config.roles.includes('api')
  const masterToken = isApi ? await platform.firstStart(config.secrets.masterToken) : undefined
  await platform.start()
  const scheme = config.tls.mode === 'off' ? 'http' : 'https'
  const urlAt = (at: string) => `${scheme}://${at.includes(':') ? `[${at}]` : at}:${address.port}`
  const url = config.addresses.publicUrl?.replace(/\/+$/, '') ?? urlAt(host)
  const shownUrl = isApi ? url : urlAt(host) // the public address is of the nodes that serve the API
  const closeAdminListener = await openAdminListener({
    dataDir: config.dataDir,
    stack: {
      url,
      localUrl: urlAt(LOCAL_HOSTS[host] ?? host),
      ...defined({ s3Port }),
      pid: process.pid,
    },
    backUp,
    onError: (err) => log.error({ err }, 'a request of the operator failed by our fault'),
  })
  const planned =
    config.backups && config.roles.includes('scheduler') && !platform.isPausedCopy
      ? createPlannedBackups({
          plan: config.backups,
          bucket: config.backupBucket,
          backups: platform.backups,
          backUp,
          now: platform.clock.now,
          log,
        })
      : undefined
  planned?.start()
  // Only the very first start: later ones would print a way in over and over.
  const signInLink = masterToken !== undefined ? platform.people.linkUrl(url, await platform.people.makeSignInLink()) : undefined

  const isolation = config.roles.includes('worker') ? await platform.programs.isolation() : undefined
  if (isolation?.problem !== undefined)
    log.warn({ reason: isolation.problem }, 'components that are commands are not isolated; see docs/security-model.md')

  const quit = onceOnly(async () => {
    const giveUp = setTimeout(() => {
      log.warn('requests are still running; stopping anyway')
      process.exit(1)
    }, config.listen.drainTimeoutMs)
    planned?.stop()
    await closeAdminListener()
    await platform.close()
    clearTimeout(giveUp)
    log.info('stopped')
    log.flush(() => process.exit(0))
  })
  const stop = onceOnly(
    async () => {
      const { drainJobsMs } = config.listen
      const drainMs = isApi ? config.listen.drainMs : 0
      if (drainMs > 0 || drainJobsMs > 0) {
        const seconds = { requests: drainMs / 1000, jobs: drainJobsMs / 1000 }
        log.info({ seconds }, 'draining: not ready, no new jobs; requests are still served, and running jobs may finish')
        const [left] = await Promise.all([platform.drain(drainJobsMs), sleep(drainMs)])
        if (left > 0) log.warn({ jobs: left }, 'jobs still run and are interrupted')
      }
      quit()
    },
    quit, // the second signal does not wait
  )
  stopOnSignal(stop)
  leave = quit

  say(`
  Millrace ${version} is ready (${Math.round(performance.now())} ms)

${addresses(config.roles, shownUrl)}
    Object store   ${platform.objects.url()}${sqlLine(sql)}
    Data folder    ${config.dataDir}${pausedLine(platform.isPausedCopy)}${componentsLine(platform.components.problems())}${isolationLine(isolation)}${firstToken(masterToken, config.secrets.masterToken !== undefined)}${firstLink(signInLink)}
`)
  log.info({ url: shownUrl, s3Url: platform.objects.url(), dataDir: config.dataDir, version }, 'ready')
}

const addresses = (roles: readonly string[], url: string): string =>
  roles.includes('api')
    ? `    Page           ${url}/\n    Guides         ${url}/help\n    Storage API    ${url}/v2/storage`
    : `    Roles          ${roles.join(', ')}; the API is served by other nodes\n    Health         ${url}/health`

/** The PostgreSQL port of a node that serves the API. Without TLS it is for this machine only: its passwords are tokens. */
async function openSqlPort({ listen, tls, roles }: Config, platform: Platform): Promise<string | undefined> {
  if (listen.sqlPort === undefined || !roles.includes('api')) return undefined
  const host = tls.mode === 'off' ? '127.0.0.1' : listen.host
  const port = await platform.sqlPort.listen(listen.sqlPort, host)
  return `postgres://me@${host.includes(':') ? `[${host}]` : host}:${port}/default${tls.mode === 'off' ? '' : '?sslmode=require'}`
}

const sqlLine = (address: string | undefined): string =>
  address === undefined ? '' : `\n    PostgreSQL     ${address} (the password is a token)`

const pausedLine = (isPausedCopy: boolean): string =>
  isPausedCopy
    ? '\n    Schedules      paused, because this is a restored copy; its jobs were cancelled. `millrace resume`, then start again, to let them fire.'
    : ''

/** A description that cannot be read makes its component unknown, and nothing else: the stack serves. */
const componentsLine = (problems: readonly string[]): string =>
  problems
    .map(
      (problem) =>
        `\n    Components     ${problem}. Its component is unavailable until the file in the folder components is fixed.`,
    )
    .join('')

const isolationLine = (isolation: Isolation | undefined): string => {
  if (isolation?.problem === undefined) return ''
  const what =
    isolation.mode === 'require'
      ? 'Components that are commands do not run'
      : 'Components that are commands run without isolation'
  return `\n    Isolation      ${what}: ${isolation.problem}.`
}

/** Shown at the very first start and never again: only its hash is kept. */
const firstToken = (token: string | undefined, chosen: boolean): string => {
  if (token === undefined) return ''
  return chosen
    ? '\n    Master token   as set in MILLRACE_MASTER_TOKEN'
    : `\n    Master token   ${token}\n                   Store it: it is shown only once.`
}

/** Behind the # of a URL, which browsers do not send. */
const firstLink = (link: string | undefined): string =>
  link === undefined
    ? ''
    : `\n    Sign in        ${link}\n                   Makes you the stack admin. The link works once, within an hour; \`millrace admin sign-in-link\` creates another one.`

class PortInUse extends Error {
  constructor(port: number) {
    super(
      `Port ${port} is in use. Stop the program that holds it, or choose others with PORT=..., MILLRACE_S3_PORT=... and MILLRACE_SQL_PORT=... (by default the object store takes the next port).`,
    )
  }
}

function onceOnly(work: () => Promise<void>, again: () => void = () => {}): () => void {
  let isBegun = false
  return () => {
    if (isBegun) return again()
    isBegun = true
    void work()
  }
}

function stopOnSignal(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
}

const PARENT_LOOK_MS = 500

/** npm sends SIGTERM to the shell between it and us, and the shell exits without forwarding it: a process whose parent changed has to stop too. */
function stopWithParent(stop: () => void): void {
  setInterval(() => process.ppid !== parentAtStart && stop(), PARENT_LOOK_MS).unref()
}

serve().catch((error: unknown) => {
  const isTheirs =
    error instanceof ConfigError || error instanceof PortInUse || (error instanceof PlatformError && error.kind !== 'bug')
  say(isTheirs ? `\n${error.message}\n` : `\nMillrace could not start: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(isTheirs ? 1 : 2)
})
