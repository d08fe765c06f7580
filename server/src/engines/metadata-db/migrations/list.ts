// Every migration, in the order it runs. Forward only: a file is never edited after a release, a later one corrects it.
// migrate.test.ts compares this list with the files of the folder.

import type { DialectName, Trx } from '../dialects.ts'
import * as projectsTokensEvents from './0001-projects-tokens-events.ts'
import * as files from './0010-files.ts'
import * as storageJobs from './0020-storage-jobs.ts'
import * as buckets from './0021-buckets.ts'
import * as tables from './0022-tables.ts'
import * as encryption from './0030-encryption.ts'
import * as branches from './0031-branches.ts'
import * as configurations from './0032-configurations.ts'
import * as mergeRequests from './0033-merge-requests.ts'
import * as queue from './0050-queue.ts'
import * as schedules from './0060-schedules.ts'
import * as eventAttachments from './0320-event-attachments.ts'
import * as fileRunIds from './0321-file-run-ids.ts'
import * as vault from './0340-vault.ts'
import * as triggers from './0350-triggers.ts'
import * as bucketOwner from './0370-bucket-owner.ts'
import * as mergeRequestApprovals from './0400-merge-request-approvals.ts'
import * as workerLeases from './0430-worker-leases.ts'
import * as flows from './0500-flows.ts'
import * as notifications from './0520-notifications.ts'
import * as streams from './0521-streams.ts'
import * as tableStates from './0610-table-states.ts'
import * as projectSettings from './0620-project-settings.ts'
import * as backups from './0710-backups.ts'
import * as fileBranchesAndReaders from './0730-file-branches-and-readers.ts'
import * as tableLayouts from './0731-table-layouts-and-snapshot-files.ts'
import * as publicComponentIds from './0740-public-component-ids.ts'
import * as fileProvider from './0741-file-provider.ts'
import * as notificationEvents from './0760-notification-events.ts'
import * as changes from './0761-changes.ts'
import * as workspaces from './0770-workspaces.ts'
import * as people from './0800-people.ts'
import * as jobFacts from './0810-job-facts.ts'
import * as lineage from './0811-lineage.ts'
import * as oauth from './0830-oauth.ts'
import * as templates from './0831-templates.ts'
import * as iceberg from './0860-iceberg.ts'
import * as workerComponents from './0861-worker-components.ts'
import * as usage from './0870-usage.ts'
import * as sandboxes from './0880-sandboxes.ts'
import * as apps from './0900-apps.ts'
import * as lineageColumns from './0910-lineage-columns.ts'
import * as workspaceCredentials from './0911-workspace-credentials.ts'
import * as jobProgressAndStates from './0920-job-progress-and-states.ts'
import * as stackSettings from './0921-stack-settings.ts'
import * as failuresByIndex from './0922-failures-by-index.ts'
import * as internalTokens from './0923-internal-tokens.ts'
import * as tableCommits from './0940-table-commits.ts'
import * as nodes from './0950-nodes.ts'
import * as sharedComponents from './0951-shared-components.ts'
import * as endedJobs from './0952-ended-jobs.ts'
import * as supersededStates from './0953-superseded-states.ts'
import * as openJobs from './0954-open-jobs.ts'
import * as configurationWords from './0960-configuration-words.ts'
import * as goodRuns from './0961-good-runs.ts'
import * as appPasswords from './0975-app-passwords.ts'
import * as statesByProject from './0980-states-by-project.ts'
import * as runTables from './0985-run-tables.ts'
import * as tokenLastUse from './0990-token-last-use.ts'
import * as appRepositories from './1000-app-repositories.ts'
import * as changesById from './1100-changes-by-id.ts'
import * as staleWords from './1110-stale-words.ts'
import * as adminIds from './1120-admin-ids.ts'
import * as makersOfTokens from './1121-makers-of-tokens.ts'
import * as staleSecrets from './1180-stale-secrets.ts'
import * as copiedMetadata from './1181-copied-metadata.ts'
import * as nodeFolders from './1210-node-folders.ts'
import * as configurationsByComponent from './1240-configurations-by-component.ts'
import * as keySlots from './1265-key-slots.ts'
import * as jobEndedBy from './1276-job-ended-by.ts'
import * as dataTests from './1296-data-tests.ts'
import * as savedQueries from './1297-saved-queries.ts'
import * as proposals from './1316-proposals.ts'
import * as agentUsage from './1317-agent-usage.ts'
import * as tidiedStates from './1346-tidied-states.ts'
import * as workspaceActingToken from './1347-workspace-acting-token.ts'
import * as savedQueryVersions from './1356-saved-query-versions.ts'
import * as queryHistory from './1357-query-history.ts'
import * as dashboards from './1358-dashboards.ts'
import * as dataContracts from './1381-data-contracts.ts'
import * as tableHistory from './1382-table-history.ts'
import * as rehearsals from './1391-rehearsals.ts'
import * as proposalUndo from './1392-proposal-undo.ts'
import * as agentGuards from './1393-agent-guards.ts'
import * as tableHistoryDue from './1401-table-history-due.ts'
import * as backupDrills from './1415-backup-drills.ts'
import * as preferencesAndComments from './1416-preferences-and-comments.ts'
import * as importedTestRuns from './1430-imported-test-runs.ts'
import * as agentConnections from './1440-agent-connections.ts'
import * as modelUsage from './1460-model-usage.ts'
import * as agentRequestPerson from './1461-agent-request-person.ts'

