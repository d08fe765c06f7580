// Every error the platform can report, in one list: the code a client sees, why it happened, and the sentence a person reads.
// errors.test.ts compares the list with docs/errors.md, both ways. Codes that clients compare keep their spelling (spec storage 5).

/** Why something failed. HTTP status, retrying and job outcome each derive from this, in one place. */
export type ErrorKind =
  | 'invalid' // 400: the request or its data is wrong
  | 'unauthenticated' // 401
  | 'forbidden' // 403
  | 'not-found' // 404
  | 'not-allowed' // 405
  | 'conflict' // 409
  | 'too-large' // 413
  | 'unprocessable' // 422
  | 'too-many' // 429
  | 'bug' // 500: ours
  | 'not-built' // 501
  | 'transient' // 503: try again
  | 'full' // 507: no space left

export interface ErrorEntry {
  readonly kind: ErrorKind
  /** `{name}` is replaced by the detail of that name. */
  readonly text: string
}

export const ERRORS = {
  // Requests
  malformedRequest: { kind: 'invalid', text: 'The request could not be read: {reason}' },
  bodyTooLarge: {
    kind: 'too-large',
    text: 'The request body is larger than the {limit} bytes allowed here. Send less, or upload a file.',
  },
  requestTooLarge: {
    kind: 'invalid',
    text: 'The event is larger than the {limit} bytes allowed. Shorten its description, params or results.',
  },
  tooManyRequests: {
    kind: 'too-many',
    text: 'This address or token sends more requests than this stack allows. Retry in {seconds} s.',
  },
  lockedOut: {
    kind: 'too-many',
    text: 'Too many requests with an invalid token from this address. Check the token, and retry in {seconds} s.',
  },
  'validation.failed': { kind: 'invalid', text: 'Invalid request:\n - {field}: "{reason}"' },
  'storage.validation': { kind: 'invalid', text: 'Invalid request:\n - {field}: "{reason}"' },
  dryRunNotPossible: {
    kind: 'invalid',
    text: 'dryRun is not supported here, and nothing was changed. Omit dryRun to make the change.',
  },
  'operations.settingFixed': {
    kind: 'invalid',
    text: '{name} cannot be changed while the stack is running. Set it in the environment and restart the stack.',
  },
  notFound: { kind: 'not-found', text: '{what} was not found.' },
  'console.notBuilt': {
    kind: 'not-found',
    text: 'The console is not built on this node. `npm start` builds it; `npm run build -w console` builds it manually.',
  },
  serviceNotFound: { kind: 'not-found', text: 'The {service} service is not part of this stack. {purpose}' },
  methodNotAllowed: { kind: 'not-allowed', text: '{method} is not allowed here. Allowed methods: {allowed}.' },
  notImplemented: { kind: 'not-built', text: 'Not implemented. {what}' },
  MAINTENANCE: { kind: 'transient', text: '{reason}' },
  unavailable: { kind: 'transient', text: '{what} is currently unavailable. Try again.' },
  noApiHere: {
    kind: 'transient',
    text: 'This node does not serve the API (MILLRACE_ROLES). Send the request to a node with the role api.',
  },
  internalError: { kind: 'bug', text: 'An internal error occurred. Search the log for the exception id to find the details.' },

  'stack.certificate': {
    kind: 'invalid',
    text: 'The TLS certificate is invalid ({file}): {reason}. Check MILLRACE_TLS_CERT_FILE and MILLRACE_TLS_KEY_FILE.',
  },
  'stack.dataFolder': {
    kind: 'invalid',
    text: 'The data folder {path} (MILLRACE_DATA_DIR) is not usable: {reason}. Set it to a folder that this user can write to.',
  },
  'stack.dataFolderInUse': {
    kind: 'conflict',
    text: 'The data folder {path} is in use by another process: {holder}. Stop that process, or set MILLRACE_DATA_DIR to a different folder.',
  },
  'stack.database': {
    kind: 'invalid',
    text: 'PostgreSQL at {address} is not usable: {reason}. Start it, or correct MILLRACE_DATABASE_URL.',
  },
  'stack.databaseDamaged': {
    kind: 'invalid',
    text: 'The metadata database {path} cannot be opened: {reason}. Restore a backup into an empty folder, or set MILLRACE_DATA_DIR to another one.',
  },
  'stack.databaseTooOld': {
    kind: 'invalid',
    text: 'PostgreSQL at {address} has version {version}, and this version of Millrace needs {needed} or newer. Upgrade PostgreSQL, or start the earlier Millrace.',
  },
  'stack.databaseNewer': {
    kind: 'invalid',
    text: 'The metadata database was migrated by a newer Millrace: this version does not have the migrations {migrations}. Start the newer version, or restore a backup from before the upgrade.',
  },
  'stack.bucketMissing': {
    kind: 'invalid',
    text: 'The bucket {bucket} does not exist at {endpoint}. Create it there, or correct MILLRACE_S3_BUCKET and MILLRACE_S3_ENDPOINT.',
  },
  'stack.bucketRefused': {
    kind: 'invalid',
    text: 'S3 at {endpoint} denies access to the bucket {bucket} with these keys. Correct MILLRACE_S3_ACCESS_KEY_ID, MILLRACE_S3_SECRET_ACCESS_KEY and MILLRACE_S3_REGION, or grant them access to the bucket.',
  },
  'stack.objectStore': {
    kind: 'invalid',
    text: 'S3 at {endpoint} is not usable: {reason}. Start it, or correct MILLRACE_S3_ENDPOINT.',
  },

  // Calls to addresses that users name
  'egress.refused': { kind: 'invalid', text: '{reason}' },
  'egress.timedOut': { kind: 'transient', text: 'No complete response within {limit} milliseconds.' },
  'egress.failed': { kind: 'transient', text: 'The connection failed: {reason}.' },

  'proxy.outside': { kind: 'invalid', text: 'The path "{path}" points outside the registered server. Remove the `..` segments.' },
  'proxy.unreachable': { kind: 'transient', text: 'The server at {address} did not respond: {reason}. Start it, or try again.' },
  'spark.notRegistered': {
    kind: 'transient',
    text: 'No Spark cluster is registered with this stack. The operator registers one with MILLRACE_SPARK_URL=spark://host:7077 and restarts the stack.',
  },
  'spark.notReady': { kind: 'invalid', text: 'The Spark driver cannot run on this node. {reason}' },
  'spark.noIceberg': {
    kind: 'invalid',
    text: 'The Spark cluster cannot read the tables: Iceberg is not among its jars. The operator adds iceberg-spark-runtime and iceberg-aws-bundle with spark.jars or spark.jars.packages in MILLRACE_SPARK_CONF. ({reason})',
  },
  'spark.clusterFailed': { kind: 'invalid', text: '{reason} No table was changed; run the job again.' },
  'spark.driverEnded': {
    kind: 'invalid',
    text: 'The Spark driver exited before its work was done: {reason}. No table was changed.',
  },
  'spark.scriptFailed': { kind: 'invalid', text: '{message}' },
  'spark.noPages': {
    kind: 'transient',
    text: 'The web UI of the Spark cluster at {address} is unknown. The operator sets MILLRACE_SPARK_PAGES_URL=http://host:8080 and restarts the stack.',
  },
  'mlflow.notRegistered': {
    kind: 'transient',
    text: 'No MLflow server is registered with this stack. The operator registers one with MILLRACE_MLFLOW_URL=http://host:5000 and restarts the stack, or, on a stack of one node, installs mlflow into the Python of MILLRACE_MLFLOW_PYTHON.',
  },
  'mlflow.notStarted': { kind: 'transient', text: 'The MLflow server of the project could not be started: {reason}.' },

  'mail.failed': { kind: 'transient', text: 'The mail server did not accept the message: {reason}' },

  // Notifications
  'notification.subscriptionNotFound': { kind: 'not-found', text: 'Subscription "{id}" was not found.' },
  'notification.deliveryNotFound': { kind: 'not-found', text: 'Delivery "{id}" was not found.' },
  'notification.invalid': { kind: 'invalid', text: 'Invalid notification - {field}: {reason}' },
  'notification.componentFilterNeeded': {
    kind: 'forbidden',
    text: 'The token has access to some components only. Add the filter job.component.id == with one of them, or use a token with canManageBuckets.',
  },
  'notification.tooMany': {
    kind: 'unprocessable',
    text: 'A project can have at most {limit} subscriptions. Delete unused ones.',
  },

  // OAuth broker
  manageTokenInvalid: {
    kind: 'unauthenticated',
    text: 'This route requires the manage token of a stack admin, or the one of the stack (MILLRACE_MANAGE_TOKEN), in the header X-KBC-ManageApiToken.',
  },
  'oauth.invalidProvider': { kind: 'invalid', text: 'The provider is invalid - {field}: {reason}.' },
  'oauth.providerNotFound': {
    kind: 'not-found',
    text: 'OAuth provider "{id}" does not exist. GET /oauth/providers lists all providers.',
  },
  'oauth.providerExists': { kind: 'conflict', text: 'OAuth provider "{id}" already exists. Use PATCH to change it.' },
  'oauth.providerNeeded': {
    kind: 'invalid',
    text: 'The component {component} has no default OAuth provider. Set the parameter provider; GET /oauth/providers lists all providers.',
  },
  'oauth.noClient': {
    kind: 'invalid',
    text: 'The stack has no client registered with the provider "{provider}". Send your own appKey and appSecret, or ask the administrator to add a client.',
  },
  'oauth.userData': {
    kind: 'invalid',
    text: 'The URLs of the provider "{provider}" require "{name}" in userData, and "{value}" is not valid in a host name.',
  },
  'oauth.returnUrl': {
    kind: 'invalid',
    text: 'returnUrl "{url}" is neither on this stack nor on an origin of MILLRACE_CORS_ORIGINS.',
  },
  'oauth.unknownState': {
    kind: 'invalid',
    text: 'This authorisation is unknown: it is already complete, took longer than 15 minutes, or was not started here. Start again.',
  },
  'oauth.otherBrowser': {
    kind: 'invalid',
    text: 'This authorisation was started in another browser, or cookies are disabled. Start again, and stay in one browser.',
  },
  'oauth.denied': {
    kind: 'invalid',
    text: '{provider} did not authorise the request: {reason}. Start again to give your consent.',
  },
  'oauth.refused': {
    kind: 'invalid',
    text: 'The authorisation server {host} refused the request: {reason}. Check the client and its settings there.',
  },
  'oauth.grantGone': { kind: 'invalid', text: 'The authorisation server {host} no longer accepts the grant: {reason}.' },
  'oauth.badAnswer': { kind: 'invalid', text: 'The authorisation server {host} returned an invalid OAuth response: {reason}.' },
  'oauth.unreachable': {
    kind: 'transient',
    text: 'The authorisation server {host} cannot be reached: {reason}. Try again later.',
  },
  'oauth.credentialsNotFound': {
    kind: 'not-found',
    text: 'The component {component} has no OAuth credentials "{id}" in this project.',
  },
  'oauth.credentialsExist': {
    kind: 'conflict',
    text: 'OAuth credentials "{id}" already exist. Choose another id, or authorise the existing ones again.',
  },
  'oauth.tooMany': {
    kind: 'invalid',
    text: 'The component {component} already has {limit} OAuth credentials in this project, the maximum. Delete unused ones.',
  },
  'oauth.withoutProvider': {
    kind: 'invalid',
    text: 'The OAuth credentials "{id}" have no provider, so they cannot be refreshed or revoked. Add them again with a provider.',
  },
  'oauth.cannotRevoke': {
    kind: 'invalid',
    text: 'The provider {provider} does not support revoking tokens. Revoke them in your account there, then delete the credentials.',
  },
  'oauth.authoriseAgain': {
    kind: 'invalid',
    text: 'The OAuth credentials "{id}" are not usable: {reason}. Authorise them again.',
  },
  'oauth.refreshBusy': {
    kind: 'transient',
    text: 'The OAuth credentials "{id}" are being refreshed by another process, which takes too long. Try again.',
  },

  // Templates
  'templates.broken': {
    kind: 'invalid',
    text: 'The template is invalid ({file}): {reason}. The maintainer of the template must fix it.',
  },
  'templates.repositoryNotFound': { kind: 'not-found', text: 'Template repository "{name}" does not exist.' },
  'templates.repositoryUnusable': {
    kind: 'not-found',
    text: 'The template repository "{name}" is not usable: {reason} The operator of the stack can fix it.',
  },
  'templates.templateNotFound': { kind: 'not-found', text: 'Template "{id}" does not exist in the repository "{repository}".' },
  'templates.versionNotFound': { kind: 'not-found', text: 'Version "{version}" of the template "{id}" does not exist.' },
  'templates.instanceNotFound': { kind: 'not-found', text: 'Template instance "{id}" does not exist in this branch.' },
  'templates.taskNotFound': { kind: 'not-found', text: 'Task "{id}" of the templates service does not exist in this project.' },
  'templates.unknownStep': {
    kind: 'invalid',
    text: 'Step "{id}" does not exist in the template. GET .../inputs lists its steps.',
  },
  'templates.unknownInput': {
    kind: 'invalid',
    text: 'Input "{id}" does not exist in the step "{step}" of the template. GET .../inputs lists its inputs.',
  },
  'templates.invalidInputs': { kind: 'invalid', text: 'The template was not applied because its inputs are invalid. {problems}' },

  // Streams
  'changes.invalidPosition': {
    kind: 'invalid',
    text: 'Last-Event-ID "{position}" is not an id of this stream. Omit it to start at the current position, and reload the data you show.',
  },

  'stream.invalid': { kind: 'invalid', text: 'Invalid stream - {field}: {reason}' },
  'stream.notFound': { kind: 'not-found', text: '{what} was not found.' },
  'stream.exists': { kind: 'conflict', text: '{what} already exists. Choose another id.' },
  'stream.changed': { kind: 'conflict', text: '{what} was modified in the meantime. Read it again, then repeat the change.' },
  'stream.tooMany': {
    kind: 'unprocessable',
    text: 'The maximum of {limit} {what} is reached. Delete unused ones.',
  },
  'stream.unknownSource': {
    kind: 'not-found',
    text: 'No source exists at this URL, or its secret is wrong. Copy the URL from the source.',
  },
  'stream.invalidOtlp': { kind: 'invalid', text: 'The request is not valid OTLP: {reason}.' },
  'stream.disabled': { kind: 'forbidden', text: 'Source "{source}" is disabled and does not accept records.' },
  'stream.full': {
    kind: 'transient',
    text: 'Source "{source}" has too many records that are not loaded yet. Check the state of its sinks, and retry later.',
  },
  'stream.notStored': { kind: 'transient', text: 'The record could not be stored. Retry the request.' },

  // Authentication
  'storage.tokenMissing': { kind: 'unauthenticated', text: 'Access token must be set' },
  'storage.tokenInvalid': { kind: 'unauthenticated', text: 'Invalid access token' },
  'storage.tokens.invalidPermissions': { kind: 'invalid', text: '{reason}' },
  'storage.tokens.ofPerson': {
    kind: 'forbidden',
    text: "This token belongs to {name} and cannot be changed or deleted by itself. Change the user's role or remove the user from the project; for a script, create a separate token.",
  },
  'storage.tokens.validation': { kind: 'invalid', text: '{reason}' },
  resourceNotFound: { kind: 'not-found', text: 'resource not found' },
  idMissing: { kind: 'invalid', text: 'The id is missing at the end of the URL {address}/.' },
  'storage.tokens.notFound': { kind: 'not-found', text: 'Token {id} was not found.' },
  'storage.tokens.cannotDeleteDueToOrchestration': {
    kind: 'invalid',
    text: 'Cannot delete token, because it\'s used for event trigger inside component "{component}" with configuration id "{configurationId}"',
  },
  'storage.token.cannotShareMasterToken': {
    kind: 'invalid',
    text: 'A master token cannot be shared. Create a separate token for the recipient.',
  },
  accessDenied: { kind: 'forbidden', text: "You don't have access to the resource." },

  projectPaused: {
    kind: 'conflict',
    text: 'This project is paused ({reason}): it is read-only, and nothing in it starts. A stack admin can resume it.',
  },

  // People
  'people.notSignedIn': { kind: 'unauthenticated', text: 'You are not signed in, or your session has expired. Sign in again.' },
  'people.manageTokenInvalid': { kind: 'unauthenticated', text: 'Invalid manage token' },
  'people.crossSite': {
    kind: 'forbidden',
    text: 'A request with a session cookie that changes something must come from a page of this stack. In scripts use a token, or send the header Origin with the URL of the stack.',
  },
  'people.projectInvalid': {
    kind: 'invalid',
    text: 'The header X-KBC-ProjectId is "{given}", which is not a project id. GET /account lists your projects.',
  },
  'people.projectMissing': {
    kind: 'invalid',
    text: 'You are a member of several projects. Send the id of one in the header X-KBC-ProjectId: {projects}.',
  },
  'people.notMember': { kind: 'forbidden', text: 'You are not a member of {project}, or it does not exist.' },
  'people.adminNeeded': { kind: 'forbidden', text: 'Only {who} can do this.' },
  'people.signInFailed': { kind: 'unauthenticated', text: 'Wrong e-mail or password.' },
  'people.codeNeeded': {
    kind: 'unauthenticated',
    text: 'Send the code from your authenticator, or one of your recovery codes, as code.',
  },
  'people.codeWrong': {
    kind: 'unauthenticated',
    text: 'The code is wrong or was already used. Wait for the next one, and check the time of your device.',
  },
  'people.busy': {
    kind: 'transient',
    text: 'Too many sign-ins are queued on this node. Retry in {seconds} s.',
  },
  'people.locked': { kind: 'too-many', text: 'Too many failed sign-in attempts. Retry in {seconds} s.' },
  'people.linkInvalid': {
    kind: 'not-found',
    text: 'This link was already used, has expired or is incomplete. Request a new one; on the machine of the stack `millrace admin sign-in-link` creates one.',
  },
  'people.invalid': { kind: 'invalid', text: '{field}: {reason}' },
  'people.passwordWrong': { kind: 'forbidden', text: 'Your password is wrong. Send your current password.' },
  'people.unknownEmail': {
    kind: 'not-found',
    text: 'No user with the e-mail {email} exists on this stack. Invite them to the project instead.',
  },
  'people.memberAlready': {
    kind: 'conflict',
    text: '{name} is already a member of the project, as {role}. Change the role instead.',
  },
  'people.emailTaken': {
    kind: 'conflict',
    text: 'A user with the e-mail {email} already exists. They can sign in, and an admin adds them to a project.',
  },
  'people.oidcUnavailable': {
    kind: 'transient',
    text: 'The identity provider {issuer} is unavailable or returned an invalid response: {reason}',
  },
  'people.oidcRefused': { kind: 'unauthenticated', text: 'The identity provider {issuer} refused the sign-in: {reason}' },
  'people.oidcBegin': { kind: 'invalid', text: 'The sign-in took too long or was started in another browser. Start again.' },
  'people.oidcEmail': { kind: 'forbidden', text: 'The identity provider did not return a verified e-mail.' },
  'people.oidcUnknown': {
    kind: 'forbidden',
    text: 'No user with the e-mail {email} exists on this stack. An admin of a project can invite you.',
  },
  'people.lastAdmin': {
    kind: 'conflict',
    text: '{name} is the last stack admin. Make another user a stack admin first.',
  },

  // Table engine: files that are loaded, and the workers that load them. Texts name the place, the offending text and what to change
  invalidCsv: { kind: 'invalid', text: '{reason}' },
  rowTooLarge: {
    kind: 'too-large',
    text: 'Load error: The row that starts on line {line} of {file} is longer than the {limit} bytes allowed. Split its values, or ask the operator for a larger limit.',
  },
  'csvImport.invalidCsvParams': { kind: 'invalid', text: '{reason}' },
  'storage.tables.fileUnreadable': {
    kind: 'invalid',
    text: 'The file {file} looks like {format}, but cannot be read: {reason}.',
  },
  'storage.tables.invalidValue': {
    kind: 'invalid',
    text: 'Load error: Row {row} of {file}: the value "{value}" of column "{column}" is not a valid {type}. Correct it, or change the type of the column.',
  },
  'storage.tables.nullValue': {
    kind: 'invalid',
    text: 'Load error: Row {row} of {file} has no value in column "{column}", which is not nullable. Fill it in, or make the column nullable.',
  },
  'storage.maxNumberOfColumnsExceed': {
    kind: 'invalid',
    text: 'A table can have at most {limit} columns; {file} has {columns}.',
  },
  'storage.tables.columnAlreadyExists': {
    kind: 'invalid',
    text: 'The column "{column}" cannot be added: a column of that name already exists (names are not case-sensitive), or the name is reserved.',
  },
  'storage.tables.columnNotExists': { kind: 'invalid', text: 'The column "{column}" does not exist in the table.' },
  'storage.tables.filterValues': {
    kind: 'invalid',
    text: 'The operator "{operator}" on column "{column}" requires exactly one value; {count} were given.',
  },
  'storage.tables.filterValue': {
    kind: 'invalid',
    text: 'The filter value "{value}" on column "{column}" is not a valid {type}. Send a value of that type.',
  },
  'tableEngine.cancelled': { kind: 'conflict', text: 'The operation on the table was cancelled.' },
  'tableEngine.timeout': { kind: 'transient', text: 'The operation on the table took longer than {seconds} s and was stopped.' },
  'tableEngine.workerDied': {
    kind: 'transient',
    text: 'The table worker process exited unexpectedly ({reason}). Nothing was changed; try again.',
  },
  'tableEngine.outOfMemory': {
    kind: 'too-large',
    text: 'The operation does not fit into the {limit} MB of a table worker. Ask the operator for more memory per worker.',
  },
  'tableEngine.objectMissing': {
    kind: 'bug',
    text: 'The object {key} of the table does not exist in the object store. Restore it from a backup.',
  },
  'tableEngine.diskFull': {
    kind: 'full',
    text: 'The disk is full: the operation on the table was stopped and nothing was changed.',
  },
  'tableEngine.failed': { kind: 'bug', text: 'The table engine failed: {reason}' },

  // SQL
  'sql.invalid': { kind: 'invalid', text: 'SQL syntax error at character {position}: {reason}.' },
  'sql.tooLong': {
    kind: 'too-large',
    text: 'The SQL is longer than the {limit} bytes allowed. Load large lists of values as a table.',
  },
  'sql.tooManyTables': {
    kind: 'too-large',
    text: 'The statement refers to more than the {limit} tables allowed. Split it into several statements.',
  },
  'sql.tooManyNames': {
    kind: 'too-large',
    text: 'The statement refers to {count} tables, columns, functions and types; at most {limit} are allowed. Split it into several statements.',
  },
  'sql.manyStatements': { kind: 'invalid', text: 'One statement was expected; the text has {count}. Send them separately.' },
  'sql.notAllowed': { kind: 'invalid', text: '{what} (character {position}) is not allowed here: {reason}.' },
  'sql.failed': { kind: 'invalid', text: '{message}' },
  'sql.ambiguousTable': {
    kind: 'invalid',
    text: 'SQL identifiers are not case-sensitive: "{table}" and "{other}" cannot be used in one session.',
  },
  'sql.timeout': {
    kind: 'unprocessable',
    text: 'The statement took longer than {seconds} s and was stopped. Read fewer rows, or ask the operator for more time.',
  },
  'sql.tryTimeout': {
    kind: 'unprocessable',
    text: 'Trying the script took longer than {seconds} s and was stopped here. Use a smaller sample, try fewer blocks, or run it as a job.',
  },
  'sql.tooManyStatements': {
    kind: 'invalid',
    text: 'The script has {count} statements; at most {limit} are tried in one request. Try fewer blocks, or run it as a job.',
  },
  'sql.tooMuch': {
    kind: 'unprocessable',
    text: 'The statement exceeds the limits of a session: {memoryMb} MB of memory and {diskMb} MB of temporary disk ({reason}). Read fewer rows or columns.',
  },
  'sql.diskFull': {
    kind: 'full',
    text: 'The disk of the stack is full: the statement was stopped and changed nothing. Free some space, then try again.',
  },
  'sql.savedQueries.notFound': { kind: 'not-found', text: 'Saved query {id} does not exist.' },
  'sql.savedQueries.alreadyExists': {
    kind: 'conflict',
    text: 'The project already has a saved query named "{name}". Choose another name, or change the existing query.',
  },
  'sql.savedQueries.tooMany': {
    kind: 'invalid',
    text: 'The project already has {limit} saved queries, the maximum. Delete some that are not used any more.',
  },
  'sql.savedQueries.changedSince': {
    kind: 'conflict',
    text: 'Saved query {id} was changed by another request. Read it again, and repeat the change.',
  },
  'sql.savedQueries.inUse': {
    kind: 'conflict',
    text: 'Saved query {id} is shown by the dashboard "{dashboard}". Remove it from the dashboard first.',
  },
  'sql.savedQueries.parameter': { kind: 'invalid', text: 'The parameter {name} {reason}.' },
  'dashboards.notFound': { kind: 'not-found', text: 'Dashboard {id} does not exist.' },
  'dashboards.noTile': { kind: 'not-found', text: 'The dashboard has no tile {id}.' },
  'dashboards.noLink': { kind: 'not-found', text: 'The dashboard has no link {id}.' },
  'dashboards.alreadyExists': {
    kind: 'conflict',
    text: 'The project already has a dashboard named "{name}". Choose another name, or change the existing dashboard.',
  },
  'dashboards.changedSince': {
    kind: 'conflict',
    text: 'Dashboard {id} was changed by another request. Read it again, and repeat the change.',
  },
  'dashboards.tooMany': { kind: 'invalid', text: 'The maximum of {limit} {what} is reached. Delete unused ones.' },
  'dashboards.invalid': { kind: 'invalid', text: '{what} {reason}.' },
  'dashboards.linkInvalid': {
    kind: 'unauthenticated',
    text: 'This link does not exist, has expired or is revoked. Ask the person who sent it for a new one.',
  },
  'sql.noTime': {
    kind: 'invalid',
    text: '"{value}" is not a time. Use an ISO date, a time such as "2026-01-31 12:00:00", or a phrase such as "-2 days".',
  },
  'sql.noHistory': {
    kind: 'invalid',
    text: 'The history of table {table} is disabled. Enable it with PUT /v2/storage/tables/{table}/history.',
  },
  'sql.noState': {
    kind: 'invalid',
    text: 'Table {table} has no state of {time}: it was created later, or the state is older than the retention. Use a later time.',
  },
  'sql.scriptFailed': { kind: 'invalid', text: '{place}: {reason}' },
  'sql.cancelled': { kind: 'conflict', text: 'The statement was cancelled.' },
  'sql.workerDied': {
    kind: 'transient',
    text: 'The process that ran the statement exited unexpectedly ({reason}). No table was changed; try again.',
  },
  'sql.busy': {
    kind: 'transient',
    text: 'All {sessions} SQL sessions of this node are in use, and none became free within {seconds} s. Try again.',
  },
  'sql.shareInUse': {
    kind: 'transient',
    text: 'The {owner} already uses its {limit} SQL sessions on this node, and none became free within {seconds} s. Wait until one of its statements finishes, or cancel one.',
  },
  'sql.sessionInUse': { kind: 'conflict', text: 'The session is running a statement. Wait until it finishes, or cancel it.' },
  'sql.sessionClosed': { kind: 'conflict', text: 'The SQL session is closed. Open a new one.' },

  // Triggers
  'storage.triggers.notFound': { kind: 'not-found', text: 'Trigger {id} was not found.' },
  'storage.triggers.validation': { kind: 'invalid', text: '{reason}' },
  'storage.triggers.invalidParameters': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.triggers.privilege': {
    kind: 'unprocessable',
    text: 'Your token does not have sufficient privilege. Token is neither admin token nor does it have canManageBucket permission nor does it have access to component(s) "{components}".',
  },
  'storage.triggers.changed': { kind: 'conflict', text: 'Trigger {id} ran or was modified at the same time. Try again.' },

  // Runner
  'runner.unsafeOutput': {
    kind: 'invalid',
    text: 'The component left a {kind} at {path}. Results must be regular files and folders inside the data folder.',
  },
  'runner.unsafeName': {
    kind: 'invalid',
    text: 'The result "{name}" cannot be a file in {path}. Choose a name of at most 240 bytes without slashes.',
  },
  'runner.tooManyResults': {
    kind: 'invalid',
    text: 'The component left more than {max} files in its out folder. Write fewer and larger files, or an archive; the operator can raise MILLRACE_RUN_RESULTS.',
  },
  'runner.invalidYaml': { kind: 'invalid', text: 'The component wrote a {path} that is not valid YAML: {reason}' },
  'runner.invalidArchive': { kind: 'invalid', text: 'The archive cannot be unpacked: {reason}' },
  'runner.outputTooLarge': { kind: 'invalid', text: 'The file {path} has {size} bytes; the maximum is {limit}.' },
  'runner.notIsolated': {
    kind: 'invalid',
    text: 'The component is a command and cannot be isolated on this machine: {reason}. The operator can allow user namespaces, or set MILLRACE_ISOLATION=auto to run it without isolation.',
  },
  'runner.noPython': {
    kind: 'invalid',
    text: 'The component {component} needs Python, and {missing}. The operator installs Python 3 on the nodes that run jobs.',
  },
  'runner.codeNotIsolated': {
    kind: 'invalid',
    text: 'The component {component} runs user code, which only runs isolated, and this node does not support isolation: {reason}. See MILLRACE_ISOLATION.',
  },
  'runner.noContainerEngine': {
    kind: 'invalid',
    text: 'The component {component} is an image ({image}), but neither docker nor podman is running on this stack. Start one of them, or use a component that is a command.',
  },
  'runner.imageMissing': { kind: 'invalid', text: 'The image {image} could not be pulled: {reason}' },
  // Files
  'storage.files.notFound': { kind: 'not-found', text: 'File not found' },
  'storage.files.tagNotFound': { kind: 'not-found', text: 'File {id} has no tag "{tag}".' },
  'storage.files.providerUnavailable': {
    kind: 'invalid',
    text: 'The files of this project use the provider {provider}, which requires the embedded object store, but this stack uses an external one. Set provider=aws with millrace project set.',
  },
  'storage.files.noContent': {
    kind: 'invalid',
    text: 'The content of file {id} cannot be shown: {reason}. Download it by its url instead.',
  },
  'storage.files.notFetched': {
    kind: 'invalid',
    text: 'The file at {url} could not be fetched: {reason}. Check the URL, or download the file and upload it from your machine.',
  },
  'storage.files.noHead': {
    kind: 'invalid',
    text: 'These bytes of file {id} cannot be shown: {reason}. Download it by its url instead.',
  },
  'storage.files.damaged': {
    kind: 'unprocessable',
    text: 'The file {id} starts as {compression} but cannot be decompressed: it is damaged or truncated. Upload it again, or read it with raw=1.',
  },
  'storage.fileNotUploaded': { kind: 'invalid', text: 'File {id} was prepared, but nothing has been uploaded to it.' },
  'storage.manifestFileMissing': {
    kind: 'invalid',
    text: 'Sliced file {id} has no manifest. Upload one to its key followed by "manifest".',
  },
  'storage.invalidManifest': { kind: 'invalid', text: 'The manifest of sliced file {id} is invalid: {reason}.' },
  'storage.importFileMissing': { kind: 'invalid', text: 'The manifest of file {id} names {slice}, which has not been uploaded.' },
  'storage.unauthorizedAccess': {
    kind: 'forbidden',
    text: 'The manifest of file {id} names {slice}, which does not belong to that file.',
  },
  'query.syntax': { kind: 'invalid', text: 'The query "{query}" could not be parsed: {reason}.' },
  'import.dataMissing': { kind: 'invalid', text: 'The form has no file. Send it as the multipart field "data".' },

  // Iceberg
  'iceberg.warehouseNotFound': {
    kind: 'not-found',
    text: 'Warehouse "{warehouse}" does not exist. Omit it for the default branch, or send a branch id, `flat`, or both as `123/flat`.',
  },
  'iceberg.prefixNotFound': {
    kind: 'not-found',
    text: 'The prefix "{prefix}" does not belong to the project of this token. `GET /iceberg/v1/config` returns the prefix.',
  },
  'iceberg.namespaceNotFound': {
    kind: 'not-found',
    text: 'The namespace "{namespace}" does not exist, or this token cannot read it. Namespaces are buckets, for example in.c-main.',
  },
  'iceberg.aliasNotOpen': {
    kind: 'not-found',
    text: 'The alias "{table}" shows a part of its table. Its files would expose all of it, so it can only be read through the Storage API.',
  },
  'iceberg.preparing': {
    kind: 'transient',
    text: 'The files of the table are being converted for other engines. Retry in a few seconds.',
  },
  'iceberg.notBuilt': {
    kind: 'not-built',
    text: '{what} is not supported by this catalogue. `GET /iceberg/v1/config` lists the supported endpoints.',
  },
  'iceberg.commitFailed': {
    kind: 'conflict',
    text: 'The table does not match the requirements of the commit: {reason}. Reload it and repeat the commit.',
  },
  'iceberg.commitRefused': { kind: 'invalid', text: 'The commit was refused, and nothing was changed: {reason}.' },
  'iceberg.fileRefused': {
    kind: 'invalid',
    text: 'The commit was refused, and nothing was changed: the file {file} {reason}.',
  },
  'iceberg.tableExists': { kind: 'conflict', text: 'The table "{table}" already exists.' },
  'iceberg.keyTaken': {
    kind: 'invalid',
    text: 'The commit was refused, and nothing was changed: {rows} rows would have the same primary key {columns}: {values}. Replace the existing rows instead of adding to them.',
  },

  // Object store
  'storage.unavailable': { kind: 'transient', text: 'The object store could not {what}. Try again.' },
  'storage.full': {
    kind: 'full',
    text: 'The object store has no space left to {what}. Free some space, then try again; reads still work.',
  },
  'stack.diskFull': {
    kind: 'full',
    text: 'The disk of {where} is full, so the request could not be completed. Free some space, then try again; reads still work.',
  },
  'storage.corrupt': {
    kind: 'bug',
    text: 'The bytes of object {key} do not match their checksum at offset {offset}. Restore it from a backup or upload it again.',
  },
  'storage.invalidKey': { kind: 'invalid', text: 'An object key is 1 to 1024 bytes of UTF-8 without NUL; this one {reason}.' },
  'storage.preconditionFailed': {
    kind: 'conflict',
    text: 'Object {key} does not meet the condition of the request ({condition}).',
  },
  'storage.uploadNotFound': {
    kind: 'not-found',
    text: 'No multipart upload with this id exists for {key}. It was completed, aborted or never started.',
  },
  'storage.invalidPart': { kind: 'invalid', text: 'Part {number} was not uploaded, or its etag is not {etag}.' },
  // Backups
  'backup.targetNotEmpty': {
    kind: 'invalid',
    text: 'The folder {folder} is not empty: it contains {found}. Use a new or empty folder; a backup never overwrites files.',
  },
  'backup.notAFolder': { kind: 'invalid', text: '{folder} is not a folder.' },
  'backup.notABackup': {
    kind: 'invalid',
    text: '{folder} is not a backup: manifest.json is missing. An interrupted backup has none.',
  },
  'backup.manifestDamaged': {
    kind: 'invalid',
    text: 'manifest.json in {folder} is damaged, so nothing in the backup can be trusted. Use another backup.',
  },
  'backup.dataFolderNotEmpty': {
    kind: 'invalid',
    text: 'The data folder {folder} is not empty: it contains {found}. A backup can only be restored into an empty folder; set MILLRACE_DATA_DIR, or move the old data away.',
  },
  'backup.changedWhileRead': {
    kind: 'conflict',
    text: '{file} changed while it was being restored. Empty the data folder and restore again.',
  },
  'backup.noBucket': {
    kind: 'invalid',
    text: 'No backup bucket is configured. Set MILLRACE_BACKUP_S3_ENDPOINT, MILLRACE_BACKUP_S3_BUCKET, MILLRACE_BACKUP_S3_ACCESS_KEY_ID and MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY.',
  },
  'backup.noPlace': {
    kind: 'conflict',
    text: 'No location for backups is configured. Set MILLRACE_BACKUP_FOLDER or the environment variables MILLRACE_BACKUP_S3_*, or run millrace backup on the server.',
  },
  'backup.runs': { kind: 'conflict', text: 'A backup is running. Wait until it has finished.' },
  'backup.pausedCopy': {
    kind: 'conflict',
    text: 'This stack is a paused copy of another one, whose backups retention could remove. Run millrace resume first.',
  },
  'backup.notGood': {
    kind: 'conflict',
    text: 'Backup {id} cannot be tested: its state is {state}. Choose a successful backup that still exists.',
  },
  'backup.drillRuns': { kind: 'conflict', text: 'A restore test is running. Wait until it has finished.' },
  'backup.wrongName': {
    kind: 'invalid',
    text: '"{name}" is not a valid backup name. Use up to 100 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
  },
  'backup.notInBucket': { kind: 'not-found', text: 'Backup "{name}" does not exist in the bucket. Newest backups: {found}.' },
  'backup.nothingThere': { kind: 'invalid', text: '{folder} contains no stack. Set MILLRACE_DATA_DIR to the data folder.' },
  'backup.newerVersion': {
    kind: 'invalid',
    text: 'The backup was created by Millrace {backup}, which is newer than this program ({program}). Restore it with Millrace {backup} or newer.',
  },
  'backup.needsDatabase': {
    kind: 'invalid',
    text: 'The backup contains the rows of a PostgreSQL database. Set MILLRACE_DATABASE_URL to an empty database to restore them into.',
  },
  'backup.needsNoDatabase': {
    kind: 'invalid',
    text: 'The backup contains a SQLite database, which is restored into the data folder. Unset MILLRACE_DATABASE_URL.',
  },
  'backup.databaseNotEmpty': {
    kind: 'invalid',
    text: 'The database of MILLRACE_DATABASE_URL is not empty: it has a table {found}. A backup can only be restored into an empty database.',
  },
  'backup.needsS3': {
    kind: 'invalid',
    text: 'The backup contains the objects of an external S3. Set MILLRACE_S3_ENDPOINT, its keys and MILLRACE_S3_BUCKET to an empty bucket to restore them into.',
  },
  'backup.needsNoS3': {
    kind: 'invalid',
    text: 'The backup contains the objects of the embedded store, which are restored into the data folder. Unset MILLRACE_S3_ENDPOINT and its keys.',
  },
  'backup.bucketNotEmpty': {
    kind: 'invalid',
    text: 'The bucket {bucket} is not empty. A backup can only be restored into an empty bucket; set MILLRACE_S3_BUCKET to another one.',
  },
  // Comments on tables
  'storage.comments.notAuthor': {
    kind: 'forbidden',
    text: 'Comment {id} was written by another caller. Only its author can change it; its author and project admins can delete it.',
  },
  // Storage jobs
  'storage.jobs.notFound': { kind: 'not-found', text: 'Job {id} was not found.' },
  'storage.jobs.lost': { kind: 'conflict', text: 'Job {id} was claimed by another worker; this attempt changed nothing.' },
  'storage.jobs.failed': { kind: 'bug', text: 'The job failed without a reason.' },
  'storage.jobs.workerLost': {
    kind: 'transient',
    text: 'The process that ran this job exited before the job finished. Nothing was changed; start the operation again.',
  },
  // Buckets
  'storage.buckets.notFound': { kind: 'not-found', text: 'The bucket "{id}" was not found in the project "{project}"' },
  'storage.buckets.alreadyExists': { kind: 'invalid', text: 'The {what} already exists in project.' },
  'storage.buckets.validation': { kind: 'invalid', text: 'Invalid data - {field}: {reason}' },
  'buckets.deleteNotEmpty': {
    kind: 'invalid',
    text: 'Only empty buckets can be deleted. There are {count} tables in the bucket.',
  },
  'storage.buckets.linked': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" is linked in project {projects}. Unlink it there, or remove the links first.',
  },
  'storage.buckets.linkInUse': {
    kind: 'invalid',
    text: 'Tables of the linked bucket "{bucket}" are used by the aliases {aliases}. Delete these first, or send force=1.',
  },
  'storage.buckets.snapshotNotSupported': {
    kind: 'invalid',
    text: 'The table "{table}" is an alias and has no rows of its own. Create a snapshot of "{source}".',
  },
  'storage.buckets.linkedCannotBeShared': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" is linked from another project and cannot be shared again. Share the source bucket.',
  },
  'storage.buckets.sharingInBranch': {
    kind: 'invalid',
    text: 'Sharing Dev/Branch buckets is not supported yet.',
  },
  'storage.buckets.linkNotFound': { kind: 'not-found', text: 'There is no linked bucket in project "{project}"' },
  'storage.buckets.alreadyLinked': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" of project {project} is already linked here as "{link}".',
  },
  'storage.bucket.notShared': { kind: 'invalid', text: 'The bucket {bucket} is not shared.' },
  'storage.bucket.ownerNotFound': {
    kind: 'not-found',
    text: 'The bucket "{bucket}" has no owner. Set one with POST .../owner.',
  },
  'storage.bucket.holderNotFound': {
    kind: 'not-found',
    text: 'No user of this project has the id or the e-mail "{who}", and its master token has a different id. Send the id or e-mail of a user of this project.',
  },
  'storage.buckets.targetProjectIdsAreNotPartOfOrganization': {
    kind: 'invalid',
    text: 'Project {project} is not part of this stack. Share with projects that are.',
  },
  'storage.buckets.targetAdminsAreNotPartOfOrganization': {
    kind: 'invalid',
    text: 'No user on this stack has the id or the e-mail "{user}", and no project has a master token with this admin id. Share with users of this stack.',
  },
  'storage.buckets.notExternal': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" does not come from an external database, so it cannot be refreshed: it is always current.',
  },
  'storage.buckets.readOnly': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" is linked from another project and read-only. Use a bucket of your own.',
  },
  // Tables
  validationError: { kind: 'invalid', text: '{reason}' },
  'storage.tables.notFound': {
    kind: 'not-found',
    text: 'The table "{table}" was not found in the bucket "{bucket}" in the project "{project}"',
  },
  'storage.tables.objectMissing': {
    kind: 'bug',
    text: 'A file of the table is missing in the object store ({key}). Restore it from a backup.',
  },
  'storage.dataTests.failed': {
    kind: 'invalid',
    text: 'The load was not published, because data tests of table {table} failed: {tests}.{rows}',
  },
  'storage.dataTests.notFound': { kind: 'not-found', text: 'Data test {id} does not exist.' },
  'storage.dataTests.alreadyExists': {
    kind: 'conflict',
    text: 'Table {table} already has a data test named "{name}". Choose another name, or change the existing test.',
  },
  'storage.dataTests.invalid': { kind: 'invalid', text: '{reason}.' },
  'storage.dataTests.noColumn': {
    kind: 'invalid',
    text: 'Column {column} does not exist in table {table}. Use a column of the table.',
  },
  'storage.dataTests.notOwnTable': {
    kind: 'invalid',
    text: 'Table {table} is an alias or belongs to another project, so it is not loaded. Test its source table.',
  },
  'storage.dataTests.tooMany': {
    kind: 'invalid',
    text: 'Table {table} already has {limit} data tests, the maximum. Delete some, or test several columns in one.',
  },
  'storage.dataTests.otherBranch': {
    kind: 'invalid',
    text: 'Data test "{name}" belongs to the default branch. Change it there, or create a test with the same name in this branch, which replaces it here.',
  },
  'storage.dataTests.proposedRemoval': {
    kind: 'invalid',
    text: 'A proposal cannot delete or rename data test "{name}" of the default branch. Propose to disable it (isEnabled: false), or ask a person.',
  },
  'storage.history.notPossible': { kind: 'invalid', text: 'The history of table {table} cannot be enabled: {reason}.' },
  'storage.history.gap': {
    kind: 'conflict',
    text: 'The history of table {table} has a gap: its last state is older than the retention. Disable the history and enable it again.',
  },
  'storage.history.swap': {
    kind: 'conflict',
    text: 'Table {table} has an enabled history and cannot be swapped. Disable the history, swap the tables, and enable it again.',
  },
  'storage.history.rename': {
    kind: 'conflict',
    text: 'Column {column} cannot be renamed, because the history of table {table} uses this name. Disable the history, rename the column here and in {table}_history, and enable it again.',
  },
  'storage.history.advanced': { kind: 'conflict', text: 'The history of table {table} was extended by another node.' },
  'storage.contracts.invalid': { kind: 'invalid', text: 'The data contract is invalid: {reason}.' },
  'storage.contracts.notFound': { kind: 'not-found', text: 'Table {table} has no data contract in this branch.' },
  'storage.contracts.contradicts': {
    kind: 'unprocessable',
    text: 'The data contract contradicts table {table}: {reason} Change the contract or the table, or import it with force.',
  },
  'storage.contracts.mergeBreaks': {
    kind: 'conflict',
    text: 'The merge would break data contracts: {tables}. Fix the tables of the branch, or change the contracts in the default branch.',
  },
  'storage.dataTests.tooSlow': {
    kind: 'unprocessable',
    text: 'The data tests of table {table} took longer than {minutes} minutes. Remove or simplify the slowest.',
  },
  'storage.tables.loadsFailed': { kind: 'invalid', text: 'Nothing was loaded, because some tables failed:\n{lines}' },
  'storage.tables.dropped': { kind: 'not-found', text: 'The table was deleted while the job was running. Nothing was changed.' },
  'storage.tables.validation': { kind: 'invalid', text: '{reason}' },
  'storage.tables.validation.invalidColumnName': { kind: 'invalid', text: 'Invalid columns: {reason}' },
  'storage.tables.invalidColumnName': { kind: 'invalid', text: 'Invalid columns: {reason}' },
  'storage.tables.validation.noColumns': {
    kind: 'invalid',
    text: 'The file {file} is empty. Its first row must be the header: the names of the columns.',
  },
  'storage.tables.validation.invalidPrimaryKeyColumns': {
    kind: 'invalid',
    text: 'The primary key contains columns that do not exist in the table: {columns}. Existing columns: {known}.',
  },
  'storage.tables.validation.invalidFormat': {
    kind: 'invalid',
    text: 'The format "{format}" is not supported here. Supported formats: {known}.',
  },
  'storage.tables.validation.columnNotExists': { kind: 'invalid', text: 'The column "{column}" does not exist in the table.' },
  'storage.tables.validation.cannotAddColumn': {
    kind: 'invalid',
    text: 'The table "{table}" shows the columns of "{source}". Add the column there.',
  },
  'storage.tables.validation.unintendedTruncation': {
    kind: 'invalid',
    text: 'No filters have been specified, which will truncate the table, but the `allowTruncate` parameter was not set.',
  },
  'workspace.workspaceNotFound': { kind: 'not-found', text: 'Workspace "{id}" not found.' },
  'workspace.ofOtherToken': {
    kind: 'forbidden',
    text: 'The configuration runs in workspace {id}, which another token created. Run it with that token or one with canManageBuckets, or copy the configuration.',
  },
  'workspace.tooManyOfProject': {
    kind: 'forbidden',
    text: 'The project already has {limit} workspaces, the maximum. Delete unused ones, or ask the operator for a higher limit storage.maxWorkspaces.',
  },
  'workspace.tooManyOfToken': {
    kind: 'forbidden',
    text: 'This token has already created {limit} workspaces, the maximum. Delete some of them, or use a token with canManageBuckets.',
  },
  'workspace.unsupportedBackendSize': {
    kind: 'invalid',
    text: 'The workspace size "{size}" is not supported. Supported sizes: {known}.',
  },
  'workspace.loginTypeNotSupported': {
    kind: 'invalid',
    text: 'The login type "{type}" is not supported here. Supported types: {known}.',
  },
  'workspace.tooManyValues': {
    kind: 'unprocessable',
    text: 'The column "{column}" of "{table}" has more than {limit} different values. Load them as a table instead.',
  },
  'workspace.credentialsNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} does not support further passwords: its login type is {type}.',
  },
  'workspace.credentialsNotFound': { kind: 'not-found', text: 'Workspace {id} has no credentials {credentials}.' },
  'workspace.tooManyCredentials': {
    kind: 'invalid',
    text: 'Workspace {id} already has {limit} credentials or keys, the maximum. Delete some first.',
  },
  'workspace.publicKeyNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} does not support login by key: its login type is {type}. Create one with loginType snowflake-service-keypair.',
  },
  'workspace.publicKeyInvalid': {
    kind: 'invalid',
    text: 'publicKey is not a public key. Send RSA (2048 bits or more), EC (P-256) or Ed25519, as PEM or as its base64.',
  },
  'workspace.resetPasswordNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} has no password: its login type is {type}. Use it through the API, or with a token as the password.',
  },
  'workspace.loadRequestInputRequired': {
    kind: 'invalid',
    text: 'The parameter "input" is required: a list of objects with "source" and "destination".',
  },
  'workspace.loadRequestBadInput': { kind: 'invalid', text: 'Invalid input {index}: {reason}' },
  'workspace.loadRequestLogicalException': { kind: 'invalid', text: 'Invalid input {index}: {reason}' },
  'workspace.inputMapping': { kind: 'invalid', text: 'Invalid input {index}: {reason}' },
  'workspace.backendNotSupported': {
    kind: 'invalid',
    text: 'The backend "{backend}" is not supported for workspaces here. Omit it, or send {known}.',
  },
  'workspace.duplicateDestination': {
    kind: 'invalid',
    text: 'The destination "{destination}" is duplicated (names are not case-sensitive). Each table needs a unique name.',
  },
  'workspace.duplicateTable': {
    kind: 'invalid',
    text: 'The table "{destination}" already exists in the workspace. Send "overwrite" for it, or omit "preserve".',
  },
  'workspace.sourceNotFound': { kind: 'not-found', text: 'The source table "{source}" was not found{where}.' },
  'workspace.tableAccessDenied': { kind: 'forbidden', text: 'The token does not have access to the source table "{source}".' },
  'workspace.columnsNotMatch': { kind: 'invalid', text: '{reason}' },
  'workspace.columnsTypesNotMatch': {
    kind: 'invalid',
    text: 'Different mapping between the source table "{source}" and the workspace table "{destination}": {columns}. Send the types of the workspace table, or load without "incremental".',
  },
  'storage.tables.nonExistingColumns': {
    kind: 'invalid',
    text: 'The table "{table}" does not have these columns: {columns}.',
  },
  'workspace.tableLoad': { kind: 'invalid', text: 'The table "{source}" could not be loaded as "{destination}": {reason}' },
  'workspace.full': {
    kind: 'unprocessable',
    text: 'Workspace {id} would exceed its limit of {limit} MB. Drop some of its tables, or load fewer rows.',
  },
  'storage.executeQuery.notSupportedLoginType': {
    kind: 'invalid',
    text: 'Workspace {id} logs in with a password, and queries through the API need another login type. Use the PostgreSQL port or the query service, or create it with loginType snowflake-person-sso.',
  },
  'storage.tableNotFound': { kind: 'not-found', text: 'Table "{table}" not found in schema "main"' },
  'query.notFound': { kind: 'not-found', text: 'Query job "{id}" was not found.' },
  'query.resultsGone': {
    kind: 'not-found',
    text: 'The rows of statement {id} have expired: results are kept for a day. Run it again.',
  },
  'storage.workspace.batchDeleteFailed': { kind: 'invalid', text: 'These objects could not be deleted: {objects}.' },
  'storage.tables.typedColumnsFixed': {
    kind: 'invalid',
    text: "During the import of typed tables new columns can't be added. Extra columns found: {columns}. Add these these columns first (manually or using a transformation).",
  },
  'storage.tables.typeDiffers': {
    kind: 'invalid',
    text: 'The column "{column}" of table {table} has the type {type}, but the load specifies {wanted}. Load into another table, or recreate this one.',
  },
  'storage.tables.modificationRefused': {
    kind: 'invalid',
    text: 'The load would change the table {table}, which table_modifications "{modifications}" does not allow: {changes}. Change the table first, or allow it.',
  },
  'storage.tables.insertWithKey': {
    kind: 'invalid',
    text: 'The table {table} has the primary key {columns}, so a row replaces the one with the same key and deduplication_strategy "insert" is not allowed. Use "upsert", or a table without a key.',
  },
  'storage.tables.invalidDefaultValueForType': {
    kind: 'invalid',
    text: 'The default "{value}" of column "{column}" is not a valid {type}. Send a value of that type; functions are not evaluated.',
  },
  'storage.tables.valuesDoNotFit': {
    kind: 'invalid',
    text: 'The column "{column}" cannot be converted to {type}: {rows} of its values are not of that type, for example {examples}. Correct them first{advice}.',
  },
  'storage.tables.columnIsFiltered': {
    kind: 'invalid',
    text: 'The type of the column "{column}" cannot be changed: the filters of {aliases} use it. Remove these filters first.',
  },
  'storage.tables.columnHasNulls': {
    kind: 'invalid',
    text: 'The column "{column}" has no value in {rows} rows, so it must stay nullable. Fill them first.',
  },
  'storage.tables.columnNeedsValues': {
    kind: 'invalid',
    text: 'The column "{column}" cannot be added: it is not nullable, and the {rows} rows of the table would have no value in it. Make it nullable, or set a default.',
  },
  'storage.tables.primaryKeyDuplicateValues': {
    kind: 'invalid',
    text: 'The columns {columns} cannot be the primary key: {rows} rows have the same values {values}.',
  },
  'storage.tables.cannotDeletePrimaryKeyColumn': {
    kind: 'invalid',
    text: 'The column "{column}" is part of the primary key. Delete the primary key first.',
  },
  'storage.tables.cannotDeleteReferencedColumn': {
    kind: 'invalid',
    text: 'The column "{column}" is used by the alias {aliases}. Change or delete the alias first; force=1 removes the column from aliases that follow the columns of their table.',
  },
  'storage.tables.cannotDeleteLastColumn': {
    kind: 'invalid',
    text: 'The column "{column}" is the last one of the table. Delete the table instead.',
  },
  'storage.tables.cannotRemoveReferencedColumnFromPrimaryKey': {
    kind: 'invalid',
    text: 'The primary key is used by the filter of the alias {aliases}. Delete the alias or its filter first.',
  },
  'storage.tables.aliasImportNotAllowed': {
    kind: 'invalid',
    text: 'The table "{table}" is an alias of "{source}" and read-only. Change that table instead.',
  },
  'storage.tables.notAnAlias': { kind: 'invalid', text: 'The table "{table}" is not an alias.' },
  'storage.tables.aliasHasAliases': {
    kind: 'invalid',
    text: 'Cannot change {what} - table has dependent aliases',
  },
  'storage.tables.sameTableSwap': {
    kind: 'unprocessable',
    text: 'A table cannot be swapped with itself. Send another targetTableId.',
  },
  'storage.tables.cannotSwapAlias': {
    kind: 'unprocessable',
    text: 'The table "{table}" is an alias, and aliases cannot be swapped.',
  },
  'storage.tables.crossBucketSwap': {
    kind: 'unprocessable',
    text: 'Tables of different buckets cannot be swapped ("{a}" and "{b}").',
  },
  'storage.tables.stateNotFound': {
    kind: 'not-found',
    text: 'The state {state} of the table "{table}" no longer exists. Omit "state" to read the current one.',
  },
  'storage.tables.tooSlow': {
    kind: 'unprocessable',
    text: 'Reading these rows took longer than {seconds} s and was stopped. Select fewer columns, narrow the filter, omit the order or the count, or export the table.',
  },
  'storage.tables.profileNotFound': {
    kind: 'not-found',
    text: 'This profile of the table "{table}" does not exist. Start one with POST .../profile.',
  },
  'tables.cannotDeletedTableWithAliases': {
    kind: 'invalid',
    text: 'The table {table} cannot be deleted because an alias exists: {aliases}. Delete it first, or send force=1.',
  },
  'storage.buckets.tableAlreadyExists': {
    kind: 'invalid',
    text: 'The table "{name}" in the bucket already has the same display name "{displayName}".',
  },
  'storage.buckets.invalidAlias': { kind: 'invalid', text: '{reason}' },
  'storage.validation.primaryKey': { kind: 'invalid', text: '{reason}' },
  'storage.snapshots.notFound': { kind: 'not-found', text: 'Snapshot {id} was not found.' },
  'storage.snapshots.otherTable': {
    kind: 'invalid',
    text: 'Snapshot {id} does not belong to the table "{table}". Create a new table from it instead.',
  },
  'storage.snapshots.otherColumns': {
    kind: 'invalid',
    text: 'The columns, types or key of the table "{table}" were different then, so its rows cannot be restored. Create a new table from that state instead.',
  },
  'storage.validation.timeTravelNotSupported': {
    kind: 'invalid',
    text: 'The table "{table}" is an alias and has no earlier states of its own. Use its source table.',
  },
  'storage.timetravel.invalid': {
    kind: 'invalid',
    text: 'The table has no state at that time. Send a timestamp after the table was created, not in the future and within the retention of its states.',
  },
  'csvImport.columnsNotMatch': {
    kind: 'invalid',
    text: 'Some columns are missing in the csv file. Missing columns: {missing}. Expected columns: {expected}. Please check if the expected delimiter "{delimiter}" is used in the csv file.',
  },
  'storage.invalidColumns': {
    kind: 'invalid',
    text: 'The parameter "columns" contains {columns}, which do not exist in the table. Existing columns: {known}. Add a column first, or send a file with a header.',
  },
  // Events
  'storage.event.schemaValidationFailed': { kind: 'invalid', text: 'Invalid event - {field}: {reason}' },
  'storage.events.notFound': { kind: 'not-found', text: 'Event not found' },
  'storage.events.query': { kind: 'invalid', text: 'Failed to parse query {query}: {reason}' },

  // Queue
  'queue.jobNotFound': { kind: 'not-found', text: 'Job "{id}" not found' },
  'queue.unknownComponent': { kind: 'invalid', text: 'Component "{component}" does not exist.' },
  'queue.notRunnable': { kind: 'invalid', text: 'Component "{component}" cannot be run: {reason}' },
  'queue.pausedCopy': {
    kind: 'conflict',
    text: 'This stack is a restored copy, so {component} does not run: the original may still deliver. Run "millrace resume" and restart the stack to enable deliveries.',
  },
  'queue.configurationDisabled': {
    kind: 'invalid',
    text: 'Configuration "{configuration}" of component "{component}" is disabled. Enable it, or run it with mode "forceRun".',
  },
  'queue.rowsNotFound': { kind: 'invalid', text: 'None of the rows "{rows}" was found in configuration "{configuration}".' },
  'queue.invalidJob': { kind: 'invalid', text: 'Invalid job: {reason}' },
  'queue.notKillable': {
    kind: 'invalid',
    text: 'Job "{id}" is not in one of killable states ("created", "waiting", "processing"): it is "{status}".',
  },
  'queue.statusTerminal': {
    kind: 'conflict',
    text: 'The job is finished with status "{status}"; "{move}" is no longer allowed.',
  },
  'queue.statusTransitionForbidden': { kind: 'conflict', text: 'A job with status "{status}" cannot {move}.' },
  'queue.leaseLost': {
    kind: 'conflict',
    text: 'The lease of job {id} was lost to another worker; the results of this attempt are discarded.',
  },
  dbDeduplicationIdConflict: {
    kind: 'conflict',
    text: 'A job with deduplicationId "{deduplicationId}" already exists: job {id}.',
  },
  'queue.idempotencyKeyReused': {
    kind: 'conflict',
    text: 'The Idempotency-Key was already used for job {id}, which runs something else. Send a new key with every new request.',
  },

  // Flows
  'flows.invalid': { kind: 'invalid', text: 'The flow is invalid. {problems}' },
  'flows.unknownTasks': {
    kind: 'invalid',
    text: 'Unknown tasks: {tasks}. Use the task ids of the flow configuration.',
  },
  'flows.containsItself': { kind: 'invalid', text: 'The flow contains itself: {trail}. Remove one of these tasks.' },
  'flows.notARun': {
    kind: 'invalid',
    text: 'previousJobId: job {id} is not a run of this flow. Omit it to run the whole flow.',
  },
  'flows.conditionFailed': { kind: 'invalid', text: 'A condition cannot be evaluated: {reason}.' },

  // Components and configurations
  'storage.components.notFound': { kind: 'not-found', text: 'Component "{id}" not found' },
  'storage.components.descriptionInvalid': {
    kind: 'not-found',
    text: 'The description of component "{id}" is invalid. {reason}. Fix the file; it is read again within seconds.',
  },
  'storage.components.validation': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.componentsRows.validation': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.components.tooLarge': {
    kind: 'too-large',
    text: 'The configuration or state is larger than the {limit} bytes allowed for each. Keep data in files or tables, not in the configuration.',
  },
  'storage.components.stateInBranch': {
    kind: 'invalid',
    text: "Using 'state' parameter on {what} update is restricted for dev/branch context. Use direct API call.",
  },
  'storage.components.cannotDeleteConfiguration': {
    kind: 'invalid',
    text: 'Deleting configuration from trash is not allowed in development branches.',
  },
  'storage.components.configurations.versionConflict': {
    kind: 'conflict',
    text: '{what} is at version {actual}, not {expected}: it was modified in the meantime. Read it again and repeat the change.',
  },
  'storage.configuration.notFound': { kind: 'not-found', text: 'Configuration "{id}" not found' },
  'storage.configuration.versionNotFound': { kind: 'not-found', text: 'Version {version} not found' },
  'storage.configuration.diffNotAvailableOnDefaultBranch': {
    kind: 'invalid',
    text: 'A diff compares a branch with the default branch. Use the URL of a development branch.',
  },
  'storage.configuration.rebaseNotAvailableOnDefaultBranch': {
    kind: 'invalid',
    text: 'Only a configuration of a development branch can be rebased. Use the URL of a development branch.',
  },
  'storage.configuration.resetNotAvailableOnDefaultBranch': {
    kind: 'not-built',
    text: 'Reset to default branch is not implemented for default branch',
  },
  configurationAlreadyExists: { kind: 'invalid', text: 'Configuration "{id}" already exists.' },
  configurationRowAlreadyExists: { kind: 'invalid', text: 'Row "{id}" already exists.' },
  'validation.invalidConfigurationFormat': { kind: 'invalid', text: 'Invalid configuration body format: {reason}' },
  'validation.invalidStateFormat': { kind: 'invalid', text: 'Invalid state body format: {reason}' },
  'validation.invalidRowSortOrder': {
    kind: 'invalid',
    text: 'rowsSortOrder must contain every row of the configuration once. Missing: {missing}.',
  },

  // Metadata of configurations, branches, buckets, tables and columns
  'storage.metadata.invalidStructure': { kind: 'invalid', text: 'The metadata cannot be stored: {reason}' },
  'storage.metadata.invalidParameter': { kind: 'invalid', text: 'The metadata parameter must be an array.' },
  'storage.metadata.invalidKey': { kind: 'invalid', text: 'Invalid Metadata Key ({place})' },
  'storage.metadata.invalidProvider': { kind: 'invalid', text: 'Provider is required.' },
  'storage.metadata.invalidId': {
    kind: 'invalid',
    text: 'Argument "subResource" is expected to be type "int", value "{value}" given.',
  },
  APPLICATION_ERROR: { kind: 'invalid', text: 'exceptions.storage.metadata.invalidDelete' },
  'storage.metadata.notFound': { kind: 'not-found', text: 'Metadata with id "{id}" not found' },

  // Branches
  'devBranch.notFound': { kind: 'not-found', text: 'Branch id:"{id}" was not found.' },
  'devBranch.duplicateName': { kind: 'invalid', text: 'There already is a branch with name "{name}"' },
  'devBranch.defaultName': { kind: 'invalid', text: 'You can not update default branch name.' },
  'devBranch.deleteDefault': { kind: 'invalid', text: 'Cannot delete Main branch' },
  'devBranch.mergeDefault': {
    kind: 'invalid',
    text: 'The default branch is the target of merges and cannot be merged itself. Use a development branch.',
  },
  'devBranch.mergeConflict': {
    kind: 'conflict',
    text: 'Branch "{branch}" cannot be merged: these configurations also changed in the default branch: {configurations}. Rebase or reset them first.',
  },

  // Merge requests
  'mergeRequest.notFound': { kind: 'not-found', text: 'Merge request "{id}" not found' },
  'mergeRequest.branches': {
    kind: 'unprocessable',
    text: 'A merge request merges a development branch into the default branch.',
  },
  'mergeRequest.autoMergeAt': {
    kind: 'unprocessable',
    text: 'autoMergeAt is {given}. A scheduled merge requires a time, for example 2026-12-24T18:00:00+00:00.',
  },
  'mergeRequest.wrongState': {
    kind: 'unprocessable',
    text: 'The step "{move}" is not allowed for a merge request that is {state}.',
  },
  'mergeRequest.reviewRequired': {
    kind: 'conflict',
    text: 'This project requires {count} approvals before a merge. Open a merge request for the branch.',
  },
  'mergeRequest.notReady': { kind: 'conflict', text: 'The merge request is {state}; only an approved one can be merged.' },
  'mergeRequest.conflict': { kind: 'invalid', text: 'Merge request {id} cannot be merged. \n Errors: \n{errors}' },
  'mergeRequest.unknownReviewer': {
    kind: 'unprocessable',
    text: 'The reviewer "{id}" has no token of the project that can approve. Send ids of master tokens, or of tokens that manage branches or buckets.',
  },
  'mergeRequest.branchNotFound': { kind: 'not-found', text: 'Cannot create merge request. Branch id:"{id}" was not found.' },
  'mergeRequest.targetNotDefault': { kind: 'invalid', text: 'Cannot create merge request. Target branch is not default.' },
  'mergeRequest.exists': { kind: 'invalid', text: 'There is already a merge request ({id}) created from branch "{branch}"' },
  'mergeRequest.inProgress': { kind: 'invalid', text: 'Cannot merge, another merge is in progress.' },
  'mergeRequest.refused': { kind: 'invalid', text: 'Operation cannot be performed due: {reason}' },

  // Proposals
  'proposals.notFound': { kind: 'not-found', text: 'Proposal {id} was not found.' },
  'proposals.notPossible': {
    kind: 'forbidden',
    text: 'A token that only proposes cannot use {operation}. Propose configurations, new tables, descriptions of tables, data tests and contracts; for everything else ask a person.',
  },
  'proposals.changedSince': {
    kind: 'conflict',
    text: 'Configuration {configuration} of {component} has changed since proposal {id} was accepted. Roll it back separately.',
  },
  'proposals.storageChangedSince': {
    kind: 'conflict',
    text: 'The {what} of table {table} has changed since proposal {id} was accepted. Change it back separately.',
  },
  'proposals.storageConflict': {
    kind: 'conflict',
    text: 'Proposal {id} cannot be applied: {what} of table {table} does not fit the default branch any more. Refuse it with a reason, so that the agent proposes it again.',
  },
  'proposals.notOwnTable': {
    kind: 'forbidden',
    text: 'A proposal can delete only tables that it created, and table {table} is not one. Ask a person to delete it.',
  },
  'proposals.noRows': {
    kind: 'forbidden',
    text: 'Rows of table {table} cannot be proposed, because a review cannot show them. Propose a configuration that writes them, and what to run once it is accepted.',
  },
  'proposals.defaultBranch': { kind: 'invalid', text: 'The default branch cannot be proposed. Name a development branch.' },
  'proposals.exists': { kind: 'conflict', text: 'Proposal {id} of branch {branch} already exists and is not decided yet.' },
  'proposals.notRehearsed': {
    kind: 'invalid',
    text: 'Component {component} cannot be rehearsed: {reason}.',
  },
  'proposals.otherBranch': {
    kind: 'forbidden',
    text: 'A token that only proposes can change its own branch only, not branch {branch}. Omit the branch.',
  },
  'proposals.rehearsing': { kind: 'conflict', text: 'Proposal {id} is being rehearsed. Wait for the end of its job.' },
  'proposals.submitted': {
    kind: 'conflict',
    text: 'Proposal {id} is submitted, so its branch cannot be changed until a person decides.',
  },
  'proposals.tokenGone': {
    kind: 'conflict',
    text: 'The token of proposal {id} is deleted, disabled or expired, so its changes cannot be rehearsed.',
  },
  'proposals.tooMany': {
    kind: 'too-many',
    text: 'The limit of {limit} {what} per hour is reached. Try again in {seconds} seconds.',
  },
  'proposals.wrongState': { kind: 'conflict', text: 'Proposal {id} is {state}, so this is not possible: {step}.' },

  // Encryption
  'encryption.migrationNeedsMasterTokens': {
    kind: 'forbidden',
    text: 'To move a configuration with its secrets, the master tokens of both projects are required.',
  },
  'encryption.otherStack': {
    kind: 'not-built',
    text: 'Secrets can only be moved between projects of one stack; this one is "{here}", not "{stack}". Copy the configuration by hand and enter its secrets again.',
  },
  'encryption.rootKeyMissing': {
    kind: 'transient',
    text: 'The root key {id} that protects the stored secrets is missing. Restore the matching root-keys file, or set MILLRACE_ENCRYPTION_KEY to that key.',
  },
  'encryption.dataKeyDamaged': {
    kind: 'transient',
    text: 'The data key {id} is damaged: root key {root} cannot decrypt it. Restore the metadata from a backup.',
  },
  'encryption.scope': {
    kind: 'invalid',
    text: 'Encryption is not supported for this scope ({given}). Send nothing, componentId, projectId, or both; configId requires both of them, branchType requires projectId.',
  },
  'encryption.tooMany': {
    kind: 'invalid',
    text: 'The document has more than {max} values to encrypt. Split it, or encrypt only secrets.',
  },
  'encryption.notEncrypted': {
    kind: 'invalid',
    text: 'The value of {path} is not encrypted. Save the configuration again, or encrypt the value first.',
  },
  'encryption.foreignCipher': {
    kind: 'invalid',
    text: 'The value of {path} cannot be decrypted here: it was encrypted for another project, component, configuration or stack, or it is damaged. Enter it again.',
  },
  // Scheduler
  'scheduler.masterTokenNeeded': {
    kind: 'forbidden',
    text: 'Insufficient permissions: activating, changing and removing a schedule requires a master token of the project. This token is not a master token.',
  },
  'scheduler.notFound': { kind: 'not-found', text: 'Schedule {id} was not found.' },
  'scheduler.configurationNotFound': {
    kind: 'not-found',
    text: 'Configuration "{id}" of the scheduler component does not exist. Create it first, then activate it.',
  },
  'scheduler.versionNotFound': {
    kind: 'not-found',
    text: 'Version {version} of the configuration "{id}" of the scheduler component does not exist.',
  },
  'scheduler.notRegistered': { kind: 'not-found', text: 'No schedule is registered for the configuration "{id}".' },
  'scheduler.invalidConfiguration': { kind: 'invalid', text: 'The schedule cannot be activated - {field}: {reason}' },
  // Job runner
  'vault.notFound': { kind: 'not-found', text: 'Variable "{hash}" does not exist in the vault.' },
  'sandboxes.notFound': { kind: 'not-found', text: '{what} "{id}" was not found.' },
  'sandboxes.unknownType': {
    kind: 'invalid',
    text: 'Sandboxes of the type "{type}" are not supported here. SQL sandboxes have the type {known}; a notebook can be a data app of the type jupyter.',
  },
  'sandboxes.tooMany': { kind: 'invalid', text: 'A project can have at most {limit} of them. Delete unused ones.' },

  'apps.notFound': { kind: 'not-found', text: 'App "{id}" was not found.' },
  'apps.versionNotFound': { kind: 'not-found', text: 'Version {version} of the configuration of app {id} does not exist.' },
  'apps.notAnApp': {
    kind: 'invalid',
    text: 'The component "{component}" is not a data app. Use keboola.data-apps, or a component whose description has the type data-app.',
  },
  'apps.tooMany': { kind: 'invalid', text: 'A project can have at most {limit} apps. Delete unused ones.' },
  'apps.invalidConfiguration': { kind: 'invalid', text: 'The app cannot be deployed: {reason}.' },
  'apps.notIsolated': {
    kind: 'unprocessable',
    text: 'User code and images only run isolated, and this node does not support isolation: {reason}. See MILLRACE_ISOLATION.',
  },
  'apps.runtimeMissing': { kind: 'unprocessable', text: 'An app of the type {type} cannot run on this node: {missing}.' },
  'apps.noContainerEngine': {
    kind: 'unprocessable',
    text: 'The app is an image ({image}, of the component {component}), but neither docker nor podman is running on this node. Start one of them, or use a component whose app is a command.',
  },
  'apps.deployerGone': {
    kind: 'conflict',
    text: 'The token or user that deployed app {id} no longer exists, and the app reads tables with their permissions. Deploy it again.',
  },
  'apps.changed': {
    kind: 'conflict',
    text: 'App {id} was deployed or stopped by another request at the same time. Check its state, then try again.',
  },
  'apps.isStopped': { kind: 'conflict', text: 'App {id} is stopped. Deploy it first: PATCH it with the desiredState "running".' },
  'apps.passwordWrong': {
    kind: 'unauthenticated',
    text: 'Sign in, or send the password of the data app: GET .../apps/{id}/password returns it to members of the project.',
  },
  'apps.repositoryUnusable': {
    kind: 'unprocessable',
    text: 'The code of the app could not be fetched from {repository}: {reason}',
  },
  'apps.noRepository': { kind: 'not-found', text: 'The code of app {id} is in its configuration, not in a git repository.' },
  'apps.noManagedRepository': {
    kind: 'not-found',
    text: 'App {id} has no managed git repository. One is created together with an app if useManagedGitRepo is true.',
  },
  'apps.gitCredentialNotFound': {
    kind: 'not-found',
    text: 'Credential "{credential}" of the repository of app {id} does not exist, or has expired.',
  },
  'apps.tooManyGitCredentials': {
    kind: 'invalid',
    text: 'A repository can have at most {limit} credentials. Delete unused ones.',
  },
  'apps.gitUnauthenticated': {
    kind: 'unauthenticated',
    text: 'Send a credential of this repository as the password, with any user: POST .../apps/{id}/git-repo/credentials creates one. It may have expired.',
  },
  'apps.gitReadOnly': {
    kind: 'forbidden',
    text: 'This credential is read-only. Create one with the permissions readWrite.',
  },
  'apps.gitMalformed': { kind: 'invalid', text: 'The body is not a valid request of the git protocol, or it is truncated.' },
  'apps.linkInvalid': {
    kind: 'not-found',
    text: 'This link to an app is invalid or has expired. Open the app again, or request a new link.',
  },
  'apps.nodeFull': {
    kind: 'transient',
    text: 'This node already runs {limit} apps, the maximum (MILLRACE_APPS). Try again later.',
  },
  'apps.failed': {
    kind: 'transient',
    text: 'App {id} is not running, and is restarted in {seconds} s at the earliest. {reason}',
  },
  'apps.neverListened': {
    kind: 'transient',
    text: 'the app did not respond within {seconds} s on the port in the environment variable PORT',
  },
  'apps.noAnswer': { kind: 'transient', text: 'App {id} closed the connection before it responded. See its log.' },

  'usage.limitReached': {
    kind: 'forbidden',
    text: 'The limit of {limit} {what} for the project is reached; this request would need {used}. Delete unused data, or ask an administrator of the stack for a higher limit ({name}).',
  },
  'usage.unknownLimit': { kind: 'invalid', text: '"{name}" is not a project limit. Known limits: {known}.' },

  'vault.full': { kind: 'invalid', text: 'The vault already contains {limit} variables, the maximum. Delete some.' },
  'jobRunner.invalidConfiguration': { kind: 'invalid', text: 'The configuration cannot be run: {reason}.' },
  'jobRunner.unknownOption': {
    kind: 'invalid',
    text: 'Unrecognized option "{name}" under "container". Available options are {known}.',
  },
  'jobRunner.notTried': {
    kind: 'invalid',
    text: 'The component {component} is not a SQL transformation. Only SQL transformations can be tried on a sample.',
  },
  'jobRunner.missingVariables': { kind: 'invalid', text: 'No value was given for the variables: {names}.' },
  'jobRunner.brokenByVariables': {
    kind: 'invalid',
    text: 'The configuration is not valid JSON after its variables were replaced ({names}). Check the values and the placeholders.',
  },
  'jobRunner.changesTooOld': {
    kind: 'unprocessable',
    text: 'The state of {table} that the last run read is no longer kept, so its changes are unknown (MILLRACE_TABLE_RETENTION_DAYS). Reset the state of the configuration: the next run then gets every row as an insert.',
  },
  'jobRunner.inputMissing': { kind: 'invalid', text: 'The input mapping failed: {reason}' },
  'jobRunner.noRoom': {
    kind: 'invalid',
    text: '{what} take more than the {megabytes} MB of disk available to this run (MILLRACE_RUN_DISK_BYTES, or the free disk space). Read fewer columns, rows or files.',
  },
  'jobRunner.outputInvalid': { kind: 'invalid', text: 'The results cannot be stored: {reason}' },
  'jobRunner.componentFailed': { kind: 'invalid', text: '{message}' },
  'jobRunner.componentBroken': { kind: 'bug', text: '{message}' },
  // Sync actions
  'syncActions.projectBusy': {
    kind: 'too-many',
    text: 'The project already runs {limit} actions, the maximum. Wait until one of them finishes and try again.',
  },
  'syncActions.busy': {
    kind: 'transient',
    text: 'This node already runs {limit} actions, the maximum. Try again in a moment.',
  },
  'jobRunner.unknownAction': {
    kind: 'invalid',
    text: 'The component {component} does not support the action "{action}". Supported actions: {actions}.',
  },

  // The sample API
  'sample.loginWrong': {
    kind: 'unauthenticated',
    text: 'Wrong user name or password. The sample shop accepts ada with lovelace.',
  },
  'sample.sessionInvalid': {
    kind: 'unauthenticated',
    text: 'The session is missing or invalid. POST /sample/login returns a token; send it in the header X-Sample-Session.',
  },
  'sample.tooManyRequests': {
    kind: 'too-many',
    text: 'The sample shop allows {limit} requests per second. Wait for the seconds in Retry-After.',
  },
  'sample.contactExists': {
    kind: 'conflict',
    text: 'Contact {id} already exists. Change it with PUT or PATCH /sample/contacts/{id}.',
  },
  'sample.contactNotFound': { kind: 'not-found', text: 'Contact {id} does not exist. Create it with POST /sample/contacts.' },
  'sample.contactInvalid': { kind: 'unprocessable', text: '"{email}" is not an email address. Use one such as ada@example.com.' },
  'sample.cursorUnknown': {
    kind: 'invalid',
    text: '"{cursor}" is not a cursor of this list. Send `next` of the previous page, or omit it for the first page.',
  },

  // The model of the operator
  'ai.noModel': {
    kind: 'not-found',
    text: 'No model is configured on this stack. The operator can set one with MILLRACE_AI_URL.',
  },
  'ai.missing': { kind: 'invalid', text: 'The parameter {name} is missing; {task} requires it.' },
  'ai.jobNotFailed': { kind: 'conflict', text: 'Job {id} has not failed. Only failed jobs are explained.' },
  'ai.promptChanged': {
    kind: 'conflict',
    text: 'The prompt has changed since it was shown, so nothing was sent. Review it again.',
  },
  'ai.modelFailed': { kind: 'transient', text: 'The model at {host} did not respond: {reason}.' },
  'ai.budgetSpent': {
    kind: 'too-many',
    text: 'The daily limit of {limit} requests to the model is reached. Try again in {seconds} s.',
  },

  // Agents
  'agents.authorizationInvalid': { kind: 'invalid', text: 'The sign-in request of the client is invalid: {reason}' },
  'agents.clientInvalid': {
    kind: 'invalid',
    text: 'The client cannot sign in agents: {reason}. Nothing was sent to it; its developer must fix it.',
  },
  'agents.connectionNotFound': { kind: 'not-found', text: 'Agent connection {id} not found' },
  'agents.decided': { kind: 'conflict', text: 'Request {id} of an agent is already decided.' },
  'agents.needsPerson': {
    kind: 'forbidden',
    text: 'A person must allow this: {subject}. Open the link in the response, or the page Agents of the console.',
  },
  'agents.notStored': { kind: 'conflict', text: 'The secret was not stored, and the request is still open: {reason}' },
  'agents.noValue': { kind: 'invalid', text: 'Request {id} requires a secret. Send its value.' },
  'agents.otherPerson': {
    kind: 'forbidden',
    text: 'Only the user who signed in the agent can enter its secrets. Sign in to the console as that user.',
  },
  'agents.personDecides': {
    kind: 'forbidden',
    text: 'Agents cannot decide about requests. Sign in to the console, or use a token that no agent uses.',
  },
  'agents.requestNotFound': { kind: 'not-found', text: 'Request {id} of an agent does not exist or is older than a day.' },
  'mcp.unknownGroup': { kind: 'invalid', text: 'Tool group {group} does not exist. Groups: {known}.' },
  'mcp.foreignOrigin': {
    kind: 'forbidden',
    text: 'Pages of {origin} cannot call this stack, because it listens on a loopback address. If that is the URL of the stack, set MILLRACE_PUBLIC_URL.',
  },
  'mcp.insufficientScope': {
    kind: 'forbidden',
    text: 'The user who signed in this agent has not granted the scope {scope}. Sign in again and grant it.',
  },
  'mcp.invalidCall': { kind: 'invalid', text: '{reason}' },
  'mcp.secretInCall': {
    kind: 'invalid',
    text: '{name} is a secret, and tools do not accept secrets: treat the value as exposed and replace it. Leave it empty, and a person enters it on the page in the response.',
  },
  'mcp.stillRunning': { kind: 'transient', text: 'Storage job {id} is still running. Try again later.' },
  'mcp.budgetSpent': {
    kind: 'too-many',
    text: 'The daily limit of {limit} tool calls of this token is reached. Try again in {seconds} s.',
  },
  'mcp.answerTooLarge': {
    kind: 'too-large',
    text: 'The result is larger than {max}. Request less: fewer rows, fewer columns or one part of the object.',
  },

  // Names
  'storage.webalize.displayName.invalid': {
    kind: 'unprocessable',
    text: 'Filtered name "{name}" should be valid name',
  },
  'storage.webalize.columnNames.invalid': {
    kind: 'unprocessable',
    text: 'Invalid request:\n - {field}: "{reason}"',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS
