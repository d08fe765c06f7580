// What stands before every other room: the metadata database, events, projects and tokens. The platform builds on it; the command line
// opens it alone, beside a running stack, because nothing here needs a folder to itself.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Trx } from './engines/metadata-db/dialects.ts'
import { type MetadataDb, openMetadataDb } from './engines/metadata-db/metadata-db.ts'
import { type Clock, systemClock } from './kit/clock.ts'
import { createEvents, type Events } from './services/events/events.ts'
import { createTokens, type Tokens } from './services/tokens/tokens.ts'

export interface FoundationOptions {
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
  readonly log: FastifyBaseLogger
  readonly clock?: Clock
}

export interface Foundation {
  readonly metadata: MetadataDb
  readonly events: Events
  readonly tokens: Tokens
}

export async function openFoundation({ dataDir, databaseUrl, log, clock = systemClock }: FoundationOptions): Promise<Foundation> {
  await mkdir(dataDir, { recursive: true })
  const metadata = await openMetadataDb(
    databaseUrl === undefined ? { path: join(dataDir, METADATA_FILE), log } : { url: databaseUrl, log },
  )
  await metadata.migrate()
  const { db, inTransaction } = metadata
  const events = createEvents({ db, inTransaction, clock })
  const tokens = createTokens({
    db,
    inTransaction,
    clock,
    recordEvent: events.record,
    bucketIds: async () => [],
    onProjectCreated,
  })
  return { metadata, events, tokens }
}

export const METADATA_FILE = 'metadata.sqlite'

/** What a new project has from its first moment, written in the transaction that makes it. */
async function onProjectCreated(_trx: Trx, _projectId: number): Promise<void> {}
