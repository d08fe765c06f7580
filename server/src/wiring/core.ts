// What every other module needs: the metadata database, events, projects and tokens. The platform builds on it; the command line
// opens it alone, beside a running stack, because nothing here needs a folder to itself.

import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { makeDataFolder } from '../engines/data-dir/data-dir.ts'
import { openWith, seal } from '../engines/encryption/cipher.ts'
import { rootKeysFromEnvironment, rootKeysFromFile } from '../engines/encryption/root-keys.ts'
import { type MetadataDb, openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { Clock } from '../kit/clock.ts'
import { defined } from '../kit/defined.ts'
import { insertDefaultBranch } from '../services/branches/branches.store.ts'
import { createBucketsStore } from '../services/buckets/buckets.store.ts'
import { type Changes, createChanges } from '../services/changes/changes.ts'
import { createKeyRing, type KeyRing } from '../services/encryption/key-ring.ts'
import { createEvents, type Events } from '../services/events/events.ts'
import { createLoadListener } from '../services/lineage/freshness.ts'
import { createLineageStore } from '../services/lineage/lineage.store.ts'
import { NO_POLICY, type OidcPolicy } from '../services/people/oidc-sign-in.ts'
import { PASSWORD_COST, type PasswordCost } from '../services/people/passwords.ts'
import { createPeople, type People } from '../services/people/people.ts'
import { DEFAULT_SESSIONS, type SessionSettings } from '../services/people/sessions.ts'
import { createTokens, type Tokens } from '../services/tokens/tokens.ts'
import { createTriggersStore } from '../services/triggers/triggers.store.ts'
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
  /** What a guess at a password costs; tests that sign in a hundred times ask for less. */
  readonly passwordCost?: PasswordCost
}

export interface Core {
  readonly metadata: MetadataDb
  /** The time of the stack. */
  readonly clock: Clock
  readonly events: Events
  readonly tokens: Tokens
  readonly keyRing: KeyRing
  readonly changes: Changes
  readonly people: People
}

export async function openCore(options: CoreOptions): Promise<Core> {
  const { dataDir, databaseUrl, databaseConnections = 10, waitMs = 0, encryptionKeys, log } = options
  await makeDataFolder(dataDir)
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
  const { db, inTransaction, clock } = metadata
  const changes = createChanges({ db, clock })
  const events = createEvents({
    db,
    inTransaction,
    clock,
    onRecorded: [changes.recordEvent, createLoadListener({ store: createLineageStore(db), clock })],
    onLost: (err) => log.warn({ err }, 'Events of reads could not be written'),
  })
  const tokens = createTokens({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    bucketIds: createBucketsStore(db).listIds,
    findTriggerOf: createTriggersStore(db).findOfToken,
    // What a new project has from its first moment, written in the transaction that makes it.
    onProjectCreated: (trx, projectId) => insertDefaultBranch(trx, projectId, clock.now().getTime()),
  })
  const keyRing = createKeyRing({
    db,
    inTransaction,
    clock,
    rootKeys:
      encryptionKeys === undefined ? rootKeysFromFile(join(dataDir, ROOT_KEYS_FILE)) : rootKeysFromEnvironment(encryptionKeys),
    projectExists: async (id) => (await tokens.findProject(id)) !== undefined,
  })
  const people = createPeople({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    recordChange: changes.record,
    members: tokens.people,
    admit: tokens.admit,
    forgetTokens: tokens.forgetKnown,
    projects: tokens.projects.list,
    cipher: {
      seal: async (text, owner) => seal((await keyRing.keysOf(undefined)).current, text, owner),
      open: async (cipher, owner) => openWith((await keyRing.keysOf(undefined)).byId, cipher, owner),
    },
    sessionSettings: { ...DEFAULT_SESSIONS, ...options.sessions },
    oidcPolicy: { ...NO_POLICY, ...options.oidc },
    passwordCost: options.passwordCost ?? PASSWORD_COST,
  })
  return { metadata, clock, events, tokens, keyRing, changes, people }
}
