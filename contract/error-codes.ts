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
    text: 'This address or token asks more often than this stack allows. Try again in {seconds} s.',
  },
  lockedOut: {
    kind: 'too-many',
    text: 'Too many wrong tokens came from this address. Check the token, and try again in {seconds} s.',
  },
  'validation.failed': { kind: 'invalid', text: 'Invalid request:\n - {field}: "{reason}"' },
  'storage.validation': { kind: 'invalid', text: 'Invalid request:\n - {field}: "{reason}"' },
  dryRunNotPossible: {
    kind: 'invalid',
    text: 'This address knows no dryRun, and nothing was changed. Leave dryRun out to make the change.',
  },
  'operations.settingFixed': {
    kind: 'invalid',
    text: '{name} cannot be changed while the stack runs. Set it in the environment and start the stack again.',
  },
  notFound: { kind: 'not-found', text: '{what} was not found.' },
  'console.notBuilt': {
    kind: 'not-found',
    text: 'The console is not built on this node. `npm start` builds it; by hand it is `npm run build -w console`.',
  },
  serviceNotFound: { kind: 'not-found', text: 'The {service} service is not part of this stack. {purpose}' },
  methodNotAllowed: { kind: 'not-allowed', text: '{method} is not possible here. This address knows {allowed}.' },
  notImplemented: { kind: 'not-built', text: '{what}' },
  MAINTENANCE: { kind: 'transient', text: '{reason}' },
  unavailable: { kind: 'transient', text: '{what} is not available right now. Try again.' },
  noApiHere: { kind: 'transient', text: 'This node does not serve the API (MILLRACE_ROLES). Ask a node that has the role api.' },
  internalError: { kind: 'bug', text: 'Something went wrong on our side. The exception id finds the details in the log.' },

  'stack.certificate': {
    kind: 'invalid',
    text: 'The TLS certificate cannot be used ({file}): {reason}. Check MILLRACE_TLS_CERT_FILE and MILLRACE_TLS_KEY_FILE.',
  },
  'stack.dataFolder': {
    kind: 'invalid',
    text: 'The data folder {path} (MILLRACE_DATA_DIR) cannot be used: {reason}. Give a folder that this user may write to.',
  },
  'stack.dataFolderInUse': {
    kind: 'conflict',
    text: 'Another process uses the data folder {path}: {holder}. Stop it first, or give this stack a folder of its own with MILLRACE_DATA_DIR.',
  },
  'stack.database': {
    kind: 'invalid',
    text: 'PostgreSQL at {address} cannot be used: {reason}. Start it, or correct MILLRACE_DATABASE_URL.',
  },
  'stack.databaseDamaged': {
    kind: 'invalid',
    text: 'The metadata database {path} cannot be opened: {reason}. Restore a backup into an empty folder, or set MILLRACE_DATA_DIR to another one.',
  },
  'stack.databaseNewer': {
    kind: 'invalid',
    text: 'The metadata database was migrated by a newer Millrace: this version does not know {migrations}. Start that newer version, or restore a backup made before the upgrade.',
  },
  'stack.bucketMissing': {
    kind: 'invalid',
    text: 'The bucket {bucket} does not exist at {endpoint}. Create it there, or correct MILLRACE_S3_BUCKET and MILLRACE_S3_ENDPOINT.',
  },
  'stack.bucketRefused': {
    kind: 'invalid',
    text: 'The S3 at {endpoint} refuses these keys for the bucket {bucket}. Correct MILLRACE_S3_ACCESS_KEY_ID, MILLRACE_S3_SECRET_ACCESS_KEY and MILLRACE_S3_REGION, or allow them to use the bucket.',
  },
  'stack.objectStore': {
    kind: 'invalid',
    text: 'The S3 at {endpoint} cannot be used: {reason}. Start it, or correct MILLRACE_S3_ENDPOINT.',
  },

  // Calls to addresses that users name
  'egress.refused': { kind: 'invalid', text: '{reason}' },
  'egress.timedOut': { kind: 'transient', text: 'No complete answer within {limit} milliseconds.' },
  'egress.failed': { kind: 'transient', text: 'The connection failed: {reason}.' },

  'proxy.outside': { kind: 'invalid', text: 'The path "{path}" leads outside the registered server. Leave out `..`.' },
  'proxy.unreachable': { kind: 'transient', text: 'The server at {address} did not answer: {reason}. Start it, or try again.' },
  'spark.notRegistered': {
    kind: 'transient',
    text: 'No Spark cluster is registered with this stack. The operator registers one with MILLRACE_SPARK_URL=spark://host:7077 and starts the stack again.',
  },
  'spark.notReady': { kind: 'invalid', text: 'The Spark driver cannot run on this node. {reason}' },
  'spark.noIceberg': {
    kind: 'invalid',
    text: 'The Spark cluster cannot read the tables: Iceberg is not among its jars. The operator names iceberg-spark-runtime and iceberg-aws-bundle with spark.jars or spark.jars.packages in MILLRACE_SPARK_CONF. ({reason})',
  },
  'spark.clusterFailed': { kind: 'invalid', text: '{reason} No table was changed; run the job again.' },
  'spark.driverEnded': {
    kind: 'invalid',
    text: 'The Spark driver ended before its work was done: {reason}. No table was changed.',
  },
  'spark.scriptFailed': { kind: 'invalid', text: '{message}' },
  'spark.noPages': {
    kind: 'transient',
    text: 'The pages of the Spark cluster at {address} are not known. The operator sets MILLRACE_SPARK_PAGES_URL=http://host:8080 and starts the stack again.',
  },
  'mlflow.notRegistered': {
    kind: 'transient',
    text: 'No MLflow server is registered with this stack. The operator registers one with MILLRACE_MLFLOW_URL=http://host:5000 and starts the stack again, or, on a stack of one node, installs mlflow into the Python of MILLRACE_MLFLOW_PYTHON.',
  },
  'mlflow.notStarted': { kind: 'transient', text: 'The MLflow server of the project could not be started: {reason}.' },

  'mail.failed': { kind: 'transient', text: 'The mail server did not take the message: {reason}' },

  // Notifications
  'notification.subscriptionNotFound': { kind: 'not-found', text: 'Subscription "{id}" was not found.' },
  'notification.deliveryNotFound': { kind: 'not-found', text: 'Delivery "{id}" was not found.' },
  'notification.invalid': { kind: 'invalid', text: 'Invalid notification - {field}: {reason}' },
  'notification.componentFilterNeeded': {
    kind: 'forbidden',
    text: 'The token may use some components only. Add the filter job.component.id == with one of them, or use a token with canManageBuckets.',
  },
  'notification.tooMany': {
    kind: 'unprocessable',
    text: 'A project has at most {limit} subscriptions. Delete some that are no longer needed.',
  },

  // OAuth broker
  manageTokenInvalid: {
    kind: 'unauthenticated',
    text: 'This route needs the manage token of a stack admin in the header X-KBC-ManageApiToken, or that of the stack (MILLRACE_MANAGE_TOKEN).',
  },
  'oauth.invalidProvider': { kind: 'invalid', text: 'The provider cannot be used - {field}: {reason}.' },
  'oauth.providerNotFound': {
    kind: 'not-found',
    text: 'There is no OAuth provider "{id}". GET /oauth/providers lists those that are there.',
  },
  'oauth.providerExists': { kind: 'conflict', text: 'An OAuth provider "{id}" is there already. Change it with PATCH.' },
  'oauth.providerNeeded': {
    kind: 'invalid',
    text: 'The component {component} has no OAuth provider of its own. Name one with the parameter provider; GET /oauth/providers lists them.',
  },
  'oauth.noClient': {
    kind: 'invalid',
    text: 'The stack has no client at the provider "{provider}". Send appKey and appSecret of your own, or ask the administrator to add one.',
  },
  'oauth.userData': {
    kind: 'invalid',
    text: 'The addresses of the provider "{provider}" need "{name}" in userData, and "{value}" cannot be part of a host name.',
  },
  'oauth.returnUrl': {
    kind: 'invalid',
    text: 'returnUrl "{url}" is neither on this stack nor on an origin of MILLRACE_CORS_ORIGINS.',
  },
  'oauth.unknownState': {
    kind: 'invalid',
    text: 'This authorisation is not under way: it ended already, took longer than 15 minutes, or was never begun here. Begin again.',
  },
  'oauth.otherBrowser': {
    kind: 'invalid',
    text: 'This authorisation was begun in another browser, or this one keeps no cookies. Begin again, and stay in one browser.',
  },
  'oauth.denied': { kind: 'invalid', text: '{provider} did not authorise: {reason}. Begin again to give your consent.' },
  'oauth.refused': {
    kind: 'invalid',
    text: 'The authorisation server {host} refuses the request: {reason}. Check the client and its settings there.',
  },
  'oauth.grantGone': { kind: 'invalid', text: 'The authorisation server {host} no longer accepts the grant: {reason}.' },
  'oauth.badAnswer': { kind: 'invalid', text: 'The authorisation server {host} did not answer as OAuth asks for: {reason}.' },
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
    text: 'OAuth credentials "{id}" are there already. Choose another id, or authorise them anew.',
  },
  'oauth.tooMany': {
    kind: 'invalid',
    text: 'The component {component} has {limit} OAuth credentials in this project, which is the most. Delete some.',
  },
  'oauth.withoutProvider': {
    kind: 'invalid',
    text: 'The OAuth credentials "{id}" name no provider, so that the stack cannot ask one. Add them again with a provider.',
  },
  'oauth.cannotRevoke': {
    kind: 'invalid',
    text: 'The provider {provider} has no address to revoke tokens at. Revoke them in your account there, then delete the credentials.',
  },
  'oauth.authoriseAgain': {
    kind: 'invalid',
    text: 'The OAuth credentials "{id}" cannot be used: {reason}. Authorise them again.',
  },
  'oauth.refreshBusy': {
    kind: 'transient',
    text: 'The OAuth credentials "{id}" are being refreshed elsewhere and the answer takes too long. Try again.',
  },

  // Templates
  'templates.broken': {
    kind: 'invalid',
    text: 'The template cannot be used ({file}): {reason}. Whoever keeps the template must correct it.',
  },
  'templates.repositoryNotFound': { kind: 'not-found', text: 'There is no repository of templates "{name}".' },
  'templates.repositoryUnusable': {
    kind: 'not-found',
    text: 'The repository of templates "{name}" cannot be used: {reason} Whoever runs the stack can mend it.',
  },
  'templates.templateNotFound': { kind: 'not-found', text: 'The repository "{repository}" has no template "{id}".' },
  'templates.versionNotFound': { kind: 'not-found', text: 'The template "{id}" has no version "{version}".' },
  'templates.instanceNotFound': { kind: 'not-found', text: 'There is no instance "{id}" of a template in this branch.' },
  'templates.taskNotFound': { kind: 'not-found', text: 'There is no task "{id}" of the templates service in this project.' },
  'templates.unknownStep': { kind: 'invalid', text: 'The template has no step "{id}". GET .../inputs lists its steps.' },
  'templates.unknownInput': {
    kind: 'invalid',
    text: 'The step "{step}" of the template has no input "{id}". GET .../inputs lists them.',
  },
  'templates.invalidInputs': { kind: 'invalid', text: 'The template was not used, because its inputs are not right. {problems}' },

  // Streams
  'changes.invalidPosition': {
    kind: 'invalid',
    text: 'Last-Event-ID "{position}" is not an id of this stream. Leave it out to begin now, and read what you show anew.',
  },

  'stream.invalid': { kind: 'invalid', text: 'Invalid stream - {field}: {reason}' },
  'stream.notFound': { kind: 'not-found', text: '{what} was not found.' },
  'stream.exists': { kind: 'conflict', text: '{what} is there already. Choose another id.' },
  'stream.changed': { kind: 'conflict', text: '{what} was changed meanwhile. Read it again, then repeat the change.' },
  'stream.tooMany': {
    kind: 'unprocessable',
    text: 'There can be at most {limit} {what}. Delete some that are no longer needed.',
  },
  'stream.unknownSource': {
    kind: 'not-found',
    text: 'There is no source at this address, or its secret is wrong. Copy the address from the source.',
  },
  'stream.invalidOtlp': { kind: 'invalid', text: 'The request is not OTLP: {reason}.' },
  'stream.disabled': { kind: 'forbidden', text: 'Source "{source}" is disabled and takes no records.' },
  'stream.full': {
    kind: 'transient',
    text: 'Source "{source}" has too many records that are not loaded yet. Its sinks say why; send again later.',
  },
  'stream.notStored': { kind: 'transient', text: 'The record could not be stored. Send it again.' },

  // Authentication
  'storage.tokenMissing': { kind: 'unauthenticated', text: 'Access token must be set' },
  'storage.tokenInvalid': { kind: 'unauthenticated', text: 'Invalid access token' },
  'storage.tokens.invalidPermissions': { kind: 'invalid', text: '{reason}' },
  'storage.tokens.ofPerson': {
    kind: 'forbidden',
    text: 'This token belongs to {name} and changes with them only. Change their role or remove them among the people of the project; for a script, create a token of its own.',
  },
  'storage.tokens.validation': { kind: 'invalid', text: '{reason}' },
  resourceNotFound: { kind: 'not-found', text: 'resource not found' },
  idMissing: { kind: 'invalid', text: 'The id is missing at the end of the address {address}/.' },
  'storage.tokens.notFound': { kind: 'not-found', text: 'Token {id} was not found.' },
  'storage.tokens.cannotDeleteDueToOrchestration': {
    kind: 'invalid',
    text: 'Cannot delete token, because it\'s used for event trigger inside component "{component}" with configuration id "{configurationId}"',
  },
  'storage.token.cannotShareMasterToken': {
    kind: 'invalid',
    text: 'A master token cannot be shared. Create a token of its own for the recipient.',
  },
  accessDenied: { kind: 'forbidden', text: "You don't have access to the resource." },

  projectPaused: {
    kind: 'conflict',
    text: 'This project is paused ({reason}): it can be read, and nothing in it starts or changes. A stack admin resumes it.',
  },

  // People
  'people.notSignedIn': { kind: 'unauthenticated', text: 'You are not signed in, or your session has ended. Sign in again.' },
  'people.manageTokenInvalid': { kind: 'unauthenticated', text: 'Invalid manage token' },
  'people.crossSite': {
    kind: 'forbidden',
    text: 'A request with a session that changes something must come from a page of this stack. Scripts use a token, or send the header Origin with the address of the stack.',
  },
  'people.projectInvalid': {
    kind: 'invalid',
    text: 'The header X-KBC-ProjectId is "{given}", which is not the id of a project. GET /account lists your projects.',
  },
  'people.projectMissing': {
    kind: 'invalid',
    text: 'You belong to several projects. Say which one is meant with the header X-KBC-ProjectId: {projects}.',
  },
  'people.notMember': { kind: 'forbidden', text: 'You do not belong to {project}, or it does not exist.' },
  'people.viewer': {
    kind: 'forbidden',
    text: 'Your role in this project is viewer: you can read, and change nothing. An admin of the project can make you an editor.',
  },
  'people.adminNeeded': { kind: 'forbidden', text: 'Only {who} may do this.' },
  'people.signInFailed': { kind: 'unauthenticated', text: 'The e-mail or the password is wrong.' },
  'people.codeNeeded': {
    kind: 'unauthenticated',
    text: 'Send the code that your authenticator shows, or one of your recovery codes, as code.',
  },
  'people.codeWrong': {
    kind: 'unauthenticated',
    text: 'The code is wrong or was used before. Wait for the next one; check the time of your device.',
  },
  'people.busy': {
    kind: 'transient',
    text: 'Too many sign-ins wait for their turn on this node. Try again in {seconds} s.',
  },
  'people.locked': { kind: 'too-many', text: 'Too many wrong attempts to sign in. Try again in {seconds} s.' },
  'people.linkInvalid': {
    kind: 'not-found',
    text: 'This link was used before, has expired or is not complete. Ask for a new one; on the machine of the stack `millrace admin sign-in-link` makes one.',
  },
  'people.invalid': { kind: 'invalid', text: '{field}: {reason}' },
  'people.passwordWrong': { kind: 'forbidden', text: 'Your password is wrong. Send the one you have now.' },
  'people.unknownEmail': {
    kind: 'not-found',
    text: 'There is no person with the e-mail {email} on this stack. Invite them into the project instead.',
  },
  'people.memberAlready': {
    kind: 'conflict',
    text: '{name} belongs to the project already, as {role}. Change the role instead.',
  },
  'people.emailTaken': {
    kind: 'conflict',
    text: 'There is a person with the e-mail {email} already. They sign in themselves, and an admin adds them to a project.',
  },
  'people.oidcUnavailable': { kind: 'transient', text: 'The sign-in service {issuer} does not answer as it should: {reason}' },
  'people.oidcRefused': { kind: 'unauthenticated', text: 'The sign-in service {issuer} did not vouch for you: {reason}' },
  'people.oidcBegin': { kind: 'invalid', text: 'The sign-in took too long or began in another browser. Begin again.' },
  'people.oidcEmail': { kind: 'forbidden', text: 'The sign-in service did not give a verified e-mail.' },
  'people.oidcUnknown': {
    kind: 'forbidden',
    text: 'Nobody on this stack has the e-mail {email}. An admin of a project can invite you.',
  },
  'people.lastAdmin': {
    kind: 'conflict',
    text: '{name} is the last stack admin. Make another person a stack admin first.',
  },

  // Table engine: files that are loaded, and the workers that load them. Texts name the place, the offending text and what to change
  invalidCsv: { kind: 'invalid', text: '{reason}' },
  rowTooLarge: {
    kind: 'too-large',
    text: 'Load error: The row that starts on line {line} of {file} is longer than the {limit} bytes a row may have. Split its values, or ask the operator for a larger limit.',
  },
  'csvImport.invalidCsvParams': { kind: 'invalid', text: '{reason}' },
  'storage.tables.invalidValue': {
    kind: 'invalid',
    text: 'Load error: Row {row} of {file}: the value "{value}" of column "{column}" is not a valid {type}. Correct it, or change the type of the column.',
  },
  'storage.tables.nullValue': {
    kind: 'invalid',
    text: 'Load error: Row {row} of {file} has no value in column "{column}", which may not be empty. Fill it in, or make the column nullable.',
  },
  'storage.maxNumberOfColumnsExceed': { kind: 'invalid', text: 'A table may have {limit} columns; {file} has {columns}.' },
  'storage.tables.columnAlreadyExists': {
    kind: 'invalid',
    text: 'The column "{column}" cannot be added: the table has a column of that name (upper and lower case are the same), or it is reserved.',
  },
  'storage.tables.columnNotExists': { kind: 'invalid', text: 'The table has no column "{column}".' },
  'storage.tables.filterValues': {
    kind: 'invalid',
    text: 'The operator "{operator}" on column "{column}" compares with exactly one value; {count} were given.',
  },
  'storage.tables.filterValue': {
    kind: 'invalid',
    text: 'The filter on column "{column}" compares with "{value}", which is not a valid {type}. Send a value of that type.',
  },
  'tableEngine.cancelled': { kind: 'conflict', text: 'The operation on the table was cancelled.' },
  'tableEngine.timeout': { kind: 'transient', text: 'The operation on the table took longer than {seconds} s and was stopped.' },
  'tableEngine.workerDied': {
    kind: 'transient',
    text: 'The table worker process ended in the middle of its work ({reason}). Nothing was changed; try again.',
  },
  'tableEngine.outOfMemory': {
    kind: 'too-large',
    text: 'The work does not fit into the {limit} MB of a table worker. Ask the operator for more memory per worker.',
  },
  'tableEngine.objectMissing': {
    kind: 'bug',
    text: 'The object store has no object {key}, which the table needs. Restore it from a backup.',
  },
  'tableEngine.diskFull': { kind: 'full', text: 'The disk is full: the work on the table was stopped and nothing was changed.' },
  'tableEngine.failed': { kind: 'bug', text: 'The table engine failed: {reason}' },

  // SQL
  'sql.invalid': { kind: 'invalid', text: 'The SQL cannot be read at character {position}: {reason}.' },
  'sql.tooLong': {
    kind: 'too-large',
    text: 'The SQL is longer than the {limit} bytes allowed. Load large lists of values as a table.',
  },
  'sql.tooManyTables': {
    kind: 'too-large',
    text: 'The statement names more than the {limit} tables allowed. Read them in several statements.',
  },
  'sql.manyStatements': { kind: 'invalid', text: 'One statement was expected; the text has {count}. Send them one by one.' },
  'sql.notAllowed': { kind: 'invalid', text: '{what} (character {position}) is not allowed here: {reason}.' },
  'sql.failed': { kind: 'invalid', text: '{message}' },
  'sql.ambiguousTable': {
    kind: 'invalid',
    text: 'SQL does not tell upper from lower case: "{table}" and "{other}" cannot be used in one session.',
  },
  'sql.timeout': {
    kind: 'unprocessable',
    text: 'The statement took longer than {seconds} s and was stopped. Read fewer rows, or ask the operator for more time.',
  },
  'sql.tooMuch': {
    kind: 'unprocessable',
    text: 'The statement needs more than a session has: {memoryMb} MB of memory and {diskMb} MB of temporary disk ({reason}). Read fewer rows or columns.',
  },
  'sql.diskFull': {
    kind: 'full',
    text: 'The disk of the stack is full: the statement was stopped and changed nothing. Free some space, then try again.',
  },
  'sql.scriptFailed': { kind: 'invalid', text: '{place}: {reason}' },
  'sql.cancelled': { kind: 'conflict', text: 'The statement was cancelled.' },
  'sql.workerDied': {
    kind: 'transient',
    text: 'The process that ran the statement ended in the middle of its work ({reason}). No table was changed; try again.',
  },
  'sql.busy': {
    kind: 'transient',
    text: 'All {sessions} SQL sessions of this node are in use, and none became free within {seconds} s. Try again.',
  },
  'sql.shareInUse': {
    kind: 'transient',
    text: 'The {owner} has its {limit} SQL sessions of this node in use, and none became free within {seconds} s. Wait for the end of its statements, or cancel one.',
  },
  'sql.sessionInUse': { kind: 'conflict', text: 'The session runs a statement. Wait for its end, or cancel it.' },
  'sql.sessionClosed': { kind: 'conflict', text: 'The SQL session is closed. Open a new one.' },

  // Triggers
  'storage.triggers.notFound': { kind: 'not-found', text: 'Trigger {id} was not found.' },
  'storage.triggers.validation': { kind: 'invalid', text: '{reason}' },
  'storage.triggers.invalidParameters': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.triggers.privilege': {
    kind: 'unprocessable',
    text: 'Your token does not have sufficient privilege. Token is neither admin token nor does it have canManageBucket permission nor does it have access to component(s) "{components}".',
  },
  'storage.triggers.changed': { kind: 'conflict', text: 'Trigger {id} ran or was changed at the same moment. Try again.' },

  // Runner
  'runner.unsafeOutput': {
    kind: 'invalid',
    text: 'The component left a {kind} at {path}. Results must be plain files and folders inside the data folder.',
  },
  'runner.tooManyResults': {
    kind: 'invalid',
    text: 'The component left more than {most} files in its out folder. Let it write fewer and larger ones, or pack them; the operator of the stack can raise MILLRACE_RUN_RESULTS.',
  },
  'runner.invalidYaml': { kind: 'invalid', text: 'The component wrote a {path} that is not valid YAML: {reason}' },
  'runner.invalidArchive': { kind: 'invalid', text: 'The archive cannot be unpacked: {reason}' },
  'runner.outputTooLarge': { kind: 'invalid', text: 'The file {path} has {size} bytes; at most {limit} are read.' },
  'runner.notIsolated': {
    kind: 'invalid',
    text: 'The component is a command and cannot be isolated on this machine: {reason}. The operator of the stack can allow namespaces for users, or set MILLRACE_ISOLATION=auto to run it without isolation.',
  },
  'runner.noContainerEngine': {
    kind: 'invalid',
    text: 'The component {component} is an image ({image}), and this stack has neither docker nor podman running. Start one of them, or use a component that is a command.',
  },
  'runner.imageMissing': { kind: 'invalid', text: 'The image {image} could not be fetched: {reason}' },
  // Files
  'storage.files.notFound': { kind: 'not-found', text: 'File not found' },
  'storage.files.tagNotFound': { kind: 'not-found', text: 'File {id} has no tag "{tag}".' },
  'storage.files.providerUnavailable': {
    kind: 'invalid',
    text: 'Files of this project are set to the provider {provider}, which needs the embedded object store, and this stack keeps its objects elsewhere. Set provider=aws with millrace project set.',
  },
  'storage.files.noContent': {
    kind: 'invalid',
    text: 'The content of file {id} cannot be shown: {reason}. Download it by its url instead.',
  },
  'storage.files.notFetched': {
    kind: 'invalid',
    text: 'The file at {url} was not fetched: {reason}. Check the address, or download the file and upload it from your machine.',
  },
  'storage.files.noHead': {
    kind: 'invalid',
    text: 'These bytes of file {id} cannot be shown: {reason}. Download it by its url instead.',
  },
  'storage.files.damaged': {
    kind: 'unprocessable',
    text: 'The file {id} begins as {compression} and cannot be unpacked: it is damaged or cut. Upload it again, or read it with raw=1.',
  },
  'storage.fileNotUploaded': { kind: 'invalid', text: 'File {id} was prepared, but nothing has been uploaded to it.' },
  'storage.manifestFileMissing': {
    kind: 'invalid',
    text: 'Sliced file {id} has no manifest. Upload one to its key followed by "manifest".',
  },
  'storage.invalidManifest': { kind: 'invalid', text: 'The manifest of sliced file {id} cannot be used: {reason}.' },
  'storage.importFileMissing': { kind: 'invalid', text: 'The manifest of file {id} names {slice}, which has not been uploaded.' },
  'storage.unauthorizedAccess': {
    kind: 'forbidden',
    text: 'The manifest of file {id} names {slice}, which does not belong to that file.',
  },
  'query.syntax': { kind: 'invalid', text: 'The query "{query}" could not be understood: {reason}.' },
  'import.dataMissing': { kind: 'invalid', text: 'The form has no file. Send it as the multipart field "data".' },

  // Iceberg
  'iceberg.warehouseNotFound': {
    kind: 'not-found',
    text: 'There is no warehouse "{warehouse}". Leave it out for the default branch, or name the id of a branch, `flat`, or both as `123/flat`.',
  },
  'iceberg.prefixNotFound': {
    kind: 'not-found',
    text: 'The prefix "{prefix}" is not one of the project of this token. Ask `GET /iceberg/v1/config` for it.',
  },
  'iceberg.namespaceNotFound': {
    kind: 'not-found',
    text: 'The namespace "{namespace}" does not exist, or this token may not read it. Namespaces are buckets, for example in.c-main.',
  },
  'iceberg.aliasNotOpen': {
    kind: 'not-found',
    text: 'The alias "{table}" shows a part of its table. Its files would show all of it, so that it can be read by the Storage API only.',
  },
  'iceberg.preparing': {
    kind: 'transient',
    text: 'The files of the table are being written in the shape that other engines read. Try again in some seconds.',
  },
  'iceberg.notBuilt': {
    kind: 'not-built',
    text: '{what} is not part of this catalogue. `GET /iceberg/v1/config` lists what is.',
  },
  'iceberg.commitFailed': {
    kind: 'conflict',
    text: 'The table is not as the commit expects it: {reason}. Load it again and repeat the commit.',
  },
  'iceberg.commitRefused': { kind: 'invalid', text: 'The commit was refused, and nothing was changed: {reason}.' },
  'iceberg.fileRefused': {
    kind: 'invalid',
    text: 'The commit was refused, and nothing was changed: the file {file} {reason}.',
  },
  'iceberg.tableExists': { kind: 'conflict', text: 'The table "{table}" exists already.' },
  'iceberg.keyTaken': {
    kind: 'invalid',
    text: 'The commit was refused, and nothing was changed: {rows} rows would have the same primary key {columns}: {values}. Replace the rows that are there instead of adding to them.',
  },

  // Object store
  'storage.unavailable': { kind: 'transient', text: 'The object store could not {what}. Try again.' },
  'storage.full': {
    kind: 'full',
    text: 'The object store has no space left to {what}. Free some, then try again; reading still works.',
  },
  'stack.diskFull': {
    kind: 'full',
    text: 'The disk of {where} is full, so the request could not be completed. Free some space, then try again; reading still works.',
  },
  'storage.corrupt': {
    kind: 'bug',
    text: 'The bytes of object {key} do not match their checksum at offset {offset}. Restore it from a backup or upload it again.',
  },
  'storage.invalidKey': { kind: 'invalid', text: 'An object key is 1 to 1024 bytes of UTF-8 without NUL; this one {reason}.' },
  'storage.preconditionFailed': {
    kind: 'conflict',
    text: 'Object {key} is not in the state the request asked for ({condition}).',
  },
  'storage.uploadNotFound': {
    kind: 'not-found',
    text: 'There is no upload in parts with this id for {key}. It was completed, aborted or never started.',
  },
  'storage.invalidPart': { kind: 'invalid', text: 'Part {number} was not uploaded, or its etag is not {etag}.' },
  // Backups
  'backup.targetNotEmpty': {
    kind: 'invalid',
    text: 'The folder {folder} is not empty: it holds {found}. Give a new or an empty folder; a backup overwrites nothing.',
  },
  'backup.notAFolder': { kind: 'invalid', text: '{folder} is not a folder.' },
  'backup.notABackup': {
    kind: 'invalid',
    text: '{folder} is not a backup: manifest.json is missing. A backup that was interrupted has none.',
  },
  'backup.manifestDamaged': {
    kind: 'invalid',
    text: 'manifest.json in {folder} is damaged, so nothing in the backup can be trusted. Use another backup.',
  },
  'backup.dataFolderNotEmpty': {
    kind: 'invalid',
    text: 'The data folder {folder} is not empty: it holds {found}. A backup is restored into an empty one; set MILLRACE_DATA_DIR, or move the old data away.',
  },
  'backup.changedWhileRead': {
    kind: 'conflict',
    text: '{file} changed while it was being restored. Empty the data folder and restore again.',
  },
  'backup.noBucket': {
    kind: 'invalid',
    text: 'No bucket for backups is set. Set MILLRACE_BACKUP_S3_ENDPOINT, MILLRACE_BACKUP_S3_BUCKET, MILLRACE_BACKUP_S3_ACCESS_KEY_ID and MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY.',
  },
  'backup.wrongName': {
    kind: 'invalid',
    text: 'A backup in the bucket cannot have the name "{name}". Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit.',
  },
  'backup.notInBucket': { kind: 'not-found', text: 'The bucket has no backup "{name}". The newest it has: {found}.' },
  'backup.nothingThere': { kind: 'invalid', text: '{folder} holds no stack. Set MILLRACE_DATA_DIR to the data folder.' },
  'backup.needsDatabase': {
    kind: 'invalid',
    text: 'The backup holds the rows of a PostgreSQL database. Set MILLRACE_DATABASE_URL to an empty database that they go into.',
  },
  'backup.needsNoDatabase': {
    kind: 'invalid',
    text: 'The backup holds a SQLite database, which goes into the data folder. Leave out MILLRACE_DATABASE_URL.',
  },
  'backup.databaseNotEmpty': {
    kind: 'invalid',
    text: 'The database of MILLRACE_DATABASE_URL is not empty: it has a table {found}. A backup is restored into an empty one.',
  },
  'backup.needsS3': {
    kind: 'invalid',
    text: 'The backup holds the objects of an external S3. Set MILLRACE_S3_ENDPOINT, its keys and MILLRACE_S3_BUCKET to an empty bucket that they go into.',
  },
  'backup.needsNoS3': {
    kind: 'invalid',
    text: 'The backup holds the objects of the embedded store, which go into the data folder. Leave out MILLRACE_S3_ENDPOINT and its keys.',
  },
  'backup.bucketNotEmpty': {
    kind: 'invalid',
    text: 'The bucket {bucket} is not empty. A backup is restored into an empty one; set MILLRACE_S3_BUCKET to another.',
  },
  // Storage jobs
  'storage.jobs.notFound': { kind: 'not-found', text: 'Job {id} was not found.' },
  'storage.jobs.lost': { kind: 'conflict', text: 'Job {id} was taken over by another worker; this attempt changed nothing.' },
  'storage.jobs.failed': { kind: 'bug', text: 'The job failed and gave no reason.' },
  'storage.jobs.workerLost': {
    kind: 'transient',
    text: 'The process that ran this job ended in the middle of it. Nothing was changed; start the operation again.',
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
    text: 'Tables of the linked bucket "{bucket}" are shown by the aliases {aliases}. Delete these first, or send force=1.',
  },
  'storage.buckets.snapshotNotSupported': {
    kind: 'invalid',
    text: 'The table "{table}" is an alias and holds no rows of its own. Make a snapshot of "{source}".',
  },
  'storage.buckets.linkedCannotBeShared': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" is linked from another project and cannot be shared on. Share the bucket it comes from.',
  },
  'storage.buckets.sharingInBranch': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" cannot be shared from a development branch. Share the one of the default branch.',
  },
  'storage.buckets.linkNotFound': { kind: 'not-found', text: 'The bucket "{bucket}" is not linked in project {project}.' },
  'storage.buckets.alreadyLinked': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" of project {project} is already linked here as "{link}".',
  },
  'storage.bucket.notShared': { kind: 'invalid', text: 'The bucket {bucket} is not shared.' },
  'storage.bucket.ownerNotFound': {
    kind: 'not-found',
    text: 'The bucket "{bucket}" has no owner. Name one with POST .../owner.',
  },
  'storage.bucket.holderNotFound': {
    kind: 'not-found',
    text: 'No person of this project has the id or the e-mail "{who}", and its master token has another id. Name a person of this project.',
  },
  'storage.buckets.targetProjectIdsAreNotPartOfOrganization': {
    kind: 'invalid',
    text: 'Project {project} is not part of this stack. Share with projects that are.',
  },
  'storage.buckets.targetAdminsAreNotPartOfOrganization': {
    kind: 'invalid',
    text: 'No person on this stack has the id or the e-mail "{user}", and no project has a master token with this admin id. Share with people of this stack.',
  },
  'storage.buckets.notExternal': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" does not come from a database outside of the stack, so there is nothing to refresh: it is always current.',
  },
  'storage.buckets.readOnly': {
    kind: 'invalid',
    text: 'The bucket "{bucket}" is linked from another project and read only. Work in a bucket of your own.',
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
  'storage.tables.loadsFailed': { kind: 'invalid', text: 'Nothing was loaded, because some tables could not be:\n{lines}' },
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
    text: 'The primary key names columns the table does not have: {columns}. Its columns are {known}.',
  },
  'storage.tables.validation.invalidFormat': {
    kind: 'invalid',
    text: 'The format "{format}" is not available here. Use {known}.',
  },
  'storage.tables.validation.columnNotExists': { kind: 'invalid', text: 'The table has no column "{column}".' },
  'storage.tables.validation.cannotAddColumn': {
    kind: 'invalid',
    text: 'The table "{table}" shows the columns of "{source}". Add the column there.',
  },
  'storage.tables.validation.unintendedTruncation': {
    kind: 'invalid',
    text: 'No filters have been specified, which will truncate the table, but the `allowTruncate` parameter was not set.',
  },
  'workspace.workspaceNotFound': { kind: 'not-found', text: 'Workspace "{id}" was not found.' },
  'workspace.tooManyOfProject': {
    kind: 'forbidden',
    text: 'The project has {limit} workspaces, as many as it may have. Delete some that are no longer needed, or ask the operator for a higher limit storage.maxWorkspaces.',
  },
  'workspace.tooManyOfToken': {
    kind: 'forbidden',
    text: 'This token has created {limit} workspaces, as many as it may have at once. Delete some of them, or use a token with canManageBuckets.',
  },
  'workspace.unsupportedBackendSize': {
    kind: 'invalid',
    text: 'There is no workspace of the size "{size}". Known sizes: {known}.',
  },
  'workspace.loginTypeNotSupported': {
    kind: 'invalid',
    text: 'The login type "{type}" is not supported here. Known types: {known}.',
  },
  'workspace.tooManyValues': {
    kind: 'unprocessable',
    text: 'The column "{column}" of "{table}" has more than {limit} different values. Load them as a table instead.',
  },
  'workspace.credentialsNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} takes no further passwords: its login type is {type}.',
  },
  'workspace.credentialsNotFound': { kind: 'not-found', text: 'Workspace {id} has no credentials {credentials}.' },
  'workspace.tooManyCredentials': {
    kind: 'invalid',
    text: 'Workspace {id} has {limit} credentials or keys, which is the most. Delete some first.',
  },
  'workspace.publicKeyNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} has no login by key: its login type is {type}. Make one with loginType snowflake-service-keypair.',
  },
  'workspace.publicKeyInvalid': {
    kind: 'invalid',
    text: 'publicKey is not a public key. Send RSA (2048 bits or more), EC (P-256) or Ed25519, as PEM or as its base64.',
  },
  'workspace.resetPasswordNotSupported': {
    kind: 'invalid',
    text: 'Workspace {id} has no password: its login type is {type}. Use it through the API, or with a token as the password.',
  },
  'storage.backendNotAllowed': { kind: 'invalid', text: 'There is no backend "{backend}" here. Leave it out, or send {known}.' },
  'workspace.loadRequestInputRequired': {
    kind: 'invalid',
    text: 'The parameter "input" is needed: a list of objects with "source" and "destination".',
  },
  'workspace.loadRequestBadInput': { kind: 'invalid', text: 'Invalid input {index}: {reason}' },
  'workspace.loadRequestLogicalException': { kind: 'invalid', text: 'Invalid input {index}: {reason}' },
  'workspace.duplicateDestination': {
    kind: 'invalid',
    text: 'The destination "{destination}" is named twice (upper and lower case are the same). Each table needs a name of its own.',
  },
  'workspace.duplicateTable': {
    kind: 'invalid',
    text: 'The workspace has "{destination}" already. Send "overwrite" for it, or leave out "preserve".',
  },
  'workspace.sourceNotFound': { kind: 'not-found', text: 'The source table "{source}" was not found{where}.' },
  'workspace.tableAccessDenied': { kind: 'forbidden', text: 'The token may not read the source table "{source}".' },
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
    text: 'Workspace {id} would be larger than the {limit} MB it may have. Drop tables of it, or load fewer rows.',
  },
  'storage.tableNotFound': { kind: 'not-found', text: 'The workspace {workspace} has no table "{table}".' },
  'query.notFound': { kind: 'not-found', text: 'Query job "{id}" was not found.' },
  'query.resultsGone': {
    kind: 'not-found',
    text: 'The rows of statement {id} are gone: results are kept for a day. Run it again.',
  },
  'storage.workspace.batchDeleteFailed': { kind: 'invalid', text: 'These objects could not be deleted: {objects}.' },
  'storage.tables.typedColumnsFixed': {
    kind: 'invalid',
    text: "During the import of typed tables new columns can't be added. The file {file} has columns the table does not: {columns}. Add them with their types first.",
  },
  'storage.tables.typeDiffers': {
    kind: 'invalid',
    text: 'The column "{column}" of table {table} has the type {type}, and the load says {wanted}. A column keeps its type: load into another table, or make this one anew.',
  },
  'storage.tables.modificationRefused': {
    kind: 'invalid',
    text: 'The load would change the table {table}, which it may not (table_modifications is "{modifications}"): {changes}. Change the table first, or allow it.',
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
    text: 'The column "{column}" cannot become {type}: {rows} of its values are not of that type, among them {examples}. Correct them first{advice}.',
  },
  'storage.tables.columnIsFiltered': {
    kind: 'invalid',
    text: 'The type of the column "{column}" cannot change: the rows of {aliases} are chosen by its values. Remove the filter of the alias first.',
  },
  'storage.tables.columnHasNulls': {
    kind: 'invalid',
    text: 'The column "{column}" has no value in {rows} rows, so it must stay nullable. Fill them first.',
  },
  'storage.tables.columnNeedsValues': {
    kind: 'invalid',
    text: 'The column "{column}" cannot be added: it may not be empty, and the {rows} rows of the table would have no value in it. Make it nullable, or give it a default.',
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
    text: 'The column "{column}" is used by the alias {aliases}. Change or delete the alias first; force=1 takes the column from aliases that follow the columns of their table.',
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
    text: 'The table "{table}" is an alias of "{source}" and read only. Change that table instead.',
  },
  'storage.tables.notAnAlias': { kind: 'invalid', text: 'The table "{table}" is not an alias.' },
  'storage.tables.aliasHasAliases': {
    kind: 'invalid',
    text: 'Cannot change {what} - table has dependent aliases: {aliases}.',
  },
  'storage.tables.sameTableSwap': {
    kind: 'unprocessable',
    text: 'A table cannot be swapped with itself. Name another targetTableId.',
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
    text: 'The table "{table}" has no state {state} any more. Leave "state" out to read the present one.',
  },
  'storage.tables.tooSlow': {
    kind: 'unprocessable',
    text: 'Reading these rows took longer than {seconds} s and was stopped. Name fewer columns, narrow the filter, leave out the order or the count, or export the table.',
  },
  'storage.tables.profileNotFound': {
    kind: 'not-found',
    text: 'The table "{table}" has no such profile. Start one with POST .../profile.',
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
    text: 'Snapshot {id} is not one of the table "{table}". Make a new table of it instead.',
  },
  'storage.snapshots.otherColumns': {
    kind: 'invalid',
    text: 'The table "{table}" had other columns, types or another key then, so its rows cannot be put back. Make a new table of that state instead.',
  },
  'storage.validation.timeTravelNotSupported': {
    kind: 'invalid',
    text: 'The table "{table}" is an alias and has no earlier states of its own. Ask for those of the table behind it.',
  },
  'storage.timetravel.invalid': {
    kind: 'invalid',
    text: 'The table has no state of that time. Send a timestamp after the table was created, not in the future and within the days its states are kept.',
  },
  'csvImport.columnsNotMatch': {
    kind: 'invalid',
    text: 'Some columns are missing in the csv file. Missing columns: {missing}. Expected columns: {expected}. Please check if the expected delimiter "{delimiter}" is used in the csv file {file}.',
  },
  'storage.invalidColumns': {
    kind: 'invalid',
    text: 'The parameter "columns" names {columns}, which the table does not have. Its columns: {known}. Add a column first, or send a file with a header.',
  },
  // Events
  'storage.event.schemaValidationFailed': { kind: 'invalid', text: 'Invalid event - {field}: {reason}' },
  'storage.events.notFound': { kind: 'not-found', text: 'Event not found' },
  'storage.events.query': { kind: 'invalid', text: 'Failed to parse query {query}: {reason}' },

  // Queue
  'queue.jobNotFound': { kind: 'not-found', text: 'Job "{id}" not found' },
  'queue.unknownComponent': { kind: 'invalid', text: 'Component "{component}" does not exist.' },
  'queue.notRunnable': { kind: 'invalid', text: 'Component "{component}" cannot be run: {reason}' },
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
    text: 'The job is finished with status "{status}"; "{move}" is not allowed any more.',
  },
  'queue.statusTransitionForbidden': { kind: 'conflict', text: 'A job with status "{status}" cannot {move}.' },
  'queue.leaseLost': { kind: 'conflict', text: 'The job {id} is no longer held by this worker; what it did is not published.' },
  dbDeduplicationIdConflict: {
    kind: 'conflict',
    text: 'A job with deduplicationId "{deduplicationId}" already exists: job {id}.',
  },
  'queue.idempotencyKeyReused': {
    kind: 'conflict',
    text: 'The Idempotency-Key belongs to the job {id}, which runs something else. Send another key with every new request.',
  },

  // Flows
  'flows.invalid': { kind: 'invalid', text: 'The flow has mistakes. {problems}' },
  'flows.unknownTasks': { kind: 'invalid', text: 'The flow has no task {tasks}. Name tasks by their ids in the configuration.' },
  'flows.containsItself': { kind: 'invalid', text: 'The flow contains itself: {trail}. Remove one of these tasks.' },
  'flows.notARun': {
    kind: 'invalid',
    text: 'previousJobId: job {id} is not a run of this flow. Leave it out to run the whole flow.',
  },
  'flows.conditionFailed': { kind: 'invalid', text: 'A condition cannot be decided: {reason}.' },

  // Components and configurations
  'storage.components.notFound': { kind: 'not-found', text: 'Component "{id}" not found' },
  'storage.components.descriptionInvalid': {
    kind: 'not-found',
    text: 'Component "{id}" has a description that cannot be used. {reason}. Mend the file; it is read again within seconds.',
  },
  'storage.components.validation': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.componentsRows.validation': { kind: 'invalid', text: 'Invalid parameters - {field}: {reason}' },
  'storage.components.tooLarge': {
    kind: 'too-large',
    text: 'A configuration and a state may be {limit} bytes each; this one is larger. Keep data in files or tables, not in the configuration.',
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
    text: '{what} is at version {actual}, not {expected}: somebody changed it meanwhile. Read it again and repeat the change.',
  },
  'storage.configuration.notFound': { kind: 'not-found', text: 'Configuration "{id}" not found' },
  'storage.configuration.versionNotFound': { kind: 'not-found', text: 'Version {version} not found' },
  'storage.configuration.diffNotAvailableOnDefaultBranch': {
    kind: 'invalid',
    text: 'A diff compares a branch with the default branch. Use the address of a development branch.',
  },
  'storage.configuration.rebaseNotAvailableOnDefaultBranch': {
    kind: 'invalid',
    text: 'Only a configuration of a development branch can be rebased. Use the address of a development branch.',
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
    text: 'rowsSortOrder must name every row of the configuration once. Missing: {missing}.',
  },

  // Metadata of configurations, branches, buckets, tables and columns
  'storage.metadata.invalidStructure': { kind: 'invalid', text: 'The metadata cannot be stored: {reason}' },
  'storage.metadata.invalidKey': { kind: 'invalid', text: 'Invalid Metadata Key ({place})' },
  'storage.metadata.invalidProvider': { kind: 'invalid', text: 'Provider is required.' },
  'storage.metadata.notFound': { kind: 'not-found', text: 'Metadata with id "{id}" not found' },

  // Branches
  'devBranch.notFound': { kind: 'not-found', text: 'Branch id:"{id}" was not found.' },
  'devBranch.duplicateName': { kind: 'invalid', text: 'There already is a branch with name "{name}"' },
  'devBranch.defaultName': { kind: 'invalid', text: 'You can not update default branch name.' },
  'devBranch.deleteDefault': { kind: 'invalid', text: 'Cannot delete Main branch' },
  'devBranch.mergeDefault': {
    kind: 'invalid',
    text: 'The default branch is what others are merged into. Name a development branch.',
  },
  'devBranch.mergeConflict': {
    kind: 'conflict',
    text: 'Branch "{branch}" cannot be merged: these configurations changed in the default branch as well: {configurations}. Rebase or reset them first.',
  },

  // Merge requests
  'mergeRequest.notFound': { kind: 'not-found', text: 'Merge request "{id}" not found' },
  'mergeRequest.branches': {
    kind: 'unprocessable',
    text: 'A merge request goes from a development branch into the default branch.',
  },
  'mergeRequest.autoMergeAt': {
    kind: 'unprocessable',
    text: 'autoMergeAt is {given}. A merge that is scheduled needs a time, for example 2026-12-24T18:00:00+00:00.',
  },
  'mergeRequest.wrongState': { kind: 'unprocessable', text: 'A merge request that is {state} cannot take the step "{move}".' },
  'mergeRequest.notReady': { kind: 'conflict', text: 'The merge request is {state}; only an approved one can be merged.' },
  'mergeRequest.conflict': { kind: 'invalid', text: 'Merge request {id} cannot be merged. \n Errors: \n{errors}' },
  'mergeRequest.unknownReviewer': {
    kind: 'unprocessable',
    text: 'The reviewer "{id}" holds no token of the project that may approve. Send ids of master tokens, or of tokens that manage branches or buckets.',
  },
  'mergeRequest.branchNotFound': { kind: 'not-found', text: 'Cannot create merge request. Branch id:"{id}" was not found.' },
  'mergeRequest.targetNotDefault': { kind: 'invalid', text: 'Cannot create merge request. Target branch is not default.' },
  'mergeRequest.exists': { kind: 'invalid', text: 'There is already a merge request ({id}) created from branch "{branch}"' },
  'mergeRequest.inProgress': { kind: 'invalid', text: 'Cannot merge, another merge is in progress.' },
  'mergeRequest.refused': { kind: 'invalid', text: 'Operation cannot be performed due: {reason}' },

  // Encryption
  'encryption.migrationNeedsMasterTokens': {
    kind: 'forbidden',
    text: 'A configuration moves with its secrets only between projects whose master tokens are both given.',
  },
  'encryption.otherStack': {
    kind: 'not-built',
    text: 'Secrets move between projects of one stack only; this one is "{here}", not "{stack}". Copy the configuration by hand and enter its secrets again.',
  },
  'encryption.rootKeyMissing': {
    kind: 'transient',
    text: 'The root key {id} that protects the stored secrets is missing. Restore the file root-keys that belongs to this data, or set MILLRACE_ENCRYPTION_KEY to that key.',
  },
  'encryption.dataKeyDamaged': {
    kind: 'transient',
    text: 'The data key {id} is damaged: root key {root} does not open it. Restore the metadata from a backup.',
  },
  'encryption.scope': {
    kind: 'invalid',
    text: 'No cipher exists for this scope ({given}). Give nothing, componentId, projectId, or both; configId needs both of them, branchType needs projectId.',
  },
  'encryption.tooMany': {
    kind: 'invalid',
    text: 'The document has more than {most} values to encrypt. Split it, or encrypt only what is secret.',
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
    text: 'Insufficient permissions: a schedule is activated, changed and removed with a master token of the project. This token is not a master token.',
  },
  'scheduler.notFound': { kind: 'not-found', text: 'Schedule {id} was not found.' },
  'scheduler.configurationNotFound': {
    kind: 'not-found',
    text: 'There is no configuration "{id}" of the scheduler component. Create it first, then activate it.',
  },
  'scheduler.versionNotFound': {
    kind: 'not-found',
    text: 'The configuration "{id}" of the scheduler component has no version {version}.',
  },
  'scheduler.notRegistered': { kind: 'not-found', text: 'No schedule is registered for the configuration "{id}".' },
  'scheduler.invalidConfiguration': { kind: 'invalid', text: 'The schedule cannot be activated - {field}: {reason}' },
  // Job runner
  'vault.notFound': { kind: 'not-found', text: 'The vault has no variable "{hash}".' },
  'sandboxes.notFound': { kind: 'not-found', text: '{what} "{id}" was not found.' },
  'sandboxes.unknownType': {
    kind: 'invalid',
    text: 'There are no sandboxes of the type "{type}" here. SQL sandboxes are made with {known}; a notebook can be a data app of the type jupyter.',
  },
  'sandboxes.tooMany': { kind: 'invalid', text: 'A project has at most {limit} of them. Delete some that are no longer needed.' },

  'apps.notFound': { kind: 'not-found', text: 'App "{id}" was not found.' },
  'apps.versionNotFound': { kind: 'not-found', text: 'The configuration of app {id} has no version {version}.' },
  'apps.notAnApp': {
    kind: 'invalid',
    text: 'The component "{component}" is not a data app. Use keboola.data-apps, or a component whose description has the type data-app.',
  },
  'apps.tooMany': { kind: 'invalid', text: 'A project has at most {limit} apps. Delete some that are no longer needed.' },
  'apps.invalidConfiguration': { kind: 'invalid', text: 'The app cannot be deployed: {reason}.' },
  'apps.notIsolated': {
    kind: 'unprocessable',
    text: 'Code that users write and images run isolated only, and this node cannot isolate them: {reason}. See MILLRACE_ISOLATION.',
  },
  'apps.runtimeMissing': { kind: 'unprocessable', text: 'An app of the type {type} cannot run on this node: {missing}.' },
  'apps.noContainerEngine': {
    kind: 'unprocessable',
    text: 'The app is an image ({image}, of the component {component}), and this node has neither docker nor podman running. Start one of them, or use a component whose app is a command.',
  },
  'apps.deployerGone': {
    kind: 'conflict',
    text: 'The token or the person who deployed app {id} is no longer there, and the app reads tables with their rights. Deploy it again.',
  },
  'apps.changed': { kind: 'conflict', text: 'Somebody else has just deployed or stopped app {id}. Look at it, then try again.' },
  'apps.isStopped': { kind: 'conflict', text: 'App {id} is stopped. Deploy it first: PATCH it with the desiredState "running".' },
  'apps.passwordWrong': {
    kind: 'unauthenticated',
    text: 'Sign in, or send the password of the data app: GET .../apps/{id}/password shows it to members of the project.',
  },
  'apps.repositoryUnusable': {
    kind: 'unprocessable',
    text: 'The code of the app could not be fetched from {repository}: {reason}',
  },
  'apps.noRepository': { kind: 'not-found', text: 'The code of app {id} is in its configuration, not in a git repository.' },
  'apps.noManagedRepository': {
    kind: 'not-found',
    text: 'The stack hosts no git repository for app {id}. It makes one together with an app, when useManagedGitRepo is true.',
  },
  'apps.gitCredentialNotFound': {
    kind: 'not-found',
    text: 'The repository of app {id} has no credential "{credential}", or it has expired.',
  },
  'apps.tooManyGitCredentials': {
    kind: 'invalid',
    text: 'A repository has at most {limit} credentials. Delete some that are no longer needed.',
  },
  'apps.gitUnauthenticated': {
    kind: 'unauthenticated',
    text: 'Send a credential of this repository as the password, with any user: POST .../apps/{id}/git-repo/credentials makes one. It may have expired.',
  },
  'apps.gitReadOnly': {
    kind: 'forbidden',
    text: 'This credential reads the repository only. Make one with the permissions readWrite.',
  },
  'apps.gitMalformed': { kind: 'invalid', text: 'The body is not a request of the git protocol, or not whole.' },
  'apps.linkInvalid': {
    kind: 'not-found',
    text: 'This link to an app is not valid, or it has ended. Open the app again, or ask for a new link.',
  },
  'apps.nodeFull': {
    kind: 'transient',
    text: 'This node runs {limit} apps already, which is the most (MILLRACE_APPS). Try again later.',
  },
  'apps.failed': {
    kind: 'transient',
    text: 'App {id} does not run, and is started again in {seconds} s at the earliest. {reason}',
  },
  'apps.neverListened': {
    kind: 'transient',
    text: 'the app did not answer on the port of the variable PORT within {seconds} s',
  },
  'apps.noAnswer': { kind: 'transient', text: 'App {id} broke off before it answered. Its log says more.' },

  'usage.limitReached': {
    kind: 'forbidden',
    text: 'The project may have {limit} {what}; with this it would have {used}. Delete what is no longer needed, or ask an administrator of the stack for a higher limit ({name}).',
  },
  'usage.unknownLimit': { kind: 'invalid', text: '"{name}" is not a limit of projects. There are {known}.' },

  'vault.full': { kind: 'invalid', text: 'The vault already holds {limit} variables, which is the most. Remove some.' },
  'jobRunner.invalidConfiguration': { kind: 'invalid', text: 'The configuration cannot be run: {reason}.' },
  'jobRunner.missingVariables': { kind: 'invalid', text: 'No value was given for the variables: {names}.' },
  'jobRunner.brokenByVariables': {
    kind: 'invalid',
    text: 'The configuration is not valid JSON after its variables were replaced ({names}). Check the values and the placeholders.',
  },
  'jobRunner.inputMissing': { kind: 'invalid', text: 'The input mapping cannot be read: {reason}' },
  'jobRunner.noRoom': {
    kind: 'invalid',
    text: '{what} take more than the {megabytes} MB this run may have on the disk (MILLRACE_RUN_DISK_BYTES, or what the disk has left). Read less: fewer columns, rows or files.',
  },
  'jobRunner.outputInvalid': { kind: 'invalid', text: 'The results cannot be stored: {reason}' },
  'jobRunner.componentFailed': { kind: 'invalid', text: '{message}' },
  'jobRunner.componentBroken': { kind: 'bug', text: '{message}' },
  // Sync actions
  'syncActions.projectBusy': {
    kind: 'too-many',
    text: 'The project already runs {limit} actions, which is the most at once. Wait until one of them has ended and try again.',
  },
  'syncActions.busy': {
    kind: 'transient',
    text: 'This node already runs {limit} actions, which is the most at once. Try again in a moment.',
  },
  'jobRunner.unknownAction': { kind: 'invalid', text: 'The component {component} has no action "{action}". It has: {actions}.' },

  // The sample API
  'sample.loginWrong': { kind: 'unauthenticated', text: 'Wrong user name or password. The sample shop knows ada with lovelace.' },
  'sample.sessionInvalid': {
    kind: 'unauthenticated',
    text: 'No session, or not a valid one. POST /sample/login answers a token; send it in the header X-Sample-Session.',
  },
  'sample.tooManyRequests': {
    kind: 'too-many',
    text: 'The sample shop allows {limit} requests a second. Wait as long as Retry-After says.',
  },
  'sample.cursorUnknown': {
    kind: 'invalid',
    text: '"{cursor}" is not a cursor of this list. Send `next` of the page before, or nothing for the first page.',
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