export interface Migration {
  /** The file name without `.ts`: `0001-tokens`. The number is its identity. */
  readonly name: string
  /** Runs inside a transaction of its own; what it throws undoes all of it. */
  readonly up: (trx: Trx, dialect: DialectName) => Promise<void>
  /** Nodes of the release before cannot work with what it leaves: it renames or drops, or fills what they would not. */
  readonly changesOld?: true
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-projects-tokens-events', up: projectsTokensEvents.up },
  { name: '0010-files', up: files.up },
  { name: '0020-storage-jobs', up: storageJobs.up },
  { name: '0021-buckets', up: buckets.up },
  { name: '0022-tables', up: tables.up },
  { name: '0030-encryption', up: encryption.up },
  { name: '0031-branches', up: branches.up },
  { name: '0032-configurations', up: configurations.up },
  { name: '0033-merge-requests', up: mergeRequests.up },
  { name: '0050-queue', up: queue.up },
  { name: '0060-schedules', up: schedules.up },
  { name: '0320-event-attachments', up: eventAttachments.up },
  { name: '0321-file-run-ids', up: fileRunIds.up },
  { name: '0340-vault', up: vault.up },
  { name: '0350-triggers', up: triggers.up },
  { name: '0370-bucket-owner', up: bucketOwner.up },
  { name: '0400-merge-request-approvals', up: mergeRequestApprovals.up },
  { name: '0430-worker-leases', up: workerLeases.up },
  { name: '0500-flows', up: flows.up },
  { name: '0520-notifications', up: notifications.up },
  { name: '0521-streams', up: streams.up },
  { name: '0610-table-states', up: tableStates.up },
  { name: '0620-project-settings', up: projectSettings.up },
  { name: '0710-backups', up: backups.up },
  { name: '0730-file-branches-and-readers', up: fileBranchesAndReaders.up },
  { name: '0731-table-layouts-and-snapshot-files', up: tableLayouts.up },
  { name: '0740-public-component-ids', up: publicComponentIds.up },
  { name: '0741-file-provider', up: fileProvider.up },
  { name: '0760-notification-events', up: notificationEvents.up },
  { name: '0761-changes', up: changes.up },
  { name: '0770-workspaces', up: workspaces.up },
  { name: '0800-people', up: people.up },
  { name: '0810-job-facts', up: jobFacts.up },
  { name: '0811-lineage', up: lineage.up },
  { name: '0830-oauth', up: oauth.up },
  { name: '0831-templates', up: templates.up },
  { name: '0860-iceberg', up: iceberg.up },
  { name: '0861-worker-components', up: workerComponents.up },
  { name: '0870-usage', up: usage.up },
  { name: '0880-sandboxes', up: sandboxes.up },
  { name: '0900-apps', up: apps.up },
  { name: '0910-lineage-columns', up: lineageColumns.up },
  { name: '0911-workspace-credentials', up: workspaceCredentials.up },
  { name: '0920-job-progress-and-states', up: jobProgressAndStates.up },
  { name: '0921-stack-settings', up: stackSettings.up },
  { name: '0922-failures-by-index', up: failuresByIndex.up },
  { name: '0923-internal-tokens', up: internalTokens.up },
  { name: '0940-table-commits', up: tableCommits.up },
  { name: '0950-nodes', up: nodes.up },
  { name: '0951-shared-components', up: sharedComponents.up },
  { name: '0952-ended-jobs', up: endedJobs.up },
  { name: '0953-superseded-states', up: supersededStates.up },
  { name: '0954-open-jobs', up: openJobs.up },
  { name: '0960-configuration-words', up: configurationWords.up, changesOld: true },
  { name: '0961-good-runs', up: goodRuns.up },
  { name: '0975-app-passwords', up: appPasswords.up },
  { name: '0980-states-by-project', up: statesByProject.up },
  { name: '0985-run-tables', up: runTables.up },
  { name: '0990-token-last-use', up: tokenLastUse.up },
  { name: '1000-app-repositories', up: appRepositories.up },
  { name: '1100-changes-by-id', up: changesById.up },
  { name: '1110-stale-words', up: staleWords.up },
  { name: '1120-admin-ids', up: adminIds.up, changesOld: true },
  { name: '1121-makers-of-tokens', up: makersOfTokens.up },
  { name: '1180-stale-secrets', up: staleSecrets.up },
  { name: '1181-copied-metadata', up: copiedMetadata.up },
  { name: '1210-node-folders', up: nodeFolders.up },
  { name: '1240-configurations-by-component', up: configurationsByComponent.up },
  { name: '1265-key-slots', up: keySlots.up },
  { name: '1276-job-ended-by', up: jobEndedBy.up },
  { name: '1296-data-tests', up: dataTests.up },
  { name: '1297-saved-queries', up: savedQueries.up },
  { name: '1316-proposals', up: proposals.up },
  { name: '1317-agent-usage', up: agentUsage.up },
  { name: '1346-tidied-states', up: tidiedStates.up },
  { name: '1347-workspace-acting-token', up: workspaceActingToken.up },
  { name: '1356-saved-query-versions', up: savedQueryVersions.up },
  { name: '1357-query-history', up: queryHistory.up },
  { name: '1358-dashboards', up: dashboards.up },
  { name: '1381-data-contracts', up: dataContracts.up },
  { name: '1382-table-history', up: tableHistory.up },
  { name: '1391-rehearsals', up: rehearsals.up },
  { name: '1392-proposal-undo', up: proposalUndo.up },
  { name: '1393-agent-guards', up: agentGuards.up },
  { name: '1401-table-history-due', up: tableHistoryDue.up, changesOld: true },
  { name: '1415-backup-drills', up: backupDrills.up },
  { name: '1416-preferences-and-comments', up: preferencesAndComments.up },
  { name: '1430-imported-test-runs', up: importedTestRuns.up },
  { name: '1440-agent-connections', up: agentConnections.up },
  { name: '1460-model-usage', up: modelUsage.up },
  { name: '1461-agent-request-person', up: agentRequestPerson.up },
]
