// The configured object store, and how clients reach it: the embedded one with its own listener, or an external S3.

import { join } from 'node:path'
import { createHashThread } from '../../../engines/object-store/checksums/background-hash.ts'
import { type DiskObjectStore, openDiskObjectStore } from '../../../engines/object-store/disk-object-store.ts'
import { createEmbeddedAccess } from '../../../engines/object-store/embedded-access.ts'
import { openExternalS3 } from '../../../engines/object-store/external-s3.ts'
import type { ObjectAccess } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { loadServerSecret } from '../../../engines/object-store/server-secret.ts'
import { createSessionTokens } from '../../../engines/object-store/session-token.ts'
import type { TlsPair } from '../../../http/tls.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BackupsModule } from '../../stack/backups/backups.module.ts'
import { type AddressLimits, createS3Server } from './s3.server.ts'
import { logS3Request } from './s3-request-log.ts'

export interface ObjectsModuleDeps {
  readonly core: Core
  readonly backups: BackupsModule
  readonly bucket: string
  readonly region: string
  /** The address clients use for the embedded store, when it is not the host of the API. */
  readonly publicUrl?: string | undefined
  /** Undefined: the embedded store. */
  readonly external?: ExternalS3 | undefined
  /** How long to wait for an external S3 that is not there yet. */
  readonly waitMs?: number
  /** How many requests one address may send to the embedded store. */
  readonly limits?: AddressLimits | undefined
  readonly tls?: TlsPair | undefined
}

export interface ExternalS3 {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly roleArn: string | undefined
}

export interface Objects {
  readonly store: ObjectStore
  readonly access: ObjectAccess
  /** The same store when it is the embedded one, for backups. */
  readonly disk: DiskObjectStore | undefined
  /** Removes from an external S3 what had to wait for a backup. */
  removeHeld(): Promise<void>
  /** Starts the listener of the embedded store and returns its port; an external store has none of ours. */
  listen(port: number, host: string): Promise<number | undefined>
  /** Where clients find the store; empty until it listens. */
  url(): string
  close(): Promise<void>
}

export type ObjectsModule = Awaited<ReturnType<typeof createObjectsModule>>

export async function createObjectsModule({ external, ...deps }: ObjectsModuleDeps) {
  const objects = await (external ? openExternal(deps, external) : openEmbedded(deps))
  return defineModule({
    name: 's3',
    ...objects,
    /** Resolves when the store answers. */
    probe: () => objects.store.list({ prefix: 'tables/', limit: 1 }),
    background: [{ stop: objects.close }, { role: 'worker', start: objects.removeHeld }],
  })
}

async function openExternal(deps: ObjectsModuleDeps, external: ExternalS3): Promise<Objects> {
  const { core, backups, bucket, region, waitMs = 0 } = deps
  const { clock } = core
  const cacheDir = join(core.dataDir, 's3-cache')
  const { store, access } = await openExternalS3({ ...external, region, bucket, cacheDir, waitMs, clock })
  return {
    store: backups.keeping(store), // while a backup is made; the embedded store does so by itself
    removeHeld: () => backups.removeHeld(store),
    disk: undefined,
    access,
    listen: async () => undefined,
    url: () => external.endpoint,
    async close() {
      access.close()
      await store.close()
    },
  }
}

async function openEmbedded({ core, bucket, region, publicUrl, tls, limits }: ObjectsModuleDeps): Promise<Objects> {
  const { dataDir, clock, log } = core
  const root = join(dataDir, 'objects')
  const store = await openDiskObjectStore({ root, clock })
  const sessions = createSessionTokens(await loadServerSecret(join(root, 'access.key')))
  const hashThread = createHashThread()
  const server = createS3Server({
    store,
    hashThread,
    sessions,
    bucket,
    region,
    clock,
    tls,
    limits,
    onRequest: (line) => logS3Request(log, line),
  })
  const scheme = tls ? 'https' : 'http'
  let listening: { readonly port: number; readonly host: string } | undefined

  return {
    store,
    removeHeld: async () => {},
    disk: store,
    access: createEmbeddedAccess({
      sessions,
      bucket,
      region,
      clock,
      endpointFor: (apiOrigin) => publicUrl ?? `${scheme}://${new URL(apiOrigin).hostname}:${listening?.port ?? 0}`,
    }),
    async listen(port, host) {
      listening = { port: await server.listen(port, host), host }
      return listening.port
    },
    url: () =>
      publicUrl ??
      (listening ? `${scheme}://${listening.host.includes(':') ? `[${listening.host}]` : listening.host}:${listening.port}` : ''),
    async close() {
      await (listening && server.close())
      await hashThread.close()
      await store.close()
    },
  }
}
