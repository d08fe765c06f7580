// Made by tools/client-operations.ts from docs/openapi.json. Do not edit.

export type Error = { readonly error: string; readonly code: string | number; readonly exceptionId: string; readonly status: string; readonly errors?: ReadonlyArray<{ readonly key: string; readonly message: string }>; readonly params?: Readonly<Record<string, unknown>> }
export type Account = { readonly id: number; readonly name: string; readonly email: string; readonly isStackAdmin: boolean; readonly hasPassword: boolean; readonly hasAuthenticator: boolean; readonly recoveryCodesLeft: number; readonly created: string; readonly projects: ReadonlyArray<{ readonly id: number; readonly name: string; readonly role: 'viewer' | 'editor' | 'admin' }> }
export type AccountCreateManageTokenBody = { readonly description: string; readonly expiresIn?: number }
export type AccountSetPasswordBody = { readonly current?: string; readonly password: string }
export type AccountSetPreferenceBody = { readonly value: unknown }
export type AccountTurnOffAuthenticatorBody = { readonly password?: string }
export type AccountTurnOnAuthenticatorBody = { readonly secret: string; readonly code: string; readonly password?: string }
export type AccountUpdateBody = { readonly name: string }
export type AgentConnection = { readonly id: number; readonly client: { readonly id: string; readonly name: string }; readonly scope: string; readonly person: { readonly id: number }; readonly tokenId: number; readonly created: string; readonly lastUsed: string | null; readonly expires: string }
export type AgentConnectionsDecideBody = { readonly request: { readonly client_id?: string; readonly redirect_uri?: string; readonly response_type?: string; readonly code_challenge?: string; readonly code_challenge_method?: string; readonly scope?: string; readonly state?: string; readonly resource?: string }; readonly isAllowed: boolean; readonly projectId?: number; readonly scope?: 'read' | 'propose' | 'write' }
export type AgentConnectionsDescribeBody = { readonly client_id?: string; readonly redirect_uri?: string; readonly response_type?: string; readonly code_challenge?: string; readonly code_challenge_method?: string; readonly scope?: string; readonly state?: string; readonly resource?: string }
export type AgentOauthRegisterBody = { readonly redirect_uris: unknown; readonly client_name: unknown }
export type AgentRequest = { readonly id: string; readonly kind: string; readonly subject: string; readonly detail: unknown; readonly state: string; readonly token: { readonly id: number; readonly description: string }; readonly decidedBy: string | null; readonly created: string }
export type AgentRequestsDecideBody = { readonly isAllowed: boolean; readonly value?: string }
export type AiAnswerBody = { readonly task: 'explain-job' | 'write-query'; readonly jobId?: string; readonly question?: string; readonly branchId?: string; readonly promptId: string }
export type AiPromptBody = { readonly task: 'explain-job' | 'write-query'; readonly jobId?: string; readonly question?: string; readonly branchId?: string }
export type AiQuestionBody = { readonly query: string }
export type AiSuggestComponentBody = { readonly prompt: string }
export type AuditEntry = { readonly id: number; readonly projectId: number; readonly event: string; readonly component: string; readonly message: string; readonly objectType: string | null; readonly objectId: string | null; readonly who: { readonly tokenId: number; readonly description: string; readonly remoteAddress: string | null }; readonly at: string }
export type Backup = { readonly id: number; readonly folder: string; readonly state: string; readonly isPlanned: boolean; readonly startedAt: string; readonly endedAt: string | null; readonly error: string | null; readonly restoreTest: { readonly state: string; readonly startedAt: string; readonly endedAt: string | null; readonly note: string | null } | null }
export type Backups = { readonly plan: { readonly place: string; readonly everyHours: number; readonly keep: number; readonly withKey: boolean } | null; readonly backups: ReadonlyArray<Backup> }
export type Branch = { readonly id: number; readonly name: string; readonly description: string; readonly created: string; readonly isDefault: boolean; readonly creatorToken: unknown }
export type BranchConfigurationsRebaseBody = { readonly name?: string; readonly description?: string; readonly configuration?: unknown; readonly state?: unknown; readonly changeDescription?: string; readonly isDisabled?: boolean; readonly rowsSortOrder?: unknown; readonly version: number; readonly rows?: unknown }
export type BranchMetadataSetBody = { readonly metadata?: unknown }
export type BranchesCreateBody = { readonly name?: string; readonly description?: string }
export type BranchesUpdateBody = { readonly name?: string; readonly description?: string }
export type Bucket = { readonly uri: string; readonly id: string; readonly name: string; readonly displayName: string; readonly stage: string; readonly description: string; readonly tables: string | ReadonlyArray<unknown>; readonly created: string; readonly rowsCount: number; readonly dataSizeBytes: number; readonly backend: string; readonly sharing: string | null }
export type BucketsChangeSharingBody = { readonly sharing: string }
export type BucketsCreateBody = { readonly name?: string; readonly stage?: string; readonly description?: string; readonly backend?: string; readonly displayName?: string; readonly color?: string; readonly sourceProjectId?: number; readonly sourceBucketId?: string }
export type BucketsSetMetadataBody = { readonly provider?: string; readonly metadata?: unknown }
export type BucketsSetOwnerBody = { readonly id?: number; readonly email?: string }
export type BucketsShareToProjectsBody = { readonly targetProjectIds: ReadonlyArray<number> }
export type BucketsShareToUsersBody = { readonly targetUsers: ReadonlyArray<string> }
export type BucketsUpdateBody = { readonly displayName?: string; readonly color?: string; readonly async?: boolean }
export type ColumnsSetMetadataBody = { readonly provider?: string; readonly metadata?: unknown; readonly columnsMetadata?: unknown }
export type Configuration = { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly version: number; readonly changeDescription: string; readonly isDisabled: boolean; readonly isDeleted: boolean; readonly configuration: Readonly<Record<string, unknown>>; readonly rowsSortOrder: ReadonlyArray<string>; readonly rows: ReadonlyArray<ConfigurationRow>; readonly state: Readonly<Record<string, unknown>>; readonly currentVersion: { readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly changeDescription: string; readonly versionIdentifier: string } }
export type ConfigurationMetadataSetBody = { readonly metadata?: unknown }
export type ConfigurationRow = { readonly id: string; readonly name: string; readonly description: string; readonly configuration: Readonly<Record<string, unknown>>; readonly isDisabled: boolean; readonly version: number; readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly changeDescription: string; readonly state: Readonly<Record<string, unknown>>; readonly versionIdentifier: string }
export type ConfigurationVersion = { readonly version: number; readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly changeDescription: string; readonly isDeleted: boolean; readonly name: string; readonly description?: string; readonly isDisabled: boolean; readonly versionIdentifier: string; readonly configuration?: Readonly<Record<string, unknown>> }
export type ConfigurationsCopyBody = { readonly name: string; readonly description?: string; readonly changeDescription?: string }
export type ConfigurationsCreateBody = { readonly name: string; readonly configurationId?: unknown; readonly description?: string; readonly configuration?: unknown; readonly state?: unknown; readonly changeDescription?: string; readonly isDisabled?: boolean }
export type ConfigurationsCreateWorkspaceBody = { readonly backend?: string; readonly backendSize?: string; readonly readOnlyStorageAccess?: boolean; readonly loginType?: string; readonly statementTimeoutSeconds?: number; readonly configurationVersion?: number; readonly networkPolicy?: string; readonly useCase?: string; readonly publicKey?: string }
export type ConfigurationsNamesBody = { readonly configurations: ReadonlyArray<{ readonly componentId: string; readonly configurationId?: string }> }
export type ConfigurationsRollBackBody = { readonly changeDescription?: string }
export type ConfigurationsSetStateBody = { readonly state?: unknown }
export type ConfigurationsUpdateBody = { readonly name?: string; readonly description?: string; readonly configuration?: unknown; readonly state?: unknown; readonly changeDescription?: string; readonly isDisabled?: boolean; readonly rowsSortOrder?: unknown }
export type ConfigurationsValidateBody = { readonly configuration?: unknown; readonly isRow?: boolean }
export type ConfigurationsValidateSavedBody = { readonly configuration?: unknown }
export type ContractBreak = { readonly tableId: string; readonly problems: ReadonlyArray<{ readonly name: string; readonly severity: string; readonly message: string }>; readonly usedBy: ReadonlyArray<Readonly<Record<string, unknown>>> }
export type CreatedGitCredential = { readonly id: string; readonly type: string; readonly name: string; readonly permissions: string; readonly ownerAdminId: string | null; readonly createdAt: string; readonly expiresAt: string; readonly secret: string }
export type Dashboard = { readonly id: string; readonly name: string; readonly description: string; readonly tiles: ReadonlyArray<{ readonly id: string; readonly queryId: string; readonly title: string; readonly type: 'table' | 'line' | 'area' | 'bar' | 'scatter' | 'pivot' | 'figure'; readonly width: number; readonly x?: string; readonly y?: ReadonlyArray<string>; readonly series?: string; readonly alert?: { readonly operator: 'above' | 'below'; readonly value: number } }>; readonly filters: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string; readonly label?: string }>; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string; readonly updated: string; readonly version: number }
export type DashboardLink = { readonly id: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string; readonly expires: string }
export type DashboardsCreateBody = { readonly name: string; readonly description?: string; readonly tiles?: ReadonlyArray<{ readonly id: string; readonly queryId: string; readonly title: string; readonly type: 'table' | 'line' | 'area' | 'bar' | 'scatter' | 'pivot' | 'figure'; readonly width: number; readonly x?: string; readonly y?: ReadonlyArray<string>; readonly series?: string; readonly alert?: { readonly operator: 'above' | 'below'; readonly value: number } }>; readonly filters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string; readonly label?: string }> }
export type DashboardsCreateLinkBody = { readonly expiresIn: number }
export type DashboardsUpdateBody = { readonly name?: string; readonly description?: string; readonly tiles?: ReadonlyArray<{ readonly id: string; readonly queryId: string; readonly title: string; readonly type: 'table' | 'line' | 'area' | 'bar' | 'scatter' | 'pivot' | 'figure'; readonly width: number; readonly x?: string; readonly y?: ReadonlyArray<string>; readonly series?: string; readonly alert?: { readonly operator: 'above' | 'below'; readonly value: number } }>; readonly filters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string; readonly label?: string }>; readonly version?: number }
export type DataApp = { readonly id: string; readonly projectId: string; readonly componentId: string; readonly branchId: string; readonly configId: string; readonly configVersion: string; readonly latestConfigVersion: string; readonly name: string; readonly type: string; readonly size: string | null; readonly state: string; readonly desiredState: string; readonly url: string; readonly autoSuspendAfterSeconds: number; readonly autoRestartEnabled: boolean; readonly provisioningStrategy: string; readonly createdTimestamp: string; readonly lastRequestTimestamp: string | null; readonly lastStartTimestamp: string | null }
export type DataAppLink = { readonly url: string; readonly expiresAt: string }
export type DataAppPreviewLink = { readonly url: string; readonly linkExpiresAt: string }
export type DataAppRepository = { readonly sshUrl: string | null; readonly httpsUrl: string | null; readonly isManagedGitRepo: boolean }
export type DataAppRun = { readonly id: string; readonly appId: string; readonly state: string; readonly configVersion: string; readonly node: string; readonly startTimestamp: string; readonly endTimestamp: string | null; readonly reason: string | null; readonly createdAt: string; readonly startedAt: string; readonly stoppedAt: string | null; readonly failureReason: { readonly reason: string; readonly message: string } | null }
export type DataContract = { readonly tableId: string; readonly contract: string; readonly isDraft: boolean; readonly isOfDefaultBranch: boolean; readonly checks: ReadonlyArray<{ readonly name: string; readonly type: string; readonly severity: string }>; readonly notChecked: ReadonlyArray<string>; readonly updated: string | null }
export type DataContractsSaveBody = { readonly contract: string; readonly force?: boolean }
export type DataScienceChangeAppBody = { readonly desiredState?: 'running' | 'stopped'; readonly configVersion?: string | number; readonly restartIfRunning?: boolean; readonly updateDependencies?: boolean }
export type DataScienceChangeBody = { readonly shared?: boolean; readonly expirationAfterHours?: number }
export type DataScienceCreateAppBody = { readonly type?: string; readonly name?: string; readonly description?: string; readonly branchId?: string | number; readonly useManagedGitRepo?: boolean; readonly componentId?: string; readonly configId?: string; readonly config?: Readonly<Record<string, unknown>> }
export type DataScienceCreateAppGitCredentialBody = { readonly type?: 'http_token'; readonly name?: string; readonly permissions?: 'readWrite' | 'readOnly'; readonly expiresInSeconds?: number }
export type DataScienceCreateAppLinkBody = { readonly expiresInSeconds?: number }
export type DataScienceCreateBody = { readonly type: string; readonly shared?: boolean; readonly configurationId?: string; readonly size?: string; readonly branchId?: string | number; readonly expirationAfterHours?: number }
export type DataTest = { readonly id: string; readonly branchId: string; readonly tableId: string; readonly name: string; readonly type: string; readonly parameters: Readonly<Record<string, unknown>>; readonly severity: string; readonly description: string; readonly isEnabled: boolean; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string; readonly updated: string }
export type DataTestImport = { readonly runs: ReadonlyArray<DataTestRun>; readonly leftOut: number }
export type DataTestRun = { readonly id: string; readonly tableId: string; readonly status: string; readonly trigger: string; readonly rowsCount: number; readonly storageJobId: number | null; readonly runId: string | null; readonly startedAt: string; readonly endedAt: string; readonly results: ReadonlyArray<{ readonly testId: string; readonly name: string; readonly type: string; readonly severity: string; readonly status: string; readonly failures: number | null; readonly message: string | null; readonly fileId: number | null; readonly measured?: { readonly of: string; readonly value: number | null } }>; readonly examples: ReadonlyArray<{ readonly tests: string; readonly row: Readonly<Record<string, string | null>> }> }
export type DataTestsCreateBody = { readonly tableId: string; readonly name: string; readonly type: 'notNull' | 'unique' | 'acceptedValues' | 'range' | 'pattern' | 'relationships' | 'rowCount' | 'usual' | 'freshness' | 'schema' | 'sql'; readonly parameters?: Readonly<Record<string, unknown>>; readonly severity?: 'warn' | 'stop'; readonly description?: string; readonly isEnabled?: boolean }
export type DataTestsImportBody = { readonly runResults: Readonly<Record<string, unknown>>; readonly manifest?: Readonly<Record<string, unknown>>; readonly schemas?: ReadonlyArray<{ readonly schema: string; readonly bucket: string }>; readonly tableId?: string }
export type DataTestsUpdateBody = { readonly name?: string; readonly type?: 'notNull' | 'unique' | 'acceptedValues' | 'range' | 'pattern' | 'relationships' | 'rowCount' | 'usual' | 'freshness' | 'schema' | 'sql'; readonly parameters?: Readonly<Record<string, unknown>>; readonly severity?: 'warn' | 'stop'; readonly description?: string; readonly isEnabled?: boolean }
export type Delivery = { readonly componentId: string; readonly configurationId: string; readonly name: string | null; readonly rowId: string | null; readonly tableId: string; readonly state: 'current' | 'behind' | 'never'; readonly behindSeconds: number | null; readonly lastDelivery: { readonly jobId: string; readonly time: string; readonly counts: Readonly<Record<string, number>> } | null; readonly failure: { readonly jobId: string; readonly kind: string | null; readonly message: string | null } | null }
export type DockerRunnerActionBody = { readonly configData?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly tag?: string; readonly branchId?: string }
export type DockerRunnerResolveBody = { readonly componentId: string; readonly configId: string; readonly configRowId?: string; readonly configVersion?: string; readonly variableValuesId?: string; readonly variableValuesData?: { readonly values?: ReadonlyArray<{ readonly name: string; readonly value: unknown }> } | ReadonlyArray<unknown>; readonly branchId?: string }
export type DryRun = { readonly isDryRun: boolean; readonly operationName: string; readonly tableId: string | null; readonly results: unknown; readonly rows: { readonly before: number; readonly after: number } | null; readonly tables: ReadonlyArray<string>; readonly configurations: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly rowId: string | null; readonly name: string }>; readonly nextRuns: ReadonlyArray<{ readonly configurationId: string; readonly executionTime: string }> }
export type EditorCreateBody = { readonly componentId?: string; readonly configurationId?: string; readonly backendSize?: string; readonly branchId?: string | number; readonly expirationAfterHours?: number }
export type EditorSession = { readonly id: string; readonly projectId: string; readonly branchId: string; readonly tokenId: string; readonly userId: string | null; readonly componentId: string | null; readonly configurationId: string | null; readonly shared: boolean; readonly workspaceId: string; readonly workspaceCreateJobId: null; readonly workspaceDatabase: string; readonly workspaceSchema: string; readonly workspaceLoginType: string; readonly workspaceLoadJobs: ReadonlyArray<string>; readonly readOnlyStorageAccess: boolean; readonly snowflakePrivateKey: null; readonly backendType: string; readonly backendSize: string | null; readonly status: string; readonly lastError: null; readonly lastLoadedAt: null; readonly connection: { readonly user: string; readonly password: string; readonly host: string; readonly port: number | null }; readonly createdAt: string; readonly updatedAt: string; readonly createdTimestamp: string; readonly expirationTimestamp: string | null }
export type EncryptionMigrateConfigurationBody = { readonly sourceStorageApiToken: string; readonly destinationStack: string; readonly destinationStorageApiToken: string; readonly componentId: string; readonly configId: string; readonly branchId: string }
export type Event = { readonly id: string | number; readonly uuid: string; readonly event: string; readonly component: string; readonly message: string; readonly type: string; readonly created: string }
export type EventsCreateBody = { readonly component: string; readonly message: string; readonly description?: string; readonly type?: 'info' | 'success' | 'warn' | 'error'; readonly configurationId?: string; readonly params?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly results?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly duration?: number; readonly runId?: string }
export type FailureGroup = { readonly cause: { readonly kind: string; readonly subject: string | null; readonly text: string; readonly advice: string; readonly help: string }; readonly count: number; readonly firstTime: string; readonly lastTime: string; readonly lastJob: { readonly id: string; readonly message: string }; readonly configurationsCount: number; readonly configurations: ReadonlyArray<{ readonly componentId: string; readonly configId: string | null; readonly branchId: string; readonly count: number; readonly lastJobId: string; readonly lastTime: string }> }
export type File = { readonly id: number; readonly created: string; readonly isPublic: boolean; readonly isSliced: boolean; readonly isEncrypted: boolean; readonly name: string; readonly url: string; readonly provider: string; readonly fileType: string; readonly region: string; readonly sizeBytes: number; readonly tags: ReadonlyArray<string>; readonly maxAgeDays: number | null; readonly runId: string | null; readonly runIds: ReadonlyArray<string>; readonly creatorToken: { readonly id: number; readonly description: string }; readonly uploadParams?: { readonly key: string; readonly bucket: string; readonly acl: string; readonly 'x-amz-server-side-encryption': string; readonly credentials?: { readonly AccessKeyId: string; readonly SecretAccessKey: string; readonly SessionToken: string; readonly Expiration: string }; readonly endpoint: string }; readonly absUploadParams?: { readonly blobName: string; readonly accountName: string; readonly container: string; readonly absCredentials: { readonly SASConnectionString: string; readonly expiration: string; readonly accountName: string; readonly container: string } }; readonly absPath?: { readonly container: string; readonly name: string }; readonly absCredentials?: { readonly SASConnectionString: string; readonly expiration: string; readonly accountName: string; readonly container: string }; readonly s3Path?: { readonly bucket: string; readonly key: string }; readonly credentials?: { readonly AccessKeyId: string; readonly SecretAccessKey: string; readonly SessionToken: string; readonly Expiration: string }; readonly endpoint?: string }
export type FilesAddTagBody = { readonly tag: string }
export type FilesPrepareBody = { readonly name: string; readonly sizeBytes?: number; readonly federationToken?: boolean; readonly contentType?: string; readonly isSliced?: boolean; readonly isPermanent?: boolean; readonly isPublic?: boolean; readonly isEncrypted?: boolean; readonly notify?: boolean; readonly tags?: ReadonlyArray<string> }
export type FlowsValidateBody = { readonly component: string; readonly configuration: Readonly<Record<string, unknown>>; readonly config?: string; readonly branchId?: string }
export type Freshness = { readonly tableId: string; readonly state: string; readonly lastLoadTime: string | null; readonly usualIntervalMs: number | null; readonly expectedTime: string | null; readonly lateByMs: number }
export type GitCredential = { readonly id: string; readonly type: string; readonly name: string; readonly permissions: string; readonly ownerAdminId: string | null; readonly createdAt: string; readonly expiresAt: string }
export type IcebergCommitBody = { readonly identifier?: unknown; readonly requirements: ReadonlyArray<unknown>; readonly updates: ReadonlyArray<unknown> }
export type IcebergCreateTableBody = { readonly name: string; readonly schema: unknown; readonly location?: unknown; readonly 'partition-spec'?: unknown; readonly 'write-order'?: unknown; readonly 'stage-create'?: boolean; readonly properties?: unknown }
export type IcebergTokenBody = { readonly grant_type?: string; readonly client_id?: string; readonly client_secret?: string; readonly scope?: string }
export type ImportFetchFileBody = { readonly url: string; readonly name?: string; readonly isPermanent?: boolean; readonly isPublic?: boolean; readonly isEncrypted?: boolean; readonly notify?: boolean; readonly tags?: ReadonlyArray<string>; readonly branchId?: string }
export type Invitation = { readonly id: number; readonly email: string; readonly role: 'viewer' | 'editor' | 'admin'; readonly created: string; readonly expires: string; readonly creator: { readonly name: string }; readonly link?: string; readonly isMailed?: boolean }
export type Job = { readonly id: string; readonly runId: string; readonly parentRunId: string; readonly project: { readonly id: string; readonly name: string }; readonly token: { readonly id: string; readonly description: string }; readonly status: string; readonly desiredStatus: string; readonly waitingReason: string | null; readonly mode: string; readonly component: string; readonly config: string | null; readonly branchId: string; readonly configData: Readonly<Record<string, unknown>> | ReadonlyArray<unknown>; readonly configRowIds: ReadonlyArray<string> | null; readonly tag: string; readonly createdTime: string; readonly startTime: string | null; readonly endTime: string | null; readonly delayedStartTime: string | null; readonly durationSeconds: number; readonly durationMs: number; readonly configVersion: string | null; readonly usual: { readonly durationMs: number; readonly runs: number; readonly deviation: number | null } | null; readonly cause: { readonly kind: string; readonly subject: string | null } | null; readonly progress: { readonly rowsDone: number; readonly rowsTotal: number; readonly rowId: string | null; readonly phase: string; readonly component?: string; readonly done?: number; readonly total?: number; readonly unit?: string; readonly rows?: ReadonlyArray<{ readonly rowId: string | null; readonly status: string; readonly phases: ReadonlyArray<{ readonly name: string; readonly startTime: string; readonly endTime: string | null; readonly startMs?: number; readonly durationMs?: number | null }> }> } | null; readonly endedBy: string | null; readonly result: Readonly<Record<string, unknown>> | ReadonlyArray<unknown>; readonly usageData: ReadonlyArray<unknown>; readonly isFinished: boolean; readonly url: string; readonly error?: { readonly message: string } }
export type JobRequest = { readonly component?: string; readonly config?: string; readonly configData?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly configRowIds?: ReadonlyArray<string>; readonly row?: string; readonly mode?: 'run' | 'forceRun' | 'debug'; readonly tag?: string; readonly branchId?: string; readonly variableValuesId?: string; readonly variableValuesData?: { readonly values?: ReadonlyArray<{ readonly name: string; readonly value: string | number | boolean | null }> } | ReadonlyArray<unknown>; readonly parallelism?: string; readonly backend?: string | { readonly type?: string; readonly containerType?: string; readonly context?: string } | ReadonlyArray<unknown>; readonly parentRunId?: string; readonly behavior?: { readonly onError?: string } | ReadonlyArray<unknown>; readonly orchestrationJobId?: string; readonly orchestrationTaskId?: string; readonly orchestrationPhaseId?: string; readonly onlyOrchestrationTaskIds?: ReadonlyArray<string>; readonly onlyFlowTaskIds?: ReadonlyArray<string>; readonly previousJobId?: string; readonly delay?: string; readonly delayedStartTime?: string; readonly deduplicationId?: string; readonly executor?: 'dind' | 'k8sContainers' }
export type JobsByStatus = { readonly jobs: Readonly<Record<string, number>> }
export type JudgedFreshness = { readonly tableId: string; readonly state: string; readonly lastLoadTime: string | null; readonly usualIntervalMs: number | null; readonly expectedTime: string | null; readonly lateByMs: number; readonly writer: { readonly componentId: string; readonly configurationId: string; readonly rowId: string | null } | null; readonly lastLoad: { readonly jobId: string | null; readonly tokenDescription: string } | null; readonly failure: { readonly jobId: string; readonly kind: string | null; readonly message: string | null } | null; readonly lateInputs: ReadonlyArray<string> }
export type Lineage = { readonly isComplete: boolean; readonly nodes: ReadonlyArray<{ readonly id: string; readonly kind: string; readonly tableId?: string; readonly freshness?: Freshness | null; readonly componentId?: string; readonly configurationId?: string; readonly name?: string | null }>; readonly edges: ReadonlyArray<{ readonly from: string; readonly to: string; readonly kind: string; readonly rowId: string | null; readonly jobId: string | null; readonly time: string | null; readonly columns?: ReadonlyArray<{ readonly column: string; readonly from: ReadonlyArray<{ readonly tableId: string; readonly column: string }> }> | null }> }
export type ManageToken = { readonly id: number; readonly description: string; readonly created: string; readonly expires: string | null; readonly token?: string }
export type ManagedProject = { readonly id: number; readonly name: string; readonly type: string; readonly created: string; readonly features: ReadonlyArray<string>; readonly isDisabled: boolean; readonly disabled?: { readonly reason: string }; readonly isDeleted: boolean; readonly purgeTime?: string; readonly organization: { readonly id: number; readonly name: string } }
export type MergeRequest = { readonly id: number; readonly title: string; readonly state: string }
export type MergeRequestsApproveBody = { readonly reason?: string }
export type MergeRequestsChangeSettingsBody = { readonly requiredApprovals: number | null }
export type MergeRequestsCreateBody = { readonly title: string; readonly description?: string; readonly externalId?: string | null; readonly autoMergeStrategy?: 'immediately' | 'scheduled' | 'none'; readonly autoMergeAt?: string | null; readonly reviewerIds?: ReadonlyArray<number>; readonly branchFromId: number; readonly branchIntoId: number }
export type MergeRequestsRequestChangesBody = { readonly reason?: string }
export type MergeRequestsRequestReviewBody = { readonly reason?: string }
export type MergeRequestsUpdateBody = { readonly title?: string; readonly description?: string; readonly externalId?: string | null; readonly autoMergeStrategy?: 'immediately' | 'scheduled' | 'none'; readonly autoMergeAt?: string | null; readonly reviewerIds?: ReadonlyArray<number> }
export type MetadataItem = { readonly id: string; readonly key: string; readonly value: string; readonly timestamp: string }
export type MlflowServer = { readonly url: string; readonly version: string | null; readonly problem: string | null }
export type NamingCheckColumnNamesBody = { readonly columnNames: ReadonlyArray<string> }
export type NamingColumnNamesBody = { readonly columnNames: ReadonlyArray<string> }
export type NamingDisplayNameBody = { readonly displayName: string }
export type NotificationEmitBody = Readonly<Record<string, unknown>>
export type NotificationSendBody = { readonly type: 'direct-project-email' | 'direct-project-webhook'; readonly recipient: { readonly channel?: 'email' | 'webhook'; readonly address?: string; readonly url?: string }; readonly data: Readonly<Record<string, unknown>> }
export type NotificationSubscribeBody = { readonly event: string; readonly filters?: ReadonlyArray<{ readonly field: string; readonly value: string | number | boolean; readonly operator?: '==' | '!=' | '<' | '>' | '<=' | '>=' }>; readonly recipient: { readonly channel: 'email' | 'webhook'; readonly address?: string; readonly url?: string; readonly template?: 'payload' | 'slack' | 'teams' | Readonly<Record<string, unknown>>; readonly signingSecret?: string }; readonly expiresAt?: string | null }
export type OauthAddCredentialsBody = { readonly id: string; readonly authorizedFor: string; readonly '#data': string | Readonly<Record<string, unknown>>; readonly provider?: string; readonly appKey?: string; readonly appSecret?: string; readonly '#appSecret'?: string; readonly oauthVersion?: '1.0' | '2.0'; readonly userData?: Readonly<Record<string, string>> | string }
export type OauthAddManagedBody = { readonly component_id: string; readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string; readonly app_secret?: string }
export type OauthAuthorizeByFormBody = { readonly token?: string; readonly id?: string; readonly authorizedFor?: string; readonly returnUrl?: string; readonly userData?: Readonly<Record<string, string>> | string; readonly provider?: string; readonly scope?: string; readonly appKey?: string; readonly appSecret?: string; readonly configurationId?: string }
export type OauthChangeManagedBody = { readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string; readonly app_secret?: string }
export type OauthMakeLinkBody = { readonly componentId: string; readonly configurationId?: string; readonly id?: string; readonly authorizedFor?: string; readonly provider?: string; readonly scope?: string }
export type OperationsChangeSettingBody = { readonly value: string | number }
export type Person = { readonly id: number; readonly name: string; readonly email: string; readonly isStackAdmin: boolean }
export type ProjectInvitationsCreateBody = { readonly email: string; readonly role?: 'viewer' | 'editor' | 'admin'; readonly expirationSeconds?: number }
export type ProjectUser = { readonly id: number; readonly name: string; readonly email: string; readonly role: 'viewer' | 'editor' | 'admin'; readonly status: string; readonly created: string; readonly tokenId: number; readonly isAutomatic: boolean }
export type ProjectUsersAddBody = { readonly email: string; readonly role?: 'viewer' | 'editor' | 'admin' }
export type ProjectUsersUpdateBody = { readonly role: 'viewer' | 'editor' | 'admin' }
export type ProjectsAddFeatureBody = { readonly feature: string }
export type ProjectsCreateBody = { readonly name: string }
export type ProjectsPauseBody = { readonly disableReason?: string }
export type ProjectsSetLimitsBody = { readonly limits: ReadonlyArray<{ readonly name: string; readonly value: number }> }
export type ProjectsUpdateBody = { readonly name: string }
export type Proposal = { readonly id: number; readonly state: string; readonly title: string | null; readonly description: string | null; readonly token: { readonly id: number; readonly description: string }; readonly branchId: number; readonly mergeRequestId: number | null; readonly created: string; readonly expires: string | null; readonly link: string; readonly refusal: { readonly reason: string; readonly by: string } | null }
export type ProposalReview = { readonly id: number; readonly state: string; readonly title: string | null; readonly description: string | null; readonly token: { readonly id: number; readonly description: string }; readonly branchId: number; readonly mergeRequestId: number | null; readonly created: string; readonly expires: string | null; readonly link: string; readonly refusal: { readonly reason: string; readonly by: string } | null; readonly changes: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string; readonly kind: string; readonly isConflict: boolean; readonly differences: ReadonlyArray<{ readonly pointer: string; readonly before: string | null; readonly after: string | null; readonly copiedFrom: string | null }> }>; readonly storageChanges: ReadonlyArray<{ readonly kind: string; readonly tableId: string; readonly name: string; readonly change: string; readonly isConflict: boolean; readonly differences: ReadonlyArray<{ readonly pointer: string; readonly before: string | null; readonly after: string | null; readonly copiedFrom: string | null }> }>; readonly runs: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly jobId: string | null; readonly problem: string | null }>; readonly tables: ReadonlyArray<string>; readonly schedules: ReadonlyArray<{ readonly configurationId: string; readonly cronTab: string }>; readonly hosts: ReadonlyArray<{ readonly host: string; readonly isNew: boolean }>; readonly runBy: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string }>; readonly destinations: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string }>; readonly costs: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly runs: number; readonly usualMs: number | null }> }
export type ProposalsAcceptBody = { readonly reason?: string; readonly runJobs?: boolean }
export type ProposalsBeginBody = { readonly branchId: number }
export type ProposalsRefuseBody = { readonly reason: string }
export type ProposalsSubmitBody = { readonly title: string; readonly description?: string; readonly run?: ReadonlyArray<{ readonly component: string; readonly config: string }> }
export type QueryRun = { readonly id: string; readonly sql: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly started: string; readonly durationMs: number; readonly error: string | null }
export type QuerySubmitBody = { readonly statements: ReadonlyArray<string>; readonly transactional?: boolean; readonly actorType?: string }
export type Rehearsal = { readonly id: number | null; readonly proposalId: number; readonly state: string; readonly summary: string; readonly jobId: string | null; readonly created: string | null; readonly isCurrent: boolean; readonly steps: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly jobId: string; readonly status: string; readonly error: string | null }>; readonly notRun: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly reason: string }>; readonly tables: ReadonlyArray<{ readonly id: string; readonly rowsBefore: number; readonly rowsAfter: number; readonly added: number; readonly removed: number; readonly changed: number; readonly addedColumns: ReadonlyArray<string>; readonly removedColumns: ReadonlyArray<string>; readonly columns: ReadonlyArray<string>; readonly samples: ReadonlyArray<{ readonly kind: string; readonly before: ReadonlyArray<string | null> | null; readonly after: ReadonlyArray<string | null> | null }>; readonly problem?: string }>; readonly tablesLeftOut: number; readonly hiddenTables: number; readonly deliveries: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly tables: ReadonlyArray<string>; readonly rows: number }> }
export type RowsCopyBody = { readonly targetConfigId?: string; readonly changeDescription?: string }
export type RowsCreateBody = { readonly rowId?: unknown; readonly name?: string; readonly description?: string; readonly configuration?: unknown; readonly state?: unknown; readonly changeDescription?: string; readonly isDisabled?: boolean }
export type RowsDeleteBody = { readonly changeDescription?: string }
export type RowsRollBackBody = { readonly changeDescription?: string }
export type RowsSetStateBody = { readonly state?: unknown }
export type RowsUpdateBody = { readonly rowId?: unknown; readonly name?: string; readonly description?: string; readonly configuration?: unknown; readonly state?: unknown; readonly changeDescription?: string; readonly isDisabled?: boolean }
export type SampleChangeContactBody = { readonly email?: string }
export type SampleCreateContactBody = { readonly id: string | number; readonly email?: string }
export type SampleLogInBody = { readonly username: string; readonly password: string }
export type SamplePutContactBody = { readonly email?: string }
export type Sandbox = { readonly id: string; readonly projectId: string; readonly tokenId: string; readonly branchId: string; readonly type: string; readonly size: string | null; readonly active: boolean; readonly shared: boolean; readonly configurationId: string | null; readonly physicalId: string; readonly user: string; readonly password: string; readonly host: string; readonly port: number | null; readonly stagingWorkspaceId: string; readonly workspaceDetails: { readonly connection: { readonly database: string; readonly schema: string } }; readonly packages: ReadonlyArray<string>; readonly expirationAfterHours: number; readonly createdTimestamp: string; readonly updatedTimestamp: string; readonly expirationTimestamp: string | null }
export type SandboxesChangeAppBody = { readonly desiredState?: 'running' | 'stopped'; readonly configVersion?: string | number; readonly restartIfRunning?: boolean; readonly updateDependencies?: boolean }
export type SandboxesChangeBody = { readonly shared?: boolean; readonly expirationAfterHours?: number }
export type SandboxesCreateAppBody = { readonly type?: string; readonly name?: string; readonly description?: string; readonly branchId?: string | number; readonly useManagedGitRepo?: boolean; readonly componentId?: string; readonly configId?: string; readonly config?: Readonly<Record<string, unknown>> }
export type SandboxesCreateAppGitCredentialBody = { readonly type?: 'http_token'; readonly name?: string; readonly permissions?: 'readWrite' | 'readOnly'; readonly expiresInSeconds?: number }
export type SandboxesCreateAppLinkBody = { readonly expiresInSeconds?: number }
export type SandboxesCreateBody = { readonly type: string; readonly shared?: boolean; readonly configurationId?: string; readonly size?: string; readonly branchId?: string | number; readonly expirationAfterHours?: number }
export type SavedQueriesCreateBody = { readonly name: string; readonly sql: string; readonly description?: string; readonly parameters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string }> }
export type SavedQueriesUpdateBody = { readonly name?: string; readonly sql?: string; readonly description?: string; readonly parameters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string }>; readonly version?: number }
export type SavedQuery = { readonly id: string; readonly name: string; readonly description: string; readonly sql: string; readonly parameters: ReadonlyArray<{ readonly name: string; readonly type: string; readonly default?: string }>; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string; readonly updated: string; readonly version: number }
export type SavedQueryVersion = { readonly version: number; readonly name: string; readonly description: string; readonly sql: string; readonly parameters: ReadonlyArray<{ readonly name: string; readonly type: string; readonly default?: string }>; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string }
export type Schedule = { readonly id: string; readonly tokenId: string; readonly configurationId: string; readonly configurationVersionId: string; readonly schedule: { readonly cronTab: string; readonly timezone: string; readonly state: string }; readonly target: { readonly componentId: string; readonly configurationId: string; readonly configurationRowIds: ReadonlyArray<string>; readonly mode: string; readonly tag: string }; readonly executions: ReadonlyArray<{ readonly jobId: string | null; readonly executionTime: string; readonly dueTime: string; readonly status: string; readonly reason: string | null }>; readonly nextExecutionTime: string | null; readonly stoppedReason: string | null }
export type SchedulerActivateBody = { readonly configurationId: string; readonly configurationVersionId?: string }
export type SchedulerPreviewBody = { readonly cronTab: string; readonly timezone?: string; readonly dst?: 'once' | 'skip' | 'every'; readonly count?: number }
export type SearchResult = { readonly items: ReadonlyArray<{ readonly kind: string; readonly id: string; readonly name: string; readonly tableId?: string; readonly componentId?: string; readonly configurationId?: string; readonly rowId?: string; readonly email?: string }>; readonly more: ReadonlyArray<string> }
export type Session = { readonly id: number; readonly method: string; readonly address: string | null; readonly userAgent: string | null; readonly created: string; readonly lastSeen: string; readonly expires: string; readonly isCurrent: boolean }
export type SharedDashboard = { readonly name: string; readonly description: string; readonly tiles: ReadonlyArray<{ readonly id: string; readonly title: string; readonly type: 'table' | 'line' | 'area' | 'bar' | 'scatter' | 'pivot' | 'figure'; readonly width: number; readonly x?: string; readonly y?: ReadonlyArray<string>; readonly series?: string; readonly alert?: { readonly operator: 'above' | 'below'; readonly value: number } }>; readonly filters: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly default?: string; readonly label?: string }>; readonly expires: string }
export type SignInDescribeLinkBody = { readonly link: string }
export type SignInLinkBody = { readonly link: string; readonly name?: string; readonly email?: string; readonly password?: string }
export type SignInPasswordBody = { readonly email: string; readonly password: string; readonly code?: string }
export type SniffedFile = { readonly format: string; readonly compression: string | null; readonly encoding: string; readonly hasByteOrderMark: boolean; readonly delimiter: string; readonly enclosure: string; readonly lineEnd: string; readonly hasHeader: boolean; readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly nullable: boolean }>; readonly rows: number; readonly preview: ReadonlyArray<ReadonlyArray<string>>; readonly problems: ReadonlyArray<{ readonly kind: string; readonly line: number; readonly column: number; readonly offset: number; readonly message: string; readonly text: string }>; readonly isLoadable: boolean; readonly sampledBytes: number; readonly isWhole: boolean }
export type SparkCluster = { readonly url: string; readonly version: string | null; readonly problem: string | null; readonly pagesUrl: string | null; readonly cluster: { readonly status: string; readonly workers: { readonly alive: number; readonly all: number }; readonly cores: { readonly all: number; readonly used: number }; readonly memoryMb: { readonly all: number; readonly used: number }; readonly applications: ReadonlyArray<{ readonly id: string; readonly name: string; readonly jobId: string; readonly state: string; readonly cores: number; readonly memoryPerExecutorMb: number; readonly startedAt: string }> } | null }
export type SqlConnection = { readonly host: string; readonly port: number | null; readonly database: string; readonly isEncrypted: boolean }
export type SqlExportBody = { readonly sql: string; readonly fileName?: string; readonly fileType?: 'csv' | 'parquet'; readonly gzip?: boolean; readonly parameters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly value: string | number | boolean }> }
export type SqlQueryBody = { readonly sql: string; readonly format?: 'json' | 'csv' | 'parquet'; readonly limit?: number; readonly parameters?: ReadonlyArray<{ readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'date' | 'timestamp'; readonly value: string | number | boolean }> }
export type StackNode = { readonly id: string; readonly name: string; readonly version: string; readonly roles: ReadonlyArray<string>; readonly labels: ReadonlyArray<string>; readonly state: string; readonly startedAt: string; readonly lastSeenAt: string; readonly load: { readonly jobs: number; readonly slots: number; readonly storageJobs: number; readonly memoryBytes: number; readonly loadAverage: number; readonly clockDifferenceMs?: number }; readonly leases: { readonly jobs: ReadonlyArray<{ readonly id: number; readonly projectId: number; readonly leaseUntil: string }>; readonly storageJobs: ReadonlyArray<{ readonly id: number; readonly projectId: number; readonly leaseUntil: string }> } }
export type StackSetting = { readonly name: string; readonly value: string | null; readonly origin: string; readonly default: string; readonly description: string; readonly isSecret: boolean; readonly isChangeable: boolean; readonly changedAt: string | null; readonly changedBy: string | null }
export type StackStatus = { readonly level: string; readonly version: string; readonly at: string; readonly checks: ReadonlyArray<{ readonly check: string; readonly level: string; readonly text: string; readonly facts: Readonly<Record<string, unknown>> }> }
export type StateOfRow = { readonly rowId: string | null; readonly isSaved: boolean; readonly before: Readonly<Record<string, unknown>> | null; readonly beforeBytes: number; readonly after: Readonly<Record<string, unknown>> | null; readonly afterBytes: number | null }
export type StorageJob = { readonly id: number; readonly status: string; readonly url: string; readonly tableId: string | null; readonly operationName: string; readonly operationParams: Readonly<Record<string, unknown>>; readonly createdTime: string; readonly startTime: string | null; readonly endTime: string | null; readonly runId: string; readonly results: unknown; readonly creatorToken: { readonly id: number; readonly description: string }; readonly metrics: { readonly inCompressed: boolean; readonly inBytes: number; readonly inBytesUncompressed: number; readonly outCompressed: boolean; readonly outBytes: number; readonly outBytesUncompressed: number }; readonly error?: { readonly code: string; readonly message: string; readonly exceptionId: string } }
export type StreamCreateSinkBody = { readonly sinkId?: string; readonly type?: 'table'; readonly name: string; readonly description?: string; readonly table: { readonly type?: 'keboola'; readonly tableId: string; readonly mapping: { readonly columns: ReadonlyArray<{ readonly type: 'uuid' | 'datetime' | 'ip' | 'body' | 'headers' | 'path' | 'template'; readonly name: string; readonly primaryKey?: false; readonly path?: string; readonly defaultValue?: string; readonly rawString?: boolean; readonly template?: { readonly language: string; readonly content: string } }> } } }
export type StreamCreateSourceBody = { readonly sourceId?: string; readonly type?: 'http' | 'otlp'; readonly name: string; readonly description?: string }
export type StreamUpdateSettingsBody = { readonly settings: ReadonlyArray<{ readonly key: string; readonly value: unknown }>; readonly changeDescription?: string }
export type StreamUpdateSinkBody = { readonly name?: string; readonly description?: string; readonly table?: { readonly type?: 'keboola'; readonly tableId: string; readonly mapping: { readonly columns: ReadonlyArray<{ readonly type: 'uuid' | 'datetime' | 'ip' | 'body' | 'headers' | 'path' | 'template'; readonly name: string; readonly primaryKey?: false; readonly path?: string; readonly defaultValue?: string; readonly rawString?: boolean; readonly template?: { readonly language: string; readonly content: string } }> } }; readonly changeDescription?: string }
export type StreamUpdateSourceBody = { readonly name?: string; readonly description?: string; readonly changeDescription?: string }
export type SyncActionsResolveBody = { readonly componentId: string; readonly configId: string; readonly configRowId?: string; readonly configVersion?: string; readonly variableValuesId?: string; readonly variableValuesData?: { readonly values?: ReadonlyArray<{ readonly name: string; readonly value: unknown }> } | ReadonlyArray<unknown>; readonly branchId?: string }
export type SyncActionsRunBody = { readonly componentId: string; readonly action: string; readonly configData?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly tag?: string; readonly branchId?: string }
export type SyncActionsTrySqlBody = { readonly componentId: string; readonly configData?: Readonly<Record<string, unknown>> | ReadonlyArray<unknown> | string; readonly sampleRows?: number | null; readonly shownRows?: number; readonly branchId?: string }
export type SyrupResolveBody = { readonly componentId: string; readonly configId: string; readonly configRowId?: string; readonly configVersion?: string; readonly variableValuesId?: string; readonly variableValuesData?: { readonly values?: ReadonlyArray<{ readonly name: string; readonly value: unknown }> } | ReadonlyArray<unknown>; readonly branchId?: string }
export type Table = { readonly uri: string; readonly id: string; readonly name: string; readonly displayName: string; readonly primaryKey: ReadonlyArray<string>; readonly created: string; readonly lastImportDate: string | null; readonly lastChangeDate: string | null; readonly rowsCount: number | null; readonly dataSizeBytes: number | null; readonly isAlias: boolean; readonly isTyped: boolean; readonly columns?: ReadonlyArray<string>; readonly metadata?: ReadonlyArray<unknown>; readonly columnMetadata?: Readonly<Record<string, ReadonlyArray<unknown>>>; readonly bucket?: unknown; readonly definition?: unknown; readonly freshness?: Freshness }
export type TableComment = { readonly id: string; readonly text: string; readonly author: { readonly id: number; readonly description: string }; readonly created: string; readonly edited: string | null }
export type TableCommentsCreateBody = { readonly text: string }
export type TableCommentsUpdateBody = { readonly text: string }
export type TableHistory = { readonly tableId: string; readonly isEnabled: boolean; readonly historyTableId: string | null; readonly isCurrent: boolean; readonly updated: string | null; readonly problem: string | null }
export type TableHistorySetBody = { readonly isEnabled: boolean }
export type TablesAddColumnBody = { readonly name?: unknown; readonly basetype?: unknown; readonly definition?: unknown }
export type TablesAddPrimaryKeyBody = { readonly columns?: unknown; readonly skipDuplicatesCheck?: unknown }
export type TablesBisectBody = { readonly goodAt: string; readonly badAt?: string; readonly testId?: string; readonly sql?: string }
export type TablesChangeColumnBody = { readonly definition?: unknown; readonly length?: unknown; readonly nullable?: unknown; readonly name?: unknown; readonly default?: unknown | null; readonly description?: unknown | null }
export type TablesChangeColumnTypeBody = { readonly type?: unknown; readonly length?: unknown; readonly invalidValues?: unknown }
export type TablesChangeDefinitionBody = { readonly displayName?: unknown; readonly columns?: unknown; readonly description?: unknown | null }
export type TablesCreateAliasBody = { readonly sourceTable?: unknown; readonly name?: unknown; readonly displayName?: unknown; readonly aliasColumns?: unknown; readonly aliasFilter?: unknown; readonly aliasColumnsAutoSync?: unknown }
export type TablesCreateAsyncBody = { readonly name?: unknown; readonly displayName?: unknown; readonly primaryKey?: unknown; readonly delimiter?: unknown; readonly enclosure?: unknown; readonly escapedBy?: unknown; readonly columns?: unknown; readonly withoutHeaders?: unknown; readonly ignoredLinesCount?: unknown; readonly dataFileId?: unknown; readonly snapshotId?: unknown; readonly sourceTableId?: unknown; readonly timestamp?: unknown }
export type TablesCreateDefinitionBody = { readonly name?: unknown; readonly displayName?: unknown; readonly primaryKeysNames?: unknown; readonly columns?: unknown; readonly timestampType?: unknown; readonly timePartitioning?: unknown; readonly rangePartitioning?: unknown; readonly clustering?: unknown; readonly distribution?: unknown; readonly index?: unknown }
export type TablesCreateSnapshotBody = { readonly description?: unknown }
export type TablesDeleteRowsBody = { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly allowTruncate?: unknown }
export type TablesExportAsyncBody = { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly columns?: unknown; readonly orderBy?: unknown; readonly limit?: unknown; readonly fileType?: unknown; readonly gzip?: unknown; readonly includeInternalTimestamp?: unknown; readonly merged?: unknown; readonly format?: unknown; readonly timezone?: unknown; readonly sourceBranchId?: unknown }
export type TablesImportAsyncBody = { readonly dataFileId?: unknown; readonly incremental?: unknown; readonly treatValuesAsNull?: unknown; readonly useTimestampFromDataFile?: unknown; readonly deduplicationStrategy?: unknown; readonly delimiter?: unknown; readonly enclosure?: unknown; readonly escapedBy?: unknown; readonly columns?: unknown; readonly withoutHeaders?: unknown; readonly ignoredLinesCount?: unknown }
export type TablesRestoreBody = { readonly snapshotId?: unknown; readonly timestamp?: unknown }
export type TablesSetAliasFilterBody = { readonly column?: unknown; readonly operator?: unknown; readonly values?: unknown }
export type TablesSetMetadataBody = { readonly provider?: string; readonly metadata?: unknown; readonly columnsMetadata?: unknown }
export type TablesSwapBody = { readonly targetTableId: string }
export type TablesUpdateBody = { readonly displayName: string; readonly async?: boolean }
export type TemplatesPreviewBody = { readonly name: string; readonly branch?: string; readonly steps: ReadonlyArray<{ readonly id: string; readonly inputs?: ReadonlyArray<{ readonly id: string; readonly value?: unknown }> }> }
export type TemplatesRenameInstanceBody = { readonly name: string }
export type TemplatesUpgradeBody = { readonly steps: ReadonlyArray<{ readonly id: string; readonly inputs?: ReadonlyArray<{ readonly id: string; readonly value?: unknown }> }> }
export type TemplatesUpgradePreviewBody = { readonly steps: ReadonlyArray<{ readonly id: string; readonly inputs?: ReadonlyArray<{ readonly id: string; readonly value?: unknown }> }> }
export type TemplatesUseBody = { readonly name: string; readonly branch?: string; readonly steps: ReadonlyArray<{ readonly id: string; readonly inputs?: ReadonlyArray<{ readonly id: string; readonly value?: unknown }> }> }
export type TemplatesValidateBody = { readonly steps: ReadonlyArray<{ readonly id: string; readonly inputs?: ReadonlyArray<{ readonly id: string; readonly value?: unknown }> }> }
export type Token = { readonly id: string; readonly token?: string; readonly description: string; readonly created: string; readonly refreshed: string; readonly uri: string; readonly isMasterToken: boolean; readonly expires: string | null; readonly isExpired: boolean; readonly isDisabled: boolean; readonly lastUsed?: string | null; readonly creatorToken?: { readonly id: number; readonly description: string }; readonly admin?: { readonly id: number; readonly name: string; readonly role: string }; readonly bucketPermissions: Readonly<Record<string, string>>; readonly componentAccess?: ReadonlyArray<string> }
export type TokenRequest = { readonly description?: string; readonly expiresIn?: number; readonly canManageBuckets?: boolean; readonly canManageTokens?: boolean; readonly canReadAllFileUploads?: boolean; readonly canPurgeTrash?: boolean; readonly canManageProtectedDefaultBranch?: boolean; readonly canCreateJobs?: boolean; readonly canReadAllProjectEvents?: boolean; readonly canManageDevBranches?: boolean; readonly onlyProposes?: boolean; readonly bucketPermissions?: Readonly<Record<string, string>> | ReadonlyArray<unknown>; readonly componentAccess?: ReadonlyArray<string> }
export type TriedScript = { readonly inputs: ReadonlyArray<{ readonly name: string; readonly tableId: string; readonly rows: number }>; readonly steps: ReadonlyArray<{ readonly block: string; readonly code: string; readonly statement: number; readonly pointer: string; readonly sql: string; readonly table: string | null; readonly ms: number; readonly rows: number | null; readonly changedRows: number | null; readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>; readonly sample: ReadonlyArray<ReadonlyArray<string | number | boolean | null>>; readonly isCut: boolean; readonly problem: string | null }>; readonly outputs: ReadonlyArray<{ readonly source: string; readonly destination: string | null; readonly rows: number | null }>; readonly failure: { readonly message: string; readonly kind: string | null; readonly pointer: string | null; readonly block: string | null; readonly code: string | null; readonly statement: number | null; readonly line: number | null; readonly character: number | null } | null; readonly ms: number }
export type Trigger = { readonly id: string; readonly runWithTokenId: number; readonly component: string; readonly configurationId: string; readonly lastRun: string; readonly coolDownPeriodMinutes: number; readonly creatorToken: { readonly id: number; readonly description: string }; readonly tables: ReadonlyArray<{ readonly tableId: string }> }
export type TriggersCreateBody = { readonly runWithTokenId: number; readonly component: string; readonly configurationId: string; readonly coolDownPeriodMinutes?: number; readonly tableIds: ReadonlyArray<string> }
export type TriggersUpdateBody = { readonly runWithTokenId?: number; readonly component?: string; readonly configurationId?: string; readonly coolDownPeriodMinutes?: number; readonly tableIds?: ReadonlyArray<string> }
export type UsedBy = { readonly tableId: string; readonly readBy: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string | null; readonly rowId: string | null; readonly lastJobId: string | null; readonly lastTime: string | null }>; readonly writtenBy: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string | null; readonly rowId: string | null; readonly lastJobId: string | null; readonly lastTime: string | null }>; readonly aliases: ReadonlyArray<string> }
export type UsersUpdateBody = { readonly isStackAdmin: boolean }
export type ValidationAnswer = { readonly isValid: boolean; readonly problems: ReadonlyArray<{ readonly level: string; readonly pointer: string; readonly message: string; readonly rule: string; readonly rowId: string | null }> }
export type VaultSaveBody = { readonly key: string; readonly value: string; readonly flags?: ReadonlyArray<'encrypted' | 'oauthCredentialsId'>; readonly attributes?: Readonly<Record<string, string>> | ReadonlyArray<unknown> }
export type Workspace = { readonly id: number; readonly type: 'table'; readonly name: string; readonly component: string | null; readonly configurationId: string | null; readonly configurationVersion: number | null; readonly created: string; readonly connection: { readonly backend: string; readonly host: string; readonly port?: number; readonly database: string; readonly schema: string; readonly region?: string; readonly warehouse?: string; readonly user: string; readonly loginType: string; readonly ssoLoginAvailable: boolean; readonly password?: string; readonly credentials?: { readonly id: number } }; readonly backendSize: string | null; readonly statementTimeoutSeconds: number; readonly creatorToken: { readonly id: number; readonly description: string }; readonly readOnlyStorageAccess: boolean; readonly platformUsageType: string }
export type WorkspacesCreateBody = { readonly backend?: string; readonly backendSize?: string; readonly readOnlyStorageAccess?: boolean; readonly loginType?: string; readonly statementTimeoutSeconds?: number; readonly configurationVersion?: number; readonly networkPolicy?: string; readonly useCase?: string; readonly publicKey?: string }
export type WorkspacesCreateCredentialsBody = Readonly<Record<string, unknown>>
export type WorkspacesDeleteObjectsBody = { readonly objects: ReadonlyArray<string> }
export type WorkspacesExportTableBody = { readonly tableName: string; readonly fileName?: string; readonly fileType?: 'csv' | 'parquet'; readonly gzip?: boolean }
export type WorkspacesInputMappingLoadBody = { readonly input?: unknown; readonly preserve?: boolean }
export type WorkspacesInputMappingPreviewBody = { readonly input?: unknown; readonly preserve?: boolean }
export type WorkspacesLoadBody = { readonly input?: unknown; readonly preserve?: boolean }
export type WorkspacesLoadCloneBody = { readonly input?: unknown; readonly preserve?: boolean }
export type WorkspacesQueryBody = { readonly query: string }
export type WorkspacesSetNamedPublicKeyBody = { readonly publicKey: string }
export type WorkspacesSetPublicKeyBody = { readonly publicKey: string; readonly keyName?: string }

