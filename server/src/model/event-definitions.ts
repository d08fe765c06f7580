// Every event the platform records itself: what it is about, its sentence, and its params, which clients compare member by member and in
// this order. Code makes events from this table, docs/events.md is written from it, and tests compare recorded events with it.
// Events of components and scripts (`ext.<component>.<configuration>`) are not in it: their texts are their own.

export type EventType = 'info' | 'success' | 'warn' | 'error'

export interface EventDefinition {
  readonly objectType: string
  /**
   * `{name}` is a param, a member of one (`{row.name}`), or `objectId`, `objectName`, `component`, `configurationId` of the event.
   * `{count row}` is a number with its noun: `1 row`, `2 rows`.
   */
  readonly message: string
  /** A question mark: only where it applies. */
  readonly params: readonly string[]
  readonly type?: EventType
}

export const EVENTS = {
  'storage.projectCreated': { objectType: 'project', message: 'Created project "{objectName}"', params: [] },

  'storage.projectRenamed': { objectType: 'project', message: 'Renamed project to "{objectName}"', params: [] },
  'storage.projectPaused': { objectType: 'project', message: 'Paused project "{objectName}": {reason}', params: ['reason'] },
  'storage.projectResumed': { objectType: 'project', message: 'Resumed project "{objectName}"', params: [] },
  'storage.projectDeleted': { objectType: 'project', message: 'Deleted project "{objectName}"', params: [] },
  'storage.projectRestored': { objectType: 'project', message: 'Brought back project "{objectName}"', params: [] },
  'storage.projectFeaturesChanged': { objectType: 'project', message: 'Changed features of project "{objectName}"', params: [] },

  'storage.projectLimitChanged': {
    objectType: 'project',
    message: 'Set the limit {name} to {value}',
    params: ['name', 'value'],
  },

  'storage.stackSettingChanged': {
    objectType: 'project',
    message: 'Set {name} of the stack to {value}',
    params: ['name', 'value'],
  },

  'storage.backupStarted': { objectType: 'project', message: 'Started a backup of the stack', params: [] },
  'storage.backupDrillStarted': {
    objectType: 'project',
    message: 'Started a restore test of backup {backupId}',
    params: ['backupId'],
  },

  'storage.tokenCreated': { objectType: 'token', message: 'Created token "{objectName}"', params: [] },
  'storage.tokenUpdated': { objectType: 'token', message: 'Updated token "{objectName}"', params: [] },
  'storage.tokenRefreshed': { objectType: 'token', message: 'Refreshed token "{objectName}"', params: [] },
  'storage.tokenDeleted': { objectType: 'token', message: 'Deleted token "{objectName}"', params: [] },

  'storage.personJoined': { objectType: 'token', message: '{objectName} joined as {role}', params: ['role'] },
  'storage.personRoleChanged': { objectType: 'token', message: '{objectName} is {role} from now on', params: ['role'] },
  'storage.personSignedIn': { objectType: 'token', message: '{objectName} signed in ({method})', params: ['method'] },
  'storage.personSessionsEnded': {
    objectType: 'token',
    message: '{objectName} ended {count} of their sessions',
    params: ['count'],
  },
  'storage.personAccountChanged': {
    objectType: 'token',
    message: '{objectName} changed their account: {what}',
    params: ['what'],
  },
  'storage.personInvited': { objectType: 'project', message: 'Invited {email} as {role}', params: ['email', 'role'] },
  'storage.personInvitationDeleted': {
    objectType: 'project',
    message: 'Took back the invitation of {email}',
    params: ['email', 'role'],
  },
  'storage.personLeft': { objectType: 'token', message: '{objectName} was removed from the project', params: ['role'] },

  'storage.fileUploaded': {
    objectType: 'file',
    message: 'Uploaded file {objectName} ({objectId})',
    params: ['name', 'sizeBytes', 'isSliced'],
  },
  'storage.fileDeleted': {
    objectType: 'file',
    message: 'Deleted file {objectName} ({objectId})',
    params: ['name', 'sizeBytes', 'isSliced'],
  },

  'storage.bucketCreated': { objectType: 'bucket', message: 'Created bucket {objectId}', params: [] },
  'storage.agentToolCalled': {
    objectType: 'token',
    message: 'Agent "{objectName}" called {tool}: {outcome}',
    params: ['tool', 'outcome', 'arguments', 'repetitions?'],
  },

  'storage.modelCalled': {
    objectType: 'token',
    message: '{objectName} asked the model {model} at {host} ({task}): {outcome}',
    params: ['task', 'subject', 'model', 'host', 'sentCharacters', 'outcome', 'milliseconds'],
  },

  'storage.bucketsListed': { objectType: 'bucket', message: 'Listed buckets', params: [] },
  'storage.bucketUpdated': { objectType: 'bucket', message: 'Updated bucket {objectId}', params: [] },
  'storage.bucketDeleted': { objectType: 'bucket', message: 'Deleted bucket {objectId}', params: [] },
  'storage.bucketMetadataSet': { objectType: 'bucket', message: 'Set metadata of bucket {objectId}', params: [] },
  'storage.bucketSharingEnabled': { objectType: 'bucket', message: 'Shared bucket {objectId} ({sharing})', params: ['sharing'] },
  'storage.bucketSharingTypeChanged': {
    objectType: 'bucket',
    message: 'Shared bucket {objectId} ({sharing})',
    params: ['sharing'],
  },
  'storage.bucketSharingDisabled': { objectType: 'bucket', message: 'Stopped sharing bucket {objectId}', params: [] },
  'storage.bucketForceUnlinked': {
    objectType: 'bucket',
    message: 'Unlinked {bucketId} from bucket {objectId}',
    params: ['projectId', 'bucketId'],
  },

  'storage.tableCreated': {
    objectType: 'table',
    message: 'Created table {objectId}',
    params: ['name', 'primaryKey', 'columns', 'source?'],
  },
  'storage.tableDetail': { objectType: 'table', message: 'Read the detail of table {objectId}', params: [] },
  'storage.tablesListed': { objectType: 'bucket', message: 'Listed tables', params: [] },
  'storage.tableImportStarted': {
    objectType: 'table',
    message: 'Started import into table {objectId}',
    params: ['incremental', 'source'],
  },
  'storage.tableAliasCreated': {
    objectType: 'table',
    message: 'Created alias {objectId} of {sourceTableId}',
    params: ['sourceTableId'],
  },
  'storage.tableCopyToBucket': {
    objectType: 'table',
    message: 'Copied table {objectId} from branch {sourceBucketBranch}',
    params: ['sourceBucketId', 'sourceBucketBranch', 'destinationBucketId', 'destinationBucketBranch'],
  },
  'storage.tableUpdated': { objectType: 'table', message: 'Updated table {objectId}', params: ['swappedWith?', 'optimized?'] },
  'storage.tableDeleted': { objectType: 'table', message: 'Deleted table {objectId}', params: [] },
  'storage.tableMetadataSet': { objectType: 'table', message: 'Set metadata of table {objectId}', params: [] },
  'storage.tableColumnAdded': {
    objectType: 'table',
    message: 'Added column {column} to table {objectId}',
    params: ['column'],
  },
  'storage.tableColumnDeleted': {
    objectType: 'table',
    message: 'Deleted column {column} of table {objectId}',
    params: ['column'],
  },
  'storage.tableColumnsUpdated': {
    objectType: 'table',
    message: 'Changed column {column} of table {objectId}',
    params: ['column', 'renamedTo?'],
  },
  'storage.tablePrimaryKeyAdded': {
    objectType: 'table',
    message: 'Added primary key to table {objectId}',
    params: ['columns'],
  },
  'storage.tablePrimaryKeyDeleted': {
    objectType: 'table',
    message: 'Deleted primary key of table {objectId}',
    params: ['columns'],
  },
  'storage.tableRowsDeleted': {
    objectType: 'table',
    message: 'Deleted {deletedRows row} of table {objectId}',
    params: ['deletedRows'],
  },
  'storage.tableImportDone': {
    objectType: 'table',
    message: 'Imported into table {objectId}',
    params: ['incremental', 'partial', 'csv', 'importedColumns', 'source'],
  },
  'storage.tableLate': {
    objectType: 'table',
    message: 'Table {objectId} is late: it was loaded last at {lastLoad}, and usually is every {usualIntervalSeconds} s',
    params: ['lastLoad', 'usualIntervalSeconds'],
    type: 'warn',
  },
  'storage.savedQueryCreated': { objectType: 'savedQuery', message: 'Created saved query "{objectName}"', params: [] },
  'storage.savedQueryUpdated': { objectType: 'savedQuery', message: 'Updated saved query "{objectName}"', params: [] },
  'storage.savedQueryDeleted': { objectType: 'savedQuery', message: 'Deleted saved query "{objectName}"', params: [] },
  'storage.tableCommentCreated': { objectType: 'table', message: 'Commented on table {objectId}', params: [] },
  'storage.tableCommentChanged': { objectType: 'table', message: 'Changed a comment on table {objectId}', params: [] },
  'storage.tableCommentDeleted': { objectType: 'table', message: 'Deleted a comment on table {objectId}', params: [] },
  'storage.tableHistoryEnabled': { objectType: 'table', message: 'Enabled the history of table {objectId}', params: [] },
  'storage.tableHistoryDisabled': { objectType: 'table', message: 'Disabled the history of table {objectId}', params: [] },
  'storage.dataContractSaved': { objectType: 'table', message: 'Imported the data contract of table {objectId}', params: [] },
  'storage.dataContractDeleted': { objectType: 'table', message: 'Deleted the data contract of table {objectId}', params: [] },
  'storage.dashboardCreated': { objectType: 'dashboard', message: 'Created dashboard "{objectName}"', params: [] },
  'storage.dashboardUpdated': { objectType: 'dashboard', message: 'Updated dashboard "{objectName}"', params: [] },
  'storage.dashboardDeleted': { objectType: 'dashboard', message: 'Deleted dashboard "{objectName}"', params: [] },
  'storage.dashboardLinkCreated': { objectType: 'dashboard', message: 'Created a link to dashboard "{objectName}"', params: [] },
  'storage.dashboardLinkDeleted': { objectType: 'dashboard', message: 'Revoked a link to dashboard "{objectName}"', params: [] },
  'storage.dataTestCreated': {
    objectType: 'table',
    message: 'Created data test "{name}" of table {objectId}',
    params: ['id', 'name', 'type', 'severity'],
  },
  'storage.dataTestUpdated': {
    objectType: 'table',
    message: 'Updated data test "{name}" of table {objectId}',
    params: ['id', 'name', 'type', 'severity'],
  },
  'storage.dataTestDeleted': {
    objectType: 'table',
    message: 'Deleted data test "{name}" of table {objectId}',
    params: ['id', 'name', 'type', 'severity'],
  },
  'storage.dataTestsFailed': {
    objectType: 'table',
    message: 'Data tests of table {objectId} failed',
    params: ['runId', 'isLoad', 'failed'],
    type: 'error',
  },
  'storage.dataTestsWarned': {
    objectType: 'table',
    message: 'Data tests of table {objectId} have warnings',
    params: ['runId', 'isLoad', 'failed'],
    type: 'warn',
  },
  'storage.tableExported': {
    objectType: 'table',
    message: 'Exported table {objectId}',
    params: ['columns', 'limit', 'gzip', 'fileId', 'cacheHit?'],
  },
  'storage.tableRestored': {
    objectType: 'table',
    message: 'Restored the rows of table {objectId}',
    params: ['snapshotId?', 'timestamp?'],
  },
  'storage.tableSnapshotCreated': {
    objectType: 'table',
    message: 'Created a snapshot of table {objectId}',
    params: ['snapshotId'],
  },

  'storage.componentConfigurationCreated': {
    objectType: 'componentConfiguration',
    message: 'Created component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationChanged': {
    objectType: 'componentConfiguration',
    message: 'Changed component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationDeleted': {
    objectType: 'componentConfiguration',
    message: 'Deleted component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationPurged': {
    objectType: 'componentConfiguration',
    message: 'Permanently deleted component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationRestored': {
    objectType: 'componentConfiguration',
    message: 'Restored component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationCopied': {
    objectType: 'componentConfiguration',
    message: 'Copied component configuration "{sourceConfiguration.name}" to "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version', 'sourceConfiguration'],
  },
  'storage.componentConfigurationRolledBack': {
    objectType: 'componentConfiguration',
    message: 'Rolled back component configuration "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version', 'sourceConfiguration'],
  },
  'storage.componentConfigurationRowCreated': {
    objectType: 'componentConfigurationRow',
    message: 'Created component configuration row "{name}" ({configuration.component})',
    params: ['rowId', 'name', 'version', 'configuration'],
  },
  'storage.componentConfigurationRowChanged': {
    objectType: 'componentConfigurationRow',
    message: 'Changed component configuration row "{name}" ({configuration.component})',
    params: ['rowId', 'name', 'version', 'configuration'],
  },
  'storage.componentConfigurationRowDeleted': {
    objectType: 'componentConfigurationRow',
    message: 'Deleted component configuration row "{name}" ({configuration.component})',
    params: ['rowId', 'name', 'version', 'configuration'],
  },
  'storage.componentConfigurationRowCopied': {
    objectType: 'componentConfigurationRow',
    message: 'Copied component configuration row "{name}" ({configuration.component})',
    params: ['rowId', 'name', 'version', 'configuration', 'sourceRow'],
  },
  'storage.componentConfigurationRowRolledBack': {
    objectType: 'componentConfigurationRow',
    message: 'Rolled back component configuration row "{name}" ({configuration.component})',
    params: ['rowId', 'name', 'version', 'configuration', 'sourceRow'],
  },
  'storage.componentConfigurationMetadataSet': {
    objectType: 'componentConfiguration',
    message: 'Component configuration metadata set "{name}" ({component})',
    params: ['component', 'configurationId', 'name', 'version'],
  },
  'storage.componentConfigurationMetadataDeleted': {
    objectType: 'componentConfiguration',
    message: 'Deleted component configuration metadata id "{metadataId}" with key "{key}"',
    params: ['component', 'configurationId', 'name', 'version', 'metadataId', 'key'],
  },
  'storage.componentsSearched': {
    objectType: 'component',
    message: 'Components were searched',
    params: ['idComponent', 'configurationId', 'metadataKeys', 'include'],
  },
  'storage.componentConfigurationWrapped': {
    objectType: 'componentConfiguration',
    message:
      'Configuration "{objectName}" ({component}/{configurationId}) was saved with a second "configuration" node inside. The component reads parameters and storage from the top, so it will not find them: send the contents of the node only.',
    params: ['component', 'configurationId'],
    type: 'warn',
  },
  'storage.componentConfigurationDoubtful': {
    objectType: 'componentConfiguration',
    message: 'Configuration "{objectName}" ({component}/{configurationId}) was saved. {warning}',
    params: ['component', 'configurationId', 'warning'],
    type: 'warn',
  },

  'storage.devBranchCreated': {
    objectType: 'devBranch',
    message: 'Created branch "{objectName}"',
    params: ['devBranchName', 'devBranchId'],
  },
  'storage.devBranchUpdated': {
    objectType: 'devBranch',
    message: 'Updated branch "{devBranchName}"',
    params: ['devBranchName', 'devBranchId'],
  },
  'storage.devBranchDeleted': {
    objectType: 'devBranch',
    message: 'Deleted branch "{objectName}"',
    params: ['devBranchName', 'devBranchId'],
  },
  'storage.devBranchMetadataSet': {
    objectType: 'devBranch',
    message: 'Development branch "{objectName}" metadata set',
    params: ['metadata'],
  },
  'storage.devBranchMetadataDeleted': {
    objectType: 'devBranch',
    message: 'Development branch "{objectName}" metadata with key "{key}" deleted',
    params: ['metadataId', 'key'],
  },
  'storage.mergeRequestCreated': {
    objectType: 'mergeRequest',
    message: 'Created merge request "{objectName}"',
    params: ['creatorId', 'mergeRequestId'],
  },
  'storage.mergeRequestStateChanged': {
    objectType: 'mergeRequest',
    message: 'Merge request "{objectName}" is now {stateTo}',
    params: ['operation', 'stateFrom', 'stateTo', 'mergeRequestId'],
  },

  'storage.triggerCreated': {
    objectType: 'trigger',
    message: 'Created trigger {objectId} of configuration {configurationId} of {component}',
    params: [],
  },
  'storage.triggerUpdated': {
    objectType: 'trigger',
    message: 'Updated trigger {objectId} of configuration {configurationId} of {component}',
    params: [],
  },
  'storage.triggerDeleted': {
    objectType: 'trigger',
    message: 'Deleted trigger {objectId} of configuration {configurationId} of {component}',
    params: [],
  },
  'storage.triggerFired': {
    objectType: 'trigger',
    message: 'Fired trigger {objectId} of configuration {configurationId} of {component}',
    params: ['jobId'],
  },
  'storage.triggerFailed': {
    objectType: 'trigger',
    message: 'Did not fire trigger {objectId} of configuration {configurationId} of {component}',
    params: [],
    type: 'warn',
  },
  'scheduler.scheduleActivated': {
    objectType: 'schedule',
    message: 'Activated schedule {objectId} ({cronTab})',
    params: ['cronTab'],
  },
  'scheduler.scheduleDeleted': { objectType: 'schedule', message: 'Deleted schedule {objectId}', params: [] },
  'scheduler.scheduleStopped': {
    objectType: 'schedule',
    message: 'Schedule {objectId} stopped: {reason}',
    params: ['reason'],
    type: 'warn',
  },
  'scheduler.tokenRefreshed': { objectType: 'schedule', message: 'Refreshed the token of schedule {objectId}', params: [] },

  'notification.subscriptionCreated': {
    objectType: 'notificationSubscription',
    message: 'Created subscription {objectId} to {objectName}',
    params: [],
  },
  'notification.subscriptionDeleted': {
    objectType: 'notificationSubscription',
    message: 'Deleted subscription {objectId} to {objectName}',
    params: [],
  },

  'storage.workspaceCreated': { objectType: 'workspace', message: 'Created workspace {objectId}', params: [] },
  'storage.workspaceDeleted': { objectType: 'workspace', message: 'Deleted workspace {objectId}', params: [] },
  'storage.workspaceLoaded': {
    objectType: 'workspace',
    message: 'Loaded tables into workspace {objectId}',
    params: ['preserve', 'tables'],
  },
  'storage.workspaceTableCloned': {
    objectType: 'table',
    message: 'Cloned table {source} into workspace {workspace} as {destination}',
    params: ['source', 'destination', 'workspace'],
  },
  'storage.workspacePasswordReset': {
    objectType: 'workspace',
    message: 'Created a new password of workspace {objectId}',
    params: [],
  },
  'storage.workspaceCredentialsCreated': {
    objectType: 'workspace',
    message: 'Created credentials {credentialsId} of workspace {objectId}',
    params: ['credentialsId'],
  },
  'storage.workspaceCredentialsDetail': {
    objectType: 'workspace',
    message: 'Read credentials {credentialsId} of workspace {objectId}',
    params: ['credentialsId'],
  },
  'storage.workspaceCredentialsRetrieved': {
    objectType: 'workspace',
    message: 'Retrieved credentials {credentialsId} of workspace {objectId}',
    params: ['credentialsId'],
  },
  'storage.workspaceCredentialsDeleted': {
    objectType: 'workspace',
    message: 'Deleted credentials {credentialsId} of workspace {objectId}',
    params: ['credentialsId'],
  },
  'storage.workspacePublicKeySet': {
    objectType: 'workspace',
    message: 'Set the public key {name} of workspace {objectId}',
    params: ['name'],
  },

  'sandboxes.created': { objectType: 'sandbox', message: 'Created {kind} {objectId} ({type})', params: ['kind', 'type'] },
  'sandboxes.changed': { objectType: 'sandbox', message: 'Changed {kind} {objectId} ({type})', params: ['kind', 'type'] },
  'sandboxes.deleted': { objectType: 'sandbox', message: 'Deleted {kind} {objectId} ({type})', params: ['kind', 'type'] },

  'apps.created': { objectType: 'dataApp', message: 'Created app {objectId}', params: [] },
  'apps.deployed': { objectType: 'dataApp', message: 'Deployed app {objectId}', params: [] },
  'apps.stopped': { objectType: 'dataApp', message: 'Stopped app {objectId}', params: [] },
  'apps.deleted': { objectType: 'dataApp', message: 'Deleted app {objectId}', params: [] },
  'apps.passwordCreated': { objectType: 'dataApp', message: 'Created the password of app {objectId}', params: [] },
  'apps.gitCredentialCreated': {
    objectType: 'dataApp',
    message: 'Created credential {credential} for the repository of app {objectId}',
    params: ['credential'],
  },
  'apps.gitCredentialDeleted': {
    objectType: 'dataApp',
    message: 'Deleted credential {credential} for the repository of app {objectId}',
    params: ['credential'],
  },
  'apps.pushed': {
    objectType: 'dataApp',
    message: 'Pushed {branches} to the repository of app {objectId}',
    params: ['branches'],
  },
  'apps.linkCreated': { objectType: 'dataApp', message: 'Created a link to app {objectId}', params: [] },
  'apps.started': { objectType: 'dataApp', message: 'Started app {objectId} on node {node}', params: ['node'] },
  'apps.failed': { objectType: 'dataApp', message: 'App {objectId} has failed: {reason}', params: ['reason'], type: 'error' },

  'templates.used': {
    objectType: 'templateInstance',
    message: 'Used template {template} {version} as "{objectName}" ({objectId})',
    params: ['repository', 'template', 'version'],
  },
  'templates.upgraded': {
    objectType: 'templateInstance',
    message: 'Upgraded instance "{objectName}" ({objectId}) to template {template} {version}',
    params: ['repository', 'template', 'version'],
  },
  'templates.instanceChanged': {
    objectType: 'templateInstance',
    message: 'Changed instance "{objectName}" ({objectId}) of template {template}',
    params: ['repository', 'template', 'version'],
  },
  'templates.instanceDeleted': {
    objectType: 'templateInstance',
    message: 'Deleted instance "{objectName}" ({objectId}) of template {template}',
    params: ['repository', 'template', 'version'],
  },
  'templates.repositoryRefreshed': {
    objectType: 'templateRepository',
    message: 'Refreshed the repository of templates {objectId}',
    params: ['commit?', 'problem?'],
  },
  'oauth.providerSaved': { objectType: 'oauthProvider', message: 'Saved OAuth provider {objectId}', params: [] },
  'oauth.providerRemoved': { objectType: 'oauthProvider', message: 'Removed OAuth provider {objectId}', params: [] },
  'oauth.credentialsCreated': {
    objectType: 'oauthCredentials',
    message: 'Created OAuth credentials "{authorizedFor}" ({id}) of {component}',
    params: ['component', 'id', 'authorizedFor', 'provider?'],
  },
  'oauth.credentialsAuthorised': {
    objectType: 'oauthCredentials',
    message: 'Authorised again OAuth credentials "{authorizedFor}" ({id}) of {component}',
    params: ['component', 'id', 'authorizedFor', 'provider?'],
  },
  'oauth.credentialsRefreshed': {
    objectType: 'oauthCredentials',
    message: 'Refreshed OAuth credentials "{authorizedFor}" ({id}) of {component}',
    params: ['component', 'id', 'authorizedFor', 'provider?'],
  },
  'oauth.credentialsRevoked': {
    objectType: 'oauthCredentials',
    message: 'Revoked OAuth credentials "{authorizedFor}" ({id}) of {component}',
    params: ['component', 'id', 'authorizedFor', 'provider?'],
  },
  'oauth.credentialsDeleted': {
    objectType: 'oauthCredentials',
    message: 'Deleted OAuth credentials "{authorizedFor}" ({id}) of {component}',
    params: ['component', 'id', 'authorizedFor', 'provider?'],
  },
  'oauth.credentialsLost': {
    objectType: 'oauthCredentials',
    message: 'OAuth credentials "{authorizedFor}" ({id}) of {component} must be authorised again: {reason}',
    params: ['component', 'id', 'authorizedFor', 'reason'],
    type: 'warn',
  },
} as const satisfies Record<string, EventDefinition>

export type EventName = keyof typeof EVENTS

type ParamOf<N extends EventName> = (typeof EVENTS)[N]['params'][number]

/** Exactly the params of the definition. */
export type EventParams<N extends EventName> = {
  readonly [P in ParamOf<N> as P extends `${string}?` ? never : P]: unknown
} & { readonly [P in ParamOf<N> as P extends `${infer Name}?` ? Name : never]?: unknown }

/** Objects that clients identify by a number. */
const NUMBERED: ReadonlySet<string> = new Set(['devBranch'])

export const shownObjectId = (objectType: string | null, objectId: string | null): string | number | null =>
  objectType !== null && objectId !== null && NUMBERED.has(objectType) ? Number(objectId) : objectId
