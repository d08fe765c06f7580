// From the environment to an open platform: what main.ts listens with and what the command line administers.

import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createLog } from './kit/log.ts'
import { createSecrets } from './kit/secrets.ts'
import { createPlatform, type Platform } from './platform.ts'

export interface Stack {
  readonly platform: Platform
  readonly log: Logger
  readonly version: string
}

export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** Opens the data folder and builds every room; nothing listens yet. */
export async function openStack(config: Config): Promise<Stack> {
  const secrets = createSecrets()
  for (const secret of [config.secrets.masterToken, config.s3.external?.secretAccessKey]) if (secret) secrets.add(secret)
  const log = createLog({ level: config.log.level, secrets })
  const platform = await createPlatform({
    version: VERSION,
    dataDir: config.dataDir,
    databaseUrl: config.database.url,
    publicUrl: config.addresses.publicUrl,
    domain: config.addresses.domain,
    region: config.s3.region,
    bodyLimitBytes: config.http.bodyLimitBytes,
    maintenance: config.http.maintenance,
    corsOrigins: config.http.corsOrigins,
    log,
  })
  return { platform, log, version: VERSION }
}

/** Opens the stack without listening, runs `work`, closes it again: what the command line does on a data folder. */
export async function withStack<T>(config: Config, work: (stack: Stack) => Promise<T>): Promise<T> {
  const stack = await openStack(config)
  try {
    return await work(stack)
  } finally {
    await stack.platform.close()
  }
}
