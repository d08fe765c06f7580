// millrace backup and restore: the whole installation into a folder and back, also while the stack runs.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Verified } from '../../../server/src/engines/backup-folder/verify-backup.ts'
import { askForBackup } from '../../../server/src/start/admin-listener.ts'
import { type Config, readConfig } from '../../../server/src/start/config.ts'
import type { DrillResult } from '../../../server/src/start/drill.ts'
import { print } from '../json-output.ts'
import { backUpStopped, drill, restore, resume, withBackupSource } from '../open-core.ts'
import { progress, timeText, UserError } from '../output.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup <folder>')
    .description('copy everything that must survive into a new folder, or as s3:NAME into the bucket of MILLRACE_BACKUP_S3_*')
    .option('--with-key', 'include the root key: anyone with such a backup can read the secrets in it')
    .action(async (folder: string, { withKey = false }: { withKey?: boolean }, command: Command) => {
      const result = await backUp(readConfig(), { folder: placeFrom(folder), withKey })
      print(
        command,
        result,
        () =>
          `Backup of ${result.files} files, ${(result.sizeBytes / 1e6).toFixed(1)} MB, in ${result.folder}\n` +
          (withKey ? 'It holds the root key: keep it safe.' : 'The root key is not in it: keep that somewhere else.'),
      )
      if (result.damagedObjects.length === 0) return
      console.error(`millrace: these objects are damaged in the stack itself and not in the backup:`)
      for (const key of result.damagedObjects) console.error(`  ${key}`)
      process.exitCode = 1
    })

  program
    .command('restore <folder>')
    .description('restore a backup into an empty data folder; s3:NAME or s3:latest is one in the bucket of MILLRACE_BACKUP_S3_*')
    .option('--verify', 'restore test: check every file, open a temporary copy, read its objects and tables, delete it')
    .option('--database <url>', 'with --verify: an empty PostgreSQL for the rows of a backup that has such')
    .option('--run-schedules', 'let schedules fire in the copy: it replaces the original stack')
    .action(async (folder: string, options: RestoreOptions, command: Command) => {
      const { verify = false, runSchedules = false, database } = options
      const config = readConfig()
      const checking = progress('checking')
      const restoring = progress('restoring')
      const shown = {
        verified: (done: number, total: number) => checking.say(`${done} of ${total} files`),
        copied: (done: number, total: number) => restoring.say(`${done} of ${total} files`),
      }
      const outcome: Outcome = await withBackupSource(placeFrom(folder), config.backupBucket, (source) =>
        verify ? drill({ source, config, databaseUrl: database }, shown) : restore({ source, config, runSchedules }, shown),
      )
      checking.done('done')
      const { manifest, damaged, copy, reason } = outcome
      const { version, created, withKey, damagedObjects } = manifest
      const answer = {
        ok: damaged.length === 0,
        version,
        created,
        withKey,
        files: manifest.files.length,
        damaged,
        damagedObjects,
      }
      print(command, { ...answer, ...(verify ? { copy: copy ?? null, reason } : { dataDir: config.dataDir }) }, () =>
        verify ? drillSentence(outcome) : sentence(outcome, config.dataDir, runSchedules),
      )
      if (damaged.length === 0) return
      for (const { file, reason } of damaged) console.error(`millrace: ${file} ${reason}`)
      process.exitCode = 1
    })

  program
    .command('resume')
    .description('let a restored copy replace the original stack: schedules fire after its next start')
    .action(async (_options, command: Command) => {
      const resumed = await resume(readConfig())
      print(command, { resumed }, () =>
        resumed ? 'The copy is a stack of its own now. Start it again.' : 'This stack is not a paused copy; nothing was changed.',
      )
    })
}

interface RestoreOptions {
  readonly verify?: boolean
  readonly database?: string
  readonly runSchedules?: boolean
}

type Outcome = Verified & Partial<Pick<DrillResult, 'copy' | 'reason'>>

/** A path is resolved here: a stack that runs has another working folder. */
const placeFrom = (text: string): string => (text.startsWith('s3:') ? text : resolve(text))

export async function backUp(config: Config, order: { folder: string; withKey: boolean }) {
  const bar = progress('backup')
  const show = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) => bar.update(doneBytes, totalBytes)
  const outcome = (await askForBackup(config.dataDir, order, show)) ?? { result: await backUpStopped(config, order, show) }
  if ('error' in outcome) throw outcome.error.isOurs ? new Error(outcome.error.message) : new UserError(outcome.error.message)
  bar.done('done')
  return outcome.result
}

const wrong = ({ manifest, damaged }: Verified): string =>
  `The backup is damaged: ${damaged.length} of ${manifest.files.length} files. Nothing was restored.`

const whatIn = ({ manifest }: Verified): string =>
  `${manifest.files.length} files of ${timeText(manifest.created)}, Millrace ${manifest.version}`

function drillSentence(outcome: Outcome): string {
  const { damaged, copy, reason } = outcome
  if (damaged.length > 0) return copy ? 'The backup is complete, but its restored copy is not.' : wrong(outcome)
  const seen = copy
    ? `A copy of it opened: ${copy.projects} projects, ${copy.objects} objects, ${copy.tablesRead} of ${copy.tables} tables read.`
    : `No copy of it was opened, because ${reason}.`
  return `The backup is whole: ${whatIn(outcome)}.\n${seen}`
}

const sentence = (outcome: Verified, dataDir: string, runSchedules: boolean): string => {
  if (outcome.damaged.length > 0) return wrong(outcome)
  const paused = runSchedules ? '' : '\nSchedules are paused in this copy: `millrace resume` lets them fire.'
  return outcome.manifest.withKey
    ? `Restored into ${dataDir}: ${whatIn(outcome)}.${paused}`
    : `Restored into ${dataDir}: ${whatIn(outcome)}.${paused}\nThe root key is not in the backup: put the file root-keys back, or set MILLRACE_ENCRYPTION_KEY, before you start.`
}
