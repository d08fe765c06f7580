// Everything a project can hold, made through the API: each step is one route with a body that its own project accepts. The test of
// isolation makes it twice, and requests all of it with the wrong token.

import { generateKeyPairSync } from 'node:crypto'
import type { RequestOptions } from '../support/test-stack.ts'

/** What the steps so far have made, by name; `mark` is in every text that the project holds. */
export type Ids = Readonly<Record<string, string>>

/** JSON that an answer or the results of its job hold. */
// biome-ignore lint/suspicious/noExplicitAny: answers of fifty routes, read where they are made
type Json = any

export interface Step {
  /** `POST /v2/storage/buckets`, as in the OpenAPI document. */
  readonly route: string
  /** Ids that stand in this path instead of those that PARAMETERS names. */
  readonly on?: (id: Ids) => Ids
  readonly send?: (id: Ids) => RequestOptions
  /** Ids that later steps need, from the answer, or from the results of the job that it started. */
  readonly gives?: (made: Json) => Readonly<Record<string, string | number>>
  /** Another token of the project that takes the step, where its creator may not. */
  readonly as?: (id: Ids) => string
  /** Its body names objects of the project; whoever does not own them must be refused. */
  readonly refers?: boolean
}

/** Ids that belong to no project. */
export const COMMON: readonly string[] = [
  'component',
  'tag',
  'action',
  'ownEvent',
  'streamBranch',
  'templateRepository',
  'template',
  'templateVersion',
  'keyName',
]