/** Method and address of every operation, and where it takes the id of a development branch. */
export const ROUTES = {
  'console.start': ['GET', '/'],
  'agentOauth.server': ['GET', '/.well-known/oauth-authorization-server'],
  'agentOauth.resource': ['GET', '/.well-known/oauth-protected-resource'],
  'agentOauth.resourceOfMcp': ['GET', '/.well-known/oauth-protected-resource/mcp'],
  'account.get': ['GET', '/account'],
  'account.update': ['PATCH', '/account'],
  'account.proposeAuthenticator': ['POST', '/account/authenticator'],
  'account.turnOnAuthenticator': ['PUT', '/account/authenticator'],
  'account.turnOffAuthenticator': ['DELETE', '/account/authenticator'],
  'account.manageTokens': ['GET', '/account/manage-tokens'],
  'account.createManageToken': ['POST', '/account/manage-tokens'],
  'account.deleteManageToken': ['DELETE', '/account/manage-tokens/{id}'],
  'account.setPassword': ['PUT', '/account/password'],
  'account.preferences': ['GET', '/account/preferences'],
  'account.setPreference': ['PUT', '/account/preferences/{name}'],
  'account.removePreference': ['DELETE', '/account/preferences/{name}'],
  'account.sessions': ['GET', '/account/sessions'],
  'account.endOtherSessions': ['DELETE', '/account/sessions'],
  'account.endSession': ['DELETE', '/account/sessions/{id}'],
  'account.signOut': ['POST', '/account/sign-out'],
  'agentOauth.authorize': ['GET', '/agent-oauth/authorize'],
  'agentConnections.decide': ['POST', '/agent-oauth/decide'],
  'agentOauth.register': ['POST', '/agent-oauth/register'],
  'agentConnections.describe': ['POST', '/agent-oauth/requests'],
  'agentOauth.revoke': ['POST', '/agent-oauth/revoke'],
  'agentOauth.token': ['POST', '/agent-oauth/token'],
  'ai.describe': ['GET', '/ai'],
  'ai.answer': ['POST', '/ai/answers', 'body'],
  'ai.component': ['GET', '/ai/docs/components/{componentId}'],
  'ai.question': ['POST', '/ai/docs/question'],
  'ai.model': ['GET', '/ai/model'],
  'ai.prompt': ['POST', '/ai/prompts', 'body'],
  'ai.suggestComponent': ['POST', '/ai/suggest/component'],
  'billing.describe': ['GET', '/billing'],
  'billing.credits': ['GET', '/billing/credits'],
  'billing.creditsTopUp': ['POST', '/billing/credits'],
  'billing.limits': ['GET', '/billing/limits'],
  'billing.usage': ['GET', '/billing/usage'],
  'console.page': ['GET', '/console'],
  'console.get': ['GET', '/console/{path}'],
  'dataApps.open': ['GET', '/data-apps/{id}'],
  'dataApps.pageGet': ['GET', '/data-apps/{id}/{link}'],
  'dataApps.pagePost': ['POST', '/data-apps/{id}/{link}'],
  'dataApps.pagePut': ['PUT', '/data-apps/{id}/{link}'],
  'dataApps.pagePatch': ['PATCH', '/data-apps/{id}/{link}'],
  'dataApps.pageDelete': ['DELETE', '/data-apps/{id}/{link}'],
  'dataApps.pathGet': ['GET', '/data-apps/{id}/{link}/{path}'],
  'dataApps.pathPost.post': ['POST', '/data-apps/{id}/{link}/{path}'],
  'dataApps.pathPut.put': ['PUT', '/data-apps/{id}/{link}/{path}'],
  'dataApps.pathPatch.patch': ['PATCH', '/data-apps/{id}/{link}/{path}'],
  'dataApps.pathDelete.delete': ['DELETE', '/data-apps/{id}/{link}/{path}'],
  'dataScience.describe': ['GET', '/data-science'],
  'dataScience.createApp': ['POST', '/data-science/apps', 'body'],
  'dataScience.listApps': ['GET', '/data-science/apps', 'query'],
  'dataScience.getApp': ['GET', '/data-science/apps/{id}'],
  'dataScience.changeApp': ['PATCH', '/data-science/apps/{id}'],
  'dataScience.deleteApp': ['DELETE', '/data-science/apps/{id}'],
  'dataScience.appRepository': ['GET', '/data-science/apps/{id}/git-repo'],
  'dataScience.createAppGitCredential': ['POST', '/data-science/apps/{id}/git-repo/credentials'],
  'dataScience.listAppGitCredentials': ['GET', '/data-science/apps/{id}/git-repo/credentials'],
  'dataScience.deleteAppGitCredential': ['DELETE', '/data-science/apps/{id}/git-repo/credentials/{credentialId}'],
  'dataScience.createAppLink': ['POST', '/data-science/apps/{id}/links'],
  'dataScience.tailAppLog': ['GET', '/data-science/apps/{id}/logs/tail'],
  'dataScience.appPassword': ['GET', '/data-science/apps/{id}/password'],
  'dataScience.createAppPreviewLink': ['POST', '/data-science/apps/{id}/preview-link'],
  'dataScience.listAppRuns': ['GET', '/data-science/apps/{id}/runs'],
  'dataScience.project': ['GET', '/data-science/projects/current'],
  'dataScience.create': ['POST', '/data-science/sandboxes', 'body'],
  'dataScience.list': ['GET', '/data-science/sandboxes'],
  'dataScience.get': ['GET', '/data-science/sandboxes/{id}'],
  'dataScience.change': ['PATCH', '/data-science/sandboxes/{id}'],
  'dataScience.delete': ['DELETE', '/data-science/sandboxes/{id}'],
  'dataScience.activate': ['POST', '/data-science/sandboxes/{id}/activate'],
  'dataScience.deactivate': ['POST', '/data-science/sandboxes/{id}/deactivate'],
  'dockerRunner.describe': ['GET', '/docker-runner'],
  'dockerRunner.resolve': ['POST', '/docker-runner/docker/configuration/resolve', 'body'],
  'encryption.encryptOldForComponent': ['POST', '/docker-runner/docker/{componentId}/configs/encrypt'],
  'dockerRunner.action': ['POST', '/docker-runner/docker/{component}/action/{action}', 'body'],
  'operations.docs': ['GET', '/docs'],
  'operations.componentPage': ['GET', '/docs/components/{componentId}'],
  'operations.componentIcon': ['GET', '/docs/components/{componentId}/icon.svg'],
  'editor.describe': ['GET', '/editor'],
  'editor.create': ['POST', '/editor/sql/sessions', 'body'],
  'editor.list': ['GET', '/editor/sql/sessions'],
  'editor.get': ['GET', '/editor/sql/sessions/{id}'],
  'editor.delete': ['DELETE', '/editor/sql/sessions/{id}'],
  'editor.resetCredentials': ['POST', '/editor/sql/sessions/{id}/reset-credentials'],
  'encryption.describe': ['GET', '/encryption'],
  'encryption.encrypt': ['POST', '/encryption/encrypt'],
  'encryption.migrateConfiguration': ['POST', '/encryption/migrate-configuration', 'body'],
  'git.push': ['POST', '/git/data-apps/{repository}/git-receive-pack'],
  'git.fetch': ['POST', '/git/data-apps/{repository}/git-upload-pack'],
  'git.listRefs': ['GET', '/git/data-apps/{repository}/info/refs'],
  'operations.health': ['GET', '/health'],
  'operations.guides': ['GET', '/help'],
  'operations.guideImage': ['GET', '/help/images/{name}'],
  'operations.searchGuides': ['GET', '/help/search'],
  'operations.guide': ['GET', '/help/{path}'],
  'iceberg.describe': ['GET', '/iceberg'],
  'iceberg.config': ['GET', '/iceberg/v1/config'],
  'iceberg.token': ['POST', '/iceberg/v1/oauth/tokens'],
  'iceberg.namespaces': ['GET', '/iceberg/v1/{prefix}/namespaces'],
  'iceberg.namespace': ['GET', '/iceberg/v1/{prefix}/namespaces/{namespace}'],
  'iceberg.tables': ['GET', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables'],
  'iceberg.createTable': ['POST', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables'],
  'iceberg.commit': ['POST', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}'],
  'iceberg.dropTable': ['DELETE', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}'],
  'iceberg.loadTable': ['GET', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}'],
  'iceberg.credentials': ['GET', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials'],
  'iceberg.metrics': ['POST', '/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics'],
  'import.describe': ['GET', '/import'],
  'import.fetchFile': ['POST', '/import/fetch-file', 'body'],
  'import.uploadFile': ['POST', '/import/upload-file', 'body'],
  'import.writeTable': ['POST', '/import/write-table', 'body'],
  'operations.llms': ['GET', '/llms.txt'],
  'projects.deleted': ['GET', '/manage/deleted-projects'],
  'projects.restore': ['DELETE', '/manage/deleted-projects/{projectId}'],
  'projects.organizations': ['GET', '/manage/organizations'],
  'projects.list': ['GET', '/manage/organizations/{organizationId}/projects'],
  'projects.create': ['POST', '/manage/organizations/{organizationId}/projects'],
  'projects.get': ['GET', '/manage/projects/{projectId}'],
  'projects.update': ['PUT', '/manage/projects/{projectId}'],
  'projects.delete': ['DELETE', '/manage/projects/{projectId}'],
  'projects.pause': ['POST', '/manage/projects/{projectId}/disable'],
  'projects.resume': ['POST', '/manage/projects/{projectId}/enable'],
  'projects.addFeature': ['POST', '/manage/projects/{projectId}/features'],
  'projects.removeFeature': ['DELETE', '/manage/projects/{projectId}/features/{feature}'],
  'projectInvitations.list': ['GET', '/manage/projects/{projectId}/invitations'],
  'projectInvitations.create': ['POST', '/manage/projects/{projectId}/invitations'],
  'projectInvitations.delete': ['DELETE', '/manage/projects/{projectId}/invitations/{invitationId}'],
  'projects.setLimits': ['POST', '/manage/projects/{projectId}/limits'],
  'projects.removeLimit': ['DELETE', '/manage/projects/{projectId}/limits/{limit}'],
  'projects.createToken': ['POST', '/manage/projects/{projectId}/tokens'],
  'projectUsers.list': ['GET', '/manage/projects/{projectId}/users'],
  'projectUsers.add': ['POST', '/manage/projects/{projectId}/users'],
  'projectUsers.update': ['PATCH', '/manage/projects/{projectId}/users/{userId}'],
  'projectUsers.remove': ['DELETE', '/manage/projects/{projectId}/users/{userId}'],
  'users.verify': ['GET', '/manage/tokens/verify'],
  'users.list': ['GET', '/manage/users'],
  'users.get': ['GET', '/manage/users/{user}'],
  'users.update': ['PATCH', '/manage/users/{user}'],
  'users.remove': ['DELETE', '/manage/users/{user}'],
  'mcp.request': ['POST', '/mcp'],
  'operations.metrics': ['GET', '/metrics'],
  'mlflow.describe': ['GET', '/mlflow'],
  'mlflow.server': ['GET', '/mlflow/server'],
  'mlflow.request': ['GET', '/mlflow/{path}'],
  'mlflow.request.post': ['POST', '/mlflow/{path}'],
  'mlflow.request.put': ['PUT', '/mlflow/{path}'],
  'mlflow.request.patch': ['PATCH', '/mlflow/{path}'],
  'mlflow.request.delete': ['DELETE', '/mlflow/{path}'],
  'notification.describe': ['GET', '/notification'],
  'notification.deliveries': ['GET', '/notification/deliveries'],
  'notification.delivery': ['GET', '/notification/deliveries/{id}'],
  'notification.emit': ['POST', '/notification/events/{event}'],
  'notification.send': ['POST', '/notification/notifications'],
  'notification.subscribe': ['POST', '/notification/project-subscriptions'],
  'notification.list': ['GET', '/notification/project-subscriptions'],
  'notification.get': ['GET', '/notification/project-subscriptions/{id}'],
  'notification.unsubscribe': ['DELETE', '/notification/project-subscriptions/{id}'],
  'notification.test': ['POST', '/notification/project-subscriptions/{id}/test'],
  'oauth.describe': ['GET', '/oauth'],
  'oauth.authorize': ['GET', '/oauth/authorize/{componentId}'],
  'oauth.authorizeByForm': ['POST', '/oauth/authorize/{componentId}'],
  'oauth.callback': ['GET', '/oauth/authorize/{componentId}/callback'],
  'oauth.listCredentials': ['GET', '/oauth/credentials/{componentId}'],
  'oauth.addCredentials': ['POST', '/oauth/credentials/{componentId}'],
  'oauth.credentials': ['GET', '/oauth/credentials/{componentId}/{id}'],
  'oauth.deleteCredentials': ['DELETE', '/oauth/credentials/{componentId}/{id}'],
  'oauth.refreshCredentials': ['POST', '/oauth/credentials/{componentId}/{id}/refresh'],
  'oauth.revokeCredentials': ['POST', '/oauth/credentials/{componentId}/{id}/revoke'],
  'oauth.testCredentials': ['POST', '/oauth/credentials/{componentId}/{id}/test'],
  'oauth.linkPage': ['GET', '/oauth/link'],
  'oauth.makeLink': ['POST', '/oauth/links'],
  'oauth.listManaged': ['GET', '/oauth/manage'],
  'oauth.addManaged': ['POST', '/oauth/manage'],
  'oauth.managed': ['GET', '/oauth/manage/{componentId}'],
  'oauth.changeManaged': ['PATCH', '/oauth/manage/{componentId}'],
  'oauth.deleteManaged': ['DELETE', '/oauth/manage/{componentId}'],
  'oauth.listProviders': ['GET', '/oauth/providers'],
  'oauth.provider': ['GET', '/oauth/providers/{id}'],
  'operations.openapi': ['GET', '/openapi.json'],
  'operations.audit': ['GET', '/operations/audit'],
  'operations.backups': ['GET', '/operations/backups'],
  'operations.backUp': ['POST', '/operations/backups'],
  'operations.testRestore': ['POST', '/operations/backups/{id}/restore-test'],
  'operations.nodes': ['GET', '/operations/nodes'],
  'operations.settings': ['GET', '/operations/settings'],
  'operations.changeSetting': ['PUT', '/operations/settings/{name}'],
  'operations.resetSetting': ['DELETE', '/operations/settings/{name}'],
  'operations.status': ['GET', '/operations/status'],
  'stream.otlpWithBearer': ['POST', '/otlp/{projectId}/{sourceId}/v1/{signal}'],
  'stream.otlp': ['POST', '/otlp/{projectId}/{sourceId}/{secret}/v1/{signal}'],
  'query.describe': ['GET', '/query'],
  'query.submit': ['POST', '/query/api/v1/branches/{branchId}/workspaces/{workspaceId}/queries'],
  'query.get': ['GET', '/query/api/v1/queries/{queryJobId}'],
  'query.cancel': ['POST', '/query/api/v1/queries/{queryJobId}/cancel'],
  'query.results': ['GET', '/query/api/v1/queries/{queryJobId}/{statementId}/results'],
  'queue.describe': ['GET', '/queue'],
  'flows.validate': ['POST', '/queue/flows/validate', 'body'],
  'queue.lineage': ['GET', '/queue/job/{id}/open-api-lineage'],
  'queue.create': ['POST', '/queue/jobs', 'body'],
  'queue.list': ['GET', '/queue/jobs', 'query'],
  'queue.get': ['GET', '/queue/jobs/{id}'],
  'queue.events': ['GET', '/queue/jobs/{id}/events'],
  'queue.kill': ['POST', '/queue/jobs/{id}/kill'],
  'queue.rerun': ['POST', '/queue/jobs/{id}/rerun'],
  'queue.states': ['GET', '/queue/jobs/{id}/states'],
  'queue.failures': ['GET', '/queue/search/failures', 'query'],
  'queue.searchGrouped': ['GET', '/queue/search/grouped-jobs', 'query'],
  'queue.search': ['GET', '/queue/search/jobs', 'query'],
  'queue.lineageEvents': ['GET', '/queue/search/open-lineage', 'query'],
  'queue.stats': ['GET', '/queue/stats/project'],
  'queue.statuses': ['GET', '/queue/stats/statuses', 'query'],
  'queue.run': ['POST', '/queue/{component}/run', 'body'],
  'queue.runTag': ['POST', '/queue/{component}/run/tag/{tag}', 'body'],
  'operations.ready': ['GET', '/ready'],
  'sample.describe': ['GET', '/sample'],
  'sample.contacts': ['GET', '/sample/contacts'],
  'sample.createContact': ['POST', '/sample/contacts'],
  'sample.contact': ['GET', '/sample/contacts/{id}'],
  'sample.putContact': ['PUT', '/sample/contacts/{id}'],
  'sample.changeContact': ['PATCH', '/sample/contacts/{id}'],
  'sample.deleteContact': ['DELETE', '/sample/contacts/{id}'],
  'sample.customers': ['GET', '/sample/customers'],
  'sample.logIn': ['POST', '/sample/login'],
  'sample.orders': ['GET', '/sample/orders'],
  'sandboxes.describe': ['GET', '/sandboxes'],
  'sandboxes.createApp': ['POST', '/sandboxes/apps', 'body'],
  'sandboxes.listApps': ['GET', '/sandboxes/apps', 'query'],
  'sandboxes.getApp': ['GET', '/sandboxes/apps/{id}'],
  'sandboxes.changeApp': ['PATCH', '/sandboxes/apps/{id}'],
  'sandboxes.deleteApp': ['DELETE', '/sandboxes/apps/{id}'],
  'sandboxes.appRepository': ['GET', '/sandboxes/apps/{id}/git-repo'],
  'sandboxes.createAppGitCredential': ['POST', '/sandboxes/apps/{id}/git-repo/credentials'],
  'sandboxes.listAppGitCredentials': ['GET', '/sandboxes/apps/{id}/git-repo/credentials'],
  'sandboxes.deleteAppGitCredential': ['DELETE', '/sandboxes/apps/{id}/git-repo/credentials/{credentialId}'],
  'sandboxes.createAppLink': ['POST', '/sandboxes/apps/{id}/links'],
  'sandboxes.tailAppLog': ['GET', '/sandboxes/apps/{id}/logs/tail'],
  'sandboxes.appPassword': ['GET', '/sandboxes/apps/{id}/password'],
  'sandboxes.createAppPreviewLink': ['POST', '/sandboxes/apps/{id}/preview-link'],
  'sandboxes.listAppRuns': ['GET', '/sandboxes/apps/{id}/runs'],
  'sandboxes.project': ['GET', '/sandboxes/projects/current'],
  'sandboxes.create': ['POST', '/sandboxes/sandboxes', 'body'],
  'sandboxes.list': ['GET', '/sandboxes/sandboxes'],
  'sandboxes.get': ['GET', '/sandboxes/sandboxes/{id}'],
  'sandboxes.change': ['PATCH', '/sandboxes/sandboxes/{id}'],
  'sandboxes.delete': ['DELETE', '/sandboxes/sandboxes/{id}'],
  'sandboxes.activate': ['POST', '/sandboxes/sandboxes/{id}/activate'],
  'sandboxes.deactivate': ['POST', '/sandboxes/sandboxes/{id}/deactivate'],
  'scheduler.describe': ['GET', '/scheduler'],
  'scheduler.deleteByConfiguration': ['DELETE', '/scheduler/configurations/{id}'],
  'scheduler.preview': ['POST', '/scheduler/preview'],
  'scheduler.activate': ['POST', '/scheduler/schedules'],
  'scheduler.list': ['GET', '/scheduler/schedules'],
  'scheduler.get': ['GET', '/scheduler/schedules/{id}'],
  'scheduler.delete': ['DELETE', '/scheduler/schedules/{id}'],
  'scheduler.next': ['GET', '/scheduler/schedules/{id}/next'],
  'scheduler.refreshToken': ['POST', '/scheduler/schedules/{id}/refreshToken'],
  'scheduler.totals': ['GET', '/scheduler/totals'],
  'dashboards.shared': ['GET', '/shared/dashboard'],
  'dashboards.sharedResult': ['GET', '/shared/dashboard/tiles/{tileId}/result'],
  'signIn.methods': ['GET', '/sign-in'],
  'signIn.link': ['POST', '/sign-in/link'],
  'signIn.describeLink': ['POST', '/sign-in/link/describe'],
  'signIn.password': ['POST', '/sign-in/password'],
  'spark.describe': ['GET', '/spark'],
  'spark.cluster': ['GET', '/spark/cluster'],
  'spark.frontPage': ['GET', '/spark/pages'],
  'spark.page': ['GET', '/spark/pages/{path}'],
  'stream.describe': ['GET', '/stream'],
  'stream.aggregateSources': ['GET', '/stream/v1/branches/{branchId}/aggregation/sources'],
  'stream.createSource': ['POST', '/stream/v1/branches/{branchId}/sources'],
  'stream.listSources': ['GET', '/stream/v1/branches/{branchId}/sources'],
  'stream.getSource': ['GET', '/stream/v1/branches/{branchId}/sources/{sourceId}'],
  'stream.updateSource': ['PATCH', '/stream/v1/branches/{branchId}/sources/{sourceId}'],
  'stream.deleteSource': ['DELETE', '/stream/v1/branches/{branchId}/sources/{sourceId}'],
  'stream.disableSource': ['PUT', '/stream/v1/branches/{branchId}/sources/{sourceId}/disable'],
  'stream.enableSource': ['PUT', '/stream/v1/branches/{branchId}/sources/{sourceId}/enable'],
  'stream.rotateSecret': ['POST', '/stream/v1/branches/{branchId}/sources/{sourceId}/rotate-secret'],
  'stream.getSettings': ['GET', '/stream/v1/branches/{branchId}/sources/{sourceId}/settings'],
  'stream.updateSettings': ['PATCH', '/stream/v1/branches/{branchId}/sources/{sourceId}/settings'],
  'stream.createSink': ['POST', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks'],
  'stream.listSinks': ['GET', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks'],
  'stream.getSink': ['GET', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks/{sinkId}'],
  'stream.updateSink': ['PATCH', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks/{sinkId}'],
  'stream.deleteSink': ['DELETE', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks/{sinkId}'],
  'stream.disableSink': ['PUT', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks/{sinkId}/disable'],
  'stream.enableSink': ['PUT', '/stream/v1/branches/{branchId}/sources/{sourceId}/sinks/{sinkId}/enable'],
  'stream.testSource': ['POST', '/stream/v1/branches/{branchId}/sources/{sourceId}/test'],
  'stream.getTask': ['GET', '/stream/v1/tasks/{path}'],
  'stream.receive': ['POST', '/stream/{projectId}/{sourceId}/{secret}'],
  'syncActions.describe': ['GET', '/sync-actions'],
  'syncActions.run': ['POST', '/sync-actions/actions', 'body'],
  'syncActions.list': ['GET', '/sync-actions/actions'],
  'syncActions.resolve': ['POST', '/sync-actions/configuration/resolve', 'body'],
  'syncActions.trySql': ['POST', '/sync-actions/sql/try', 'body'],
  'syrup.describe': ['GET', '/syrup'],
  'syrup.resolve': ['POST', '/syrup/docker/configuration/resolve', 'body'],
  'encryption.encryptOld': ['POST', '/syrup/docker/encrypt'],
  'syrup.sandbox': ['POST', '/syrup/docker/sandbox', 'body'],
  'syrup.stats': ['GET', '/syrup/docker/stats/project'],
  'syrup.dailyStats': ['GET', '/syrup/docker/stats/project/daily'],
  'syrup.dryRun': ['POST', '/syrup/docker/{component}/dry-run', 'body'],
  'syrup.input': ['POST', '/syrup/docker/{component}/input', 'body'],
  'syrup.run': ['POST', '/syrup/docker/{component}/run', 'body'],
  'syrup.runTag': ['POST', '/syrup/docker/{component}/run/tag/{tag}', 'body'],
  'syrup.get': ['GET', '/syrup/queue/job/{id}'],
  'syrup.list': ['GET', '/syrup/queue/jobs', 'query'],
  'syrup.kill': ['POST', '/syrup/queue/jobs/{id}/kill'],
  'templates.describe': ['GET', '/templates'],
  'templates.healthCheck': ['GET', '/templates/health-check'],
  'templates.service': ['GET', '/templates/v1'],
  'templates.listInstances': ['GET', '/templates/v1/project/{branch}/instances'],
  'templates.instance': ['GET', '/templates/v1/project/{branch}/instances/{instance}'],
  'templates.renameInstance': ['PUT', '/templates/v1/project/{branch}/instances/{instance}'],
  'templates.deleteInstance': ['DELETE', '/templates/v1/project/{branch}/instances/{instance}'],
  'templates.upgrade': ['POST', '/templates/v1/project/{branch}/instances/{instance}/upgrade/{version}'],
  'templates.upgradeInputs': ['GET', '/templates/v1/project/{branch}/instances/{instance}/upgrade/{version}/inputs'],
  'templates.upgradePreview': ['POST', '/templates/v1/project/{branch}/instances/{instance}/upgrade/{version}/preview'],
  'templates.listRepositories': ['GET', '/templates/v1/repositories'],
  'templates.repository': ['GET', '/templates/v1/repositories/{repository}'],
  'templates.refreshRepository': ['POST', '/templates/v1/repositories/{repository}/refresh'],
  'templates.list': ['GET', '/templates/v1/repositories/{repository}/templates'],
  'templates.detail': ['GET', '/templates/v1/repositories/{repository}/templates/{template}'],
  'templates.version': ['GET', '/templates/v1/repositories/{repository}/templates/{template}/{version}'],
  'templates.inputs': ['GET', '/templates/v1/repositories/{repository}/templates/{template}/{version}/inputs'],
  'templates.preview': ['POST', '/templates/v1/repositories/{repository}/templates/{template}/{version}/preview'],
  'templates.use': ['POST', '/templates/v1/repositories/{repository}/templates/{template}/{version}/use'],
  'templates.validate': ['POST', '/templates/v1/repositories/{repository}/templates/{template}/{version}/validate'],
  'templates.task': ['GET', '/templates/v1/tasks/{id}'],
  'index.get': ['GET', '/v2/storage'],
  'agentConnections.list': ['GET', '/v2/storage/agent-connections'],
  'agentConnections.remove': ['DELETE', '/v2/storage/agent-connections/{connectionId}'],
  'agentRequests.list': ['GET', '/v2/storage/agent-requests'],
  'agentRequests.decide': ['POST', '/v2/storage/agent-requests/{id}/decide'],
  'buckets.refreshTablesInfo': ['POST', '/v2/storage/branch/{branch}/buckets/{bucketId}/refresh-tables-info'],
  'branchConfigurations.diff': ['GET', '/v2/storage/branch/{branch}/components/{componentId}/configs/{configurationId}/diff'],
  'branchConfigurations.rebase': ['POST', '/v2/storage/branch/{branch}/components/{componentId}/configs/{configurationId}/rebase'],
  'branchConfigurations.reset': ['POST', '/v2/storage/branch/{branch}/components/{componentId}/configs/{configurationId}/reset-to-default'],
  'branchConfigurations.diffRow': ['GET', '/v2/storage/branch/{branch}/components/{componentId}/configs/{configurationId}/rows/{rowId}/diff'],
  'branchMetadata.list': ['GET', '/v2/storage/branch/{branch}/metadata'],
  'branchMetadata.set': ['POST', '/v2/storage/branch/{branch}/metadata'],
  'branchMetadata.delete': ['DELETE', '/v2/storage/branch/{branch}/metadata/{metadataId}'],
  'search.configurations': ['GET', '/v2/storage/branch/{branch}/search/component-configurations'],
  'tables.pull': ['POST', '/v2/storage/branch/{branch}/tables/{tableId}/pull'],
  'tables.browse': ['GET', '/v2/storage/browse', 'address'],
  'buckets.browse': ['GET', '/v2/storage/browse/buckets', 'address'],
  'configurations.browse': ['GET', '/v2/storage/browse/configurations', 'address'],
  'configurations.names': ['POST', '/v2/storage/browse/configurations/names', 'address'],
  'configurations.totals': ['GET', '/v2/storage/browse/configurations/totals', 'address'],
  'tables.totals': ['GET', '/v2/storage/browse/totals', 'address'],
  'buckets.list': ['GET', '/v2/storage/buckets', 'address'],
  'buckets.create': ['POST', '/v2/storage/buckets', 'address'],
  'buckets.get': ['GET', '/v2/storage/buckets/{bucketId}', 'address'],
  'buckets.update': ['PUT', '/v2/storage/buckets/{bucketId}', 'address'],
  'buckets.delete': ['DELETE', '/v2/storage/buckets/{bucketId}', 'address'],
  'buckets.events': ['GET', '/v2/storage/buckets/{bucketId}/events', 'address'],
  'buckets.forceUnlink': ['DELETE', '/v2/storage/buckets/{bucketId}/links/{projectId}', 'address'],
  'buckets.listMetadata': ['GET', '/v2/storage/buckets/{bucketId}/metadata', 'address'],
  'buckets.setMetadata': ['POST', '/v2/storage/buckets/{bucketId}/metadata', 'address'],
  'buckets.deleteMetadata': ['DELETE', '/v2/storage/buckets/{bucketId}/metadata/{metadataId}', 'address'],
  'buckets.owner': ['GET', '/v2/storage/buckets/{bucketId}/owner', 'address'],
  'buckets.setOwner': ['POST', '/v2/storage/buckets/{bucketId}/owner', 'address'],
  'buckets.refresh': ['PUT', '/v2/storage/buckets/{bucketId}/refresh', 'address'],
  'buckets.scheduleRefresh': ['POST', '/v2/storage/buckets/{bucketId}/scheduled-tasks/refresh', 'address'],
  'buckets.changeSharing': ['PUT', '/v2/storage/buckets/{bucketId}/share', 'address'],
  'buckets.unshare': ['DELETE', '/v2/storage/buckets/{bucketId}/share', 'address'],
  'buckets.shareOrganization': ['POST', '/v2/storage/buckets/{bucketId}/share-organization', 'address'],
  'buckets.shareOrganizationProject': ['POST', '/v2/storage/buckets/{bucketId}/share-organization-project', 'address'],
  'buckets.shareToProjects': ['POST', '/v2/storage/buckets/{bucketId}/share-to-projects', 'address'],
  'buckets.shareToUsers': ['POST', '/v2/storage/buckets/{bucketId}/share-to-users', 'address'],
  'tables.createAlias': ['POST', '/v2/storage/buckets/{bucketId}/table-aliases', 'address'],
  'tables.listOfBucket': ['GET', '/v2/storage/buckets/{bucketId}/tables', 'address'],
  'tables.create': ['POST', '/v2/storage/buckets/{bucketId}/tables', 'address'],
  'tables.createAsync': ['POST', '/v2/storage/buckets/{bucketId}/tables-async', 'address'],
  'tables.createDefinition': ['POST', '/v2/storage/buckets/{bucketId}/tables-definition', 'address'],
  'changes.stream': ['GET', '/v2/storage/changes'],
  'columns.listMetadata': ['GET', '/v2/storage/columns/{columnId}/metadata', 'address'],
  'columns.setMetadata': ['POST', '/v2/storage/columns/{columnId}/metadata', 'address'],
  'columns.deleteMetadata': ['DELETE', '/v2/storage/columns/{columnId}/metadata/{metadataId}', 'address'],
  'components.list': ['GET', '/v2/storage/components', 'address'],
  'components.get': ['GET', '/v2/storage/components/{componentId}', 'address'],
  'configurations.list': ['GET', '/v2/storage/components/{componentId}/configs', 'address'],
  'configurations.create': ['POST', '/v2/storage/components/{componentId}/configs', 'address'],
  'configurations.validate': ['POST', '/v2/storage/components/{componentId}/configs/validate', 'address'],
  'configurations.get': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}', 'address'],
  'configurations.update': ['PUT', '/v2/storage/components/{componentId}/configs/{configurationId}', 'address'],
  'configurations.delete': ['DELETE', '/v2/storage/components/{componentId}/configs/{configurationId}', 'address'],
  'configurationMetadata.list': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/metadata', 'address'],
  'configurationMetadata.set': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/metadata', 'address'],
  'configurationMetadata.delete': ['DELETE', '/v2/storage/components/{componentId}/configs/{configurationId}/metadata/{metadataId}', 'address'],
  'configurations.restore': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/restore', 'address'],
  'rows.list': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/rows', 'address'],
  'rows.create': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/rows', 'address'],
  'rows.get': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}', 'address'],
  'rows.update': ['PUT', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}', 'address'],
  'rows.delete': ['DELETE', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}', 'address'],
  'rows.effective': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/effective', 'address'],
  'rows.setState': ['PUT', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/state', 'address'],
  'rows.versions': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/versions', 'address'],
  'rows.version': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/versions/{versionId}', 'address'],
  'rows.copy': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/versions/{versionId}/create', 'address'],
  'rows.rollBack': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/rows/{rowId}/versions/{versionId}/rollback', 'address'],
  'configurations.setState': ['PUT', '/v2/storage/components/{componentId}/configs/{configurationId}/state', 'address'],
  'configurations.validateSaved': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/validate', 'address'],
  'configurations.versions': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/versions', 'address'],
  'configurations.version': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/versions/{versionId}', 'address'],
  'configurations.copy': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/versions/{versionId}/create', 'address'],
  'configurations.rollBack': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/versions/{versionId}/rollback', 'address'],
  'configurations.workspaces': ['GET', '/v2/storage/components/{componentId}/configs/{configurationId}/workspaces', 'address'],
  'configurations.createWorkspace': ['POST', '/v2/storage/components/{componentId}/configs/{configurationId}/workspaces', 'address'],
  'dataContracts.breaks': ['GET', '/v2/storage/contract-breaks', 'address'],
  'dashboards.list': ['GET', '/v2/storage/dashboards', 'address'],
  'dashboards.create': ['POST', '/v2/storage/dashboards', 'address'],
  'dashboards.get': ['GET', '/v2/storage/dashboards/{dashboardId}', 'address'],
  'dashboards.update': ['PUT', '/v2/storage/dashboards/{dashboardId}', 'address'],
  'dashboards.remove': ['DELETE', '/v2/storage/dashboards/{dashboardId}', 'address'],
  'dashboards.links': ['GET', '/v2/storage/dashboards/{dashboardId}/links', 'address'],
  'dashboards.createLink': ['POST', '/v2/storage/dashboards/{dashboardId}/links', 'address'],
  'dashboards.removeLink': ['DELETE', '/v2/storage/dashboards/{dashboardId}/links/{linkId}', 'address'],
  'dashboards.result': ['GET', '/v2/storage/dashboards/{dashboardId}/tiles/{tileId}/result', 'address'],
  'dataTests.tables': ['GET', '/v2/storage/data-tested-tables', 'address'],
  'dataTests.list': ['GET', '/v2/storage/data-tests', 'address'],
  'dataTests.create': ['POST', '/v2/storage/data-tests', 'address'],
  'dataTests.import': ['POST', '/v2/storage/data-tests/import', 'address'],
  'dataTests.get': ['GET', '/v2/storage/data-tests/{testId}', 'address'],
  'dataTests.update': ['PUT', '/v2/storage/data-tests/{testId}', 'address'],
  'dataTests.remove': ['DELETE', '/v2/storage/data-tests/{testId}', 'address'],
  'lineage.deliveries': ['GET', '/v2/storage/deliveries', 'address'],
  'branches.list': ['GET', '/v2/storage/dev-branches'],
  'branches.create': ['POST', '/v2/storage/dev-branches'],
  'branches.get': ['GET', '/v2/storage/dev-branches/{branchId}'],
  'branches.update': ['PUT', '/v2/storage/dev-branches/{branchId}'],
  'branches.delete': ['DELETE', '/v2/storage/dev-branches/{branchId}'],
  'branches.changes': ['GET', '/v2/storage/dev-branches/{branchId}/changes'],
  'branches.merge': ['POST', '/v2/storage/dev-branches/{branchId}/merge'],
  'events.create': ['POST', '/v2/storage/events', 'address'],
  'events.list': ['GET', '/v2/storage/events', 'address'],
  'events.get': ['GET', '/v2/storage/events/{id}', 'address'],
  'files.list': ['GET', '/v2/storage/files', 'address'],
  'files.prepare': ['POST', '/v2/storage/files/prepare', 'address'],
  'files.sniffBody': ['POST', '/v2/storage/files/sniff', 'address'],
  'files.get': ['GET', '/v2/storage/files/{id}', 'address'],
  'files.delete': ['DELETE', '/v2/storage/files/{id}', 'address'],
  'files.content': ['GET', '/v2/storage/files/{id}/content', 'address'],
  'files.head': ['GET', '/v2/storage/files/{id}/head', 'address'],
  'files.refresh': ['PUT', '/v2/storage/files/{id}/refresh', 'address'],
  'files.slices': ['GET', '/v2/storage/files/{id}/slices', 'address'],
  'files.sniff': ['GET', '/v2/storage/files/{id}/sniff', 'address'],
  'files.addTag': ['POST', '/v2/storage/files/{id}/tags', 'address'],
  'files.removeTag.delete': ['DELETE', '/v2/storage/files/{id}/tags/{path}', 'address'],
  'lineage.freshness': ['GET', '/v2/storage/freshness', 'address'],
  'globalSearch.search': ['GET', '/v2/storage/global-search', 'address'],
  'workspaces.inputMappingPreview': ['POST', '/v2/storage/input-mapping-load/preview', 'address'],
  'storageJobs.list': ['GET', '/v2/storage/jobs'],
  'storageJobs.get': ['GET', '/v2/storage/jobs/{id}'],
  'lineage.graph': ['GET', '/v2/storage/lineage', 'address'],
  'buckets.listListings': ['GET', '/v2/storage/listings', 'address'],
  'mergeRequests.list': ['GET', '/v2/storage/merge-request'],
  'mergeRequests.create': ['POST', '/v2/storage/merge-request'],
  'mergeRequests.settings': ['GET', '/v2/storage/merge-request-settings'],
  'mergeRequests.changeSettings': ['PUT', '/v2/storage/merge-request-settings'],
  'mergeRequests.get': ['GET', '/v2/storage/merge-request/{id}'],
  'mergeRequests.update': ['PUT', '/v2/storage/merge-request/{id}'],
  'mergeRequests.approve': ['PUT', '/v2/storage/merge-request/{id}/approve'],
  'mergeRequests.conflicts': ['GET', '/v2/storage/merge-request/{id}/conflicts'],
  'mergeRequests.merge': ['PUT', '/v2/storage/merge-request/{id}/merge'],
  'mergeRequests.request-changes': ['PUT', '/v2/storage/merge-request/{id}/request-changes'],
  'mergeRequests.request-review': ['PUT', '/v2/storage/merge-request/{id}/request-review'],
  'proposals.list': ['GET', '/v2/storage/proposals'],
  'proposals.begin': ['POST', '/v2/storage/proposals', 'body'],
  'proposals.get': ['GET', '/v2/storage/proposals/{id}'],
  'proposals.discard': ['DELETE', '/v2/storage/proposals/{id}'],
  'proposals.accept': ['POST', '/v2/storage/proposals/{id}/accept'],
  'proposals.refuse': ['POST', '/v2/storage/proposals/{id}/refuse'],
  'proposals.rehearse': ['POST', '/v2/storage/proposals/{id}/rehearsal'],
  'proposals.rehearsal': ['GET', '/v2/storage/proposals/{id}/rehearsal'],
  'proposals.submit': ['POST', '/v2/storage/proposals/{id}/submit'],
  'proposals.undo': ['POST', '/v2/storage/proposals/{id}/undo'],
  'sql.query': ['POST', '/v2/storage/query', 'address'],
  'sql.connection': ['GET', '/v2/storage/query/connection', 'address'],
  'sql.export': ['POST', '/v2/storage/query/export', 'address'],
  'sql.history': ['GET', '/v2/storage/query/history', 'address'],
  'savedQueries.list': ['GET', '/v2/storage/saved-queries', 'address'],
  'savedQueries.create': ['POST', '/v2/storage/saved-queries', 'address'],
  'savedQueries.get': ['GET', '/v2/storage/saved-queries/{queryId}', 'address'],
  'savedQueries.update': ['PUT', '/v2/storage/saved-queries/{queryId}', 'address'],
  'savedQueries.remove': ['DELETE', '/v2/storage/saved-queries/{queryId}', 'address'],
  'savedQueries.result': ['GET', '/v2/storage/saved-queries/{queryId}/result', 'address'],
  'savedQueries.versions': ['GET', '/v2/storage/saved-queries/{queryId}/versions', 'address'],
  'buckets.unscheduleRefresh': ['DELETE', '/v2/storage/scheduled-tasks/{taskId}'],
  'search.everything': ['GET', '/v2/storage/search', 'address'],
  'tables.search': ['GET', '/v2/storage/search/tables'],
  'buckets.listShared': ['GET', '/v2/storage/shared-buckets', 'address'],
  'snapshots.get': ['GET', '/v2/storage/snapshots/{snapshotId}'],
  'snapshots.delete': ['DELETE', '/v2/storage/snapshots/{snapshotId}'],
  'stats.get': ['GET', '/v2/storage/stats', 'address'],
  'tables.list': ['GET', '/v2/storage/tables', 'address'],
  'tables.get': ['GET', '/v2/storage/tables/{tableId}', 'address'],
  'tables.update': ['PUT', '/v2/storage/tables/{tableId}', 'address'],
  'tables.delete': ['DELETE', '/v2/storage/tables/{tableId}', 'address'],
  'tables.enableAliasSync': ['POST', '/v2/storage/tables/{tableId}/alias-columns-auto-sync', 'address'],
  'tables.disableAliasSync': ['DELETE', '/v2/storage/tables/{tableId}/alias-columns-auto-sync', 'address'],
  'tables.setAliasFilter': ['POST', '/v2/storage/tables/{tableId}/alias-filter'],
  'tables.deleteAliasFilter': ['DELETE', '/v2/storage/tables/{tableId}/alias-filter'],
  'tables.bisect': ['POST', '/v2/storage/tables/{tableId}/bisect', 'address'],
  'tables.addColumn': ['POST', '/v2/storage/tables/{tableId}/columns', 'address'],
  'tables.deleteColumn': ['DELETE', '/v2/storage/tables/{tableId}/columns/{column}', 'address'],
  'tables.changeColumn': ['PUT', '/v2/storage/tables/{tableId}/columns/{column}/definition', 'address'],
  'tables.changeColumnType': ['PUT', '/v2/storage/tables/{tableId}/columns/{column}/type', 'address'],
  'tableComments.list': ['GET', '/v2/storage/tables/{tableId}/comments', 'address'],
  'tableComments.create': ['POST', '/v2/storage/tables/{tableId}/comments', 'address'],
  'tableComments.update': ['PUT', '/v2/storage/tables/{tableId}/comments/{commentId}', 'address'],
  'tableComments.delete': ['DELETE', '/v2/storage/tables/{tableId}/comments/{commentId}', 'address'],
  'dataContracts.get': ['GET', '/v2/storage/tables/{tableId}/contract', 'address'],
  'dataContracts.save': ['PUT', '/v2/storage/tables/{tableId}/contract', 'address'],
  'dataContracts.remove': ['DELETE', '/v2/storage/tables/{tableId}/contract', 'address'],
  'tables.download': ['GET', '/v2/storage/tables/{tableId}/data', 'address'],
  'tables.preview': ['GET', '/v2/storage/tables/{tableId}/data-preview', 'address'],
  'dataTests.run': ['POST', '/v2/storage/tables/{tableId}/data-tests/run', 'address'],
  'dataTests.runs': ['GET', '/v2/storage/tables/{tableId}/data-tests/runs', 'address'],
  'tables.changeDefinition': ['PUT', '/v2/storage/tables/{tableId}/definition', 'address'],
  'tables.events': ['GET', '/v2/storage/tables/{tableId}/events', 'address'],
  'tables.exportAsync': ['POST', '/v2/storage/tables/{tableId}/export-async', 'address'],
  'lineage.freshnessOfTable': ['GET', '/v2/storage/tables/{tableId}/freshness', 'address'],
  'tableHistory.get': ['GET', '/v2/storage/tables/{tableId}/history', 'address'],
  'tableHistory.set': ['PUT', '/v2/storage/tables/{tableId}/history', 'address'],
  'tables.import': ['POST', '/v2/storage/tables/{tableId}/import', 'address'],
  'tables.importAsync': ['POST', '/v2/storage/tables/{tableId}/import-async', 'address'],
  'tables.listMetadata': ['GET', '/v2/storage/tables/{tableId}/metadata', 'address'],
  'tables.setMetadata': ['POST', '/v2/storage/tables/{tableId}/metadata', 'address'],
  'tables.deleteMetadata': ['DELETE', '/v2/storage/tables/{tableId}/metadata/{metadataId}', 'address'],
  'tables.optimize': ['POST', '/v2/storage/tables/{tableId}/optimize', 'address'],
  'tables.addPrimaryKey': ['POST', '/v2/storage/tables/{tableId}/primary-key', 'address'],
  'tables.deletePrimaryKey': ['DELETE', '/v2/storage/tables/{tableId}/primary-key', 'address'],
  'tables.profileNow': ['GET', '/v2/storage/tables/{tableId}/profile', 'address'],
  'tables.profile': ['POST', '/v2/storage/tables/{tableId}/profile', 'address'],
  'tables.getProfile': ['GET', '/v2/storage/tables/{tableId}/profile/{uuid}', 'address'],
  'tables.restore': ['POST', '/v2/storage/tables/{tableId}/restore', 'address'],
  'tables.rows': ['GET', '/v2/storage/tables/{tableId}/rows', 'address'],
  'tables.deleteRows': ['DELETE', '/v2/storage/tables/{tableId}/rows', 'address'],
  'tables.createSnapshot': ['POST', '/v2/storage/tables/{tableId}/snapshots', 'address'],
  'tables.listSnapshots': ['GET', '/v2/storage/tables/{tableId}/snapshots', 'address'],
  'tables.swap': ['POST', '/v2/storage/tables/{tableId}/swap', 'address'],
  'lineage.usedBy': ['GET', '/v2/storage/tables/{tableId}/used-by', 'address'],
  'tickets.create': ['POST', '/v2/storage/tickets'],
  'tokens.list': ['GET', '/v2/storage/tokens', 'address'],
  'tokens.create': ['POST', '/v2/storage/tokens'],
  'tokens.verify': ['GET', '/v2/storage/tokens/verify', 'address'],
  'tokens.get': ['GET', '/v2/storage/tokens/{id}', 'address'],
  'tokens.update': ['PUT', '/v2/storage/tokens/{id}'],
  'tokens.delete': ['DELETE', '/v2/storage/tokens/{id}'],
  'tokens.events': ['GET', '/v2/storage/tokens/{id}/events'],
  'tokens.refresh': ['POST', '/v2/storage/tokens/{id}/refresh'],
  'triggers.list': ['GET', '/v2/storage/triggers'],
  'triggers.create': ['POST', '/v2/storage/triggers'],
  'triggers.get': ['GET', '/v2/storage/triggers/{id}'],
  'triggers.update': ['PUT', '/v2/storage/triggers/{id}'],
  'triggers.delete': ['DELETE', '/v2/storage/triggers/{id}'],
  'naming.checkColumnNames': ['POST', '/v2/storage/validate/column-names', 'address'],
  'naming.columnNames': ['POST', '/v2/storage/webalize/column-names', 'address'],
  'naming.displayName': ['POST', '/v2/storage/webalize/display-name', 'address'],
  'workspaces.list': ['GET', '/v2/storage/workspaces', 'address'],
  'workspaces.create': ['POST', '/v2/storage/workspaces', 'address'],
  'workspaces.get': ['GET', '/v2/storage/workspaces/{id}', 'address'],
  'workspaces.delete': ['DELETE', '/v2/storage/workspaces/{id}', 'address'],
  'workspaces.createCredentials': ['POST', '/v2/storage/workspaces/{id}/credentials', 'address'],
  'workspaces.getCredentials': ['GET', '/v2/storage/workspaces/{id}/credentials/{credentialsId}', 'address'],
  'workspaces.deleteCredentials': ['DELETE', '/v2/storage/workspaces/{id}/credentials/{credentialsId}', 'address'],
  'workspaces.inputMappingLoad': ['POST', '/v2/storage/workspaces/{id}/input-mapping-load', 'address'],
  'workspaces.load': ['POST', '/v2/storage/workspaces/{id}/load', 'address'],
  'workspaces.loadClone': ['POST', '/v2/storage/workspaces/{id}/load-clone', 'address'],
  'workspaces.objects': ['GET', '/v2/storage/workspaces/{id}/objects', 'address'],
  'workspaces.deleteObjects': ['POST', '/v2/storage/workspaces/{id}/objects/batch-delete', 'address'],
  'workspaces.resetPassword': ['POST', '/v2/storage/workspaces/{id}/password', 'address'],
  'workspaces.setPublicKey': ['POST', '/v2/storage/workspaces/{id}/public-key', 'address'],
  'workspaces.setNamedPublicKey': ['POST', '/v2/storage/workspaces/{id}/public-key/{name}', 'address'],
  'workspaces.query': ['POST', '/v2/storage/workspaces/{id}/query', 'address'],
  'workspaces.exportTable': ['POST', '/v2/storage/workspaces/{id}/table-export', 'address'],
  'workspaces.unload': ['POST', '/v2/storage/workspaces/{id}/unload', 'address'],
  'vault.describe': ['GET', '/vault'],
  'vault.save': ['POST', '/vault/variables'],
  'vault.list': ['GET', '/vault/variables'],
  'vault.listScoped': ['GET', '/vault/variables/scoped/branch/{branchId}'],
  'vault.remove': ['DELETE', '/vault/variables/{hash}'],
} as const

/** The lowest role of people that may call an operation; viewers may call all others of their project. */
export const LOWEST_ROLES = {
  'ai.answer': 'editor',
  'ai.prompt': 'editor',
  'billing.creditsTopUp': 'editor',
  'dataScience.createApp': 'editor',
  'dataScience.changeApp': 'editor',
  'dataScience.deleteApp': 'editor',
  'dataScience.createAppGitCredential': 'editor',
  'dataScience.deleteAppGitCredential': 'editor',
  'dataScience.appPassword': 'editor',
  'dataScience.create': 'editor',
  'dataScience.change': 'editor',
  'dataScience.delete': 'editor',
  'dataScience.activate': 'editor',
  'dataScience.deactivate': 'editor',
  'dockerRunner.resolve': 'editor',
  'dockerRunner.action': 'editor',
  'editor.create': 'editor',
  'editor.delete': 'editor',
  'editor.resetCredentials': 'editor',
  'iceberg.createTable': 'editor',
  'iceberg.commit': 'editor',
  'iceberg.dropTable': 'editor',
  'iceberg.metrics': 'editor',
  'import.fetchFile': 'editor',
  'import.uploadFile': 'editor',
  'import.writeTable': 'editor',
  'projects.deleted': 'stack admin',
  'projects.restore': 'stack admin',
  'projects.create': 'stack admin',
  'projects.update': 'stack admin',
  'projects.delete': 'stack admin',
  'projects.pause': 'stack admin',
  'projects.resume': 'stack admin',
  'projects.addFeature': 'stack admin',
  'projects.removeFeature': 'stack admin',
  'projectInvitations.list': 'admin',
  'projectInvitations.create': 'admin',
  'projectInvitations.delete': 'admin',
  'projects.setLimits': 'stack admin',
  'projects.removeLimit': 'stack admin',
  'projects.createToken': 'admin',
  'projectUsers.add': 'admin',
  'projectUsers.update': 'admin',
  'users.list': 'stack admin',
  'users.get': 'stack admin',
  'users.update': 'stack admin',
  'users.remove': 'stack admin',
  'mlflow.request': 'editor',
  'mlflow.request.post': 'editor',
  'mlflow.request.put': 'editor',
  'mlflow.request.patch': 'editor',
  'mlflow.request.delete': 'editor',
  'notification.emit': 'editor',
  'notification.send': 'editor',
  'notification.subscribe': 'editor',
  'notification.unsubscribe': 'editor',
  'notification.test': 'editor',
  'oauth.addCredentials': 'editor',
  'oauth.deleteCredentials': 'editor',
  'oauth.refreshCredentials': 'editor',
  'oauth.revokeCredentials': 'editor',
  'oauth.testCredentials': 'editor',
  'oauth.makeLink': 'admin',
  'operations.audit': 'stack admin',
  'operations.backups': 'stack admin',
  'operations.backUp': 'stack admin',
  'operations.testRestore': 'stack admin',
  'operations.nodes': 'stack admin',
  'operations.settings': 'stack admin',
  'operations.changeSetting': 'stack admin',
  'operations.resetSetting': 'stack admin',
  'operations.status': 'stack admin',
  'query.submit': 'editor',
  'query.cancel': 'editor',
  'queue.create': 'editor',
  'queue.kill': 'editor',
  'queue.rerun': 'editor',
  'queue.run': 'editor',
  'queue.runTag': 'editor',
  'sandboxes.createApp': 'editor',
  'sandboxes.changeApp': 'editor',
  'sandboxes.deleteApp': 'editor',
  'sandboxes.createAppGitCredential': 'editor',
  'sandboxes.deleteAppGitCredential': 'editor',
  'sandboxes.appPassword': 'editor',
  'sandboxes.create': 'editor',
  'sandboxes.change': 'editor',
  'sandboxes.delete': 'editor',
  'sandboxes.activate': 'editor',
  'sandboxes.deactivate': 'editor',
  'scheduler.deleteByConfiguration': 'editor',
  'scheduler.activate': 'editor',
  'scheduler.delete': 'editor',
  'scheduler.refreshToken': 'editor',
  'spark.frontPage': 'stack admin',
  'spark.page': 'stack admin',
  'stream.createSource': 'editor',
  'stream.updateSource': 'editor',
  'stream.deleteSource': 'editor',
  'stream.disableSource': 'editor',
  'stream.enableSource': 'editor',
  'stream.rotateSecret': 'editor',
  'stream.updateSettings': 'editor',
  'stream.createSink': 'editor',
  'stream.updateSink': 'editor',
  'stream.deleteSink': 'editor',
  'stream.disableSink': 'editor',
  'stream.enableSink': 'editor',
  'stream.testSource': 'editor',
  'syncActions.run': 'editor',
  'syncActions.resolve': 'editor',
  'syncActions.trySql': 'editor',
  'syrup.resolve': 'editor',
  'syrup.sandbox': 'editor',
  'syrup.dryRun': 'editor',
  'syrup.input': 'editor',
  'syrup.run': 'editor',
  'syrup.runTag': 'editor',
  'syrup.kill': 'editor',
  'templates.renameInstance': 'editor',
  'templates.deleteInstance': 'editor',
  'templates.upgrade': 'editor',
  'templates.upgradePreview': 'editor',
  'templates.refreshRepository': 'editor',
  'templates.preview': 'editor',
  'templates.use': 'editor',
  'agentConnections.remove': 'editor',
  'agentRequests.decide': 'editor',
  'buckets.refreshTablesInfo': 'editor',
  'branchConfigurations.rebase': 'editor',
  'branchConfigurations.reset': 'editor',
  'branchMetadata.set': 'editor',
  'branchMetadata.delete': 'editor',
  'tables.pull': 'editor',
  'buckets.create': 'editor',
  'buckets.update': 'editor',
  'buckets.delete': 'editor',
  'buckets.forceUnlink': 'editor',
  'buckets.setMetadata': 'editor',
  'buckets.deleteMetadata': 'editor',
  'buckets.setOwner': 'editor',
  'buckets.refresh': 'editor',
  'buckets.scheduleRefresh': 'editor',
  'buckets.changeSharing': 'editor',
  'buckets.unshare': 'editor',
  'buckets.shareOrganization': 'editor',
  'buckets.shareOrganizationProject': 'editor',
  'buckets.shareToProjects': 'editor',
  'buckets.shareToUsers': 'editor',
  'tables.createAlias': 'editor',
  'tables.create': 'editor',
  'tables.createAsync': 'editor',
  'tables.createDefinition': 'editor',
  'columns.setMetadata': 'editor',
  'columns.deleteMetadata': 'editor',
  'configurations.create': 'editor',
  'configurations.update': 'editor',
  'configurations.delete': 'editor',
  'configurationMetadata.set': 'editor',
  'configurationMetadata.delete': 'editor',
  'configurations.restore': 'editor',
  'rows.create': 'editor',
  'rows.update': 'editor',
  'rows.delete': 'editor',
  'rows.setState': 'editor',
  'rows.copy': 'editor',
  'rows.rollBack': 'editor',
  'configurations.setState': 'editor',
  'configurations.copy': 'editor',
  'configurations.rollBack': 'editor',
  'configurations.createWorkspace': 'editor',
  'dashboards.create': 'editor',
  'dashboards.update': 'editor',
  'dashboards.remove': 'editor',
  'dashboards.links': 'editor',
  'dashboards.createLink': 'editor',
  'dashboards.removeLink': 'editor',
  'dataTests.create': 'editor',
  'dataTests.import': 'editor',
  'dataTests.update': 'editor',
  'dataTests.remove': 'editor',
  'branches.create': 'editor',
  'branches.update': 'editor',
  'branches.delete': 'editor',
  'branches.merge': 'editor',
  'events.create': 'editor',
  'files.prepare': 'editor',
  'files.delete': 'editor',
  'files.refresh': 'editor',
  'files.addTag': 'editor',
  'files.removeTag.delete': 'editor',
  'workspaces.inputMappingPreview': 'editor',
  'mergeRequests.create': 'editor',
  'mergeRequests.changeSettings': 'admin',
  'mergeRequests.update': 'editor',
  'mergeRequests.approve': 'editor',
  'mergeRequests.merge': 'editor',
  'mergeRequests.request-changes': 'editor',
  'mergeRequests.request-review': 'editor',
  'proposals.begin': 'editor',
  'proposals.discard': 'editor',
  'proposals.accept': 'editor',
  'proposals.refuse': 'editor',
  'proposals.rehearse': 'editor',
  'proposals.submit': 'editor',
  'proposals.undo': 'editor',
  'sql.export': 'editor',
  'savedQueries.create': 'editor',
  'savedQueries.update': 'editor',
  'savedQueries.remove': 'editor',
  'buckets.unscheduleRefresh': 'editor',
  'buckets.listShared': 'editor',
  'snapshots.delete': 'editor',
  'tables.update': 'editor',
  'tables.delete': 'editor',
  'tables.enableAliasSync': 'editor',
  'tables.disableAliasSync': 'editor',
  'tables.setAliasFilter': 'editor',
  'tables.deleteAliasFilter': 'editor',
  'tables.bisect': 'editor',
  'tables.addColumn': 'editor',
  'tables.deleteColumn': 'editor',
  'tables.changeColumn': 'editor',
  'tables.changeColumnType': 'editor',
  'tableComments.create': 'editor',
  'tableComments.update': 'editor',
  'tableComments.delete': 'editor',
  'dataContracts.save': 'editor',
  'dataContracts.remove': 'editor',
  'dataTests.run': 'editor',
  'tables.changeDefinition': 'editor',
  'tables.exportAsync': 'editor',
  'tableHistory.set': 'editor',
  'tables.import': 'editor',
  'tables.importAsync': 'editor',
  'tables.setMetadata': 'editor',
  'tables.deleteMetadata': 'editor',
  'tables.optimize': 'editor',
  'tables.addPrimaryKey': 'editor',
  'tables.deletePrimaryKey': 'editor',
  'tables.profile': 'editor',
  'tables.restore': 'editor',
  'tables.deleteRows': 'editor',
  'tables.createSnapshot': 'editor',
  'tables.swap': 'editor',
  'tickets.create': 'editor',
  'tokens.create': 'editor',
  'tokens.update': 'admin',
  'tokens.delete': 'admin',
  'tokens.refresh': 'admin',
  'triggers.create': 'editor',
  'triggers.update': 'editor',
  'triggers.delete': 'editor',
  'workspaces.create': 'editor',
  'workspaces.delete': 'editor',
  'workspaces.createCredentials': 'editor',
  'workspaces.deleteCredentials': 'editor',
  'workspaces.inputMappingLoad': 'editor',
  'workspaces.load': 'editor',
  'workspaces.loadClone': 'editor',
  'workspaces.deleteObjects': 'editor',
  'workspaces.resetPassword': 'editor',
  'workspaces.setPublicKey': 'editor',
  'workspaces.setNamedPublicKey': 'editor',
  'workspaces.query': 'editor',
  'workspaces.exportTable': 'editor',
  'workspaces.unload': 'editor',
  'vault.save': 'editor',
  'vault.list': 'editor',
  'vault.listScoped': 'editor',
  'vault.remove': 'editor',
} as const

/** The right of a token that an operation needs, of those that change something; other operations take any token. */
export const REQUIRED_RIGHTS = {
  'ai.answer': 'grant',
  'ai.prompt': 'grant',
  'dataScience.createApp': 'component',
  'dataScience.changeApp': 'component',
  'dataScience.deleteApp': 'component',
  'dataScience.createAppGitCredential': 'component',
  'dataScience.deleteAppGitCredential': 'component',
  'dataScience.createAppLink': 'component',
  'dataScience.createAppPreviewLink': 'component',
  'dataScience.create': 'grant',
  'dataScience.change': 'sandbox',
  'dataScience.delete': 'sandbox',
  'dataScience.activate': 'sandbox',
  'dataScience.deactivate': 'sandbox',
  'dockerRunner.resolve': 'component',
  'dockerRunner.action': 'component',
  'editor.create': 'grant',
  'editor.delete': 'sandbox',
  'editor.resetCredentials': 'sandbox',
  'iceberg.createTable': 'catalogueWrite',
  'iceberg.commit': 'catalogueWrite',
  'iceberg.dropTable': 'catalogueWrite',
  'iceberg.metrics': 'catalogueRead',
  'import.writeTable': 'bucketWrite',
  'mlflow.request.post': 'canManageBuckets',
  'mlflow.request.put': 'canManageBuckets',
  'mlflow.request.patch': 'canManageBuckets',
  'mlflow.request.delete': 'canManageBuckets',
  'notification.emit': 'master',
  'notification.send': 'master',
  'notification.subscribe': 'component',
  'notification.unsubscribe': 'component',
  'notification.test': 'component',
  'oauth.addCredentials': 'component',
  'oauth.deleteCredentials': 'component',
  'oauth.refreshCredentials': 'component',
  'oauth.revokeCredentials': 'component',
  'oauth.testCredentials': 'component',
  'oauth.makeLink': 'canManageTokens',
  'query.submit': 'workspace',
  'query.cancel': 'workspace',
  'flows.validate': 'component',
  'queue.create': 'component',
  'queue.kill': 'component',
  'queue.rerun': 'component',
  'queue.run': 'component',
  'queue.runTag': 'component',
  'sandboxes.createApp': 'component',
  'sandboxes.changeApp': 'component',
  'sandboxes.deleteApp': 'component',
  'sandboxes.createAppGitCredential': 'component',
  'sandboxes.deleteAppGitCredential': 'component',
  'sandboxes.createAppLink': 'component',
  'sandboxes.createAppPreviewLink': 'component',
  'sandboxes.create': 'grant',
  'sandboxes.change': 'sandbox',
  'sandboxes.delete': 'sandbox',
  'sandboxes.activate': 'sandbox',
  'sandboxes.deactivate': 'sandbox',
  'scheduler.deleteByConfiguration': 'master',
  'scheduler.activate': 'master',
  'scheduler.delete': 'master',
  'scheduler.refreshToken': 'master',
  'stream.createSource': 'master',
  'stream.updateSource': 'master',
  'stream.deleteSource': 'master',
  'stream.disableSource': 'master',
  'stream.enableSource': 'master',
  'stream.rotateSecret': 'master',
  'stream.updateSettings': 'master',
  'stream.createSink': 'master',
  'stream.updateSink': 'master',
  'stream.deleteSink': 'master',
  'stream.disableSink': 'master',
  'stream.enableSink': 'master',
  'stream.testSource': 'canManageBuckets',
  'syncActions.run': 'component',
  'syncActions.resolve': 'component',
  'syncActions.trySql': 'component',
  'syrup.resolve': 'component',
  'syrup.sandbox': 'component',
  'syrup.dryRun': 'component',
  'syrup.input': 'component',
  'syrup.run': 'component',
  'syrup.runTag': 'component',
  'syrup.kill': 'component',
  'templates.renameInstance': 'component',
  'templates.deleteInstance': 'component',
  'templates.upgrade': 'component',
  'templates.upgradePreview': 'component',
  'templates.refreshRepository': 'master',
  'templates.preview': 'component',
  'templates.use': 'component',
  'agentRequests.decide': 'canManageBuckets',
  'buckets.refreshTablesInfo': 'bucketWrite',
  'branchConfigurations.rebase': 'component',
  'branchConfigurations.reset': 'component',
  'branchMetadata.set': 'branchDescribe',
  'branchMetadata.delete': 'branchDescribe',
  'tables.pull': 'bucketWrite',
  'configurations.names': 'component',
  'buckets.create': 'canManageBuckets',
  'buckets.update': 'bucketManage',
  'buckets.delete': 'bucketManage',
  'buckets.forceUnlink': 'canManageBuckets',
  'buckets.setMetadata': 'bucketWrite',
  'buckets.deleteMetadata': 'bucketWrite',
  'buckets.setOwner': 'bucketManage',
  'buckets.refresh': 'bucketWrite',
  'buckets.scheduleRefresh': 'bucketWrite',
  'buckets.changeSharing': 'canManageBuckets',
  'buckets.unshare': 'canManageBuckets',
  'buckets.shareOrganization': 'canManageBuckets',
  'buckets.shareOrganizationProject': 'canManageBuckets',
  'buckets.shareToProjects': 'canManageBuckets',
  'buckets.shareToUsers': 'canManageBuckets',
  'tables.createAlias': 'bucketWrite',
  'tables.create': 'bucketWrite',
  'tables.createAsync': 'bucketWrite',
  'tables.createDefinition': 'bucketWrite',
  'columns.setMetadata': 'bucketWrite',
  'columns.deleteMetadata': 'bucketWrite',
  'configurations.create': 'component',
  'configurations.validate': 'component',
  'configurations.update': 'component',
  'configurations.delete': 'component',
  'configurationMetadata.set': 'component',
  'configurationMetadata.delete': 'component',
  'configurations.restore': 'component',
  'rows.create': 'component',
  'rows.update': 'component',
  'rows.delete': 'component',
  'rows.setState': 'component',
  'rows.copy': 'component',
  'rows.rollBack': 'component',
  'configurations.setState': 'component',
  'configurations.validateSaved': 'component',
  'configurations.copy': 'component',
  'configurations.rollBack': 'component',
  'configurations.createWorkspace': 'component',
  'dashboards.create': 'canManageBuckets',
  'dashboards.update': 'canManageBuckets',
  'dashboards.remove': 'canManageBuckets',
  'dashboards.createLink': 'canManageBuckets',
  'dashboards.removeLink': 'canManageBuckets',
  'dataTests.create': 'bucketWrite',
  'dataTests.import': 'bucketWrite',
  'dataTests.update': 'bucketWrite',
  'dataTests.remove': 'bucketWrite',
  'branches.create': 'canManageDevBranches',
  'branches.update': 'canManageDevBranches',
  'branches.delete': 'canManageDevBranches',
  'branches.merge': 'canManageDevBranches',
  'workspaces.inputMappingPreview': 'bucketRead',
  'mergeRequests.create': 'canManageDevBranches',
  'mergeRequests.changeSettings': 'master',
  'mergeRequests.update': 'canManageDevBranches',
  'mergeRequests.approve': 'canManageDevBranches',
  'mergeRequests.merge': 'canManageDevBranches',
  'mergeRequests.request-changes': 'canManageDevBranches',
  'mergeRequests.request-review': 'canManageDevBranches',
  'proposals.begin': 'canManageDevBranches',
  'proposals.discard': 'proposal',
  'proposals.accept': 'canManageDevBranches',
  'proposals.refuse': 'canManageDevBranches',
  'proposals.rehearse': 'proposal',
  'proposals.submit': 'ownProposal',
  'proposals.undo': 'canManageDevBranches',
  'sql.query': 'bucketRead',
  'sql.export': 'bucketRead',
  'savedQueries.create': 'canManageBuckets',
  'savedQueries.update': 'canManageBuckets',
  'savedQueries.remove': 'canManageBuckets',
  'buckets.unscheduleRefresh': 'canManageBuckets',
  'snapshots.delete': 'canManageBuckets',
  'tables.update': 'bucketWrite',
  'tables.delete': 'bucketWrite',
  'tables.enableAliasSync': 'bucketWrite',
  'tables.disableAliasSync': 'bucketWrite',
  'tables.setAliasFilter': 'bucketWrite',
  'tables.deleteAliasFilter': 'bucketWrite',
  'tables.bisect': 'bucketRead',
  'tables.addColumn': 'bucketWrite',
  'tables.deleteColumn': 'bucketWrite',
  'tables.changeColumn': 'bucketWrite',
  'tables.changeColumnType': 'bucketWrite',
  'tableComments.create': 'bucketRead',
  'tableComments.update': 'bucketRead',
  'tableComments.delete': 'bucketRead',
  'dataContracts.save': 'bucketWrite',
  'dataContracts.remove': 'bucketWrite',
  'dataTests.run': 'bucketRead',
  'tables.changeDefinition': 'bucketWrite',
  'tables.exportAsync': 'bucketRead',
  'tableHistory.set': 'bucketWrite',
  'tables.import': 'bucketWrite',
  'tables.importAsync': 'bucketWrite',
  'tables.setMetadata': 'bucketWrite',
  'tables.deleteMetadata': 'bucketWrite',
  'tables.optimize': 'bucketWrite',
  'tables.addPrimaryKey': 'bucketWrite',
  'tables.deletePrimaryKey': 'bucketWrite',
  'tables.profile': 'bucketRead',
  'tables.restore': 'bucketWrite',
  'tables.deleteRows': 'bucketWrite',
  'tables.createSnapshot': 'bucketWrite',
  'tables.swap': 'bucketWrite',
  'workspaces.create': 'grant',
  'workspaces.delete': 'workspace',
  'workspaces.createCredentials': 'workspace',
  'workspaces.deleteCredentials': 'workspace',
  'workspaces.inputMappingLoad': 'workspace',
  'workspaces.load': 'workspace',
  'workspaces.loadClone': 'workspace',
  'workspaces.deleteObjects': 'workspace',
  'workspaces.resetPassword': 'workspace',
  'workspaces.setPublicKey': 'workspace',
  'workspaces.setNamedPublicKey': 'workspace',
  'workspaces.query': 'workspace',
  'workspaces.exportTable': 'workspace',
  'workspaces.unload': 'workspace',
  'vault.save': 'canManageBuckets',
  'vault.remove': 'canManageBuckets',
} as const

export interface Operations {
  'console.start': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'agentOauth.server': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'agentOauth.resource': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'agentOauth.resourceOfMcp': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'account.get': { path?: undefined; query?: undefined; body?: undefined; answer: Account }
  'account.update': { path?: undefined; query?: undefined; body: AccountUpdateBody; answer: Account }
  'account.proposeAuthenticator': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly secret: string; readonly uri: string } }
  'account.turnOnAuthenticator': { path?: undefined; query?: undefined; body: AccountTurnOnAuthenticatorBody; answer: { readonly recoveryCodes: ReadonlyArray<string> } }
  'account.turnOffAuthenticator': { path?: undefined; query?: undefined; body?: AccountTurnOffAuthenticatorBody; answer: undefined }
  'account.manageTokens': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<ManageToken> }
  'account.createManageToken': { path?: undefined; query?: undefined; body: AccountCreateManageTokenBody; answer: ManageToken }
  'account.deleteManageToken': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'account.setPassword': { path?: undefined; query?: undefined; body: AccountSetPasswordBody; answer: undefined }
  'account.preferences': { path?: undefined; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'account.setPreference': { path: { readonly name: string }; query?: undefined; body: AccountSetPreferenceBody; answer: undefined }
  'account.removePreference': { path: { readonly name: string }; query?: undefined; body?: undefined; answer: undefined }
  'account.sessions': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Session> }
  'account.endOtherSessions': { path?: undefined; query?: undefined; body?: undefined; answer: undefined }
  'account.endSession': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'account.signOut': { path?: undefined; query?: undefined; body?: undefined; answer: undefined }
  'agentOauth.authorize': { path?: undefined; query?: { readonly client_id?: string; readonly redirect_uri?: string; readonly response_type?: string; readonly code_challenge?: string; readonly code_challenge_method?: string; readonly scope?: string; readonly state?: string; readonly resource?: string }; body?: undefined; answer: unknown }
  'agentConnections.decide': { path?: undefined; query?: undefined; body: AgentConnectionsDecideBody; answer: { readonly redirect: string } }
  'agentOauth.register': { path?: undefined; query?: undefined; body: AgentOauthRegisterBody; answer: unknown }
  'agentConnections.describe': { path?: undefined; query?: undefined; body?: AgentConnectionsDescribeBody; answer: { readonly client: { readonly name: string; readonly host: string | null; readonly redirectHost: string }; readonly scope: 'read' | 'propose' | 'write'; readonly projects: ReadonlyArray<{ readonly id: number; readonly name: string; readonly role: string }> } }
  'agentOauth.revoke': { path?: undefined; query?: undefined; body: unknown; answer: unknown }
  'agentOauth.token': { path?: undefined; query?: undefined; body: unknown; answer: unknown }
  'ai.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'ai.answer': { path?: undefined; query?: undefined; body: AiAnswerBody; answer: { readonly text: string; readonly sql: string | null; readonly model: string; readonly host: string; readonly sent: ReadonlyArray<{ readonly role: string; readonly content: string }>; readonly callsLeft: number } }
  'ai.component': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: unknown }
  'ai.question': { path?: undefined; query?: undefined; body: AiQuestionBody; answer: { readonly text: string; readonly sourceUrls: ReadonlyArray<string>; readonly sent?: ReadonlyArray<{ readonly role: string; readonly content: string }> } }
  'ai.model': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly isAvailable: boolean; readonly model: string | null; readonly host: string | null } }
  'ai.prompt': { path?: undefined; query?: undefined; body: AiPromptBody; answer: { readonly promptId: string; readonly model: string; readonly host: string; readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }> } }
  'ai.suggestComponent': { path?: undefined; query?: undefined; body: AiSuggestComponentBody; answer: { readonly components: ReadonlyArray<{ readonly componentId: string; readonly score: number; readonly source: string }> } }
  'billing.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'billing.credits': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly remaining: number; readonly consumed: number; readonly purchased: number; readonly stats: { readonly workspaceJobs: ReadonlyArray<unknown>; readonly month: { readonly day?: string; readonly componentId?: string; readonly configurationId?: string; readonly jobs: number; readonly failedJobs: number; readonly jobSeconds: number; readonly sqlSeconds: number; readonly rowsLoaded: number; readonly bytesLoaded: number; readonly bytesRead: number; readonly storageByteHours: number } | null } } }
  'billing.creditsTopUp': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly remaining: number; readonly consumed: number; readonly purchased: number; readonly stats: { readonly workspaceJobs: ReadonlyArray<unknown>; readonly month: { readonly day?: string; readonly componentId?: string; readonly configurationId?: string; readonly jobs: number; readonly failedJobs: number; readonly jobSeconds: number; readonly sqlSeconds: number; readonly rowsLoaded: number; readonly bytesLoaded: number; readonly bytesRead: number; readonly storageByteHours: number } | null } } }
  'billing.limits': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly name: string; readonly description: string; readonly value: number | null }> }
  'billing.usage': { path?: undefined; query?: { readonly from?: string; readonly to?: string; readonly groupBy?: string; readonly format?: 'json' | 'csv' }; body?: undefined; answer: ReadonlyArray<{ readonly day?: string; readonly componentId?: string; readonly configurationId?: string; readonly jobs: number; readonly failedJobs: number; readonly jobSeconds: number; readonly sqlSeconds: number; readonly rowsLoaded: number; readonly bytesLoaded: number; readonly bytesRead: number; readonly storageByteHours: number }> | string }
  'console.page': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'console.get': { path: { readonly path: string }; query?: undefined; body?: undefined; answer: unknown }
  'dataApps.open': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: unknown }
  'dataApps.pageGet': { path: { readonly id: string; readonly link: string }; query?: undefined; body?: undefined; answer: unknown }
  'dataApps.pagePost': { path: { readonly id: string; readonly link: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pagePut': { path: { readonly id: string; readonly link: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pagePatch': { path: { readonly id: string; readonly link: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pageDelete': { path: { readonly id: string; readonly link: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pathGet': { path: { readonly id: string; readonly link: string; readonly path: string }; query?: undefined; body?: undefined; answer: unknown }
  'dataApps.pathPost.post': { path: { readonly id: string; readonly link: string; readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pathPut.put': { path: { readonly id: string; readonly link: string; readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pathPatch.patch': { path: { readonly id: string; readonly link: string; readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'dataApps.pathDelete.delete': { path: { readonly id: string; readonly link: string; readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'dataScience.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'dataScience.createApp': { path?: undefined; query?: undefined; body?: DataScienceCreateAppBody; answer: DataApp }
  'dataScience.listApps': { path?: undefined; query?: { readonly offset?: number; readonly limit?: number; readonly componentId?: string; readonly type?: string | ReadonlyArray<string>; readonly branchId?: string }; body?: undefined; answer: ReadonlyArray<DataApp> }
  'dataScience.getApp': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataApp }
  'dataScience.changeApp': { path: { readonly id: string }; query?: undefined; body?: DataScienceChangeAppBody; answer: DataApp }
  'dataScience.deleteApp': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'dataScience.appRepository': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataAppRepository }
  'dataScience.createAppGitCredential': { path: { readonly id: string }; query?: undefined; body?: DataScienceCreateAppGitCredentialBody; answer: CreatedGitCredential }
  'dataScience.listAppGitCredentials': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<GitCredential> }
  'dataScience.deleteAppGitCredential': { path: { readonly id: string; readonly credentialId: string }; query?: undefined; body?: undefined; answer: undefined }
  'dataScience.createAppLink': { path: { readonly id: string }; query?: undefined; body?: DataScienceCreateAppLinkBody; answer: DataAppLink }
  'dataScience.tailAppLog': { path: { readonly id: string }; query?: { readonly lines?: number; readonly since?: string }; body?: undefined; answer: string }
  'dataScience.appPassword': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly password: string } }
  'dataScience.createAppPreviewLink': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataAppPreviewLink }
  'dataScience.listAppRuns': { path: { readonly id: string }; query?: { readonly offset?: number; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<DataAppRun> }
  'dataScience.project': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly id: string; readonly persistentStorageReady: boolean } }
  'dataScience.create': { path?: undefined; query?: undefined; body: DataScienceCreateBody; answer: Sandbox }
  'dataScience.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Sandbox> }
  'dataScience.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'dataScience.change': { path: { readonly id: string }; query?: undefined; body?: DataScienceChangeBody; answer: Sandbox }
  'dataScience.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'dataScience.activate': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'dataScience.deactivate': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'dockerRunner.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'dockerRunner.resolve': { path?: undefined; query?: undefined; body: DockerRunnerResolveBody; answer: unknown }
  'encryption.encryptOldForComponent': { path: { readonly componentId: string }; query?: { readonly componentId?: string; readonly projectId?: string; readonly configId?: string; readonly branchType?: string }; body: unknown; answer: unknown }
  'dockerRunner.action': { path: { readonly component: string; readonly action: string }; query?: undefined; body?: DockerRunnerActionBody; answer: unknown }
  'operations.docs': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'operations.componentPage': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: string }
  'operations.componentIcon': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: string }
  'editor.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'editor.create': { path?: undefined; query?: undefined; body?: EditorCreateBody; answer: EditorSession }
  'editor.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<EditorSession> }
  'editor.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: EditorSession }
  'editor.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'editor.resetCredentials': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: EditorSession }
  'encryption.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'encryption.encrypt': { path?: undefined; query?: { readonly componentId?: string; readonly projectId?: string; readonly configId?: string; readonly branchType?: string }; body: unknown; answer: unknown }
  'encryption.migrateConfiguration': { path?: undefined; query?: { readonly 'dry-run'?: boolean }; body: EncryptionMigrateConfigurationBody; answer: { readonly message: string; readonly data: { readonly destinationStack: string; readonly componentId: string; readonly configId: string; readonly branchId: string }; readonly warnings: ReadonlyArray<string> } }
  'git.push': { path: { readonly repository: string }; query?: undefined; body: unknown; answer: unknown }
  'git.fetch': { path: { readonly repository: string }; query?: undefined; body: unknown; answer: unknown }
  'git.listRefs': { path: { readonly repository: string }; query: { readonly service: 'git-upload-pack' | 'git-receive-pack' }; body?: undefined; answer: unknown }
  'operations.health': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'operations.guides': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'operations.guideImage': { path: { readonly name: string }; query?: undefined; body?: undefined; answer: unknown }
  'operations.searchGuides': { path?: undefined; query?: { readonly q?: string }; body?: undefined; answer: string }
  'operations.guide': { path: { readonly path: string }; query?: undefined; body?: undefined; answer: string }
  'iceberg.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'iceberg.config': { path?: undefined; query?: { readonly warehouse?: string }; body?: undefined; answer: { readonly defaults: Readonly<Record<string, string>>; readonly overrides: Readonly<Record<string, string>>; readonly endpoints: ReadonlyArray<string> } }
  'iceberg.token': { path?: undefined; query?: undefined; body?: IcebergTokenBody; answer: { readonly access_token: string; readonly token_type: string; readonly issued_token_type: string; readonly expires_in: number } }
  'iceberg.namespaces': { path: { readonly prefix: string }; query?: { readonly parent?: string; readonly pageToken?: string; readonly pageSize?: string }; body?: undefined; answer: { readonly namespaces: ReadonlyArray<ReadonlyArray<string>> } }
  'iceberg.namespace': { path: { readonly prefix: string; readonly namespace: string }; query?: undefined; body?: undefined; answer: { readonly namespace: ReadonlyArray<string>; readonly properties: Readonly<Record<string, string>> } }
  'iceberg.tables': { path: { readonly prefix: string; readonly namespace: string }; query?: { readonly pageToken?: string; readonly pageSize?: string }; body?: undefined; answer: { readonly identifiers: ReadonlyArray<{ readonly namespace: ReadonlyArray<string>; readonly name: string }> } }
  'iceberg.createTable': { path: { readonly prefix: string; readonly namespace: string }; query?: undefined; body: IcebergCreateTableBody; answer: { readonly 'metadata-location'?: string; readonly metadata: unknown; readonly config: Readonly<Record<string, string>>; readonly 'storage-credentials'?: ReadonlyArray<unknown> } }
  'iceberg.commit': { path: { readonly prefix: string; readonly namespace: string; readonly table: string }; query?: undefined; body: IcebergCommitBody; answer: { readonly 'metadata-location': string; readonly metadata: unknown } }
  'iceberg.dropTable': { path: { readonly prefix: string; readonly namespace: string; readonly table: string }; query?: { readonly purgeRequested?: string }; body?: undefined; answer: undefined }
  'iceberg.loadTable': { path: { readonly prefix: string; readonly namespace: string; readonly table: string }; query?: { readonly snapshots?: 'all' | 'refs' }; body?: undefined; answer: { readonly 'metadata-location': string; readonly metadata: unknown; readonly config: Readonly<Record<string, string>>; readonly 'storage-credentials'?: ReadonlyArray<unknown> } }
  'iceberg.credentials': { path: { readonly prefix: string; readonly namespace: string; readonly table: string }; query?: { readonly planId?: string }; body?: undefined; answer: { readonly 'storage-credentials': ReadonlyArray<unknown> } }
  'iceberg.metrics': { path: { readonly prefix: string; readonly namespace: string; readonly table: string }; query?: undefined; body?: unknown; answer: undefined }
  'import.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'import.fetchFile': { path?: undefined; query?: undefined; body: ImportFetchFileBody; answer: File }
  'import.uploadFile': { path?: undefined; query?: undefined; body: { readonly data: unknown; readonly name?: string; readonly isPermanent?: boolean; readonly isPublic?: boolean; readonly isEncrypted?: boolean; readonly notify?: boolean; readonly tags?: ReadonlyArray<string>; readonly branchId?: string }; answer: unknown }
  'import.writeTable': { path?: undefined; query?: undefined; body: { readonly data: unknown; readonly incremental?: unknown; readonly treatValuesAsNull?: unknown; readonly useTimestampFromDataFile?: unknown; readonly deduplicationStrategy?: unknown; readonly delimiter?: unknown; readonly enclosure?: unknown; readonly escapedBy?: unknown; readonly columns?: unknown; readonly withoutHeaders?: unknown; readonly ignoredLinesCount?: unknown; readonly dataString?: unknown; readonly tableId?: unknown; readonly branchId?: unknown }; answer: { readonly transaction: null; readonly warnings: ReadonlyArray<unknown>; readonly importedColumns: ReadonlyArray<string>; readonly totalRowsCount: number; readonly totalDataSizeBytes: number } }
  'operations.llms': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'projects.deleted': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<ManagedProject> }
  'projects.restore': { path: { readonly projectId: string }; query?: undefined; body?: undefined; answer: undefined }
  'projects.organizations': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly id: number; readonly name: string }> }
  'projects.list': { path: { readonly organizationId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<ManagedProject> }
  'projects.create': { path: { readonly organizationId: string }; query?: undefined; body: ProjectsCreateBody; answer: ManagedProject }
  'projects.get': { path: { readonly projectId: string }; query?: undefined; body?: undefined; answer: ManagedProject }
  'projects.update': { path: { readonly projectId: string }; query?: undefined; body: ProjectsUpdateBody; answer: ManagedProject }
  'projects.delete': { path: { readonly projectId: string }; query?: { readonly days?: number }; body?: undefined; answer: undefined }
  'projects.pause': { path: { readonly projectId: string }; query?: undefined; body?: ProjectsPauseBody; answer: ManagedProject }
  'projects.resume': { path: { readonly projectId: string }; query?: undefined; body?: undefined; answer: ManagedProject }
  'projects.addFeature': { path: { readonly projectId: string }; query?: undefined; body: ProjectsAddFeatureBody; answer: undefined }
  'projects.removeFeature': { path: { readonly projectId: string; readonly feature: string }; query?: undefined; body?: undefined; answer: undefined }
  'projectInvitations.list': { path: { readonly projectId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<Invitation> }
  'projectInvitations.create': { path: { readonly projectId: string }; query?: undefined; body: ProjectInvitationsCreateBody; answer: Invitation }
  'projectInvitations.delete': { path: { readonly projectId: string; readonly invitationId: string }; query?: undefined; body?: undefined; answer: undefined }
  'projects.setLimits': { path: { readonly projectId: string }; query?: undefined; body: ProjectsSetLimitsBody; answer: ReadonlyArray<{ readonly name: string; readonly value: number }> }
  'projects.removeLimit': { path: { readonly projectId: string; readonly limit: string }; query?: undefined; body?: undefined; answer: undefined }
  'projects.createToken': { path: { readonly projectId: string }; query?: undefined; body?: TokenRequest; answer: Token }
  'projectUsers.list': { path: { readonly projectId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<ProjectUser> }
  'projectUsers.add': { path: { readonly projectId: string }; query?: undefined; body: ProjectUsersAddBody; answer: ProjectUser }
  'projectUsers.update': { path: { readonly projectId: string; readonly userId: string }; query?: undefined; body: ProjectUsersUpdateBody; answer: ProjectUser }
  'projectUsers.remove': { path: { readonly projectId: string; readonly userId: string }; query?: undefined; body?: undefined; answer: undefined }
  'users.verify': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly user: Person; readonly isSessionToken: boolean; readonly type: string } }
  'users.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Person> }
  'users.get': { path: { readonly user: string }; query?: undefined; body?: undefined; answer: Person }
  'users.update': { path: { readonly user: string }; query?: undefined; body: UsersUpdateBody; answer: Person }
  'users.remove': { path: { readonly user: string }; query?: undefined; body?: undefined; answer: undefined }
  'mcp.request': { path?: undefined; query?: { readonly groups?: string; readonly branch?: string }; body: unknown; answer: unknown }
  'operations.metrics': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'mlflow.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'mlflow.server': { path?: undefined; query?: undefined; body?: undefined; answer: MlflowServer }
  'mlflow.request': { path: { readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'mlflow.request.post': { path: { readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'mlflow.request.put': { path: { readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'mlflow.request.patch': { path: { readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'mlflow.request.delete': { path: { readonly path: string }; query?: undefined; body: unknown; answer: unknown }
  'notification.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'notification.deliveries': { path?: undefined; query?: { readonly subscriptionId?: string; readonly status?: 'waiting' | 'delivered' | 'failed' | 'cancelled'; readonly beforeId?: string; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly messageId: string; readonly subscriptionId: string | null; readonly event: string; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly status: string; readonly createdAt: string; readonly endedAt: string | null; readonly nextAttemptAt: string | null; readonly attempts: ReadonlyArray<{ readonly attemptedAt: string; readonly durationMs: number; readonly statusCode: number | null; readonly answer: string; readonly error: string | null }> }> }
  'notification.delivery': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly messageId: string; readonly subscriptionId: string | null; readonly event: string; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly status: string; readonly createdAt: string; readonly endedAt: string | null; readonly nextAttemptAt: string | null; readonly attempts: ReadonlyArray<{ readonly attemptedAt: string; readonly durationMs: number; readonly statusCode: number | null; readonly answer: string; readonly error: string | null }> } }
  'notification.emit': { path: { readonly event: string }; query?: undefined; body?: NotificationEmitBody; answer: { readonly deliveries: number } }
  'notification.send': { path?: undefined; query?: undefined; body: NotificationSendBody; answer: { readonly id: string } }
  'notification.subscribe': { path?: undefined; query?: undefined; body: NotificationSubscribeBody; answer: { readonly id: string; readonly event: string; readonly filters: ReadonlyArray<{ readonly field: string; readonly value: unknown; readonly operator: string }>; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly expiresAt: string | null; readonly createdAt: string; readonly warnings: ReadonlyArray<string> } }
  'notification.list': { path?: undefined; query?: { readonly event?: string }; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly event: string; readonly filters: ReadonlyArray<{ readonly field: string; readonly value: unknown; readonly operator: string }>; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly expiresAt: string | null; readonly createdAt: string; readonly warnings: ReadonlyArray<string> }> }
  'notification.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly event: string; readonly filters: ReadonlyArray<{ readonly field: string; readonly value: unknown; readonly operator: string }>; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly expiresAt: string | null; readonly createdAt: string; readonly warnings: ReadonlyArray<string> } }
  'notification.unsubscribe': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'notification.test': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly messageId: string; readonly subscriptionId: string | null; readonly event: string; readonly recipient: { readonly channel: string; readonly address: string; readonly url?: string; readonly template?: unknown; readonly signingSecret?: string }; readonly status: string; readonly createdAt: string; readonly endedAt: string | null; readonly nextAttemptAt: string | null; readonly attempts: ReadonlyArray<{ readonly attemptedAt: string; readonly durationMs: number; readonly statusCode: number | null; readonly answer: string; readonly error: string | null }> } }
  'oauth.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'oauth.authorize': { path: { readonly componentId: string }; query?: { readonly token?: string; readonly id?: string; readonly authorizedFor?: string; readonly returnUrl?: string; readonly userData?: Readonly<Record<string, string>> | string; readonly provider?: string; readonly scope?: string; readonly appKey?: string; readonly appSecret?: string; readonly configurationId?: string }; body?: undefined; answer: unknown }
  'oauth.authorizeByForm': { path: { readonly componentId: string }; query?: undefined; body?: OauthAuthorizeByFormBody; answer: { readonly url: string } }
  'oauth.callback': { path: { readonly componentId: string }; query?: { readonly code?: string; readonly state?: string; readonly iss?: string; readonly error?: string; readonly error_description?: string; readonly oauth_token?: string; readonly oauth_verifier?: string; readonly denied?: string }; body?: undefined; answer: string }
  'oauth.listCredentials': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly authorizedFor: string; readonly creator: { readonly id: number; readonly description: string }; readonly created: string; readonly oauthVersion: string; readonly appKey: string; readonly '#data': string; readonly '#appSecret': string; readonly provider: string | null; readonly expires: string | null; readonly refreshed: string | null; readonly problem: string | null }> }
  'oauth.addCredentials': { path: { readonly componentId: string }; query?: undefined; body: OauthAddCredentialsBody; answer: { readonly id: string; readonly authorizedFor: string; readonly creator: { readonly id: number; readonly description: string }; readonly created: string; readonly oauthVersion: string; readonly appKey: string; readonly '#data': string; readonly '#appSecret': string; readonly provider: string | null; readonly expires: string | null; readonly refreshed: string | null; readonly problem: string | null } }
  'oauth.credentials': { path: { readonly componentId: string; readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly authorizedFor: string; readonly creator: { readonly id: number; readonly description: string }; readonly created: string; readonly oauthVersion: string; readonly appKey: string; readonly '#data': string; readonly '#appSecret': string; readonly provider: string | null; readonly expires: string | null; readonly refreshed: string | null; readonly problem: string | null } }
  'oauth.deleteCredentials': { path: { readonly componentId: string; readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'oauth.refreshCredentials': { path: { readonly componentId: string; readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly authorizedFor: string; readonly creator: { readonly id: number; readonly description: string }; readonly created: string; readonly oauthVersion: string; readonly appKey: string; readonly '#data': string; readonly '#appSecret': string; readonly provider: string | null; readonly expires: string | null; readonly refreshed: string | null; readonly problem: string | null } }
  'oauth.revokeCredentials': { path: { readonly componentId: string; readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly authorizedFor: string; readonly creator: { readonly id: number; readonly description: string }; readonly created: string; readonly oauthVersion: string; readonly appKey: string; readonly '#data': string; readonly '#appSecret': string; readonly provider: string | null; readonly expires: string | null; readonly refreshed: string | null; readonly problem: string | null } }
  'oauth.testCredentials': { path: { readonly componentId: string; readonly id: string }; query?: undefined; body?: undefined; answer: { readonly status: string; readonly message: string } }
  'oauth.linkPage': { path?: undefined; query: { readonly token: string; readonly component: string; readonly config?: string; readonly id?: string; readonly authorizedFor?: string; readonly provider?: string; readonly scope?: string }; body?: undefined; answer: string }
  'oauth.makeLink': { path?: undefined; query?: undefined; body: OauthMakeLinkBody; answer: { readonly url: string; readonly expiresAt: string } }
  'oauth.listManaged': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly component_id: string; readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string }> }
  'oauth.addManaged': { path?: undefined; query?: undefined; body: OauthAddManagedBody; answer: { readonly component_id: string; readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string } }
  'oauth.managed': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: { readonly component_id: string; readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string } }
  'oauth.changeManaged': { path: { readonly componentId: string }; query?: undefined; body?: OauthChangeManagedBody; answer: { readonly component_id: string; readonly friendly_name?: string; readonly oauth_version?: '2.0' | '1.0'; readonly auth_url?: string; readonly token_url?: string; readonly request_token_url?: string; readonly revoke_url?: string; readonly test_url?: string; readonly issuer?: string; readonly scope?: string; readonly pkce?: boolean; readonly client_authentication?: 'post' | 'basic'; readonly auth_parameters?: Readonly<Record<string, string>>; readonly provider?: string; readonly app_key?: string } }
  'oauth.deleteManaged': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: undefined }
  'oauth.listProviders': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly name: string; readonly oauthVersion: string; readonly scope: string | null; readonly pkce: boolean; readonly hasClient: boolean; readonly userData: ReadonlyArray<string>; readonly canRevoke: boolean; readonly canTest: boolean }> }
  'oauth.provider': { path: { readonly id: string }; query?: { readonly componentId?: string }; body?: undefined; answer: ({ readonly id: string; readonly name: string; readonly oauthVersion: string; readonly scope: string | null; readonly pkce: boolean; readonly hasClient: boolean; readonly userData: ReadonlyArray<string>; readonly canRevoke: boolean; readonly canTest: boolean }) & ({ readonly redirectUrl: string | null }) }
  'operations.openapi': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'operations.audit': { path?: undefined; query?: { readonly projectId?: number; readonly who?: string; readonly tokenId?: number; readonly what?: string; readonly objectId?: string; readonly logs?: boolean; readonly since?: string; readonly until?: string; readonly beforeId?: number; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<AuditEntry> }
  'operations.backups': { path?: undefined; query?: undefined; body?: undefined; answer: Backups }
  'operations.backUp': { path?: undefined; query?: undefined; body?: undefined; answer: Backups }
  'operations.testRestore': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Backups }
  'operations.nodes': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<StackNode> }
  'operations.settings': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<StackSetting> }
  'operations.changeSetting': { path: { readonly name: string }; query?: undefined; body: OperationsChangeSettingBody; answer: StackSetting }
  'operations.resetSetting': { path: { readonly name: string }; query?: undefined; body?: undefined; answer: StackSetting }
  'operations.status': { path?: undefined; query?: undefined; body?: undefined; answer: StackStatus }
  'stream.otlpWithBearer': { path: { readonly projectId: string; readonly sourceId: string; readonly signal: 'logs' | 'metrics' | 'traces' }; query?: undefined; body: unknown; answer: string }
  'stream.otlp': { path: { readonly projectId: string; readonly sourceId: string; readonly secret: string; readonly signal: 'logs' | 'metrics' | 'traces' }; query?: undefined; body: unknown; answer: string }
  'query.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'query.submit': { path: { readonly branchId: string; readonly workspaceId: string }; query?: undefined; body: QuerySubmitBody; answer: { readonly queryJobId: string } }
  'query.get': { path: { readonly queryJobId: string }; query?: undefined; body?: undefined; answer: { readonly queryJobId: string; readonly status: string; readonly statements: ReadonlyArray<{ readonly id: string; readonly status: string; readonly query: string; readonly error: string | null; readonly numberOfRows: number | null; readonly rowsAffected: number | null }> } }
  'query.cancel': { path: { readonly queryJobId: string }; query?: undefined; body?: undefined; answer: { readonly queryJobId: string } }
  'query.results': { path: { readonly queryJobId: string; readonly statementId: string }; query?: { readonly offset?: number; readonly pageSize?: number }; body?: undefined; answer: { readonly status: string; readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>; readonly data: ReadonlyArray<ReadonlyArray<unknown>>; readonly numberOfRows: number | null; readonly rowsAffected: number | null; readonly message: string | null } }
  'queue.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'flows.validate': { path?: undefined; query?: undefined; body: FlowsValidateBody; answer: { readonly isValid: boolean; readonly problems: ReadonlyArray<{ readonly level: string; readonly path: string; readonly message: string }> } }
  'queue.lineage': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'queue.create': { path?: undefined; query?: undefined; body?: JobRequest; answer: Job }
  'queue.list': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown; readonly offset?: unknown; readonly sortBy?: unknown; readonly sortOrder?: unknown; readonly fields?: unknown }; body?: undefined; answer: ReadonlyArray<Job> }
  'queue.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Job }
  'queue.events': { path: { readonly id: string }; query?: { readonly sinceId?: string; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<Readonly<Record<string, unknown>>> }
  'queue.kill': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Job }
  'queue.rerun': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Job }
  'queue.states': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<StateOfRow> }
  'queue.failures': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown }; body?: undefined; answer: ReadonlyArray<FailureGroup> }
  'queue.searchGrouped': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown; readonly offset?: unknown; readonly sortBy?: unknown; readonly sortOrder?: unknown; readonly groupBy?: unknown; readonly jobsPerGroup?: unknown }; body?: undefined; answer: ReadonlyArray<{ readonly group: Readonly<Record<string, string>>; readonly jobs: ReadonlyArray<Job> }> }
  'queue.search': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown; readonly offset?: unknown; readonly sortBy?: unknown; readonly sortOrder?: unknown; readonly fields?: unknown }; body?: undefined; answer: ReadonlyArray<Job> }
  'queue.lineageEvents': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown; readonly offset?: unknown; readonly sortBy?: unknown; readonly sortOrder?: unknown }; body?: undefined; answer: string }
  'queue.stats': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly jobs: { readonly durationSum: number } } }
  'queue.statuses': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown }; body?: undefined; answer: JobsByStatus }
  'queue.run': { path: { readonly component: string }; query?: undefined; body?: JobRequest; answer: Job }
  'queue.runTag': { path: { readonly component: string; readonly tag: string }; query?: undefined; body?: JobRequest; answer: Job }
  'operations.ready': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'sample.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly description: string; readonly login: { readonly username: string; readonly password: string }; readonly endpoints: Readonly<Record<string, string>> } }
  'sample.contacts': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly total: number; readonly ids: ReadonlyArray<string> } }
  'sample.createContact': { path?: undefined; query?: undefined; body: SampleCreateContactBody; answer: { readonly id: string; readonly version: number } }
  'sample.contact': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly version: number } }
  'sample.putContact': { path: { readonly id: string }; query?: undefined; body?: SamplePutContactBody; answer: { readonly id: string; readonly version: number } }
  'sample.changeContact': { path: { readonly id: string }; query?: undefined; body?: SampleChangeContactBody; answer: { readonly id: string; readonly version: number } }
  'sample.deleteContact': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'sample.customers': { path?: undefined; query?: { readonly page?: number; readonly limit?: number }; body?: undefined; answer: { readonly customers: ReadonlyArray<{ readonly id: number; readonly name: string; readonly email: string; readonly address: { readonly city: string; readonly zip: string } }>; readonly page: number; readonly pages: number; readonly total: number } }
  'sample.logIn': { path?: undefined; query?: undefined; body: SampleLogInBody; answer: { readonly token: string; readonly expiresIn: number } }
  'sample.orders': { path?: undefined; query?: { readonly after?: string; readonly since?: number; readonly limit?: number; readonly bad?: 'yes' }; body?: undefined; answer: { readonly orders: ReadonlyArray<{ readonly id: number; readonly created: string; readonly customerId: number; readonly status: string; readonly total: number; readonly items: ReadonlyArray<{ readonly sku: string; readonly name: string; readonly quantity: number; readonly price: number }> | string }>; readonly next: string | null } }
  'sandboxes.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'sandboxes.createApp': { path?: undefined; query?: undefined; body?: SandboxesCreateAppBody; answer: DataApp }
  'sandboxes.listApps': { path?: undefined; query?: { readonly offset?: number; readonly limit?: number; readonly componentId?: string; readonly type?: string | ReadonlyArray<string>; readonly branchId?: string }; body?: undefined; answer: ReadonlyArray<DataApp> }
  'sandboxes.getApp': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataApp }
  'sandboxes.changeApp': { path: { readonly id: string }; query?: undefined; body?: SandboxesChangeAppBody; answer: DataApp }
  'sandboxes.deleteApp': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'sandboxes.appRepository': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataAppRepository }
  'sandboxes.createAppGitCredential': { path: { readonly id: string }; query?: undefined; body?: SandboxesCreateAppGitCredentialBody; answer: CreatedGitCredential }
  'sandboxes.listAppGitCredentials': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<GitCredential> }
  'sandboxes.deleteAppGitCredential': { path: { readonly id: string; readonly credentialId: string }; query?: undefined; body?: undefined; answer: undefined }
  'sandboxes.createAppLink': { path: { readonly id: string }; query?: undefined; body?: SandboxesCreateAppLinkBody; answer: DataAppLink }
  'sandboxes.tailAppLog': { path: { readonly id: string }; query?: { readonly lines?: number; readonly since?: string }; body?: undefined; answer: string }
  'sandboxes.appPassword': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly password: string } }
  'sandboxes.createAppPreviewLink': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: DataAppPreviewLink }
  'sandboxes.listAppRuns': { path: { readonly id: string }; query?: { readonly offset?: number; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<DataAppRun> }
  'sandboxes.project': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly id: string; readonly persistentStorageReady: boolean } }
  'sandboxes.create': { path?: undefined; query?: undefined; body: SandboxesCreateBody; answer: Sandbox }
  'sandboxes.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Sandbox> }
  'sandboxes.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'sandboxes.change': { path: { readonly id: string }; query?: undefined; body?: SandboxesChangeBody; answer: Sandbox }
  'sandboxes.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'sandboxes.activate': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'sandboxes.deactivate': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Sandbox }
  'scheduler.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'scheduler.deleteByConfiguration': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'scheduler.preview': { path?: undefined; query?: undefined; body: SchedulerPreviewBody; answer: ReadonlyArray<{ readonly executionTime: string; readonly dst: string | null }> }
  'scheduler.activate': { path?: undefined; query?: { readonly dryRun?: boolean }; body: SchedulerActivateBody; answer: Schedule }
  'scheduler.list': { path?: undefined; query?: { readonly componentId?: string; readonly configurationId?: string; readonly configurationIds?: ReadonlyArray<string>; readonly sort?: 'next'; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<Schedule> }
  'scheduler.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Schedule }
  'scheduler.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'scheduler.next': { path: { readonly id: string }; query?: { readonly count?: number }; body?: undefined; answer: ReadonlyArray<{ readonly executionTime: string; readonly dst: string | null }> }
  'scheduler.refreshToken': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Schedule }
  'scheduler.totals': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly schedules: number; readonly stopped: number } }
  'dashboards.shared': { path?: undefined; query?: undefined; body?: undefined; answer: SharedDashboard }
  'dashboards.sharedResult': { path: { readonly tileId: string }; query?: { readonly filters?: string }; body?: undefined; answer: unknown }
  'signIn.methods': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly isSignedIn: boolean; readonly hasPeople: boolean; readonly oidc: { readonly name: string } | null } }
  'signIn.link': { path?: undefined; query?: undefined; body: SignInLinkBody; answer: Person }
  'signIn.describeLink': { path?: undefined; query?: undefined; body: SignInDescribeLinkBody; answer: { readonly kind: string; readonly email: string | null; readonly role: string | null; readonly project: string | null; readonly creator: string | null; readonly expires: string } }
  'signIn.password': { path?: undefined; query?: undefined; body: SignInPasswordBody; answer: Person }
  'spark.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'spark.cluster': { path?: undefined; query?: undefined; body?: undefined; answer: SparkCluster }
  'spark.frontPage': { path?: undefined; query?: undefined; body?: undefined; answer: unknown }
  'spark.page': { path: { readonly path: string }; query?: undefined; body?: undefined; answer: unknown }
  'stream.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'stream.aggregateSources': { path: { readonly branchId: string }; query?: { readonly limit?: number; readonly afterId?: string }; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.createSource': { path: { readonly branchId: string }; query?: undefined; body: StreamCreateSourceBody; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.listSources': { path: { readonly branchId: string }; query?: { readonly limit?: number; readonly afterId?: string }; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.getSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.updateSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: StreamUpdateSourceBody; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.deleteSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.disableSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.enableSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.rotateSecret': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.getSettings': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.updateSettings': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body: StreamUpdateSettingsBody; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.createSink': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body: StreamCreateSinkBody; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.listSinks': { path: { readonly branchId: string; readonly sourceId: string }; query?: { readonly limit?: number; readonly afterId?: string }; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.getSink': { path: { readonly branchId: string; readonly sourceId: string; readonly sinkId: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'stream.updateSink': { path: { readonly branchId: string; readonly sourceId: string; readonly sinkId: string }; query?: undefined; body?: StreamUpdateSinkBody; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.deleteSink': { path: { readonly branchId: string; readonly sourceId: string; readonly sinkId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.disableSink': { path: { readonly branchId: string; readonly sourceId: string; readonly sinkId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.enableSink': { path: { readonly branchId: string; readonly sourceId: string; readonly sinkId: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.testSource': { path: { readonly branchId: string; readonly sourceId: string }; query?: undefined; body: unknown; answer: Readonly<Record<string, unknown>> }
  'stream.getTask': { path: { readonly path: string }; query?: undefined; body?: undefined; answer: { readonly taskId: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'stream.receive': { path: { readonly projectId: string; readonly sourceId: string; readonly secret: string }; query?: undefined; body: unknown; answer: string }
  'syncActions.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'syncActions.run': { path?: undefined; query?: undefined; body: SyncActionsRunBody; answer: unknown }
  'syncActions.list': { path?: undefined; query: { readonly componentId: string }; body?: undefined; answer: { readonly actions: ReadonlyArray<string> } }
  'syncActions.resolve': { path?: undefined; query?: undefined; body: SyncActionsResolveBody; answer: unknown }
  'syncActions.trySql': { path?: undefined; query?: undefined; body: SyncActionsTrySqlBody; answer: TriedScript }
  'syrup.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'syrup.resolve': { path?: undefined; query?: undefined; body: SyrupResolveBody; answer: unknown }
  'encryption.encryptOld': { path?: undefined; query?: { readonly componentId?: string; readonly projectId?: string; readonly configId?: string; readonly branchType?: string }; body: unknown; answer: unknown }
  'syrup.sandbox': { path?: undefined; query?: undefined; body?: JobRequest; answer: { readonly id: number; readonly status: string; readonly url: string } }
  'syrup.stats': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly jobs: { readonly durationSum: number } } }
  'syrup.dailyStats': { path?: undefined; query?: { readonly fromDate?: unknown; readonly toDate?: unknown; readonly timezoneOffset?: unknown }; body?: undefined; answer: { readonly jobs: ReadonlyArray<{ readonly date: string; readonly durationSum: number }> } }
  'syrup.dryRun': { path: { readonly component: string }; query?: undefined; body?: JobRequest; answer: { readonly id: number; readonly status: string; readonly url: string } }
  'syrup.input': { path: { readonly component: string }; query?: undefined; body?: JobRequest; answer: { readonly id: number; readonly status: string; readonly url: string } }
  'syrup.run': { path: { readonly component: string }; query?: undefined; body?: JobRequest; answer: { readonly id: number; readonly status: string; readonly url: string } }
  'syrup.runTag': { path: { readonly component: string; readonly tag: string }; query?: undefined; body?: JobRequest; answer: { readonly id: number; readonly status: string; readonly url: string } }
  'syrup.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: number; readonly status: string } }
  'syrup.list': { path?: undefined; query?: { readonly id?: unknown; readonly projectId?: unknown; readonly runId?: unknown; readonly branchId?: unknown; readonly tokenId?: unknown; readonly tokenDescription?: unknown; readonly componentId?: unknown; readonly component?: unknown; readonly configId?: unknown; readonly config?: unknown; readonly configRowIds?: unknown; readonly status?: unknown; readonly mode?: unknown; readonly type?: unknown; readonly variableValuesId?: unknown; readonly parentRunId?: unknown; readonly configVersion?: unknown; readonly causeKind?: unknown; readonly createdTimeFrom?: unknown; readonly createdTimeTo?: unknown; readonly startTimeFrom?: unknown; readonly startTimeTo?: unknown; readonly endTimeFrom?: unknown; readonly endTimeTo?: unknown; readonly durationSecondsFrom?: unknown; readonly durationSecondsTo?: unknown; readonly filters?: unknown; readonly limit?: unknown; readonly offset?: unknown; readonly sortBy?: unknown; readonly sortOrder?: unknown; readonly fields?: unknown; readonly q?: unknown; readonly since?: unknown; readonly until?: unknown; readonly include?: unknown }; body?: undefined; answer: ReadonlyArray<{ readonly id: number; readonly status: string }> }
  'syrup.kill': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: number; readonly status: string } }
  'templates.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'templates.healthCheck': { path?: undefined; query?: undefined; body?: undefined; answer: string }
  'templates.service': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string } }
  'templates.listInstances': { path: { readonly branch: string }; query?: undefined; body?: undefined; answer: { readonly instances: ReadonlyArray<Readonly<Record<string, unknown>>> } }
  'templates.instance': { path: { readonly branch: string; readonly instance: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'templates.renameInstance': { path: { readonly branch: string; readonly instance: string }; query?: undefined; body: TemplatesRenameInstanceBody; answer: Readonly<Record<string, unknown>> }
  'templates.deleteInstance': { path: { readonly branch: string; readonly instance: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'templates.upgrade': { path: { readonly branch: string; readonly instance: string; readonly version: string }; query?: undefined; body: TemplatesUpgradeBody; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'templates.upgradeInputs': { path: { readonly branch: string; readonly instance: string; readonly version: string }; query?: undefined; body?: undefined; answer: { readonly stepGroups: ReadonlyArray<unknown> } }
  'templates.upgradePreview': { path: { readonly branch: string; readonly instance: string; readonly version: string }; query?: undefined; body: TemplatesUpgradePreviewBody; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'templates.listRepositories': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly repositories: ReadonlyArray<Readonly<Record<string, unknown>>> } }
  'templates.repository': { path: { readonly repository: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'templates.refreshRepository': { path: { readonly repository: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'templates.list': { path: { readonly repository: string }; query?: { readonly filter?: string }; body?: undefined; answer: { readonly repository: Readonly<Record<string, unknown>>; readonly templates: ReadonlyArray<Readonly<Record<string, unknown>>> } }
  'templates.detail': { path: { readonly repository: string; readonly template: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'templates.version': { path: { readonly repository: string; readonly template: string; readonly version: string }; query?: undefined; body?: undefined; answer: Readonly<Record<string, unknown>> }
  'templates.inputs': { path: { readonly repository: string; readonly template: string; readonly version: string }; query?: undefined; body?: undefined; answer: { readonly stepGroups: ReadonlyArray<unknown> } }
  'templates.preview': { path: { readonly repository: string; readonly template: string; readonly version: string }; query?: undefined; body: TemplatesPreviewBody; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'templates.use': { path: { readonly repository: string; readonly template: string; readonly version: string }; query?: undefined; body: TemplatesUseBody; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'templates.validate': { path: { readonly repository: string; readonly template: string; readonly version: string }; query?: undefined; body: TemplatesValidateBody; answer: Readonly<Record<string, unknown>> }
  'templates.task': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly type: string; readonly url: string; readonly status: string; readonly isFinished: boolean; readonly createdAt: string; readonly finishedAt: string; readonly duration: number; readonly result: string; readonly outputs: Readonly<Record<string, unknown>> } }
  'index.get': { path?: undefined; query?: { readonly exclude?: string }; body?: undefined; answer: { readonly host: string; readonly api: string; readonly version: string; readonly revision: string; readonly stack: string; readonly documentation: string; readonly components?: ReadonlyArray<unknown>; readonly services: ReadonlyArray<{ readonly id: string; readonly url: string }>; readonly features: ReadonlyArray<string>; readonly urlTemplates: Readonly<Record<string, string>>; readonly sqlPort: number | null } }
  'agentConnections.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<AgentConnection> }
  'agentConnections.remove': { path: { readonly connectionId: string }; query?: undefined; body?: undefined; answer: undefined }
  'agentRequests.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<AgentRequest> }
  'agentRequests.decide': { path: { readonly id: string }; query?: undefined; body: AgentRequestsDecideBody; answer: AgentRequest }
  'buckets.refreshTablesInfo': { path: { readonly branch: string; readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'branchConfigurations.diff': { path: { readonly branch: string; readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: { readonly base: ConfigurationVersion | null; readonly ours: ConfigurationVersion; readonly theirs: ConfigurationVersion | null } }
  'branchConfigurations.rebase': { path: { readonly branch: string; readonly componentId: string; readonly configurationId: string }; query?: undefined; body: BranchConfigurationsRebaseBody; answer: Configuration }
  'branchConfigurations.reset': { path: { readonly branch: string; readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: undefined }
  'branchConfigurations.diffRow': { path: { readonly branch: string; readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: undefined; body?: undefined; answer: { readonly base: ConfigurationVersion | null; readonly ours: ConfigurationVersion; readonly theirs: ConfigurationVersion | null } }
  'branchMetadata.list': { path: { readonly branch: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly key: string; readonly value: string; readonly timestamp: string }> }
  'branchMetadata.set': { path: { readonly branch: string }; query?: undefined; body?: BranchMetadataSetBody; answer: ReadonlyArray<{ readonly id: string; readonly key: string; readonly value: string; readonly timestamp: string }> }
  'branchMetadata.delete': { path: { readonly branch: string; readonly metadataId: string }; query?: undefined; body?: undefined; answer: undefined }
  'search.configurations': { path: { readonly branch: string }; query?: { readonly idComponent?: string; readonly componentId?: string; readonly configurationId?: string; readonly metadataKeys?: ReadonlyArray<string> | string; readonly include?: string }; body?: undefined; answer: ReadonlyArray<{ readonly idComponent: string; readonly configurationId: string; readonly metadata?: ReadonlyArray<MetadataItem> }> }
  'tables.pull': { path: { readonly branch: string; readonly tableId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'tables.browse': { path?: undefined; query?: { readonly text?: string; readonly name?: string; readonly tableId?: ReadonlyArray<string>; readonly minBytes?: number; readonly changedAfter?: string; readonly changedBefore?: string; readonly neverLoaded?: boolean; readonly sort?: 'name' | 'rows' | 'size' | 'changed'; readonly limit?: number; readonly offset?: number; readonly include?: string }; body?: undefined; answer: ReadonlyArray<{ readonly bucket: { readonly id: string; readonly tables: number; readonly isShared: boolean; readonly isLinked: boolean }; readonly table: { readonly id: string; readonly displayName: string; readonly rowsCount: number | null; readonly dataSizeBytes: number | null; readonly lastChangeDate: string | null; readonly isAlias: boolean; readonly columns?: ReadonlyArray<string> } | null }> }
  'buckets.browse': { path?: undefined; query?: { readonly text?: string; readonly bucketId?: ReadonlyArray<string>; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly displayName: string; readonly isLinked: boolean }> }
  'configurations.browse': { path?: undefined; query?: { readonly text?: string; readonly isDeleted?: boolean; readonly componentId?: ReadonlyArray<string>; readonly exceptComponentId?: string; readonly canRun?: boolean; readonly vaultVariable?: string; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string; readonly name: string; readonly version: number; readonly isDisabled: boolean; readonly creator: string; readonly folder: string }> }
  'configurations.names': { path?: undefined; query?: undefined; body: ConfigurationsNamesBody; answer: ReadonlyArray<{ readonly componentId: string; readonly configurationId: string | null; readonly name: string | null; readonly componentName: string | null }> }
  'configurations.totals': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly componentId: string; readonly configurations: number; readonly disabled: number }> }
  'tables.totals': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly tables: number; readonly buckets: number; readonly bytes: number } }
  'buckets.list': { path?: undefined; query?: { readonly include?: string }; body?: undefined; answer: ReadonlyArray<Bucket> }
  'buckets.create': { path?: undefined; query?: { readonly async?: boolean }; body?: BucketsCreateBody; answer: Bucket | StorageJob }
  'buckets.get': { path: { readonly bucketId: string }; query?: { readonly include?: string }; body?: undefined; answer: Bucket }
  'buckets.update': { path: { readonly bucketId: string }; query?: { readonly async?: boolean }; body?: BucketsUpdateBody; answer: Bucket | StorageJob }
  'buckets.delete': { path: { readonly bucketId: string }; query?: { readonly force?: boolean; readonly async?: boolean; readonly dryRun?: boolean }; body?: undefined; answer: StorageJob | undefined }
  'buckets.events': { path: { readonly bucketId: string }; query?: { readonly limit?: number; readonly offset?: number; readonly sinceId?: string; readonly maxId?: string; readonly component?: string; readonly configurationId?: string; readonly runId?: string; readonly q?: string; readonly sortOrder?: 'asc' | 'desc'; readonly forceUuid?: boolean }; body?: undefined; answer: ReadonlyArray<unknown> }
  'buckets.forceUnlink': { path: { readonly bucketId: string; readonly projectId: string }; query?: { readonly async?: boolean }; body?: undefined; answer: StorageJob | undefined }
  'buckets.listMetadata': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'buckets.setMetadata': { path: { readonly bucketId: string }; query?: undefined; body?: BucketsSetMetadataBody; answer: ReadonlyArray<unknown> }
  'buckets.deleteMetadata': { path: { readonly bucketId: string; readonly metadataId: string }; query?: undefined; body?: undefined; answer: undefined }
  'buckets.owner': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: { readonly id: number; readonly name: string; readonly email: string | null } }
  'buckets.setOwner': { path: { readonly bucketId: string }; query?: undefined; body?: BucketsSetOwnerBody; answer: { readonly id: number; readonly name: string; readonly email: string | null } }
  'buckets.refresh': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'buckets.scheduleRefresh': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'buckets.changeSharing': { path: { readonly bucketId: string }; query?: undefined; body: BucketsChangeSharingBody; answer: StorageJob }
  'buckets.unshare': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'buckets.shareOrganization': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'buckets.shareOrganizationProject': { path: { readonly bucketId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'buckets.shareToProjects': { path: { readonly bucketId: string }; query?: undefined; body: BucketsShareToProjectsBody; answer: StorageJob }
  'buckets.shareToUsers': { path: { readonly bucketId: string }; query?: undefined; body: BucketsShareToUsersBody; answer: StorageJob }
  'tables.createAlias': { path: { readonly bucketId: string }; query?: undefined; body?: TablesCreateAliasBody; answer: Table }
  'tables.listOfBucket': { path: { readonly bucketId: string }; query?: { readonly include?: string }; body?: undefined; answer: ReadonlyArray<Table> }
  'tables.create': { path: { readonly bucketId: string }; query?: undefined; body: { readonly data: unknown; readonly name?: unknown; readonly displayName?: unknown; readonly primaryKey?: unknown; readonly delimiter?: unknown; readonly enclosure?: unknown; readonly escapedBy?: unknown; readonly columns?: unknown; readonly withoutHeaders?: unknown; readonly ignoredLinesCount?: unknown; readonly dataString?: unknown }; answer: Table }
  'tables.createAsync': { path: { readonly bucketId: string }; query?: { readonly dryRun?: boolean }; body?: TablesCreateAsyncBody; answer: StorageJob }
  'tables.createDefinition': { path: { readonly bucketId: string }; query?: undefined; body?: TablesCreateDefinitionBody; answer: StorageJob }
  'changes.stream': { path?: undefined; query?: { readonly kinds?: string; readonly since?: string; readonly recentSeconds?: number }; body?: undefined; answer: { readonly lastEventId: string; readonly isReset: boolean; readonly hasMore: boolean; readonly changes: ReadonlyArray<{ readonly kind: string; readonly id: string; readonly state: string; readonly version: number | null; readonly branchId: string | null; readonly componentId: string | null }> } }
  'columns.listMetadata': { path: { readonly columnId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'columns.setMetadata': { path: { readonly columnId: string }; query?: undefined; body?: ColumnsSetMetadataBody; answer: ReadonlyArray<unknown> }
  'columns.deleteMetadata': { path: { readonly columnId: string; readonly metadataId: string }; query?: undefined; body?: undefined; answer: undefined }
  'components.list': { path?: undefined; query?: { readonly include?: string; readonly componentType?: string; readonly isDeleted?: boolean }; body?: undefined; answer: ReadonlyArray<({ readonly id: string; readonly aliases: ReadonlyArray<string>; readonly type: 'extractor' | 'writer' | 'application' | 'transformation' | 'processor' | 'code-pattern' | 'data-app' | 'other'; readonly name: string; readonly description: string; readonly longDescription: string; readonly version: number; readonly hasUI: boolean; readonly hasRun: boolean; readonly ico32: string | null; readonly ico64: string | null; readonly ico128: string | null; readonly data: { readonly definition: { readonly type: 'builtin' | 'sql' | 'spark' | 'python' | 'program' | 'sandboxes' | 'command' | 'dockerhub' | 'quayio' | 'aws-ecr'; readonly uri: string; readonly tag: string; readonly digest?: string; readonly name?: string | null; readonly command?: ReadonlyArray<string>; readonly repository: { readonly region: string; readonly username?: string; readonly '#password'?: string; readonly server?: string } }; readonly vendor: { readonly name?: string; readonly contact: ReadonlyArray<string>; readonly licenseUrl: string }; readonly configuration_format: 'json' | 'yaml'; readonly network: 'none' | 'bridge' | 'no-internet'; readonly memory: string; readonly process_timeout: number; readonly forward_token: boolean; readonly forward_token_details: boolean; readonly default_bucket: boolean; readonly default_bucket_stage: 'in' | 'out'; readonly staging_storage: { readonly input: string; readonly output: string }; readonly image_parameters: Readonly<Record<string, unknown>>; readonly synchronous_actions: ReadonlyArray<string>; readonly node_labels: ReadonlyArray<string>; readonly repeatable: boolean; readonly logging: { readonly type: 'standard' | 'gelf'; readonly gelf_server_type: 'tcp' | 'udp' | 'http'; readonly verbosity: Readonly<Record<string, unknown>>; readonly no_application_errors: boolean } }; readonly flags: ReadonlyArray<string>; readonly features: ReadonlyArray<string>; readonly categories: ReadonlyArray<string>; readonly configurationSchema: Readonly<Record<string, unknown>>; readonly configurationRowSchema: Readonly<Record<string, unknown>>; readonly createConfigurationRowSchema: Readonly<Record<string, unknown>>; readonly emptyConfiguration: Readonly<Record<string, unknown>>; readonly emptyConfigurationRow: Readonly<Record<string, unknown>>; readonly uiOptions: Readonly<Record<string, unknown>>; readonly configurationDescription: string | null; readonly documentationUrl: string; readonly uri: string; readonly complexity: string | null; readonly expiredOn: string | null; readonly dataTypesConfiguration: Readonly<Record<string, unknown>>; readonly processorConfiguration: Readonly<Record<string, unknown>> }) & ({ readonly configurations: ReadonlyArray<unknown> })> }
  'components.get': { path: { readonly componentId: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly aliases: ReadonlyArray<string>; readonly type: 'extractor' | 'writer' | 'application' | 'transformation' | 'processor' | 'code-pattern' | 'data-app' | 'other'; readonly name: string; readonly description: string; readonly longDescription: string; readonly version: number; readonly hasUI: boolean; readonly hasRun: boolean; readonly ico32: string | null; readonly ico64: string | null; readonly ico128: string | null; readonly data: { readonly definition: { readonly type: 'builtin' | 'sql' | 'spark' | 'python' | 'program' | 'sandboxes' | 'command' | 'dockerhub' | 'quayio' | 'aws-ecr'; readonly uri: string; readonly tag: string; readonly digest?: string; readonly name?: string | null; readonly command?: ReadonlyArray<string>; readonly repository: { readonly region: string; readonly username?: string; readonly '#password'?: string; readonly server?: string } }; readonly vendor: { readonly name?: string; readonly contact: ReadonlyArray<string>; readonly licenseUrl: string }; readonly configuration_format: 'json' | 'yaml'; readonly network: 'none' | 'bridge' | 'no-internet'; readonly memory: string; readonly process_timeout: number; readonly forward_token: boolean; readonly forward_token_details: boolean; readonly default_bucket: boolean; readonly default_bucket_stage: 'in' | 'out'; readonly staging_storage: { readonly input: string; readonly output: string }; readonly image_parameters: Readonly<Record<string, unknown>>; readonly synchronous_actions: ReadonlyArray<string>; readonly node_labels: ReadonlyArray<string>; readonly repeatable: boolean; readonly logging: { readonly type: 'standard' | 'gelf'; readonly gelf_server_type: 'tcp' | 'udp' | 'http'; readonly verbosity: Readonly<Record<string, unknown>>; readonly no_application_errors: boolean } }; readonly flags: ReadonlyArray<string>; readonly features: ReadonlyArray<string>; readonly categories: ReadonlyArray<string>; readonly configurationSchema: Readonly<Record<string, unknown>>; readonly configurationRowSchema: Readonly<Record<string, unknown>>; readonly createConfigurationRowSchema: Readonly<Record<string, unknown>>; readonly emptyConfiguration: Readonly<Record<string, unknown>>; readonly emptyConfigurationRow: Readonly<Record<string, unknown>>; readonly uiOptions: Readonly<Record<string, unknown>>; readonly configurationDescription: string | null; readonly documentationUrl: string; readonly uri: string; readonly complexity: string | null; readonly expiredOn: string | null; readonly dataTypesConfiguration: Readonly<Record<string, unknown>>; readonly processorConfiguration: Readonly<Record<string, unknown>> } }
  'configurations.list': { path: { readonly componentId: string }; query?: { readonly isDeleted?: boolean; readonly limit?: number; readonly offset?: number; readonly fields?: string }; body?: undefined; answer: ReadonlyArray<Configuration> }
  'configurations.create': { path: { readonly componentId: string }; query?: undefined; body: ConfigurationsCreateBody; answer: Configuration }
  'configurations.validate': { path: { readonly componentId: string }; query?: undefined; body?: ConfigurationsValidateBody; answer: ValidationAnswer }
  'configurations.get': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: Configuration }
  'configurations.update': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: ConfigurationsUpdateBody; answer: Configuration }
  'configurations.delete': { path: { readonly componentId: string; readonly configurationId: string }; query?: { readonly dryRun?: boolean }; body?: undefined; answer: undefined }
  'configurationMetadata.list': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<MetadataItem> }
  'configurationMetadata.set': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: ConfigurationMetadataSetBody; answer: ReadonlyArray<MetadataItem> }
  'configurationMetadata.delete': { path: { readonly componentId: string; readonly configurationId: string; readonly metadataId: string }; query?: undefined; body?: undefined; answer: undefined }
  'configurations.restore': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: Configuration }
  'rows.list': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<ConfigurationRow> }
  'rows.create': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: RowsCreateBody; answer: ConfigurationRow }
  'rows.get': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: undefined; body?: undefined; answer: ConfigurationRow }
  'rows.update': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: undefined; body?: RowsUpdateBody; answer: ConfigurationRow }
  'rows.delete': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: { readonly dryRun?: boolean }; body?: RowsDeleteBody; answer: undefined }
  'rows.effective': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: undefined; body?: undefined; answer: { readonly configuration: Readonly<Record<string, unknown>>; readonly origins: Readonly<Record<string, 'root' | 'row'>> } }
  'rows.setState': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: undefined; body?: RowsSetStateBody; answer: ConfigurationRow }
  'rows.versions': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string }; query?: { readonly include?: string; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<{ readonly id: string; readonly name: string; readonly description: string; readonly configuration: Readonly<Record<string, unknown>>; readonly isDisabled: boolean; readonly version: number; readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly changeDescription: string; readonly versionIdentifier: string }> }
  'rows.version': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string; readonly versionId: string }; query?: undefined; body?: undefined; answer: { readonly id: string; readonly name: string; readonly description: string; readonly configuration: Readonly<Record<string, unknown>>; readonly isDisabled: boolean; readonly version: number; readonly created: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly changeDescription: string; readonly versionIdentifier: string } }
  'rows.copy': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string; readonly versionId: string }; query?: undefined; body?: RowsCopyBody; answer: ConfigurationRow }
  'rows.rollBack': { path: { readonly componentId: string; readonly configurationId: string; readonly rowId: string; readonly versionId: string }; query?: { readonly dryRun?: boolean }; body?: RowsRollBackBody; answer: ConfigurationRow }
  'configurations.setState': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: ConfigurationsSetStateBody; answer: Configuration }
  'configurations.validateSaved': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: ConfigurationsValidateSavedBody; answer: ValidationAnswer }
  'configurations.versions': { path: { readonly componentId: string; readonly configurationId: string }; query?: { readonly include?: string; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<ConfigurationVersion> }
  'configurations.version': { path: { readonly componentId: string; readonly configurationId: string; readonly versionId: string }; query?: undefined; body?: undefined; answer: ConfigurationVersion }
  'configurations.copy': { path: { readonly componentId: string; readonly configurationId: string; readonly versionId: string }; query?: undefined; body: ConfigurationsCopyBody; answer: { readonly id: string } }
  'configurations.rollBack': { path: { readonly componentId: string; readonly configurationId: string; readonly versionId: string }; query?: { readonly dryRun?: boolean }; body?: ConfigurationsRollBackBody; answer: { readonly version: string } }
  'configurations.workspaces': { path: { readonly componentId: string; readonly configurationId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<Workspace> }
  'configurations.createWorkspace': { path: { readonly componentId: string; readonly configurationId: string }; query?: { readonly async?: boolean }; body?: ConfigurationsCreateWorkspaceBody; answer: Workspace | StorageJob }
  'dataContracts.breaks': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<ContractBreak> }
  'dashboards.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Dashboard> }
  'dashboards.create': { path?: undefined; query?: undefined; body: DashboardsCreateBody; answer: Dashboard }
  'dashboards.get': { path: { readonly dashboardId: string }; query?: undefined; body?: undefined; answer: Dashboard }
  'dashboards.update': { path: { readonly dashboardId: string }; query?: undefined; body?: DashboardsUpdateBody; answer: Dashboard }
  'dashboards.remove': { path: { readonly dashboardId: string }; query?: undefined; body?: undefined; answer: undefined }
  'dashboards.links': { path: { readonly dashboardId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<DashboardLink> }
  'dashboards.createLink': { path: { readonly dashboardId: string }; query?: undefined; body: DashboardsCreateLinkBody; answer: { readonly id: string; readonly creatorToken: { readonly id: number; readonly description: string }; readonly created: string; readonly expires: string; readonly value: string } }
  'dashboards.removeLink': { path: { readonly dashboardId: string; readonly linkId: string }; query?: undefined; body?: undefined; answer: undefined }
  'dashboards.result': { path: { readonly dashboardId: string; readonly tileId: string }; query?: { readonly filters?: string; readonly refresh?: boolean }; body?: undefined; answer: unknown }
  'dataTests.tables': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<string> }
  'dataTests.list': { path?: undefined; query?: { readonly tableId?: string; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<DataTest> }
  'dataTests.create': { path?: undefined; query?: undefined; body: DataTestsCreateBody; answer: DataTest }
  'dataTests.import': { path?: undefined; query?: undefined; body: DataTestsImportBody; answer: DataTestImport }
  'dataTests.get': { path: { readonly testId: string }; query?: undefined; body?: undefined; answer: DataTest }
  'dataTests.update': { path: { readonly testId: string }; query?: undefined; body?: DataTestsUpdateBody; answer: DataTest }
  'dataTests.remove': { path: { readonly testId: string }; query?: undefined; body?: undefined; answer: undefined }
  'lineage.deliveries': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Delivery> }
  'branches.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Branch> }
  'branches.create': { path?: undefined; query?: undefined; body?: BranchesCreateBody; answer: StorageJob }
  'branches.get': { path: { readonly branchId: string }; query?: undefined; body?: undefined; answer: Branch }
  'branches.update': { path: { readonly branchId: string }; query?: undefined; body?: BranchesUpdateBody; answer: Branch }
  'branches.delete': { path: { readonly branchId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'branches.changes': { path: { readonly branchId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'branches.merge': { path: { readonly branchId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'events.create': { path?: undefined; query?: undefined; body: EventsCreateBody; answer: { readonly id: string; readonly uuid: string } }
  'events.list': { path?: undefined; query?: { readonly limit?: number; readonly offset?: number; readonly sinceId?: string; readonly maxId?: string; readonly component?: string; readonly configurationId?: string; readonly runId?: string; readonly q?: string; readonly sortOrder?: 'asc' | 'desc'; readonly forceUuid?: boolean }; body?: undefined; answer: ReadonlyArray<Event> }
  'events.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Event }
  'files.list': { path?: undefined; query?: { readonly limit?: number; readonly offset?: number; readonly tags?: ReadonlyArray<string>; readonly q?: string; readonly sinceId?: number; readonly maxId?: number; readonly runId?: string; readonly isPublic?: boolean; readonly showExpired?: boolean }; body?: undefined; answer: ReadonlyArray<File> }
  'files.prepare': { path?: undefined; query?: undefined; body: FilesPrepareBody; answer: File }
  'files.sniffBody': { path?: undefined; query?: { readonly delimiter?: string; readonly enclosure?: string; readonly hasHeader?: boolean; readonly isWhole?: boolean }; body: unknown; answer: SniffedFile }
  'files.get': { path: { readonly id: string }; query?: { readonly federationToken?: boolean; readonly linkSeconds?: number }; body?: undefined; answer: File }
  'files.delete': { path: { readonly id: string }; query?: { readonly async?: boolean }; body?: undefined; answer: StorageJob | undefined }
  'files.content': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: unknown }
  'files.head': { path: { readonly id: string }; query?: { readonly offset?: number; readonly limit?: number; readonly raw?: boolean; readonly slice?: number }; body?: undefined; answer: unknown }
  'files.refresh': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: File }
  'files.slices': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly name: string; readonly sizeBytes: number }> }
  'files.sniff': { path: { readonly id: string }; query?: { readonly delimiter?: string; readonly enclosure?: string; readonly hasHeader?: boolean }; body?: undefined; answer: SniffedFile }
  'files.addTag': { path: { readonly id: string }; query?: undefined; body: FilesAddTagBody; answer: undefined }
  'files.removeTag.delete': { path: { readonly id: string; readonly path: string }; query?: undefined; body?: undefined; answer: undefined }
  'lineage.freshness': { path?: undefined; query?: { readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<JudgedFreshness> }
  'globalSearch.search': { path?: undefined; query: { readonly query: string; readonly limit?: number; readonly offset?: number; readonly types?: ReadonlyArray<'flow' | 'bucket' | 'table' | 'transformation' | 'configuration' | 'configuration-row' | 'workspace' | 'shared-code'> | 'flow' | 'bucket' | 'table' | 'transformation' | 'configuration' | 'configuration-row' | 'workspace' | 'shared-code'; readonly projectIds?: ReadonlyArray<string> | string; readonly branchTypes?: ReadonlyArray<'production' | 'development'> | 'production' | 'development'; readonly branchIds?: ReadonlyArray<string> | string; readonly mode?: 'standard' | 'regex' }; body?: undefined; answer: { readonly all: number; readonly items: ReadonlyArray<unknown>; readonly byType: Readonly<Record<string, number>>; readonly byProject: Readonly<Record<string, string>> } }
  'workspaces.inputMappingPreview': { path?: undefined; query?: { readonly backend?: string }; body?: WorkspacesInputMappingPreviewBody; answer: { readonly dryRun: true; readonly operationName: string; readonly input: ReadonlyArray<{ readonly source: string; readonly destination: string; readonly loadType: string; readonly possibleLoadTypes: ReadonlyArray<string> }> } }
  'storageJobs.list': { path?: undefined; query?: { readonly limit?: number; readonly offset?: number; readonly runId?: string; readonly storage_job_status?: ReadonlyArray<string> | string; readonly excluded_storage_job_status?: ReadonlyArray<string> | string; readonly created_time?: string; readonly created_time_from?: string; readonly created_time_to?: string; readonly start_time?: string; readonly start_time_from?: string; readonly start_time_to?: string; readonly end_time?: string; readonly end_time_from?: string; readonly end_time_to?: string }; body?: undefined; answer: ReadonlyArray<StorageJob> }
  'storageJobs.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'lineage.graph': { path?: undefined; query?: { readonly tableId?: string; readonly direction?: 'upstream' | 'downstream' | 'both'; readonly depth?: number }; body?: undefined; answer: Lineage }
  'buckets.listListings': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'mergeRequests.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<MergeRequest> }
  'mergeRequests.create': { path?: undefined; query?: undefined; body: MergeRequestsCreateBody; answer: MergeRequest }
  'mergeRequests.settings': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly requiredApprovals: number | null } }
  'mergeRequests.changeSettings': { path?: undefined; query?: undefined; body: MergeRequestsChangeSettingsBody; answer: { readonly requiredApprovals: number | null } }
  'mergeRequests.get': { path: { readonly id: string }; query?: { readonly include?: string }; body?: undefined; answer: MergeRequest }
  'mergeRequests.update': { path: { readonly id: string }; query?: undefined; body?: MergeRequestsUpdateBody; answer: MergeRequest }
  'mergeRequests.approve': { path: { readonly id: string }; query?: undefined; body?: MergeRequestsApproveBody; answer: MergeRequest }
  'mergeRequests.conflicts': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'mergeRequests.merge': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'mergeRequests.request-changes': { path: { readonly id: string }; query?: undefined; body?: MergeRequestsRequestChangesBody; answer: MergeRequest }
  'mergeRequests.request-review': { path: { readonly id: string }; query?: undefined; body?: MergeRequestsRequestReviewBody; answer: MergeRequest }
  'proposals.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Proposal> }
  'proposals.begin': { path?: undefined; query?: undefined; body: ProposalsBeginBody; answer: Proposal }
  'proposals.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ProposalReview }
  'proposals.discard': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'proposals.accept': { path: { readonly id: string }; query?: undefined; body?: ProposalsAcceptBody; answer: Proposal }
  'proposals.refuse': { path: { readonly id: string }; query?: undefined; body: ProposalsRefuseBody; answer: Proposal }
  'proposals.rehearse': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Rehearsal }
  'proposals.rehearsal': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Rehearsal }
  'proposals.submit': { path: { readonly id: string }; query?: undefined; body: ProposalsSubmitBody; answer: Proposal }
  'proposals.undo': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Proposal }
  'sql.query': { path?: undefined; query?: undefined; body: SqlQueryBody; answer: unknown }
  'sql.connection': { path?: undefined; query?: undefined; body?: undefined; answer: SqlConnection }
  'sql.export': { path?: undefined; query?: undefined; body: SqlExportBody; answer: StorageJob }
  'sql.history': { path?: undefined; query?: { readonly limit?: number; readonly before?: number; readonly q?: string }; body?: undefined; answer: ReadonlyArray<QueryRun> }
  'savedQueries.list': { path?: undefined; query?: { readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<SavedQuery> }
  'savedQueries.create': { path?: undefined; query?: undefined; body: SavedQueriesCreateBody; answer: SavedQuery }
  'savedQueries.get': { path: { readonly queryId: string }; query?: undefined; body?: undefined; answer: SavedQuery }
  'savedQueries.update': { path: { readonly queryId: string }; query?: undefined; body?: SavedQueriesUpdateBody; answer: SavedQuery }
  'savedQueries.remove': { path: { readonly queryId: string }; query?: undefined; body?: undefined; answer: undefined }
  'savedQueries.result': { path: { readonly queryId: string }; query?: { readonly parameters?: string; readonly format?: 'json' | 'csv'; readonly limit?: number; readonly refresh?: boolean }; body?: undefined; answer: unknown }
  'savedQueries.versions': { path: { readonly queryId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<SavedQueryVersion> }
  'buckets.unscheduleRefresh': { path: { readonly taskId: string }; query?: undefined; body?: undefined; answer: undefined }
  'search.everything': { path?: undefined; query: { readonly text: string; readonly kinds?: ReadonlyArray<'table' | 'column' | 'configuration' | 'row' | 'content' | 'file' | 'job' | 'schedule' | 'person'> | 'table' | 'column' | 'configuration' | 'row' | 'content' | 'file' | 'job' | 'schedule' | 'person'; readonly limit?: number }; body?: undefined; answer: SearchResult }
  'tables.search': { path?: undefined; query?: { readonly metadataKey?: string; readonly metadataValue?: string; readonly metadataProvider?: string; readonly include?: string }; body?: undefined; answer: ReadonlyArray<Table> }
  'buckets.listShared': { path?: undefined; query?: { readonly include?: string }; body?: undefined; answer: ReadonlyArray<unknown> }
  'snapshots.get': { path: { readonly snapshotId: string }; query?: undefined; body?: undefined; answer: unknown }
  'snapshots.delete': { path: { readonly snapshotId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'stats.get': { path?: undefined; query?: { readonly runId?: string }; body?: undefined; answer: { readonly tables: unknown; readonly files: unknown } }
  'tables.list': { path?: undefined; query?: { readonly include?: string; readonly limit?: number; readonly offset?: number; readonly fields?: string }; body?: undefined; answer: ReadonlyArray<Table> }
  'tables.get': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: Table }
  'tables.update': { path: { readonly tableId: string }; query?: { readonly async?: boolean }; body: TablesUpdateBody; answer: Table | StorageJob }
  'tables.delete': { path: { readonly tableId: string }; query?: { readonly force?: boolean; readonly async?: boolean; readonly dryRun?: boolean }; body?: undefined; answer: StorageJob | undefined }
  'tables.enableAliasSync': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: undefined }
  'tables.disableAliasSync': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: undefined }
  'tables.setAliasFilter': { path: { readonly tableId: string }; query?: undefined; body?: TablesSetAliasFilterBody; answer: Table }
  'tables.deleteAliasFilter': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: undefined }
  'tables.bisect': { path: { readonly tableId: string }; query?: undefined; body: TablesBisectBody; answer: StorageJob }
  'tables.addColumn': { path: { readonly tableId: string }; query?: undefined; body?: TablesAddColumnBody; answer: StorageJob }
  'tables.deleteColumn': { path: { readonly tableId: string; readonly column: string }; query?: { readonly force?: boolean; readonly dryRun?: boolean }; body?: undefined; answer: StorageJob }
  'tables.changeColumn': { path: { readonly tableId: string; readonly column: string }; query?: { readonly dryRun?: boolean }; body?: TablesChangeColumnBody; answer: StorageJob }
  'tables.changeColumnType': { path: { readonly tableId: string; readonly column: string }; query?: { readonly dryRun?: boolean }; body?: TablesChangeColumnTypeBody; answer: StorageJob }
  'tableComments.list': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<TableComment> }
  'tableComments.create': { path: { readonly tableId: string }; query?: undefined; body: TableCommentsCreateBody; answer: TableComment }
  'tableComments.update': { path: { readonly tableId: string; readonly commentId: string }; query?: undefined; body: TableCommentsUpdateBody; answer: TableComment }
  'tableComments.delete': { path: { readonly tableId: string; readonly commentId: string }; query?: undefined; body?: undefined; answer: undefined }
  'dataContracts.get': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: DataContract }
  'dataContracts.save': { path: { readonly tableId: string }; query?: undefined; body: DataContractsSaveBody; answer: DataContract }
  'dataContracts.remove': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: undefined }
  'tables.download': { path: { readonly tableId: string }; query?: { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly columns?: unknown; readonly orderBy?: unknown; readonly limit?: unknown; readonly format?: unknown }; body?: undefined; answer: unknown }
  'tables.preview': { path: { readonly tableId: string }; query?: { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly columns?: unknown; readonly orderBy?: unknown; readonly limit?: unknown; readonly format?: unknown; readonly maxColumns?: unknown }; body?: undefined; answer: unknown }
  'dataTests.run': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'dataTests.runs': { path: { readonly tableId: string }; query?: { readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<DataTestRun> }
  'tables.changeDefinition': { path: { readonly tableId: string }; query?: { readonly dryRun?: boolean }; body?: TablesChangeDefinitionBody; answer: StorageJob }
  'tables.events': { path: { readonly tableId: string }; query?: { readonly limit?: number; readonly offset?: number; readonly sinceId?: string; readonly maxId?: string; readonly component?: string; readonly configurationId?: string; readonly runId?: string; readonly q?: string; readonly sortOrder?: 'asc' | 'desc'; readonly forceUuid?: boolean }; body?: undefined; answer: ReadonlyArray<unknown> }
  'tables.exportAsync': { path: { readonly tableId: string }; query?: undefined; body?: TablesExportAsyncBody; answer: StorageJob }
  'lineage.freshnessOfTable': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: JudgedFreshness }
  'tableHistory.get': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: TableHistory }
  'tableHistory.set': { path: { readonly tableId: string }; query?: undefined; body: TableHistorySetBody; answer: TableHistory }
  'tables.import': { path: { readonly tableId: string }; query?: undefined; body: { readonly data: unknown; readonly incremental?: unknown; readonly treatValuesAsNull?: unknown; readonly useTimestampFromDataFile?: unknown; readonly deduplicationStrategy?: unknown; readonly delimiter?: unknown; readonly enclosure?: unknown; readonly escapedBy?: unknown; readonly columns?: unknown; readonly withoutHeaders?: unknown; readonly ignoredLinesCount?: unknown; readonly dataString?: unknown }; answer: { readonly transaction: null; readonly warnings: ReadonlyArray<unknown>; readonly importedColumns: ReadonlyArray<string>; readonly totalRowsCount: number; readonly totalDataSizeBytes: number } }
  'tables.importAsync': { path: { readonly tableId: string }; query?: { readonly dryRun?: boolean }; body?: TablesImportAsyncBody; answer: StorageJob }
  'tables.listMetadata': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<unknown> }
  'tables.setMetadata': { path: { readonly tableId: string }; query?: undefined; body?: TablesSetMetadataBody; answer: unknown }
  'tables.deleteMetadata': { path: { readonly tableId: string; readonly metadataId: string }; query?: undefined; body?: undefined; answer: undefined }
  'tables.optimize': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'tables.addPrimaryKey': { path: { readonly tableId: string }; query?: undefined; body?: TablesAddPrimaryKeyBody; answer: StorageJob }
  'tables.deletePrimaryKey': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'tables.profileNow': { path: { readonly tableId: string }; query?: { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly columns?: unknown; readonly exact?: unknown; readonly sampleRows?: unknown; readonly bins?: unknown; readonly state?: unknown; readonly timestamp?: unknown }; body?: undefined; answer: { readonly state: number; readonly rows: number; readonly readRows: number; readonly isSampled: boolean; readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly nulls: number; readonly empty: number; readonly distinct: number; readonly duplicates: number; readonly min: string | null; readonly max: string | null; readonly top: ReadonlyArray<{ readonly value: string; readonly rows: number }>; readonly histogram: { readonly kind: string; readonly bins: ReadonlyArray<{ readonly from: string; readonly to: string; readonly rows: number }>; readonly otherRows: number } | null }> } }
  'tables.profile': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: StorageJob }
  'tables.getProfile': { path: { readonly tableId: string; readonly uuid: string }; query?: undefined; body?: undefined; answer: unknown }
  'tables.restore': { path: { readonly tableId: string }; query?: { readonly dryRun?: boolean }; body?: TablesRestoreBody; answer: StorageJob }
  'tables.rows': { path: { readonly tableId: string }; query?: { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly columns?: unknown; readonly orderBy?: unknown; readonly offset?: unknown; readonly limit?: unknown; readonly cellChars?: unknown; readonly count?: unknown; readonly state?: unknown; readonly timestamp?: unknown }; body?: undefined; answer: { readonly state: number; readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>; readonly offset: number; readonly limit: number; readonly nextOffset: number | null; readonly total: number | null; readonly rows: ReadonlyArray<ReadonlyArray<string | null>>; readonly cut: ReadonlyArray<ReadonlyArray<number>> } }
  'tables.deleteRows': { path: { readonly tableId: string }; query?: { readonly changedSince?: unknown; readonly changedUntil?: unknown; readonly days?: unknown; readonly whereColumn?: unknown; readonly whereValues?: unknown; readonly whereOperator?: unknown; readonly whereFilters?: unknown; readonly fulltextSearch?: unknown; readonly allowTruncate?: unknown; readonly dryRun?: boolean }; body?: TablesDeleteRowsBody; answer: StorageJob }
  'tables.createSnapshot': { path: { readonly tableId: string }; query?: undefined; body?: TablesCreateSnapshotBody; answer: StorageJob }
  'tables.listSnapshots': { path: { readonly tableId: string }; query?: { readonly limit?: unknown; readonly offset?: unknown }; body?: undefined; answer: ReadonlyArray<unknown> }
  'tables.swap': { path: { readonly tableId: string }; query?: undefined; body: TablesSwapBody; answer: StorageJob }
  'lineage.usedBy': { path: { readonly tableId: string }; query?: undefined; body?: undefined; answer: UsedBy }
  'tickets.create': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly id: string } }
  'tokens.list': { path?: undefined; query?: { readonly text?: string; readonly ofPeople?: boolean; readonly onlyGivenBuckets?: boolean; readonly limit?: number; readonly offset?: number }; body?: undefined; answer: ReadonlyArray<Token> }
  'tokens.create': { path?: undefined; query?: undefined; body?: TokenRequest; answer: Token }
  'tokens.verify': { path?: undefined; query?: { readonly onlyGivenBuckets?: boolean }; body?: undefined; answer: Token }
  'tokens.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Token }
  'tokens.update': { path: { readonly id: string }; query?: undefined; body?: TokenRequest; answer: Token }
  'tokens.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'tokens.events': { path: { readonly id: string }; query?: { readonly limit?: number; readonly offset?: number; readonly sinceId?: string; readonly maxId?: string; readonly component?: string; readonly configurationId?: string; readonly runId?: string; readonly q?: string; readonly sortOrder?: 'asc' | 'desc'; readonly forceUuid?: boolean }; body?: undefined; answer: ReadonlyArray<unknown> }
  'tokens.refresh': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Token }
  'triggers.list': { path?: undefined; query?: { readonly component?: string; readonly configurationId?: string }; body?: undefined; answer: ReadonlyArray<Trigger> }
  'triggers.create': { path?: undefined; query?: undefined; body: TriggersCreateBody; answer: Trigger }
  'triggers.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Trigger }
  'triggers.update': { path: { readonly id: string }; query?: undefined; body?: TriggersUpdateBody; answer: Trigger }
  'triggers.delete': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: undefined }
  'naming.checkColumnNames': { path?: undefined; query?: undefined; body: NamingCheckColumnNamesBody; answer: undefined }
  'naming.columnNames': { path?: undefined; query?: undefined; body: NamingColumnNamesBody; answer: { readonly columnNames: ReadonlyArray<string> } }
  'naming.displayName': { path?: undefined; query?: undefined; body: NamingDisplayNameBody; answer: { readonly displayName: string } }
  'workspaces.list': { path?: undefined; query?: undefined; body?: undefined; answer: ReadonlyArray<Workspace> }
  'workspaces.create': { path?: undefined; query?: { readonly async?: boolean }; body?: WorkspacesCreateBody; answer: Workspace | StorageJob }
  'workspaces.get': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: Workspace }
  'workspaces.delete': { path: { readonly id: string }; query?: { readonly async?: boolean }; body?: undefined; answer: StorageJob | undefined }
  'workspaces.createCredentials': { path: { readonly id: string }; query?: undefined; body?: WorkspacesCreateCredentialsBody; answer: Workspace }
  'workspaces.getCredentials': { path: { readonly id: string; readonly credentialsId: string }; query?: undefined; body?: undefined; answer: Workspace }
  'workspaces.deleteCredentials': { path: { readonly id: string; readonly credentialsId: string }; query?: undefined; body?: undefined; answer: undefined }
  'workspaces.inputMappingLoad': { path: { readonly id: string }; query?: { readonly dryRun?: boolean }; body?: WorkspacesInputMappingLoadBody; answer: { readonly dryRun: true; readonly operationName: string; readonly input: ReadonlyArray<{ readonly source: string; readonly destination: string; readonly loadType: string; readonly possibleLoadTypes: ReadonlyArray<string> }> } | StorageJob }
  'workspaces.load': { path: { readonly id: string }; query?: undefined; body?: WorkspacesLoadBody; answer: StorageJob }
  'workspaces.loadClone': { path: { readonly id: string }; query?: undefined; body?: WorkspacesLoadCloneBody; answer: StorageJob }
  'workspaces.objects': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly name: string; readonly type: string }> }
  'workspaces.deleteObjects': { path: { readonly id: string }; query?: undefined; body: WorkspacesDeleteObjectsBody; answer: StorageJob }
  'workspaces.resetPassword': { path: { readonly id: string }; query?: undefined; body?: undefined; answer: { readonly password: string } }
  'workspaces.setPublicKey': { path: { readonly id: string }; query?: undefined; body: WorkspacesSetPublicKeyBody; answer: Workspace }
  'workspaces.setNamedPublicKey': { path: { readonly id: string; readonly name: string }; query?: undefined; body: WorkspacesSetNamedPublicKeyBody; answer: Workspace }
  'workspaces.query': { path: { readonly id: string }; query?: undefined; body: WorkspacesQueryBody; answer: unknown }
  'workspaces.exportTable': { path: { readonly id: string }; query?: undefined; body: WorkspacesExportTableBody; answer: StorageJob }
  'workspaces.unload': { path: { readonly id: string }; query?: { readonly onlyDirectGrants?: boolean; readonly 'only-direct-grants'?: boolean }; body?: undefined; answer: ReadonlyArray<StorageJob> }
  'vault.describe': { path?: undefined; query?: undefined; body?: undefined; answer: { readonly api: string; readonly documentation: string; readonly description: string; readonly isBuilt: boolean } }
  'vault.save': { path?: undefined; query?: undefined; body: VaultSaveBody; answer: { readonly hash: string; readonly key: string; readonly value: string; readonly flags: ReadonlyArray<'encrypted' | 'oauthCredentialsId'>; readonly attributes: Readonly<Record<string, string>> } }
  'vault.list': { path?: undefined; query?: { readonly key?: string; readonly attributes?: Readonly<Record<string, string>> | string; readonly offset?: number; readonly limit?: number }; body?: undefined; answer: ReadonlyArray<{ readonly hash: string; readonly key: string; readonly value: string; readonly flags: ReadonlyArray<'encrypted' | 'oauthCredentialsId'>; readonly attributes: Readonly<Record<string, string>> }> }
  'vault.listScoped': { path: { readonly branchId: string }; query?: undefined; body?: undefined; answer: ReadonlyArray<{ readonly hash: string; readonly key: string; readonly value: string; readonly flags: ReadonlyArray<'encrypted' | 'oauthCredentialsId'>; readonly attributes: Readonly<Record<string, string>> }> }
  'vault.remove': { path: { readonly hash: string }; query?: undefined; body?: undefined; answer: undefined }
}
