// millrace migrate, export-project and import-project: a project from one stack to another, through the public API alone.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Client, clientOf, createClient, stackOptions } from '../client.ts'
import { newReport, type ProjectFolder, projectFolder, type Report } from '../configuration/project-folder.ts'
import { print } from '../json-output.ts'
import { progress, table, UserError } from '../output.ts'
import { chooseStack, withoutSlash } from '../stack-choice.ts'
import { exportProject } from './project-export.ts'
import { importProject } from './project-import.ts'

interface MigrateOptions {
  readonly from: string
  readonly token: string
  readonly to?: string
  readonly toToken?: string
  readonly folder: string
  readonly files?: boolean
}

export function addMigrateCommands(program: Command): void {
  program
    .command('migrate')
    .description('move a project from another stack into this one; run it again to resume after an interruption')
    .requiredOption('--from <url>', 'URL of the stack to move from')
    .requiredOption('--token <token>', 'a master token of the project to move')
    .option('--to <url>', 'URL of the stack to move to (default: as for other commands)')
    .option('--to-token <token>', 'a master token of the project to move into (default: as for other commands)')
    .option('--folder <folder>', 'folder for the exported project', 'millrace-project')
    .option('--files', 'move files as well')
    .action(async ({ from, token, to, toToken, folder, files }: MigrateOptions, command: Command) => {
      const source = clientOf(withoutSlash(from), token)
      const { url, token: targetToken } = chooseStack({ url: to, token: toToken })
      if (!targetToken) throw new UserError('A token of the target project is required: use --to-token or set MILLRACE_TOKEN.')
      const target = clientOf(url, targetToken)
      await inFolder(command, folder, async (place, report, say) => {
        await exportProject(source, place, report, { files: files ?? false, say })
        await importProject(target, place, report, say)
      })
    })

  stackOptions(program.command('export-project <folder>'))
    .description('write a project into a folder: tables, configurations with versions, and everything else that the API returns')
    .option('--files', 'files as well')
    .action(async (folder: string, { files }: { files?: boolean }, command: Command) => {
      const client: Client = createClient(command)
      await inFolder(command, folder, (place, report, say) =>
        exportProject(client, place, report, { files: files ?? false, say }),
      )
    })

  stackOptions(program.command('import-project <folder>'))
    .description('import a folder of export-project into a project; run it again to resume after an interruption')
    .action(async (folder: string, _options, command: Command) => {
      const client: Client = createClient(command)
      await inFolder(command, folder, (place, report, say) => importProject(client, place, report, say))
    })
}

/** Does the work, then writes and prints the report; what could not be moved is exit code 1. */
async function inFolder(
  command: Command,
  folder: string,
  work: (place: ProjectFolder, report: Report, say: (text: string) => void) => Promise<void>,
): Promise<void> {
  const place = projectFolder(resolve(folder))
  const report = newReport()
  const line = progress('moving')
  try {
    await work(place, report, line.say)
  } finally {
    line.done('ended')
    await place.write(report, 'report.json')
  }
  print(command, report, textOf(place))
  if (report.notMoved.some(({ what }) => !what.startsWith('schedule ') && !what.startsWith('sharing '))) process.exitCode = 1
}

const textOf =
  (place: ProjectFolder) =>
  ({ moved, notMoved, secrets, rewritten, tokens, addresses }: Report): string =>
    [
      table(['what', 'count'], Object.entries(moved), 'nothing was left to do'),
      ...(notMoved.length > 0
        ? [
            '',
            'Not moved:',
            table(
              ['what', 'why'],
              notMoved.map(({ what, reason }) => [what, reason]),
            ),
          ]
        : []),
      ...(secrets.length > 0
        ? [
            '',
            'Secrets to enter again:',
            table(
              ['where', 'member', 'link'],
              secrets.map((secret) => [secret.place, secret.path, secret.link]),
            ),
          ]
        : []),
      ...(rewritten.length > 0
        ? [
            '',
            'Rewritten as {"response": "..."}, because they name a value of the login response:',
            table(
              ['where', 'member', 'was'],
              rewritten.map(({ place: where, path, was }) => [where, path, was]),
            ),
          ]
        : []),
      ...(tokens.length > 0
        ? [
            '',
            'New tokens, in place of those of the same description:',
            table(
              ['was', 'id', 'description', 'token'],
              tokens.map(({ was, id, description, token }) => [was, id, description, token]),
            ),
          ]
        : []),
      ...(addresses.length > 0
        ? [
            '',
            'New URLs for senders of records:',
            table(
              ['source', 'address'],
              addresses.map(({ source, address }) => [source, address]),
            ),
          ]
        : []),
      '',
      `The report is in ${place.pathOf('report.json')}`,
    ].join('\n')
