// millrace upgrade --check: what the first start of this version would change. It is run with the new version, before that start: the data
// folder stays as it is. The backup is the way back, and opening a copy of it is a rehearsal of the upgrade.

import type { Command } from 'commander'
import { findRunningStack } from '../../../server/src/start/admin-listener.ts'
import { type Config, readConfig } from '../../../server/src/start/config.ts'
import { BUILD } from '../../../server/src/start/version.ts'
import { print } from '../json-output.ts'
import { drill, upgradeOf, withBackupSource } from '../open-core.ts'
import { progress } from '../output.ts'
import { backUp } from './backup.ts'
import { MIN_NODE } from './doctor.ts'

interface UpgradeOptions {
  /** False with --no-backup. */
  readonly backup: string | boolean
}

interface BackupSeen {
  readonly folder: string
  readonly files: number
  readonly ok: boolean
  readonly text: string
}

export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade')
    .description('show what the first start of this version will change, and create a verified backup')
    .requiredOption('--check', 'change nothing; the upgrade itself is the next start')
    .option('--backup <folder>', 'folder for the backup; by default next to the data folder, named by time')
    .option('--no-backup', 'create no backup')
    .action(async ({ backup = true }: UpgradeOptions, command: Command) => {
      const config = readConfig()
      const { migrations, postgres } = await upgradeOf(config)
      const running = await runningVersion(config)
      const made = backup === false ? null : await checkedBackup(config, typeof backup === 'string' ? backup : folderFor(config))
      const answer = {
        version: BUILD,
        running: running ?? null,
        requirements: requirementsOf(postgres),
        migrations: migrations.map(({ name }) => name),
        stopAllNodes: migrations.some(({ changesOld }) => changesOld),
        unknownSettings: config.unknown,
        backup: made,
      }
      print(command, answer, report)
      if (made?.ok === false) process.exitCode = 1
    })
}

interface Requirement {
  readonly name: string
  readonly minimum: number
  readonly found: string
}

/** One that is not met refuses the check itself. */
const requirementsOf = (postgres: { readonly found: string; readonly minimum: number } | undefined): readonly Requirement[] => [
  { name: 'Node', minimum: MIN_NODE, found: process.versions.node },
  ...(postgres === undefined ? [] : [{ name: 'PostgreSQL', ...postgres }]),
]

type Answer = Parameters<typeof report>[0]

function report(answer: {
  readonly version: string
  readonly running: string | null
  readonly requirements: readonly Requirement[]
  readonly migrations: readonly string[]
  readonly stopAllNodes: boolean
  readonly unknownSettings: readonly string[]
  readonly backup: BackupSeen | null
}): string {
  const { version, running, requirements, migrations, unknownSettings, backup } = answer
  return [
    ['This version', version],
    ['Running', running ?? 'no stack runs on this data folder'],
    ['Requires', requirements.map(({ name, minimum, found }) => `${name} ${minimum} or newer (here: ${found})`).join(', ')],
    ['Migrations', migrationsText(answer)],
    ['Settings', unknownSettings.length === 0 ? 'all are known' : `unknown to this version: ${unknownSettings.join(', ')}`],
    ['Backup', backup === null ? 'none was created' : backup.text],
    ['Next', migrations.length === 0 ? 'nothing to migrate' : 'stop the stack, then start this version: the migrations run then'],
  ]
    .map(([name = '', text]) => `${name.padEnd(14)} ${text}`)
    .join('\n')
}

const migrationsText = ({ migrations, stopAllNodes }: Answer): string => {
  if (migrations.length === 0) return 'none'
  const all = stopAllNodes ? '. They change what older versions read: stop all nodes first' : ''
  return `${migrations.length}: ${migrations.join(', ')}${all}`
}

/** Undefined when no stack runs on the data folder. */
async function runningVersion({ dataDir }: Config): Promise<string | undefined> {
  const running = await findRunningStack(dataDir)
  if (!running) return undefined
  const health = await fetch(`${running.localUrl}/health`).then(
    async (response) => (await response.json()) as { version?: string; commit?: string }, // our own route
    () => undefined,
  )
  return `${health?.version ?? 'a version that does not answer'}${health?.commit ? `+${health.commit}` : ''} at ${running.url}`
}

const folderFor = ({ dataDir }: Config): string =>
  `${dataDir}-backup-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`

async function checkedBackup(config: Config, folder: string): Promise<BackupSeen> {
  const { files } = await backUp(config, { folder, withKey: false })
  const checking = progress('checking')
  const shown = { verified: (done: number, total: number) => checking.say(`${done} of ${total} files`), copied: () => {} }
  const { damaged, copy, reason } = await withBackupSource(folder, config.backupBucket, (source) =>
    drill({ source, config, databaseUrl: undefined }, shown),
  )
  checking.done('done')
  const problem = damaged.map(({ file, reason: why }) => `${file} ${why}`).join('; ')
  const tried = copy
    ? `a copy of it opened with this version: ${copy.projects} projects, ${copy.objects} objects, ${copy.tablesRead} of ${copy.tables} tables read`
    : `no copy of it was opened, because ${reason}`
  const text = damaged.length > 0 ? `${folder} is not good: ${problem}` : `${folder}, ${files} files, all verified; ${tried}`
  return { folder, files, ok: damaged.length === 0, text }
}
