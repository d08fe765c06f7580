// millrace backup and restore: the whole installation into a folder and back, also while the stack runs.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Verified, verifyBackup } from '../../server/src/engines/backup-folder/verify-backup.ts'
import { askForBackup } from '../../server/src/start/admin-listener.ts'
import { type Config, readConfig } from '../../server/src/start/config.ts'
import { backUpStopped, restore, resume } from './open-core.ts'
import { print, progress, UserError } from './output.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup <folder>')
    .description('copy everything that must survive into a new folder, consistent while the stack runs')
    .option('--with-key', 'also the root key: whoever has such a backup can read the secrets in it')
    .action(async (folder: string, { withKey = false }: { withKey?: boolean }, command: Command) => {
      const result = await backUp(readConfig(), { folder: resolve(folder), withKey })
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
    .description('bring a backup back into an empty data folder')
    .option('--verify', 'check the backup and restore nothing')
    .option('--run-schedules', 'let schedules fire in the copy: it takes the place of the stack it was made of')
    .action(async (folder: string, options: { verify?: boolean; runSchedules?: boolean }, command: Command) => {
      const { verify = false, runSchedules = false } = options
      const config = verify ? undefined : readConfig()
      const checking = progress('checking')
      const restoring = progress('restoring')
      const checked = (done: number, total: number) => checking.say(`${done} of ${total} files`)
      const copied = (done: number, total: number) => restoring.say(`${done} of ${total} files`)
      const outcome = config
        ? await restore({ folder: resolve(folder), config, runSchedules }, { verified: checked, copied })
        : await verifyBackup(resolve(folder), checked)
      checking.done('done')
      const { manifest, damaged } = outcome
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
      print(command, { ...answer, ...(config && { dataDir: config.dataDir }) }, () =>
        sentence(outcome, config?.dataDir, runSchedules),
      )
      if (damaged.length === 0) return
      for (const { file, reason } of damaged) console.error(`millrace: ${file} ${reason}`)
      process.exitCode = 1
    })

  program
    .command('resume')
    .description('let a restored copy take the place of the stack it was made of: schedules fire after its next start')
    .action(async (_options, command: Command) => {
      const resumed = await resume(readConfig())
      print(command, { resumed }, () =>
        resumed ? 'The copy is a stack of its own now. Start it again.' : 'This stack is not a paused copy; nothing was changed.',
      )
    })
}

async function backUp(config: Config, order: { folder: string; withKey: boolean }) {
  const bar = progress('backup')
  const show = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) => bar.update(doneBytes, totalBytes)
  const outcome = (await askForBackup(config.dataDir, order, show)) ?? { result: await backUpStopped(config, order, show) }
  if ('error' in outcome) throw outcome.error.isOurs ? new Error(outcome.error.message) : new UserError(outcome.error.message)
  bar.done('done')
  return outcome.result
}

const sentence = ({ manifest, damaged }: Verified, dataDir: string | undefined, runSchedules: boolean): string => {
  if (damaged.length > 0)
    return `The backup is damaged: ${damaged.length} of ${manifest.files.length} files. Nothing was restored.`
  const what = `${manifest.files.length} files of ${manifest.created}, Millrace ${manifest.version}`
  if (dataDir === undefined) return `The backup is whole: ${what}.`
  const paused = runSchedules ? '' : '\nSchedules are paused in this copy: `millrace resume` lets them fire.'
  return manifest.withKey
    ? `Restored into ${dataDir}: ${what}.${paused}`
    : `Restored into ${dataDir}: ${what}.${paused}\nThe root key is not in the backup: put the file root-keys back, or set MILLRACE_ENCRYPTION_KEY, before you start.`
}
