// All commands of millrace, not yet run.

import type { Command } from 'commander'
import { BUILD } from '../../server/src/start/version.ts'
import { addActionCommands } from './action.ts'
import { addAdminCommands } from './admin.ts'
import { addApiCommand } from './api.ts'
import { addAppCommands } from './app.ts'
import { addBackupCommands } from './backup.ts'
import { addBranchCommands } from './branch.ts'
import { addBucketCommands } from './bucket.ts'
import { addColumnCommands } from './column.ts'
import { addCompletionCommand } from './completion.ts'
import { addComponentCommands } from './component.ts'
import { addConfigCommands } from './config.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEncryptionCommands } from './encryption.ts'
import { addEventCommands } from './event.ts'
import { addExamples } from './examples.ts'
import { addFileCommands } from './file.ts'
import { addFlowCommands } from './flow.ts'
import { addJobCommands } from './job.ts'
import { addJsonOptions, JsonCommand } from './json-output.ts'
import { addLoginCommands } from './login.ts'
import { addMergeRequestCommands } from './merge-request.ts'
import { addMetadataCommands } from './metadata.ts'
import { addMigrateCommands } from './migrate.ts'
import { addNodesCommand } from './nodes.ts'
import { addNotifyCommands } from './notify.ts'
import { addOauthCommands } from './oauth.ts'
import { addPeopleCommands } from './people.ts'
import { addProjectCommands } from './project.ts'
import { addRowCommands } from './row.ts'
import { addScheduleCommands } from './schedule.ts'
import { addSearchCommands } from './search.ts'
import { addSqlCommand } from './sql.ts'
import { addStartCommand } from './start.ts'
import { addStateCommands } from './state.ts'
import { addStreamCommands } from './stream.ts'
import { addTableCommands } from './table.ts'
import { addTemplateCommands } from './template.ts'
import { addTokenCommands } from './token.ts'
import { addTriggerCommands } from './trigger.ts'
import { addVaultCommands } from './vault.ts'
import { addWorkspaceCommands } from './workspace.ts'

export function createProgram(): Command {
  const program = new JsonCommand('millrace')
    .enablePositionalOptions()
    .description('Files, tables, configurations, jobs and schedules of a Millrace stack')
    .version(BUILD, '--version', 'print the version and the commit')
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText(
      'after',
      `
Commands about data need a running stack and its token: millrace login, or export MILLRACE_TOKEN=... (and MILLRACE_URL, when it is not the stack of this machine).

Examples:
  millrace config create keboola.ex-generic-v2 --id shop --name Shop --file shop.json
  millrace job run keboola.ex-generic-v2 shop
  millrace table export in.c-keboola-ex-generic-v2-shop.orders orders.csv
  millrace help job run`,
    )
    .exitOverride()

  // Each noun has a file of its own that adds its commands here.
  addStartCommand(program)
  addLoginCommands(program)
  addBucketCommands(program)
  addTableCommands(program)
  addColumnCommands(program)
  addMetadataCommands(program)
  addSqlCommand(program)
  addWorkspaceCommands(program)
  addSearchCommands(program)
  addConfigCommands(program)
  addRowCommands(program)
  addStateCommands(program)
  addComponentCommands(program)
  addBranchCommands(program)
  addMergeRequestCommands(program)
  addActionCommands(program)
  addOauthCommands(program)
  addEncryptionCommands(program)
  addJobCommands(program)
  addFlowCommands(program)
  addFileCommands(program)
  addProjectCommands(program)
  addTokenCommands(program)
  addNodesCommand(program)
  addPeopleCommands(program)
  addScheduleCommands(program)
  addTriggerCommands(program)
  addEventCommands(program)
  addApiCommand(program)
  addNotifyCommands(program)
  addStreamCommands(program)
  addTemplateCommands(program)
  addAppCommands(program)
  addVaultCommands(program)
  addMigrateCommands(program)
  addBackupCommands(program)
  addAdminCommands(program)
  addDoctorCommand(program)
  addCompletionCommand(program)
  addJsonOptions(program)
  addExamples(program)
  return program
}
