// All commands of millrace, not yet run.

import type { Command } from 'commander'
import { BUILD } from '../../server/src/start/version.ts'
import { addApiCommand } from './api.ts'
import { addCompletionCommand } from './completion.ts'
import { addActionCommands } from './configuration/action.ts'
import { addBranchCommands } from './configuration/branch.ts'
import { addComponentCommands } from './configuration/component.ts'
import { addConfigCommands } from './configuration/config.ts'
import { addConnectorCommands } from './configuration/connector.ts'
import { addMergeRequestCommands } from './configuration/merge-request.ts'
import { addOauthCommands } from './configuration/oauth.ts'
import { addProposalCommands } from './configuration/proposal.ts'
import { addRowCommands } from './configuration/row.ts'
import { addStateCommands } from './configuration/state.ts'
import { addTemplateCommands } from './configuration/template.ts'
import { addVaultCommands } from './configuration/vault.ts'
import { addExamples } from './examples.ts'
import { addAppCommands } from './jobs/app.ts'
import { addDeliveryCommands } from './jobs/delivery.ts'
import { addEventCommands } from './jobs/event.ts'
import { addFlowCommands } from './jobs/flow.ts'
import { addJobCommands } from './jobs/job.ts'
import { addNotifyCommands } from './jobs/notify.ts'
import { addScheduleCommands } from './jobs/schedule.ts'
import { addTriggerCommands } from './jobs/trigger.ts'
import { addVerifyCommand } from './jobs/verify.ts'
import { addJsonOptions, JsonCommand, print } from './json-output.ts'
import { addMigrateCommands } from './migrate/migrate.ts'
import { addAdminCommands } from './stack/admin.ts'
import { addBackupCommands } from './stack/backup.ts'
import { addDemoCommand } from './stack/demo.ts'
import { addDoctorCommand } from './stack/doctor.ts'
import { addEncryptionCommands } from './stack/encryption.ts'
import { addExtensionCommands } from './stack/extension.ts'
import { addLoginCommands } from './stack/login.ts'
import { addMcpCommand } from './stack/mcp.ts'
import { addNodesCommand } from './stack/nodes.ts'
import { addPeopleCommands } from './stack/people.ts'
import { addProjectCommands } from './stack/project.ts'
import { addServiceCommands } from './stack/service.ts'
import { addStartCommand } from './stack/start.ts'
import { addTokenCommands } from './stack/token.ts'
import { addUpgradeCommand } from './stack/upgrade.ts'
import { addBucketCommands } from './storage/bucket.ts'
import { addColumnCommands } from './storage/column.ts'
import { addContractCommands } from './storage/contract.ts'
import { addDashboardCommands } from './storage/dashboard.ts'
import { addFileCommands } from './storage/file.ts'
import { addMetadataCommands } from './storage/metadata.ts'
import { addQueryCommands } from './storage/query.ts'
import { addSearchCommands } from './storage/search.ts'
import { addSqlCommand } from './storage/sql.ts'
import { addStreamCommands } from './storage/stream.ts'
import { addTableCommands } from './storage/table.ts'
import { addTestCommands } from './storage/test.ts'
import { addWorkspaceCommands } from './storage/workspace.ts'

export function createProgram(): Command {
  const program = new JsonCommand('millrace')
    .enablePositionalOptions()
    .description('Files, tables, configurations, jobs and schedules of a Millrace stack')
    .version(BUILD, '--version', 'print the version and the commit')
    .showHelpAfterError('Add --help for the commands and options.')
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

  program
    .command('version')
    .description('print the version and the commit, as --version')
    .action((_options: unknown, command: Command) => print(command, { version: BUILD }, ({ version }) => version))

  // Each noun has a file of its own that adds its commands here.
  addStartCommand(program)
  addDemoCommand(program)
  addServiceCommands(program)
  addLoginCommands(program)
  addBucketCommands(program)
  addTableCommands(program)
  addColumnCommands(program)
  addMetadataCommands(program)
  addSqlCommand(program)
  addQueryCommands(program)
  addDashboardCommands(program)
  addTestCommands(program)
  addContractCommands(program)
  addWorkspaceCommands(program)
  addSearchCommands(program)
  addConfigCommands(program)
  addRowCommands(program)
  addStateCommands(program)
  addComponentCommands(program)
  addConnectorCommands(program)
  addBranchCommands(program)
  addMergeRequestCommands(program)
  addProposalCommands(program)
  addActionCommands(program)
  addOauthCommands(program)
  addEncryptionCommands(program)
  addJobCommands(program)
  addVerifyCommand(program)
  addFlowCommands(program)
  addFileCommands(program)
  addProjectCommands(program)
  addTokenCommands(program)
  addMcpCommand(program)
  addNodesCommand(program)
  addPeopleCommands(program)
  addScheduleCommands(program)
  addTriggerCommands(program)
  addDeliveryCommands(program)
  addEventCommands(program)
  addApiCommand(program)
  addNotifyCommands(program)
  addStreamCommands(program)
  addTemplateCommands(program)
  addAppCommands(program)
  addVaultCommands(program)
  addMigrateCommands(program)
  addBackupCommands(program)
  addUpgradeCommand(program)
  addAdminCommands(program)
  addExtensionCommands(program)
  addDoctorCommand(program)
  addCompletionCommand(program)
  addJsonOptions(program)
  addExamples(program)
  return program
}
