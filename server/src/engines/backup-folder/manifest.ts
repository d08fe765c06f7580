// manifest.json: what a backup holds. It is written in exactly one way and carries a hash of itself, so that a flipped byte shows.

import { createHash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { PlatformError } from '../../kit/errors.ts'
import type { BackupSource } from './backup-source.ts'

export const MANIFEST_FILE = 'manifest.json'
const FORMAT = 'millrace-backup-1'

export interface BackupFile {
  /** Relative to the backup and to the data folder, with forward slashes. */
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Permissions of a file that another user of the machine may read or run: programs of components. Others get 0600. */
  readonly mode?: number
}

export interface BackupInfo {
  /** The version of Millrace that made it. */
  readonly version: string
  readonly created: string
  /** Whether the root key and the secret of the object store are in it. */
  readonly withKey: boolean
  /** Objects that were damaged already when the backup was made, and are not in it. */
  readonly damagedObjects: readonly string[]
}

export interface BackupManifest extends BackupInfo {
  readonly format: string
  readonly files: readonly BackupFile[]
}

export const manifestText = (info: BackupInfo, files: readonly BackupFile[]): string => {
  const { version, created, withKey, damagedObjects } = info
  const manifest = { format: FORMAT, version, created, withKey, damagedObjects, files }
  return `${JSON.stringify({ ...manifest, seal: sealOf(manifest) }, null, 1)}\n`
}

const sealOf = (manifest: BackupManifest): string => createHash('sha256').update(JSON.stringify(manifest)).digest('hex')

export async function readManifest({ name: folder, open }: BackupSource): Promise<BackupManifest> {
  const whole = async (): Promise<string> => text(await open(MANIFEST_FILE))
  const written = await whole().catch((cause: unknown) => {
    throw new PlatformError('backup.notABackup', { folder }, { cause })
  })
  try {
    const manifest = JSON.parse(written) as BackupManifest // proven by the comparison below: this very program wrote it
    if (manifest.format !== FORMAT || manifestText(manifest, manifest.files) !== written)
      throw new Error('The seal does not fit.')
    if (!manifest.files.every(({ path }) => isPlainPath(path))) throw new Error('A path leads out of the folder.')
    return manifest
  } catch (cause) {
    throw new PlatformError('backup.manifestDamaged', { folder }, { cause })
  }
}

/** A backup may come from anywhere: no path in it may lead out of the folder it is restored to. */
const isPlainPath = (path: string): boolean =>
  /^[^\\\0:]+$/.test(path) && path.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
