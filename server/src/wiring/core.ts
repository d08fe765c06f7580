// What every other module needs: the metadata database, events, projects, tokens and people. The platform builds on it; the command line
// opens it alone, beside a running stack, and loads no routes with it.

import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { makeDataFolder } from '../engines/data-dir/data-dir.ts'
import { type MetadataDb, openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { Clock } from '../kit/clock.ts'
import { DEFAULT_LIMITS } from '../kit/default-limits.ts'
import { defined } from '../kit/defined.ts'
import type { Core } from '../model/core.ts'
import { createHooks } from '../model/hooks.ts'
import { createKeyRingModule, type KeyRingModule } from '../services/access/encryption/key-ring.module.ts'
import {
  createPeopleModule,
  type OidcPolicy,
  type PasswordCost,
  type PeopleModule,
  type SessionSettings,
} from '../services/access/people/people.module.ts'
import { createTokensModule, type TokensModule } from '../services/access/tokens/tokens.module.ts'
import { createDefaultBranchModule } from '../services/configuration/branches/default-branch.module.ts'
import { createTriggerFinder } from '../services/jobs/triggers/trigger-tokens.module.ts'
import { type ChangesModule, createChangesModule } from '../services/stack/changes/changes.module.ts'
import { createEventsModule, type EventsModule } from '../services/stack/events/events.module.ts'
import { createBucketIds } from '../services/storage/buckets/bucket-ids.module.ts'
import { METADATA_FILE, ROOT_KEYS_FILE } from './data-files.ts'

export interface CoreOptions {
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
  /** Most connections to PostgreSQL. */
  readonly databaseConnections?: number
  /** How long to wait for a PostgreSQL that is not there yet. */
  readonly waitMs?: number
  /** Root keys for secrets, the current one first; without them there is a key file in the data folder. */
  readonly encryptionKeys?: readonly Uint8Array[] | undefined
  readonly log: FastifyBaseLogger
  /** Of this node; on PostgreSQL the stack follows the database's. */
  readonly clock?: Clock
  /** For tests: how far the stack is ahead of the clock of PostgreSQL. */
  readonly databaseAheadMs?: number
  /** For tests that move the clock: the stack keeps to it on PostgreSQL, too. */
  readonly keepsNodeClock?: boolean
  /** When sessions end; the defaults when left out. */
  readonly sessions?: Partial<SessionSettings> | undefined
  /** Whom the sign-in service of the operator lets in. */
  readonly oidc?: OidcPolicy | undefined
  /** The cost of a password hash; tests that sign in a hundred times use less. */
  readonly passwordCost?: PasswordCost
}

export interface OpenCore {
  readonly core: Core
  readonly metadata: MetadataDb
  readonly clock: Clock
  readonly changes: ChangesModule
  readonly events: EventsModule
  readonly tokens: TokensModule
  readonly keyRing: KeyRingModule
  readonly people: PeopleModule
}

export async function openCore(options: CoreOptions): Promise<OpenCore> {
  const { dataDir, log } = options
  await makeDataFolder(dataDir)
  const metadata = await openDatabase(options)
  const { db, inTransaction, clock } = metadata
  const base = { metadata, db, inTransaction, clock, log, dataDir, ...createHooks() }
  const changes = createChangesModule(base)
  const events = createEventsModule(base)
  const core = { ...base, recordEvent: events.record, recordChange: changes.record }
  createDefaultBranchModule(core)
  const tokens = createTokensModule({ core, bucketIds: createBucketIds(core), findTriggerOf: createTriggerFinder(core) })
  const keyRing = createKeyRingModule({
    core,
    keysFile: ROOT_KEYS_FILE,
    keysOfEnvironment: options.encryptionKeys,
    projectExists: async (id) => (await tokens.findProject(id)) !== undefined,
  })
  const { sessions, oidc, passwordCost } = options
  const people = createPeopleModule({ core, tokens, keyRing, sessions, oidc, passwordCost })
  return { core, metadata, clock, changes, events, tokens, keyRing, people }
}

async function openDatabase(options: CoreOptions): Promise<MetadataDb> {
  const { dataDir, databaseUrl, databaseConnections = DEFAULT_LIMITS.databaseConnections, waitMs = 0, log } = options
  const metadata = await openMetadataDb(
    databaseUrl === undefined
      ? { path: join(dataDir, METADATA_FILE), log, ...defined({ clock: options.clock }) }
      : {
          url: databaseUrl,
          maxConnections: databaseConnections,
          log,
          ...defined({ clock: options.clock, aheadMs: options.databaseAheadMs, keepsNodeClock: options.keepsNodeClock }),
        },
  )
  await metadata.reach({
    waitMs,
    onWait: (reason) => log.warn({ reason, waitMs }, 'PostgreSQL is not there yet; waiting for it'),
  })
  await metadata.migrate()
  return metadata
}
