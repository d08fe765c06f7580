// Backups and restore tests that a stack admin requests while the stack runs (services/stack/backups).

import { fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { backupName } from '../engines/backup-folder/retention.ts'
import { compileCacheVariable } from '../kit/compile-cache.ts'
import type { BackupWork } from '../services/stack/backups/backups-api.module.ts'
import { type BackupSources, backUp } from './backup.ts'
import { keepNewestOf, placeOf } from './backup-place.ts'
import type { BackupBucket, BackupPlan, Config } from './config.ts'
import type { DrillConfig, DrillResult } from './drill.ts'

const HOUR_MS = 3_600_000
const PROGRAM = fileURLToPath(new URL('./drill-program.ts', import.meta.url))

export interface ProgramOrder {
  readonly folder: string
  readonly bucket: BackupBucket | undefined
  readonly config: DrillConfig
}

export type DrillAnswer =
  | (Pick<DrillResult, 'copy' | 'damaged' | 'reason'> & { readonly files: number })
  | { readonly error: string }

type WorkConfig = DrillConfig & Pick<Config, 'backups' | 'backupBucket' | 'worker'>

/** `sourcesOf` is called by the first order: the platform that has them gets this work when it is created. */
export function createBackupWork(config: WorkConfig, sourcesOf: () => BackupSources): BackupWork {
  const { backups: plan, backupBucket: bucket } = config
  return {
    plan: plan && {
      place: plan.folder ?? 's3',
      everyHours: plan.everyMs / HOUR_MS,
      keep: plan.keep,
      withKey: plan.withKey,
    },
    async backUp(onBegun) {
      if (!plan) return
      const sources = sourcesOf()
      const folder = placeOf(plan, backupName(sources.clock.now()))
      await backUp(sources, { folder, withKey: plan.withKey, onBegun })
      await removeOld(plan, bucket, sources.backups)
    },
    async drill(folder) {
      const { dataDir, secrets, s3, http, unknownComponents } = config
      const needed: DrillConfig = {
        dataDir,
        secrets: { encryptionKeys: secrets.encryptionKeys },
        s3: { region: s3.region, bucket: s3.bucket },
        http: { bodyLimitBytes: http.bodyLimitBytes },
        unknownComponents,
      }
      return outcomeOf(await askProgram(config.worker.path, { folder, bucket, config: needed }))
    },
  }
}

/** What retention removes is marked in the records: it can no longer be restored. */
export async function removeOld(
  plan: BackupPlan,
  bucket: BackupBucket | undefined,
  backups: Pick<NonNullable<BackupSources['backups']>, 'markRemoved'> | undefined,
): Promise<readonly string[]> {
  const removed = await keepNewestOf(plan, bucket)
  await backups?.markRemoved(removed.map((name) => placeOf(plan, name)))
  return removed
}

function askProgram(path: string, order: ProgramOrder): Promise<DrillAnswer> {
  const child = fork(PROGRAM, {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Nothing of the server's environment, which may hold secrets.
    env: { PATH: path, TMPDIR: tmpdir(), ...compileCacheVariable() },
  })
  child.unref()
  child.channel?.unref()
  return new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as DrillAnswer)) // from drill-program.ts
    child.once('error', (error) => resolve({ error: error.message }))
    child.once('exit', (code, signal) => resolve({ error: `The process of the restore test ended with ${signal ?? code}.` }))
    child.send(order)
  })
}

function outcomeOf(answer: DrillAnswer) {
  if ('error' in answer) return { result: 'failed' as const, note: answer.error }
  const { copy, damaged, reason, files } = answer
  const [first, ...more] = damaged
  if (first)
    return {
      result: 'damaged' as const,
      note: `${first.file} ${first.reason}${more.length > 0 ? `, and ${more.length} more` : ''}`,
    }
  if (!copy) return { result: 'filesOnly' as const, note: `${files} files are whole. The copy was not opened: ${reason}.` }
  const { projects, objects, tables, tablesRead } = copy
  return {
    result: 'good' as const,
    note: `The restored copy opened. Projects: ${projects}, objects: ${objects}, tables: ${tables}, of which read: ${tablesRead}.`,
  }
}