const COMPONENT = 'test.noop'
const CONFIGURATION = '/v2/storage/components/{componentId}/configs/{configurationId}'
const ROW = `${CONFIGURATION}/rows/{rowId}`
const IN_BRANCH = '/v2/storage/branch/{branch}'
const CONFIGURATION_IN_BRANCH = CONFIGURATION.replace('/v2/storage', IN_BRANCH)
const BUCKET = '/v2/storage/buckets/{bucketId}'
const TABLE = '/v2/storage/tables/{tableId}'
const WORKSPACE = '/v2/storage/workspaces/{id}'
const QUERIES_OF_WORKSPACE = '/query/api/v1/branches/{branchId}/workspaces/{workspaceId}/queries'
const CATALOGUE = '/iceberg/v1/{prefix}'
const ICEBERG_TABLE = `${CATALOGUE}/namespaces/{namespace}/tables/{table}`
const SOURCE = '/stream/v1/branches/{branchId}/sources/{sourceId}'
const SINK = `${SOURCE}/sinks/{sinkId}`
export const CREDENTIALS = '/oauth/credentials/{componentId}/{id}'
export const TEMPLATE = '/templates/v1/repositories/{repository}/templates/{template}/{version}'
export const INSTANCE = '/templates/v1/project/{branch}/instances/{instance}'
const json = (body: (id: Ids) => object) => ({ send: (id: Ids): RequestOptions => ({ json: body(id) }) })
const metadata = json(({ mark }) => ({ provider: 'test', metadata: [{ key: 'test.key', value: mark }] }))
const upload = ({ mark }: Ids): RequestOptions => {
  const body = new FormData()
  body.set('data', new Blob([`id,name\n1,${mark}\n`]), `${mark}.csv`)
  return { body }
}
const loadOrders = json(({ table }) => ({ input: [{ source: table, destination: 'orders' }] }))
const run = json(({ configuration }) => ({ config: configuration }))
const resolve = json(({ configuration }) => ({ componentId: COMPONENT, configId: configuration }))
const later = json(({ configuration }) => ({ component: COMPONENT, config: configuration, delay: '86400' }))
const empty = json(() => ({}))
const AGENT = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const onAlias = { on: ({ alias }: Ids) => ({ table: alias! }) }
const inDefaultBranch = { on: ({ defaultBranch }: Ids) => ({ branch: defaultBranch! }) }
const onKeyWorkspace = { on: ({ keyWorkspace }: Ids) => ({ workspace: keyWorkspace! }) }
const PUBLIC_KEY = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
const onScheduler = { on: () => ({ component: 'platform.scheduler' }) }
const schedule = json(({ mark, configuration }) => ({
  name: mark,
  configuration: {
    schedule: { cronTab: '0 0 1 1 *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: COMPONENT, configurationId: configuration, mode: 'run' },
  },
}))

/** Which id stands in a path, by the path up to it (and without its branch, when another id follows). */
export const PARAMETERS: Readonly<Record<string, string>> = {
  [IN_BRANCH]: 'branch',
  [BUCKET]: 'bucket',
  [`${BUCKET}/metadata/{metadataId}`]: 'bucketMetadata',
  [`${BUCKET}/links/{projectId}`]: 'project',
  '/v2/storage/columns/{columnId}': 'column',
  '/v2/storage/columns/{columnId}/metadata/{metadataId}': 'columnMetadata',
  '/v2/storage/components/{componentId}': 'component',
  '/ai/docs/components/{componentId}': 'component',
  [CONFIGURATION]: 'configuration',
  [`${CONFIGURATION}/metadata/{metadataId}`]: 'configurationMetadata',
  [`${CONFIGURATION}/versions/{versionId}`]: 'version',
  [ROW]: 'row',
  [`${ROW}/versions/{versionId}`]: 'version',
  '/v2/storage/dev-branches/{branchId}': 'branch',
  '/v2/storage/events/{id}': 'event',
  '/v2/storage/files/{id}': 'file',
  '/v2/storage/files/{id}/tags/{path}': 'mark',
  '/v2/storage/jobs/{id}': 'storageJob',
  '/v2/storage/merge-request/{id}': 'mergeRequest',
  '/v2/storage/metadata/{metadataId}': 'branchMetadata',
  '/v2/storage/proposals/{id}': 'proposal',
  '/v2/storage/snapshots/{snapshotId}': 'snapshot',
  [TABLE]: 'table',
  [`${TABLE}/columns/{column}`]: 'columnName',
  [`${TABLE}/metadata/{metadataId}`]: 'tableMetadata',
  [`${TABLE}/profile/{uuid}`]: 'profile',
  '/v2/storage/tokens/{id}': 'token',
  '/v2/storage/data-tests/{testId}': 'dataTest',
  '/v2/storage/tables/{tableId}/comments/{commentId}': 'tableComment',
  '/v2/storage/saved-queries/{queryId}': 'savedQuery',
  '/v2/storage/dashboards/{dashboardId}': 'dashboard',
  '/v2/storage/dashboards/{dashboardId}/links/{linkId}': 'dashboardLink',
  '/v2/storage/dashboards/{dashboardId}/tiles/{tileId}': 'tile',
  '/v2/storage/triggers/{id}': 'trigger',
  '/v2/storage/workspaces/{id}': 'workspace',
  '/v2/storage/workspaces/{id}/credentials/{credentialsId}': 'workspaceCredentials',
  '/v2/storage/workspaces/{id}/public-key/{name}': 'keyName',
  '/queue/job/{id}': 'job',
  '/queue/jobs/{id}': 'job',
  '/queue/{component}': 'component',
  '/queue/{component}/run/tag/{tag}': 'tag',
  '/scheduler/configurations/{id}': 'otherSchedulerConfiguration',
  '/scheduler/schedules/{id}': 'schedule',
  '/syrup/docker/{component}': 'component',
  '/syrup/docker/{component}/run/tag/{tag}': 'tag',
  '/syrup/queue/job/{id}': 'job',
  '/syrup/queue/jobs/{id}': 'otherJob',
  '/docker-runner/docker/{component}': 'component',
  '/docker-runner/docker/{component}/action/{action}': 'action',
  [CATALOGUE]: 'project',
  [`${CATALOGUE}/namespaces/{namespace}`]: 'bucket',
  [ICEBERG_TABLE]: 'tableName',
  '/notification/deliveries/{id}': 'delivery',
  '/notification/events/{event}': 'ownEvent',
  '/notification/project-subscriptions/{id}': 'subscription',
  '/oauth/credentials/{componentId}': 'component',
  [CREDENTIALS]: 'credentials',
  '/oauth/providers/{id}': 'oauthProvider',
  '/templates/v1/repositories/{repository}': 'templateRepository',
  '/templates/v1/repositories/{repository}/templates/{template}': 'template',
  [TEMPLATE]: 'templateVersion',
  '/templates/v1/project/{branch}': 'streamBranch',
  [INSTANCE]: 'instance',
  [`${INSTANCE}/upgrade/{version}`]: 'templateVersion',
  '/templates/v1/tasks/{id}': 'templateTask',
  '/vault/variables/scoped/branch/{branchId}': 'branch',
  '/vault/variables/{hash}': 'variable',
  '/sandboxes/sandboxes/{id}': 'sandbox',
  '/data-science/sandboxes/{id}': 'scienceSandbox',
  '/sandboxes/apps/{id}': 'app',
  '/sandboxes/apps/{id}/git-repo/credentials/{credentialId}': 'gitCredential',
  '/data-science/apps/{id}': 'scienceApp',
  '/data-science/apps/{id}/git-repo/credentials/{credentialId}': 'scienceGitCredential',
  '/editor/sql/sessions/{id}': 'editorSession',
  '/query/api/v1/branches/{branchId}': 'streamBranch',
  '/query/api/v1/branches/{branchId}/workspaces/{workspaceId}': 'workspace',
  '/query/api/v1/queries/{queryJobId}': 'queryJob',
  '/query/api/v1/queries/{queryJobId}/{statementId}': 'statement',
  '/stream/v1/branches/{branchId}': 'streamBranch',
  [SOURCE]: 'source',
  [SINK]: 'sink',
  '/stream/v1/tasks/{path}': 'task',
  '/mlflow/{path}': 'mark',
}

/** What some routes require before they answer. */
export const QUERIES: Readonly<Record<string, (id: Ids) => string>> = {
  'DELETE /v2/storage/buckets/{bucketId}': () => 'force=1',
  'DELETE /v2/storage/tables/{tableId}/rows': () => 'allowTruncate=1',
  'GET /sync-actions/actions': () => 'componentId=test.noop',
  'GET /v2/storage/global-search': ({ mark }) => `query=${mark}`,
  'GET /v2/storage/search': ({ mark }) => `text=${mark}`,
  'GET /v2/storage/search/tables': ({ mark }) => `metadataKey=test.key&metadataValue=${mark}`,
  [`GET ${IN_BRANCH}/search/component-configurations`]: () => 'metadataKeys[]=test.key',
  'GET /v2/storage/stats': () => 'runId=1',
}

/** The objects of a project, in the order in which they can be made. */
export const MAKE: readonly Step[] = [
  {
    route: 'POST /stream/v1/branches/{branchId}/sources',
    ...json(({ mark }) => ({ sourceId: mark, type: 'http', name: mark })),
    gives: ({ outputs, taskId }) => ({ source: outputs.sourceId, task: taskId }),
  },
  {
    route: `POST ${SOURCE}/sinks`,
    ...json(({ mark }) => ({
      sinkId: mark,
      type: 'table',
      name: mark,
      table: { type: 'keboola', tableId: `in.c-${mark}.records`, mapping: { columns: [{ type: 'body', name: 'body' }] } },
    })),
    gives: ({ outputs }) => ({ sink: outputs.sinkId }),
  },
  {
    route: 'POST /notification/project-subscriptions',
    ...json(({ mark, ownEvent, receiver }) => ({
      event: ownEvent,
      recipient: { channel: 'webhook', url: `${receiver}/${mark}` },
    })),
    gives: ({ id }) => ({ subscription: id }),
  },
  { route: 'POST /notification/project-subscriptions/{id}/test', gives: ({ id }) => ({ delivery: id }) },
  {
    route: 'POST /v2/storage/buckets',
    ...json(({ mark }) => ({ name: mark, stage: 'in' })),
    gives: ({ id }) => ({ bucket: id }),
  },
  { route: `POST ${BUCKET}/metadata`, ...metadata, gives: ([{ id }]) => ({ bucketMetadata: id }) },
  { route: 'POST /import/upload-file', send: upload, gives: ({ id }) => ({ file: id }) },
  { route: 'POST /v2/storage/files/prepare', ...json(({ mark }) => ({ name: mark })) },
  { route: 'POST /v2/storage/files/{id}/tags', ...json(({ mark }) => ({ tag: mark })) },
  {
    route: `POST ${BUCKET}/tables`,
    ...json(({ mark }) => ({ name: 'orders', dataString: `id,name\n1,${mark}\n`, primaryKey: 'id' })),
    gives: ({ id, name }) => ({ table: id, tableName: name, column: `${id}.name`, columnName: 'name' }),
  },
  {
    route: `POST ${BUCKET}/tables-async`,
    ...json(({ file }) => ({ name: 'second', dataFileId: Number(file) })),
    refers: true,
    gives: ({ id }) => ({ otherTable: id }),
  },
  {
    route: `POST ${BUCKET}/tables-definition`,
    ...json(() => ({ name: 'typed', primaryKeysNames: [], columns: [{ name: 'id', definition: { type: 'INTEGER' } }] })),
  },
  { route: 'POST /import/write-table', send: (id) => writeTable(id), refers: true },
  { route: `POST ${TABLE}/metadata`, ...metadata, gives: ({ metadata: [{ id }] }) => ({ tableMetadata: id }) },
  {
    route: 'POST /v2/storage/columns/{columnId}/metadata',
    ...metadata,
    gives: ([{ id }]) => ({ columnMetadata: id }),
  },
  { route: `POST ${TABLE}/import`, ...json(({ mark }) => ({ dataString: `id,name\n2,${mark}\n`, incremental: '1' })) },
  { route: `POST ${TABLE}/import-async`, ...json(({ file }) => ({ dataFileId: Number(file), incremental: '1' })), refers: true },
  { route: `POST ${TABLE}/export-async`, ...json(() => ({})) },
  { route: 'POST /v2/storage/query/export', ...json(({ bucket }) => ({ sql: `SELECT * FROM "${bucket}"."orders"` })) },
  {
    route: 'POST /v2/storage/query',
    ...json(({ bucket }) => ({ sql: `SELECT * FROM "${bucket}"."orders"` })),
    refers: true,
  },
  {
    route: `POST ${BUCKET}/table-aliases`,
    ...json(({ table }) => ({ sourceTable: table, name: 'alias' })),
    refers: true,
    gives: ({ id }) => ({ alias: id }),
  },
  { route: `POST ${ICEBERG_TABLE}/metrics`, ...json(() => ({})) },
  { route: `POST ${ICEBERG_TABLE}`, ...json(() => ({ requirements: [], updates: [] })) },
  {
    route: `POST ${CATALOGUE}/namespaces/{namespace}/tables`,
    ...json(() => ({ name: 'open', schema: { type: 'struct', fields: [{ id: 1, name: 'id', type: 'long', required: false }] } })),
  },
  { route: `POST ${TABLE}/snapshots`, ...json(({ mark }) => ({ description: mark })), gives: ({ id }) => ({ snapshot: id }) },
  { route: `POST ${TABLE}/profile`, ...json(() => ({})), gives: ({ uuid }) => ({ profile: uuid }) },
  {
    route: 'POST /v2/storage/components/{componentId}/configs',
    ...json(({ mark }) => ({ name: mark, configurationId: mark, configuration: { parameters: { mark } } })),
    gives: ({ id }) => ({ configuration: id, version: '1' }),
  },
  {
    route: `POST ${CONFIGURATION}/rows`,
    ...json(({ mark }) => ({ name: mark, rowId: `row-${mark}` })),
    gives: ({ id }) => ({ row: id }),
  },
  { route: 'POST /v2/storage/workspaces', ...json(() => ({})), gives: ({ id }) => ({ workspace: id }) },
  {
    route: `POST ${CONFIGURATION}/workspaces`,
    ...json(() => ({ loginType: 'snowflake-service-keypair', publicKey: PUBLIC_KEY })),
    gives: ({ id }) => ({ keyWorkspace: id }),
  },
  {
    route: `POST ${WORKSPACE}/credentials`,
    ...json(() => ({})),
    gives: ({ connection }) => ({ workspaceCredentials: connection.credentials.id, keyName: 'second' }),
  },
  { route: 'POST /sandboxes/sandboxes', ...json(() => ({ type: 'sql' })), gives: ({ id }) => ({ sandbox: id }) },
  { route: 'POST /data-science/sandboxes', ...json(() => ({ type: 'sql' })), gives: ({ id }) => ({ scienceSandbox: id }) },
  {
    route: 'POST /sandboxes/apps',
    ...json(({ mark }) => ({ name: mark, type: 'python-js', useManagedGitRepo: true })),
    gives: ({ id }) => ({ app: id }),
  },
  {
    route: 'POST /sandboxes/apps/{id}/git-repo/credentials',
    ...json(({ mark }) => ({ name: mark })),
    gives: ({ id }) => ({ gitCredential: id }),
  },
  {
    route: 'POST /data-science/apps',
    ...json(({ mark }) => ({ name: mark, type: 'python-js', useManagedGitRepo: true })),
    gives: ({ id }) => ({ scienceApp: id }),
  },
  {
    route: 'POST /data-science/apps/{id}/git-repo/credentials',
    ...json(({ mark }) => ({ name: mark })),
    gives: ({ id }) => ({ scienceGitCredential: id }),
  },
  { route: 'POST /editor/sql/sessions', ...json(() => ({})), gives: ({ id }) => ({ editorSession: id }) },
  {
    route: `POST ${QUERIES_OF_WORKSPACE}`,
    ...json(() => ({ statements: ['SELECT 1'] })),
    gives: ({ queryJobId }) => ({ queryJob: queryJobId, statement: `${queryJobId}-1` }),
  },
  { route: 'POST /query/api/v1/queries/{queryJobId}/cancel' },
  { route: `POST ${CONFIGURATION}/validate`, ...json(() => ({})) },
  { route: `POST ${CONFIGURATION}/metadata`, ...metadata, gives: ([{ id }]) => ({ configurationMetadata: id }) },
  { route: `POST ${CONFIGURATION}/versions/{versionId}/create`, ...json(({ mark }) => ({ name: `copy of ${mark}` })) },
  { route: `POST ${ROW}/versions/{versionId}/create`, ...json(() => ({})) },
  { route: 'POST /v2/storage/dev-branches', ...json(({ mark }) => ({ name: mark })), gives: ({ id }) => ({ branch: id }) },
  { route: `POST ${IN_BRANCH}/metadata`, ...metadata, gives: ([{ id }]) => ({ branchMetadata: id }) },
  {
    route: 'POST /v2/storage/merge-request',
    ...json(({ mark, branch, defaultBranch }) => ({
      title: mark,
      branchFromId: Number(branch),
      branchIntoId: Number(defaultBranch),
    })),
    refers: true,
    gives: ({ id }) => ({ mergeRequest: id }),
  },
  {
    route: 'POST /v2/storage/tokens',
    ...json(({ mark }) => ({ description: `agent ${mark}`, canManageBuckets: true, onlyProposes: true })),
    gives: ({ token }) => ({ agentValue: token }),
  },
  {
    route: 'POST /v2/storage/components/{componentId}/configs',
    ...json(({ mark }) => ({ name: `proposed ${mark}` })),
    as: ({ agentValue }) => agentValue!,
  },
  { route: 'GET /v2/storage/proposals', as: ({ agentValue }) => agentValue!, gives: ([{ id }]) => ({ proposal: id }) },
  { route: 'POST /v2/storage/proposals/{id}/rehearsal' },
  {
    route: 'POST /v2/storage/events',
    ...json(({ mark }) => ({ component: 'test', message: mark })),
    gives: ({ id }) => ({ event: id }),
  },
  {
    route: 'POST /v2/storage/tokens',
    ...json(({ mark }) => ({
      description: mark,
      canManageBuckets: true,
      canManageDevBranches: true,
      componentAccess: [COMPONENT],
    })),
    gives: ({ id, token, adminOwner }) => ({ token: id, tokenValue: token, admin: adminOwner.id }),
  },
  { route: `POST ${BUCKET}/owner`, ...json(({ admin }) => ({ id: Number(admin) })), refers: true },
  {
    route: 'POST /v2/storage/saved-queries',
    ...json(({ mark }) => ({ name: mark, sql: 'SELECT 1 AS n' })),
    gives: ({ id }) => ({ savedQuery: id }),
  },
  {
    route: 'POST /v2/storage/dashboards',
    ...json(({ mark, savedQuery }) => ({
      name: mark,
      tiles: [{ id: 'one', queryId: savedQuery, title: mark, type: 'table', width: 1 }],
    })),
    refers: true,
    gives: ({ id }) => ({ dashboard: id, tile: 'one' }),
  },
  {
    route: 'POST /v2/storage/dashboards/{dashboardId}/links',
    ...json(() => ({ expiresIn: 3600 })),
    gives: ({ id }) => ({ dashboardLink: id }),
  },
  {
    route: 'POST /v2/storage/tables/{tableId}/comments',
    ...json(({ mark }) => ({ text: mark })),
    gives: ({ id }) => ({ tableComment: id }),
  },
  {
    route: 'POST /v2/storage/data-tests',
    ...json(({ table, mark }) => ({ tableId: table, name: mark, type: 'rowCount', parameters: { min: 0 }, severity: 'warn' })),
    refers: true,
    gives: ({ id }) => ({ dataTest: id }),
  },
  {
    route: 'POST /v2/storage/data-tests/import',
    ...json(({ table, mark }) => ({
      tableId: table,
      runResults: { results: [{ unique_id: `test.shop.${mark}`, status: 'fail', failures: 1 }] },
    })),
    refers: true,
  },
  {
    route: 'POST /v2/storage/triggers',
    ...json(({ token, configuration, table }) => ({
      runWithTokenId: Number(token),
      component: COMPONENT,
      configurationId: configuration,
      coolDownPeriodMinutes: 5,
      tableIds: [table],
    })),
    refers: true,
    gives: ({ id }) => ({ trigger: id }),
  },
  {
    route: 'POST /oauth/credentials/{componentId}',
    ...json(({ mark }) => ({ id: mark, authorizedFor: mark, '#data': '{"access_token":"x"}' })),
    gives: ({ id }) => ({ credentials: id }),
  },
  {
    route: `POST ${TEMPLATE}/use`,
    ...json(({ mark, table }) => ({ name: mark, steps: summarySteps(table) })),
    gives: ({ id, outputs }) => ({ instance: outputs.instanceId, templateTask: id }),
  },
  { route: 'POST /oauth/links', ...json(() => ({ componentId: COMPONENT })) },
  {
    route: 'POST /vault/variables',
    ...json(({ mark }) => ({ key: mark, value: mark })),
    gives: ({ hash }) => ({ variable: hash }),
  },
  {
    route: 'POST /v2/storage/components/{componentId}/configs',
    ...onScheduler,
    ...schedule,
    gives: ({ id }) => ({ schedulerConfiguration: id }),
  },
  {
    route: 'POST /v2/storage/components/{componentId}/configs',
    ...onScheduler,
    ...schedule,
    gives: ({ id }) => ({ otherSchedulerConfiguration: id }),
  },
  {
    route: 'POST /scheduler/schedules',
    ...json(({ otherSchedulerConfiguration }) => ({ configurationId: otherSchedulerConfiguration })),
    refers: true,
  },
  {
    route: 'POST /scheduler/schedules',
    ...json(({ schedulerConfiguration }) => ({ configurationId: schedulerConfiguration })),
    refers: true,
    gives: ({ id }) => ({ schedule: id }),
  },
  { route: 'POST /queue/jobs', ...later, refers: true, gives: ({ id }) => ({ job: id }) },
  { route: 'POST /queue/jobs', ...later, refers: true, gives: ({ id }) => ({ otherJob: id }) },
  { route: 'POST /queue/{component}/run', ...run, refers: true },
  { route: 'POST /queue/{component}/run/tag/{tag}', ...run, refers: true },
  { route: 'POST /syrup/docker/{component}/run', ...run, refers: true },
  { route: 'POST /syrup/docker/{component}/run/tag/{tag}', ...run, refers: true },
  { route: 'POST /syrup/docker/{component}/dry-run', ...run, refers: true },
  { route: 'POST /syrup/docker/{component}/input', ...run, refers: true },
]

/** Of the template table-summary. */
function summarySteps(table: string | undefined): object[] {
  return [{ id: 'source', inputs: [{ id: 'table', value: table }] }]
}

/** Ids that every project names alike. */
export const ALIKE: Ids = {
  component: COMPONENT,
  streamBranch: 'default',
  templateRepository: 'millrace',
  template: 'table-summary',
  templateVersion: 'default',
}

/** What can be done with them, by their project alone; what removes them comes last. */
export const CHANGE: readonly Step[] = [
  { route: `POST ${WORKSPACE}/load`, ...loadOrders, refers: true },
  { route: `POST ${WORKSPACE}/input-mapping-load`, ...loadOrders, refers: true },
  { route: `POST ${WORKSPACE}/load-clone`, ...loadOrders, refers: true },
  { route: 'POST /v2/storage/input-mapping-load/preview', ...loadOrders, refers: true },
  { route: `POST ${WORKSPACE}/table-export`, ...json(() => ({ tableName: 'orders' })) },
  { route: `POST ${WORKSPACE}/unload` },
  { route: `POST ${WORKSPACE}/query`, ...json(() => ({ query: 'SELECT * FROM orders' })) },
  { route: `POST ${WORKSPACE}/password` },
  { route: `POST ${WORKSPACE}/public-key`, ...json(() => ({ publicKey: PUBLIC_KEY })), ...onKeyWorkspace },
  { route: `POST ${WORKSPACE}/public-key/{name}`, ...json(() => ({ publicKey: PUBLIC_KEY })), ...onKeyWorkspace },
  { route: `DELETE ${WORKSPACE}/credentials/{credentialsId}` },
  { route: `POST ${WORKSPACE}/objects/batch-delete`, ...json(() => ({ objects: ['orders'] })) },
  { route: `DELETE ${WORKSPACE}` },
  { route: `PATCH ${SOURCE}`, ...json(() => ({ name: 'changed' })) },
  { route: `PATCH ${SOURCE}/settings`, ...json(() => ({ settings: [] })) },
  { route: `POST ${SOURCE}/test`, ...empty },
  { route: `POST ${SOURCE}/rotate-secret`, ...empty },
  { route: `PATCH ${SINK}`, ...json(() => ({ name: 'changed' })) },
  { route: `PUT ${SINK}/disable`, ...empty },
  { route: `PUT ${SINK}/enable`, ...empty },
  { route: `PUT ${SOURCE}/disable`, ...empty },
  { route: `PUT ${SOURCE}/enable`, ...empty },
  { route: `DELETE ${SINK}` },
  { route: `DELETE ${SOURCE}` },
  { route: 'POST /notification/events/{event}', ...json(({ mark }) => ({ mark })) },
  {
    route: 'POST /notification/notifications',
    ...json(({ mark, receiver }) => ({
      type: 'direct-project-webhook',
      recipient: { url: receiver },
      data: { title: mark, message: mark },
    })),
  },
  { route: 'DELETE /notification/project-subscriptions/{id}' },
  { route: 'PUT /v2/storage/merge-request-settings', ...json(() => ({ requiredApprovals: 1 })) },
  { route: `PUT ${BUCKET}`, ...json(() => ({ displayName: 'changed' })) },
  { route: `POST ${BUCKET}/share-organization`, ...empty },
  { route: `POST ${BUCKET}/share-organization-project`, ...empty },
  { route: `POST ${BUCKET}/share-to-users`, ...json(({ admin }) => ({ targetUsers: [Number(admin)] })) },
  { route: `POST ${BUCKET}/share-to-projects`, ...json(({ project }) => ({ targetProjectIds: [Number(project)] })) },
  { route: `PUT ${BUCKET}/share`, ...json(() => ({ sharing: 'organization' })) },
  { route: `DELETE ${BUCKET}/share` },
  { route: `POST ${IN_BRANCH}/buckets/{bucketId}/refresh-tables-info`, ...inDefaultBranch, ...empty },
  { route: `POST ${IN_BRANCH}/tables/{tableId}/pull`, ...empty },
  { route: `PUT ${TABLE}`, ...json(() => ({ displayName: 'changed' })) },
  { route: `POST ${TABLE}/restore`, ...json(({ snapshot }) => ({ snapshotId: snapshot })), refers: true },
  { route: `PUT ${TABLE}/definition`, ...json(() => ({ description: 'changed' })) },
  { route: `PUT ${TABLE}/columns/{column}/definition`, ...json(() => ({ description: 'changed' })) },
  { route: `POST ${TABLE}/columns`, ...json(() => ({ name: 'extra' })) },
  { route: `POST ${TABLE}/optimize`, ...empty },
  { route: `PUT ${TABLE}/columns/{column}/type`, ...json(() => ({ type: 'STRING' })) },
  { route: `POST ${TABLE}/alias-filter`, ...onAlias, ...json(() => ({ column: 'id', values: ['1'] })) },
  { route: `DELETE ${TABLE}/alias-filter`, ...onAlias },
  { route: `DELETE ${TABLE}/alias-columns-auto-sync`, ...onAlias },
  { route: `POST ${TABLE}/alias-columns-auto-sync`, ...onAlias, ...empty },
  { route: `PUT ${CONFIGURATION}`, ...json(() => ({ description: 'changed' })) },
  { route: `PUT ${CONFIGURATION}/state`, ...json(() => ({ state: { a: 1 } })) },
  { route: `PUT ${ROW}`, ...json(() => ({ description: 'changed' })) },
  { route: `PUT ${ROW}/state`, ...json(() => ({ state: { a: 1 } })) },
  { route: `POST ${ROW}/versions/{versionId}/rollback`, ...empty },
  { route: `POST ${CONFIGURATION_IN_BRANCH}/reset-to-default`, ...empty },
  { route: `POST ${CONFIGURATION_IN_BRANCH}/rebase`, ...json(() => ({ version: 1 })) },
  { route: 'POST /sync-actions/configuration/resolve', ...resolve, refers: true },
  { route: 'POST /docker-runner/docker/configuration/resolve', ...resolve, refers: true },
  { route: 'POST /syrup/docker/configuration/resolve', ...resolve, refers: true },
  { route: 'PUT /v2/storage/dev-branches/{branchId}', ...json(() => ({ description: 'changed' })) },
  { route: 'PUT /v2/storage/files/{id}/refresh' },
  { route: 'PUT /v2/storage/saved-queries/{queryId}', ...json(() => ({ description: 'changed' })) },
  { route: 'PUT /v2/storage/dashboards/{dashboardId}', ...json(() => ({ description: 'changed' })) },
  { route: 'DELETE /v2/storage/dashboards/{dashboardId}/links/{linkId}' },
  { route: 'DELETE /v2/storage/dashboards/{dashboardId}' },
  { route: 'DELETE /v2/storage/saved-queries/{queryId}' },
  { route: 'PUT /v2/storage/tables/{tableId}/comments/{commentId}', ...json(() => ({ text: 'changed' })) },
  { route: 'DELETE /v2/storage/tables/{tableId}/comments/{commentId}' },
  { route: 'PUT /v2/storage/data-tests/{testId}', ...json(() => ({ description: 'changed' })) },
  { route: 'POST /v2/storage/tables/{tableId}/data-tests/run', ...empty },
  {
    route: 'PUT /v2/storage/tables/{tableId}/contract',
    ...json(() => ({
      contract: '{kind: DataContract, apiVersion: v3.0.2, schema: [{name: x, properties: [{name: id}]}]}',
      force: true,
    })),
  },
  { route: 'PUT /v2/storage/tables/{tableId}/history', ...json(() => ({ isEnabled: false })) },
  { route: 'POST /v2/storage/tables/{tableId}/bisect', ...json(() => ({ goodAt: 'now', sql: 'SELECT 1 AS n' })) },
  { route: 'DELETE /v2/storage/tables/{tableId}/contract' },
  { route: 'DELETE /v2/storage/data-tests/{testId}' },
  { route: 'PUT /v2/storage/triggers/{id}', ...json(() => ({ coolDownPeriodMinutes: 6 })) },
  { route: 'POST /scheduler/schedules/{id}/refreshToken', ...empty },
  { route: 'PUT /v2/storage/tokens/{id}', ...json(() => ({ description: 'changed' })) },
  { route: 'POST /queue/jobs/{id}/kill' },
  { route: 'POST /syrup/queue/jobs/{id}/kill' },
  { route: 'POST /queue/jobs/{id}/rerun' },
  {
    route: 'PUT /v2/storage/merge-request/{id}',
    ...json(({ token }) => ({ title: 'changed', reviewerIds: [Number(token)] })),
  },
  { route: 'PUT /v2/storage/merge-request/{id}/request-review', ...empty },
  { route: 'PUT /v2/storage/merge-request/{id}/request-changes', ...json(() => ({ reason: 'not yet' })) },
  { route: 'PUT /v2/storage/merge-request/{id}/request-review', ...empty },
  { route: 'PUT /v2/storage/merge-request/{id}/approve', ...empty, as: ({ tokenValue }) => tokenValue! },
  { route: `DELETE ${IN_BRANCH}/metadata/{metadataId}` },
  { route: 'PUT /v2/storage/merge-request/{id}/merge' },
  { route: 'POST /v2/storage/tokens/{id}/refresh', ...empty },
  { route: `DELETE ${TABLE}/rows` },
  { route: `DELETE ${TABLE}/metadata/{metadataId}` },
  { route: 'DELETE /v2/storage/columns/{columnId}/metadata/{metadataId}' },
  { route: `DELETE ${BUCKET}/metadata/{metadataId}` },
  { route: 'DELETE /v2/storage/snapshots/{snapshotId}' },
  { route: `DELETE ${TABLE}`, ...onAlias },
  { route: `DELETE ${TABLE}/columns/{column}` },
  { route: `DELETE ${TABLE}/primary-key` },
  { route: `POST ${TABLE}/primary-key`, ...json(() => ({ columns: ['id'] })) },
  { route: `POST ${TABLE}/swap`, ...json(({ otherTable }) => ({ targetTableId: otherTable })), refers: true },
  { route: `DELETE ${ICEBERG_TABLE}`, on: () => ({ tableName: 'open' }) },
  { route: `DELETE ${TABLE}` },
  { route: `DELETE ${BUCKET}` },
  { route: `DELETE ${CONFIGURATION}/metadata/{metadataId}` },
  { route: `DELETE ${ROW}` },
  { route: `POST ${CONFIGURATION}/versions/{versionId}/rollback`, ...empty },
  { route: 'DELETE /v2/storage/triggers/{id}' },
  { route: 'DELETE /scheduler/schedules/{id}' },
  { route: 'DELETE /scheduler/configurations/{id}' },
  { route: 'DELETE /v2/storage/tokens/{id}' },
  {
    route: 'POST /v2/storage/proposals/{id}/submit',
    ...json(({ mark }) => ({ title: mark })),
    as: ({ agentValue }) => agentValue!,
  },
  { route: 'POST /v2/storage/proposals/{id}/refuse', ...json(() => ({ reason: 'not now' })) },
  { route: 'DELETE /v2/storage/proposals/{id}' },
  {
    route: 'POST /mcp',
    send: () => ({
      json: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: AGENT } },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
      },
    }),
  },
  { route: 'POST /templates/v1/repositories/{repository}/refresh' },
  { route: `POST ${TEMPLATE}/validate`, ...json(({ table }) => ({ steps: summarySteps(table) })) },
  { route: `POST ${TEMPLATE}/preview`, ...json(({ mark, table }) => ({ name: mark, steps: summarySteps(table) })) },
  { route: `PUT ${INSTANCE}`, ...json(() => ({ name: 'changed' })) },
  { route: `POST ${INSTANCE}/upgrade/{version}/preview`, ...json(({ table }) => ({ steps: summarySteps(table) })) },
  { route: `POST ${INSTANCE}/upgrade/{version}`, ...json(({ table }) => ({ steps: summarySteps(table) })) },
  { route: `DELETE ${INSTANCE}` },
  { route: `POST ${CREDENTIALS}/test` },
  { route: `DELETE ${CREDENTIALS}` },
  { route: 'DELETE /vault/variables/{hash}' },
  ...['sandboxes', 'data-science'].flatMap((address) => [
    { route: `PATCH /${address}/sandboxes/{id}`, ...json(() => ({ shared: true })) },
    { route: `POST /${address}/sandboxes/{id}/deactivate` },
    { route: `POST /${address}/sandboxes/{id}/activate` },
    { route: `DELETE /${address}/sandboxes/{id}` },
    { route: `POST /${address}/apps/{id}/links` },
    { route: `POST /${address}/apps/{id}/preview-link` },
    { route: `DELETE /${address}/apps/{id}/git-repo/credentials/{credentialId}` },
    { route: `PATCH /${address}/apps/{id}`, ...json(() => ({ desiredState: 'stopped' })) },
    { route: `DELETE /${address}/apps/{id}` },
  ]),
  { route: 'POST /editor/sql/sessions/{id}/reset-credentials' },
  { route: 'DELETE /editor/sql/sessions/{id}' },
  { route: 'DELETE /v2/storage/files/{id}/tags/{path}' },
  { route: 'DELETE /v2/storage/files/{id}' },
  { route: `DELETE ${CONFIGURATION}` },
  { route: `POST ${CONFIGURATION}/restore`, ...empty },
]

function writeTable({ mark, table }: Ids): RequestOptions {
  const body = new FormData()
  body.set('tableId', table!)
  body.set('data', new Blob([`id,name\n1,${mark}\n`]), 'written.csv')
  return { body }
}
