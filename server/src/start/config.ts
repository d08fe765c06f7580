// The environment in, one frozen value out. The only file with the names of variables; docs/environment-variables.md carries the same table
// and config.test.ts compares the two. Every problem is reported at once, so that a start fails once, not once per mistake.

import { resolve } from 'node:path'
import { DEFAULT_LIMITS } from '../kit/default-limits.ts'
import { defined } from '../kit/defined.ts'
import type { StackSetting } from '../model/stack-setting.ts'
import * as read from './config-values.ts'

interface Spec<T> {
  readonly sentence: string
  /** Never repeat the value in a message. */
  readonly secret?: true
  /** Whether it can be changed while the stack runs (services/stack/operations/settings.ts). */
  readonly live?: true
  /** Throws an Error whose message completes "NAME is ...". */
  readonly parse: (text: string) => T
}

/** The one place of a default: the value itself, and its text for docs/environment-variables.md where that differs from the value. */
interface WithDefault<T> extends Spec<T> {
  readonly default: NoInfer<T>
  readonly shown?: string
}
/** Without a value of its own; `unset` is the text for docs/environment-variables.md. */
interface WithoutDefault<T> extends Spec<T> {
  readonly unset: string
}

/** `V` is the type of its value: `T`, or also undefined. */
interface Variable<T, V = unknown> extends Spec<T> {
  readonly fallback: V
  /** The default as docs/environment-variables.md shows it. */
  readonly shownDefault: string
}

function variable<T>(spec: WithDefault<T>): Variable<T, T>
function variable<T>(spec: WithoutDefault<T>): Variable<T, T | undefined>
function variable<T>(spec: WithDefault<T> | WithoutDefault<T>): Variable<T, T | undefined> {
  const { sentence, parse, secret, live } = spec
  const rest = { sentence, parse, ...(secret && { secret }), ...(live && { live }) }
  if ('unset' in spec) return { ...rest, fallback: undefined, shownDefault: spec.unset }
  return { ...rest, fallback: spec.default, shownDefault: spec.shown ?? shownAs(spec.default) }
}

function shownAs(value: unknown): string {
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return 'none'
  return typeof value === 'number' ? String(value) : `\`${String(value)}\``
}

export const VARIABLES = {
  // Listeners
  PORT: variable({ default: 8000, sentence: 'Port of the stack. 0 takes any free port.', parse: read.port }),
  HOST: variable({
    default: '127.0.0.1',
    sentence: 'IP address that the stack and the object store listen on. `0.0.0.0` opens them to the network.',
    parse: read.host,
  }),
  MILLRACE_S3_PORT: variable({
    unset: '`PORT` + 1',
    sentence: 'Port of the embedded object store. 0 takes any free port.',
    parse: read.port,
  }),
  MILLRACE_PUBLIC_URL: variable({
    unset: 'from the request',
    sentence: 'The URL that clients use for the stack, for links in responses. Set it behind a proxy.',
    parse: read.httpUrl,
  }),
  MILLRACE_S3_PUBLIC_URL: variable({
    unset: 'host of the request, `MILLRACE_S3_PORT`',
    sentence: 'The URL that clients use for the embedded object store. Set it behind a proxy.',
    parse: read.httpUrl,
  }),
  MILLRACE_TLS: variable({
    unset: '`files` when both files are named, else `off`',
    sentence:
      '`local` creates a certificate authority for this stack (`tls/authority.pem` in the data folder, for clients to trust) and serves both ports over TLS with HTTP/2; `files` uses the two files below; `off` serves plain HTTP.',
    parse: read.oneOf('off', 'files', 'local'),
  }),
  MILLRACE_TLS_CERT_FILE: variable({
    unset: 'none',
    sentence: 'PEM file with the certificate and those between it and its authority. Read again when it changes.',
    parse: (text) => resolve(text),
  }),
  MILLRACE_TLS_KEY_FILE: variable({
    unset: 'none',
    sentence: 'PEM file with the private key of the certificate.',
    parse: (text) => resolve(text),
  }),
  MILLRACE_DOMAIN: variable({
    unset: 'none',
    sentence: 'Services are also served by host below this domain (`queue.example.com`), and the index publishes those URLs.',
    parse: read.domain,
  }),
  MILLRACE_CORS_ORIGINS: variable({
    default: [],
    sentence: 'Origins of pages on other hosts that may call the API, separated by commas. `*` allows all.',
    parse: read.listOf(read.origin),
  }),

  // What must survive
  MILLRACE_DATA_DIR: variable({
    default: resolve('data'),
    shown: '`./data`',
    sentence: 'The data folder: everything that must survive.',
    parse: (text) => resolve(text),
  }),
  MILLRACE_DATABASE_URL: variable({
    unset: 'SQLite in the data folder',
    sentence: 'PostgreSQL for the metadata (`postgres://user:password@host/database`), when there is more than one node.',
    secret: true,
    parse: read.postgresUrl,
  }),
  MILLRACE_DATABASE_CONNECTIONS: variable({
    default: DEFAULT_LIMITS.databaseConnections,
    sentence: 'Maximum number of connections to PostgreSQL from this node.',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_START_WAIT_MS: variable({
    default: 60_000,
    sentence: 'How long a start waits for a PostgreSQL or an external S3 that is not available yet.',
    parse: read.wholeNumber(0, 3_600_000),
  }),
  MILLRACE_S3_ENDPOINT: variable({
    unset: 'the embedded object store',
    sentence: 'URL of an external S3. It requires the bucket and both keys.',
    parse: read.httpUrl,
  }),
  MILLRACE_S3_REGION: variable({
    default: 'us-east-1',
    sentence: 'Region in signatures and in responses to clients.',
    parse: read.word,
  }),
  MILLRACE_S3_BUCKET: variable({ default: 'millrace', sentence: 'Bucket that holds the files.', parse: read.word }),
  MILLRACE_S3_ACCESS_KEY_ID: variable({
    unset: 'none',
    sentence: 'Access key of the external S3.',
    secret: true,
    parse: read.word,
  }),
  MILLRACE_S3_SECRET_ACCESS_KEY: variable({
    unset: 'none',
    sentence: 'Secret key of the external S3.',
    secret: true,
    parse: read.word,
  }),
  MILLRACE_S3_ROLE_ARN: variable({
    unset: 'none',
    sentence: "Role that clients' temporary credentials are issued for, through STS of the external S3.",
    parse: read.word,
  }),

  // Backups
  MILLRACE_BACKUP_FOLDER: variable({
    unset: 'none: no planned backups',
    sentence:
      'Folder where a node with the role `scheduler` creates backups automatically, each in a folder named by its time. Every such node must reach it.',
    parse: (text) => resolve(text),
  }),
  MILLRACE_BACKUP_S3_ENDPOINT: variable({
    unset: 'none',
    sentence:
      'URL of an S3 for backups. With it and no `MILLRACE_BACKUP_FOLDER`, planned backups go there; `millrace backup s3:NAME` and `millrace restore s3:NAME` use it too.',
    parse: read.httpUrl,
  }),
  MILLRACE_BACKUP_S3_REGION: variable({ default: 'us-east-1', sentence: 'Its region.', parse: read.word }),
  MILLRACE_BACKUP_S3_BUCKET: variable({
    unset: 'none',
    sentence: 'Its bucket; keep it apart from the bucket of the files.',
    parse: read.word,
  }),
  MILLRACE_BACKUP_S3_PREFIX: variable({
    default: 'backups/',
    sentence: 'Key prefix for backups in the bucket.',
    parse: (text) => `${read.word(text).replace(/\/*$/, '')}/`,
  }),
  MILLRACE_BACKUP_S3_ACCESS_KEY_ID: variable({
    unset: 'none',
    sentence: 'Key for it: list, get, put and delete below the prefix.',
    parse: read.word,
    secret: true,
  }),
  MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY: variable({ unset: 'none', sentence: 'Its secret.', parse: read.word, secret: true }),
  MILLRACE_BACKUP_EVERY_HOURS: variable({
    default: 24,
    sentence: 'How often: at multiples of so many hours from midnight UTC, and at the start when one was missed.',
    parse: read.wholeNumber(1, 8784),
  }),
  MILLRACE_BACKUP_KEEP: variable({
    default: 7,
    sentence: 'How many of them are kept.',
    parse: read.wholeNumber(1, 10_000),
  }),
  MILLRACE_BACKUP_WITH_KEY: variable({
    default: 'no',
    sentence: '`yes`: the root key is included, and anyone with a backup can read the secrets.',
    parse: read.oneOf('yes', 'no'),
  }),

  // Secrets
  MILLRACE_MASTER_TOKEN: variable({
    unset: 'generated and printed once',
    sentence: 'Master token of the first project, read at the first start only. Only its hash is stored.',
    secret: true,
    parse: read.token,
  }),
  MILLRACE_MANAGE_TOKEN: variable({
    unset: 'none: not allowed',
    sentence:
      'The manage token of the stack itself: sent as `X-KBC-ManageApiToken`, it manages the OAuth providers, and nothing else. Manage tokens of users are sent in the same header, begin with `person-` and have the permissions of the user.',
    secret: true,
    parse: read.stackToken,
  }),
  MILLRACE_METRICS_TOKEN: variable({
    unset: 'none: every client that reaches the stack can read them',
    sentence: 'Readers of `/metrics` must send this as `Authorization: Bearer`.',
    secret: true,
    parse: read.token,
  }),
  MILLRACE_ENCRYPTION_KEY: variable({
    unset: 'generated into the data folder, mode 0600',
    sentence:
      'Root key for `#` values: 32 bytes as 64 hexadecimal digits or base64. Without it they cannot be read again. While it is being rotated: the new key, a comma, the old one.',
    secret: true,
    parse: read.keys32,
  }),

  // What this node does, and how much
  MILLRACE_ROLES: variable({
    default: ['api', 'worker', 'scheduler'],
    sentence:
      'What this node does, separated by commas. Without `api` it serves `/health`, `/ready`, `/metrics` and the sample shop only.',
    parse: read.listOf(read.oneOf('api', 'worker', 'scheduler')),
  }),
  MILLRACE_WORKER_JOBS: variable({
    default: DEFAULT_LIMITS.worker.jobs,
    sentence: 'Maximum number of parallel component jobs on this node.',
    live: true,
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_NODE_NAME: variable({
    unset: 'the name of the machine',
    sentence: 'Display name of this node in `millrace nodes`.',
    parse: read.word,
  }),
  MILLRACE_NODE_LABELS: variable({
    default: [],
    sentence:
      'Labels of this node, separated by commas: `gpu,eu`. Components (`data.node_labels`) and configurations (`runtime.labels`) that require labels run on nodes that have them all.',
    parse: read.listOf(read.label),
  }),
  MILLRACE_PROJECT_JOBS: variable({
    default: DEFAULT_LIMITS.worker.projectJobs,
    sentence: 'Maximum number of parallel component jobs of one project, on all nodes together. Others wait.',
    live: true,
    parse: read.wholeNumber(1, 10_000),
  }),
  MILLRACE_JOB_ATTEMPTS: variable({
    default: DEFAULT_LIMITS.worker.attempts,
    sentence:
      'Maximum number of times that a job of a repeatable component (`data.repeatable`) is started when its workers are lost before anything was published. 1: it is not repeated and ends as an error.',
    live: true,
    parse: read.wholeNumber(1, 100),
  }),
  MILLRACE_STORE_WAIT_SECONDS: variable({
    default: DEFAULT_LIMITS.worker.storeWaitMs / 1000,
    sentence: 'How long jobs wait for an object store that cannot be reached before they fail. 0: they fail immediately.',
    parse: read.wholeNumber(0, 86_400),
  }),
  MILLRACE_ACTIONS: variable({
    default: DEFAULT_LIMITS.worker.actions,
    sentence: 'Maximum number of parallel sync actions on this node. Others wait 5 seconds and then return 503.',
    live: true,
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_PROJECT_ACTIONS: variable({
    default: DEFAULT_LIMITS.worker.projectActions,
    sentence: 'Maximum number of parallel sync actions of one project on this node. Others wait 5 seconds and then return 429.',
    live: true,
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_RUN_DISK_BYTES: variable({
    default: DEFAULT_LIMITS.worker.diskBytes,
    sentence: 'Maximum disk space of one run of a component. Half a gigabyte of the disk is always left free.',
    live: true,
    parse: read.wholeNumber(2 ** 20, 2 ** 50),
  }),
  MILLRACE_RUN_RESULTS: variable({
    default: DEFAULT_LIMITS.worker.results,
    sentence: 'Maximum number of result files of one component run, slices and manifests included.',
    live: true,
    parse: read.wholeNumber(1, 1_000_000),
  }),
  MILLRACE_SPARE_PROGRAMS: variable({
    default: DEFAULT_LIMITS.worker.spares,
    sentence:
      'Maximum number of processes of built-in components that wait for their next job, each for one job and for at most 30 seconds. 0: every job waits for the start of its process.',
    live: true,
    parse: read.wholeNumber(0, 100),
  }),
  MILLRACE_CHECKPOINT_HOURS: variable({
    default: DEFAULT_LIMITS.worker.checkpointHours,
    sentence:
      'How long the data received by a failed run is kept, for components that can resume (`resume` of the HTTP extractor and of connectors).',
    parse: read.wholeNumber(1, 8760),
  }),
  MILLRACE_CHECKPOINT_BYTES: variable({
    default: DEFAULT_LIMITS.worker.checkpointBytes,
    sentence: 'Maximum disk space of a node for data received by failed runs. The oldest data is deleted first.',
    parse: read.wholeNumber(2 ** 20, 2 ** 50),
  }),
  MILLRACE_TABLE_WORKERS: variable({
    unset: 'the number of cores',
    sentence: 'Maximum number of parallel loads, exports and other long table operations; each runs in a separate process.',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_TABLE_WARM_WORKERS: variable({
    default: DEFAULT_LIMITS.tables.warmWorkers,
    sentence:
      'Idle processes that stay ready for loads and previews, each about 100 MB, until there was no work for 45 seconds. 0 starts one on demand.',
    parse: read.wholeNumber(0, 16),
  }),
  MILLRACE_TABLE_WORKER_MEMORY_MB: variable({
    default: DEFAULT_LIMITS.tables.workerMemoryMb,
    sentence:
      'Maximum resident memory of such a process. A table of ten columns uses a third of the default, one of 4,000 columns all of it.',
    parse: read.wholeNumber(256, 2 ** 20),
  }),
  MILLRACE_TABLE_MAX_ROW_BYTES: variable({
    default: DEFAULT_LIMITS.tables.maxRowBytes,
    sentence: 'Longest row of a CSV file. Rows of 100 MB need 3 GB per process.',
    parse: read.wholeNumber(1024, 2 ** 30),
  }),
  MILLRACE_TABLE_MAX_INFLATED_BYTES: variable({
    default: DEFAULT_LIMITS.tables.maxInflatedBytes,
    sentence: 'Maximum uncompressed size of a compressed file.',
    parse: read.wholeNumber(2 ** 20, 2 ** 50),
  }),
  MILLRACE_TABLE_MAX_INFLATE_RATIO: variable({
    default: DEFAULT_LIMITS.tables.maxInflateRatio,
    sentence: 'A compressed file is refused if it expands to more than this multiple of its size and to more than 256 MiB.',
    parse: read.wholeNumber(2, 1_000_000),
  }),
  MILLRACE_TABLE_RETENTION_DAYS: variable({
    default: DEFAULT_LIMITS.tables.retentionDays,
    sentence: 'How many days earlier states of tables are kept, for time travel and restore.',
    live: true,
    parse: read.wholeNumber(0, 3650),
  }),
  MILLRACE_SQL_PORT: variable({
    unset: 'none: no such port',
    sentence:
      'Port for clients of PostgreSQL (docs/sql.md). 0 takes any free port. Without TLS it is open to this machine only, because the password is a token.',
    parse: read.port,
  }),
  MILLRACE_SQL_SESSIONS: variable({
    default: DEFAULT_LIMITS.sql.sessions,
    sentence:
      'Maximum number of parallel SQL sessions on this node; each runs in a separate process. Others wait 10 seconds and then return 503.',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_SQL_TOKEN_SESSIONS: variable({
    unset: 'half of MILLRACE_SQL_SESSIONS',
    sentence:
      'Maximum number of parallel SQL sessions of one token on this node, for queries, workspaces and the PostgreSQL port. Others wait 10 seconds and then return 503.',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_SQL_PROJECT_SESSIONS: variable({
    unset: 'one less than MILLRACE_SQL_SESSIONS',
    sentence: 'The same for all tokens of a project, so that some sessions are left for other projects.',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_SQL_MEMORY_MB: variable({
    default: DEFAULT_LIMITS.sql.memoryMb,
    sentence: 'Maximum resident memory of a SQL session.',
    parse: read.wholeNumber(384, 2 ** 20),
  }),
  MILLRACE_SQL_DISK_MB: variable({
    default: DEFAULT_LIMITS.sql.diskMb,
    sentence: 'Maximum temporary disk space of a SQL session, for sorts and joins that exceed its memory.',
    parse: read.wholeNumber(1, 2 ** 30),
  }),
  MILLRACE_SQL_TEMPORARY_MB: variable({
    default: DEFAULT_LIMITS.sql.temporaryMb,
    sentence:
      'Maximum disk space of the temporary tables of all connections to the PostgreSQL port that read a project; one connection may use a quarter of it.',
    parse: read.wholeNumber(4, 2 ** 30),
  }),
  MILLRACE_SQL_THREADS: variable({
    unset: 'the number of cores',
    sentence: 'Threads of a SQL session.',
    parse: read.wholeNumber(1, 1024),
  }),
  MILLRACE_SQL_TIMEOUT_SECONDS: variable({
    default: DEFAULT_LIMITS.sql.timeoutMs / 1000,
    sentence: 'Timeout of a SQL statement, including reading its rows.',
    parse: read.wholeNumber(1, 86_400),
  }),
  MILLRACE_WORKSPACE_MB: variable({
    default: DEFAULT_LIMITS.workspaces.workspaceMb,
    sentence: 'Maximum disk space of one SQL workspace.',
    parse: read.wholeNumber(1, 2 ** 30),
  }),
  MILLRACE_WORKSPACE_DAYS: variable({
    default: DEFAULT_LIMITS.workspaces.workspaceDays,
    sentence: 'Days without use after which a SQL workspace is deleted.',
    parse: read.wholeNumber(1, 3650),
  }),
  MILLRACE_AGENT_CALLS_PER_DAY: variable({
    default: DEFAULT_LIMITS.agentCallsPerDay,
    sentence: 'Tools at `/mcp` that one token may call on a day (UTC).',
    parse: read.wholeNumber(1, 1_000_000_000),
  }),
  MILLRACE_AI_URL: variable({
    unset: 'none',
    sentence:
      'An API with the chat completions of OpenAI, on this machine or elsewhere, such as `http://127.0.0.1:11434/v1`: its model answers questions, explains failed jobs and writes queries. Nothing is sent to any model without it.',
    parse: read.httpUrl,
  }),
  MILLRACE_AI_MODEL: variable({
    default: 'default',
    sentence: 'Name of the model at `MILLRACE_AI_URL`.',
    parse: read.word,
  }),
  MILLRACE_AI_KEY: variable({
    unset: 'none',
    sentence: 'Key for `MILLRACE_AI_URL`, sent as `Authorization: Bearer`.',
    secret: true,
    parse: read.token,
  }),
  MILLRACE_AI_TIMEOUT_SECONDS: variable({
    default: 60,
    sentence: 'Timeout of a request to `MILLRACE_AI_URL`.',
    parse: read.wholeNumber(1, 600),
  }),
  MILLRACE_AI_CALLS_PER_DAY: variable({
    default: 200,
    sentence: 'Requests to `MILLRACE_AI_URL` that one token or person may cause on a day (UTC) in a project.',
    parse: read.wholeNumber(1, 1_000_000_000),
  }),
  MILLRACE_WORKSPACES_PER_PROJECT: variable({
    default: DEFAULT_LIMITS.workspaces.workspacesPerProject,
    sentence: 'Maximum number of SQL workspaces of a project, unless its limit `storage.maxWorkspaces` is set.',
    parse: read.wholeNumber(1, 1_000_000),
  }),
  MILLRACE_WORKSPACES_PER_TOKEN: variable({
    default: DEFAULT_LIMITS.workspaces.workspacesPerToken,
    sentence: 'Maximum number of SQL workspaces of a token without `canManageBuckets`.',
    parse: read.wholeNumber(1, 1_000_000),
  }),
  PATH: variable({
    default: DEFAULT_LIMITS.worker.path,
    shown: 'the system folders',
    sentence: 'Search path for components that are commands, and for docker or podman.',
    parse: (text) => text,
  }),
  MILLRACE_UNKNOWN_COMPONENTS: variable({
    default: 'refuse',
    sentence:
      'Configurations of unknown components: `refuse` returns 404, `store` keeps them with their versions, marked with the flag `unknownComponent`; they cannot run.',
    parse: read.oneOf('refuse', 'store'),
  }),
  MILLRACE_APPS: variable({
    default: DEFAULT_LIMITS.apps.max,
    sentence: 'Maximum number of running data apps on this node (docs/apps.md).',
    parse: read.wholeNumber(1, 1000),
  }),
  MILLRACE_APP_START_SECONDS: variable({
    default: DEFAULT_LIMITS.apps.startMs / 1000,
    sentence: 'How long a data app may take to respond after its start. After that it is stopped and counts as failed.',
    parse: read.wholeNumber(1, 3600),
  }),
  MILLRACE_ISOLATION: variable({
    default: 'auto',
    sentence:
      'Isolation of components that are commands: `auto` isolates them where the kernel allows it, `require` runs none where it does not, `off` runs them as ordinary processes.',
    parse: read.oneOf('auto', 'require', 'off'),
  }),
  MILLRACE_COMPONENT_READABLE: variable({
    default: [],
    sentence:
      'Folders that isolated components may read besides the programs of the system, those in PATH and their own folder, separated by commas.',
    parse: read.listOf((text) => resolve(text)),
  }),
  MILLRACE_COMPONENT_UID: variable({
    default: DEFAULT_LIMITS.worker.uid,
    sentence: 'User and group number of isolated components when the stack runs as root.',
    parse: read.wholeNumber(1, 2 ** 32 - 2),
  }),
  MILLRACE_EGRESS_ALLOW: variable({
    default: [],
    sentence:
      'Hosts, CIDRs and host:port that components and webhooks may reach besides public IP addresses, separated by commas. `*` disables the guard.',
    parse: read.listOf(read.egressTarget),
  }),
  MILLRACE_SAMPLE_API: variable({
    default: 'yes',
    sentence: '`no`: the sample shop at `/sample` is not served.',
    parse: read.oneOf('yes', 'no'),
  }),
  MILLRACE_SMTP_URL: variable({
    unset: 'none',
    sentence:
      'The mail server for notifications: `smtp://user:password@host:587?from=millrace@example.com`, or `smtps://` for TLS from the first byte. Without it no mail is sent.',
    secret: true,
    parse: read.smtpUrl,
  }),
  MILLRACE_SPARK_URL: variable({
    unset: 'none',
    sentence:
      'The Spark cluster of this stack: `spark://host:7077` (a standalone master), `sc://host:15002` (Spark Connect) or `local[*]`. Without it the `spark` service returns 503, and jobs of `platform.spark-sql` fail.',
    parse: read.sparkUrl,
  }),
  MILLRACE_SPARK_PYTHON: variable({
    default: 'python3',
    sentence: 'The Python that runs the drivers of `platform.spark-sql`: it has `pyspark`, in the version of the cluster.',
    parse: read.word,
  }),
  MILLRACE_SPARK_CONF: variable({
    default: {},
    sentence:
      'Settings of every Spark application, as a JSON object of texts: `{"spark.jars.packages": "...", "spark.executor.memory": "4g"}`. Iceberg must be among the jars of the cluster, or be named here.',
    secret: true,
    parse: read.textsByName,
  }),
  MILLRACE_SPARK_PAGES_URL: variable({
    unset: 'port 8080 of the host in `spark://`',
    sentence: 'The pages of the Spark master, from which the `spark` service reads what runs.',
    parse: read.httpUrl,
  }),
  MILLRACE_PYTHON_INDEX_URL: variable({
    unset: 'the public index',
    sentence:
      'The package index from which Python transformations install their packages: `https://pypi.example.com/simple`. Its host is allowed for them, regardless of `MILLRACE_EGRESS_ALLOW`.',
    parse: read.httpUrl,
  }),
  MILLRACE_EXTENSIONS_URL: variable({
    default: 'https://extensions.duckdb.org',
    sentence:
      'Where `millrace extension add` fetches extensions of DuckDB: its repository, or a copy of it with the same folders (`v1.5.5/linux_amd64/...`).',
    parse: read.httpUrl,
  }),
  MILLRACE_MLFLOW_URL: variable({
    unset: 'none',
    sentence:
      'The MLflow server behind `/mlflow`. `{project}` in it is replaced by the id of the project; without it all projects share one server. Without this environment variable a stack of one node runs servers of its own (`MILLRACE_MLFLOW_PYTHON`).',
    parse: read.urlOfProject,
  }),
  MILLRACE_MLFLOW_PYTHON: variable({
    default: 'python3',
    sentence:
      'The Python that runs MLflow servers of the stack itself, one for each project that uses it, when no other is registered and the metadata is in SQLite. Without the package mlflow, `/mlflow` returns 503.',
    parse: read.word,
  }),
  MILLRACE_SESSION_IDLE_HOURS: variable({
    default: DEFAULT_LIMITS.sessions.idleMs / 3_600_000,
    sentence: 'Hours without use after which a user has to sign in again.',
    live: true,
    parse: read.wholeNumber(1, 8760),
  }),
  MILLRACE_SESSION_HOURS: variable({
    default: DEFAULT_LIMITS.sessions.maxMs / 3_600_000,
    sentence: 'Hours after which a user has to sign in again in any case.',
    live: true,
    parse: read.wholeNumber(1, 8760),
  }),
  MILLRACE_OIDC_ISSUER: variable({
    unset: 'none',
    sentence:
      'URL of an OpenID Connect provider (SSO); requires the client id and secret. The redirect URL is `/sign-in/oidc/callback` of the stack.',
    parse: read.httpUrl,
  }),
  MILLRACE_OIDC_CLIENT_ID: variable({
    unset: 'none',
    sentence: 'The client id of this stack at the provider.',
    parse: (text) => text,
  }),
  MILLRACE_OIDC_CLIENT_SECRET: variable({
    unset: 'none',
    sentence: 'The secret of the client.',
    secret: true,
    parse: (text) => text,
  }),
  MILLRACE_OIDC_DOMAINS: variable({
    default: [],
    shown: 'none: users need an invitation',
    sentence: 'E-mail domains whose users can sign in without an invitation, separated by commas.',
    parse: read.listOf(read.domain),
  }),
  MILLRACE_OIDC_ROLE: variable({
    default: 'viewer',
    sentence: 'The role of users of these domains in the project below; `none`: no role, until they are added.',
    parse: read.oneOf('viewer', 'editor', 'none'),
  }),
  MILLRACE_OIDC_PROJECT: variable({
    default: 1,
    sentence: 'The project that they join.',
    parse: read.wholeNumber(1, 2 ** 31),
  }),
  MILLRACE_READ_FOLDERS: variable({
    default: {},
    sentence:
      'Folders of this machine that the components millrace.ex-folder and platform.dbt may read, for all projects: `name=path`, separated by commas.',
    parse: read.namedFolders,
  }),
  MILLRACE_WRITE_FOLDERS: variable({
    default: {},
    sentence:
      'Folders of this machine that the component millrace.wr-folder may write to, for all projects: `name=path`, separated by commas.',
    parse: read.namedFolders,
  }),
  MILLRACE_TEMPLATE_FOLDERS: variable({
    unset: 'none',
    sentence:
      'Folders of templates besides the one that comes with the stack, separated by commas; checkouts of a repository, for example.',
    parse: read.listOf((text) => resolve(text)),
  }),
  MILLRACE_TEMPLATE_REPOSITORIES: variable({
    default: [],
    sentence:
      'Git repositories of templates, by URL, separated by commas: `https://host/path.git`, and `#name` after it for a branch, a tag or a whole commit. They are fetched into the data folder; the hosts must be allowed by the egress rules.',
    secret: true, // a URL may contain a password, which must not appear in the log
    parse: read.gitRepositories,
  }),
  MILLRACE_TEMPLATE_CREDENTIALS: variable({
    unset: 'none',
    sentence:
      'Credentials for them, as git stores them: `https://user:password@host`, separated by commas. They are sent to that host only, on request.',
    secret: true,
    parse: read.gitCredentials,
  }),
  MILLRACE_TEMPLATE_REFRESH_MINUTES: variable({
    default: 60,
    sentence: 'How often they are polled for changes, besides at the start. 0: only on request.',
    parse: read.wholeNumber(0, 10_080),
  }),
  MILLRACE_BODY_LIMIT_BYTES: variable({
    default: 64 * 1024 * 1024,
    sentence: 'Largest request body that is held in memory (uploads stream and have no such limit).',
    parse: read.wholeNumber(1024, 2 ** 30),
  }),
  MILLRACE_RATE_PER_TOKEN: variable({
    default: 200,
    sentence:
      'Rate limit per token: requests per second, with a burst of ten seconds. Above it requests return 429 with `Retry-After`. 0 disables it.',
    live: true,
    parse: read.wholeNumber(0, 1_000_000),
  }),
  MILLRACE_RATE_PER_ADDRESS: variable({
    default: 400,
    sentence: 'The same for one IP address; an IPv6 network of 64 bits counts as one.',
    live: true,
    parse: read.wholeNumber(0, 1_000_000),
  }),
  MILLRACE_WRONG_TOKENS: variable({
    default: 30,
    sentence:
      'Wrong tokens per minute after which an IP address is locked out for a minute; tokens that were valid there before keep working. 0 disables it.',
    live: true,
    parse: read.wholeNumber(0, 1_000_000),
  }),
  MILLRACE_RATE_LOOPBACK: variable({
    default: 'no',
    sentence: '`yes`: these limits also apply to requests from this machine.',
    parse: read.oneOf('yes', 'no'),
  }),
  MILLRACE_TRUSTED_PROXIES: variable({
    default: [],
    sentence:
      'IP addresses and networks of your proxies, separated by commas. Their `X-Forwarded-For` is trusted as the IP address of the client.',
    parse: read.listOf(read.addressOrNetwork),
  }),
  MILLRACE_DISK_RESERVE_BYTES: variable({
    default: 2 ** 26,
    sentence:
      'A node whose data folder is on a disk with less free space than this is not ready (`/ready` returns 503), so that load balancers choose others; it still serves. 0: free space is not checked.',
    parse: read.wholeNumber(0, 2 ** 50),
  }),
  MILLRACE_DRAIN_TIMEOUT_MS: variable({
    default: 10_000,
    sentence: 'How long running requests may finish after SIGTERM.',
    parse: read.wholeNumber(0, 600_000),
  }),
  MILLRACE_DRAIN_SECONDS: variable({
    unset: '10 with PostgreSQL, 0 without',
    sentence:
      'How long a node with the role `api` still serves requests after SIGTERM while `/ready` returns 503, so that load balancers stop choosing it before its port closes. A second SIGTERM ends the wait.',
    parse: read.wholeNumber(0, 3600),
  }),
  MILLRACE_DRAIN_JOBS_SECONDS: variable({
    unset: '3600 with PostgreSQL, 0 without',
    sentence:
      'How long a node that got SIGTERM waits for the component jobs it runs, accepting no new ones, before it stops; other nodes continue. Its service manager must wait as long. A second SIGTERM stops it immediately.',
    parse: read.wholeNumber(0, 604_800),
  }),
  MILLRACE_MAINTENANCE: variable({
    unset: 'none',
    sentence: 'Maintenance message. While it is set, every request except health checks returns 503 with it and `Retry-After`.',
    parse: (text) => text,
  }),
  MILLRACE_LOG_LEVEL: variable({
    default: 'info',
    sentence: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    live: true,
    parse: read.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  }),
  MILLRACE_TEST_NODE_CLOCK_OFFSET_MS: variable({
    default: 0,
    sentence: 'For tests only: how far the clock of this node goes ahead of that of the stack.',
    parse: read.wholeNumber(0, 3600 * 1000),
  }),
  MILLRACE_TEST_CLOCK_OFFSET_MS: variable({
    default: 0,
    sentence:
      'For tests only: how far the clock of the stack goes ahead of the clock of the machine, or on PostgreSQL of the database.',
    parse: read.wholeNumber(0, 100 * 366 * 24 * 3600 * 1000),
  }),
} as const

type Name = keyof typeof VARIABLES
/** What is set, and defaults for the rest. */
type Values = { readonly [N in Name]: (typeof VARIABLES)[N]['fallback'] }
/** What is set. */
type Given = { readonly [N in Name]?: Values[N] }

const DEFAULTS = Object.fromEntries(Object.entries(VARIABLES).map(([name, { fallback }]) => [name, fallback])) as Values // by the type of its own name

export type Environment = Readonly<Record<string, string | undefined>>
export type Config = ReturnType<typeof readConfig>
export type Role = Config['roles'][number]

export interface ConfigProblem {
  readonly name: string
  /** Absent for secret variables. */
  readonly value?: string
  readonly reason: string
}

export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ name, value, reason }) => `  ${name}${value === undefined ? '' : `="${value}"`} ${reason}`)
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\ndocs/environment-variables.md explains every variable.`,
    )
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Throws ConfigError with every problem there is. */
export function readConfig(environment: Environment = process.env) {
  const { given, problems } = parseAll(environment)
  const all = [...problems, ...contradictions(given)]
  if (all.length > 0) throw new ConfigError(all)
  return freeze({
    ...configOf({ ...DEFAULTS, ...given }, unknownNames(environment)),
    settings: settingsOf(environment),
    isUnderNpm: ['start', 'npx'].includes(environment.npm_lifecycle_event ?? ''),
  })
}

/** Every variable, for the overview of settings; of secrets only whether they are set. */
export const settingsOf = (environment: Environment): readonly StackSetting[] =>
  (Object.entries(VARIABLES) as Array<[Name, Variable<unknown>]>)
    .filter(([name]) => !name.startsWith('MILLRACE_TEST_'))
    .map(([name, { sentence, shownDefault, secret = false, live = false, parse }]) => {
      const text = environment[name]?.trim() || undefined
      return {
        name,
        description: sentence,
        default: shownDefault,
        isSecret: secret,
        isLive: live,
        given: secret ? undefined : text,
        isGiven: text !== undefined,
        parse,
      }
    })

/** Takes the secrets out of the environment, once they are read: what this process starts, and what looks into it, need not have them. */
export function dropSecrets(environment: NodeJS.ProcessEnv = process.env): void {
  for (const [name, { secret }] of Object.entries(VARIABLES) as Array<[Name, Variable<unknown>]>)
    if (secret) delete environment[name]
}

function parseAll(environment: Environment): { given: Given; problems: ConfigProblem[] } {
  const given: Record<string, unknown> = {}
  const problems: ConfigProblem[] = []
  for (const [name, { parse, secret }] of Object.entries(VARIABLES) as Array<[Name, Variable<unknown>]>) {
    const text = environment[name]?.trim()
    if (!text) continue // set to nothing is not set: how compose files and shells leave a variable out
    try {
      given[name] = parse(text)
    } catch (error) {
      problems.push({ name, ...(secret ? {} : { value: text }), reason: `is ${(error as Error).message}` })
    }
  }
  return { given: given as Given, problems } // each value came from the parser of its own name
}

/** Values that are fine alone and cannot be true together. */
const contradictions = (given: Given): ConfigProblem[] => [
  ...portProblems(given),
  ...tlsProblems(given),
  ...PARTS.flatMap(missingParts(given)),
]

function portProblems({
  PORT: port = DEFAULTS.PORT,
  MILLRACE_S3_PORT: s3Port,
  MILLRACE_SQL_PORT: sqlPort,
}: Given): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const refuse = (name: Name, value: number, reason: string) => problems.push({ name, value: String(value), reason })
  if (s3Port !== undefined && s3Port !== 0 && s3Port === port)
    refuse('MILLRACE_S3_PORT', s3Port, 'is the port of the stack itself; the object store needs its own.')
  if (sqlPort !== undefined && sqlPort !== 0 && [port, s3Port ?? port + 1].includes(sqlPort))
    refuse('MILLRACE_SQL_PORT', sqlPort, 'is the port of the stack or of its object store; PostgreSQL clients need their own.')
  if (port === 65_535 && s3Port === undefined)
    refuse('PORT', port, 'leaves no next port for the object store; set MILLRACE_S3_PORT.')
  return problems
}

function tlsProblems(given: Given): ConfigProblem[] {
  const files = ['MILLRACE_TLS_CERT_FILE', 'MILLRACE_TLS_KEY_FILE'] as const
  const needsFiles = given.MILLRACE_TLS === 'files' || files.some((name) => given[name] !== undefined)
  if (!needsFiles || (given.MILLRACE_TLS ?? 'files') !== 'files') return []
  return files.flatMap((name) => (given[name] ? [] : [{ name, reason: 'is missing; TLS needs the certificate and its key.' }]))
}

/** Variables that only count together with another one: those it needs, and those it can have. */
interface Parts {
  readonly of: Name
  readonly needed: readonly Name[]
  readonly optional: readonly Name[]
}
const PARTS: readonly Parts[] = [
  { of: 'MILLRACE_OIDC_ISSUER', needed: ['MILLRACE_OIDC_CLIENT_ID', 'MILLRACE_OIDC_CLIENT_SECRET'], optional: [] },
  {
    of: 'MILLRACE_S3_ENDPOINT',
    needed: ['MILLRACE_S3_BUCKET', 'MILLRACE_S3_ACCESS_KEY_ID', 'MILLRACE_S3_SECRET_ACCESS_KEY'],
    optional: ['MILLRACE_S3_ROLE_ARN'],
  },
  { of: 'MILLRACE_AI_URL', needed: [], optional: ['MILLRACE_AI_MODEL', 'MILLRACE_AI_KEY'] },
  {
    of: 'MILLRACE_BACKUP_S3_ENDPOINT',
    needed: ['MILLRACE_BACKUP_S3_BUCKET', 'MILLRACE_BACKUP_S3_ACCESS_KEY_ID', 'MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY'],
    optional: [],
  },
]

const missingParts =
  (given: Given) =>
  ({ of, needed, optional }: Parts): ConfigProblem[] => {
    if (given[of]) return needed.filter((name) => !given[name]).map((name) => ({ name, reason: `is missing; ${of} needs it.` }))
    const useless = [...needed, ...optional].filter((name) => given[name])
    return useless.map((name) => ({ name, reason: `is set without ${of}, so nothing would use it.` }))
  }

function configOf(values: Values, unknown: readonly string[]) {
  const { PORT: port, MILLRACE_DATABASE_URL: databaseUrl } = values
  const isShared = databaseUrl !== undefined // other nodes continue when this one stops
  return {
    listen: {
      host: values.HOST,
      port,
      s3Port: values.MILLRACE_S3_PORT ?? (port === 0 ? 0 : port + 1),
      /** Undefined: the PostgreSQL port is off. */
      sqlPort: values.MILLRACE_SQL_PORT,
      drainTimeoutMs: values.MILLRACE_DRAIN_TIMEOUT_MS,
      drainMs: (values.MILLRACE_DRAIN_SECONDS ?? (isShared ? 10 : 0)) * 1000,
      drainJobsMs: (values.MILLRACE_DRAIN_JOBS_SECONDS ?? (isShared ? 3600 : 0)) * 1000,
    },
    diskReserveBytes: values.MILLRACE_DISK_RESERVE_BYTES,
    startWaitMs: values.MILLRACE_START_WAIT_MS,
    tls: {
      mode: values.MILLRACE_TLS ?? (values.MILLRACE_TLS_CERT_FILE ? ('files' as const) : ('off' as const)),
      certFile: values.MILLRACE_TLS_CERT_FILE ?? '',
      keyFile: values.MILLRACE_TLS_KEY_FILE ?? '',
    },
    addresses: {
      publicUrl: values.MILLRACE_PUBLIC_URL,
      s3PublicUrl: values.MILLRACE_S3_PUBLIC_URL,
      domain: values.MILLRACE_DOMAIN,
    },
    http: {
      bodyLimitBytes: values.MILLRACE_BODY_LIMIT_BYTES,
      corsOrigins: values.MILLRACE_CORS_ORIGINS,
      requestLimits: {
        perAddress: values.MILLRACE_RATE_PER_ADDRESS,
        perToken: values.MILLRACE_RATE_PER_TOKEN,
        wrongTokens: values.MILLRACE_WRONG_TOKENS,
        loopback: values.MILLRACE_RATE_LOOPBACK === 'yes',
      },
      trustedProxies: values.MILLRACE_TRUSTED_PROXIES,
      maintenance: values.MILLRACE_MAINTENANCE === undefined ? undefined : { reason: values.MILLRACE_MAINTENANCE },
    },
    dataDir: values.MILLRACE_DATA_DIR,
    database: { url: databaseUrl, maxConnections: values.MILLRACE_DATABASE_CONNECTIONS },
    s3: {
      region: values.MILLRACE_S3_REGION,
      bucket: values.MILLRACE_S3_BUCKET,
      /** Undefined: the embedded object store. */
      external: values.MILLRACE_S3_ENDPOINT === undefined ? undefined : externalS3(values, values.MILLRACE_S3_ENDPOINT),
    },
    /** Undefined: no planned backups. */
    backups:
      values.MILLRACE_BACKUP_FOLDER === undefined && values.MILLRACE_BACKUP_S3_ENDPOINT === undefined
        ? undefined
        : backupPlan(values),
    /** Undefined: backups go into folders. */
    backupBucket:
      values.MILLRACE_BACKUP_S3_ENDPOINT === undefined ? undefined : backupBucket(values, values.MILLRACE_BACKUP_S3_ENDPOINT),
    secrets: {
      masterToken: values.MILLRACE_MASTER_TOKEN,
      manageToken: values.MILLRACE_MANAGE_TOKEN,
      metricsToken: values.MILLRACE_METRICS_TOKEN,
      encryptionKeys: values.MILLRACE_ENCRYPTION_KEY,
    },
    nodeName: values.MILLRACE_NODE_NAME,
    roles: values.MILLRACE_ROLES,
    worker: {
      jobs: values.MILLRACE_WORKER_JOBS,
      projectJobs: values.MILLRACE_PROJECT_JOBS,
      attempts: values.MILLRACE_JOB_ATTEMPTS,
      storeWaitMs: values.MILLRACE_STORE_WAIT_SECONDS * 1000,
      labels: values.MILLRACE_NODE_LABELS,
      actions: values.MILLRACE_ACTIONS,
      projectActions: values.MILLRACE_PROJECT_ACTIONS,
      diskBytes: values.MILLRACE_RUN_DISK_BYTES,
      results: values.MILLRACE_RUN_RESULTS,
      spares: values.MILLRACE_SPARE_PROGRAMS,
      checkpointHours: values.MILLRACE_CHECKPOINT_HOURS,
      checkpointBytes: values.MILLRACE_CHECKPOINT_BYTES,
      folders: { read: values.MILLRACE_READ_FOLDERS, write: values.MILLRACE_WRITE_FOLDERS },
      path: values.PATH,
      isolation: {
        mode: values.MILLRACE_ISOLATION,
        readable: values.MILLRACE_COMPONENT_READABLE,
        uid: values.MILLRACE_COMPONENT_UID,
      },
      pythonIndexUrl: values.MILLRACE_PYTHON_INDEX_URL,
    },
    extensionsUrl: values.MILLRACE_EXTENSIONS_URL,
    unknownComponents: values.MILLRACE_UNKNOWN_COMPONENTS,
    apps: { max: values.MILLRACE_APPS, startMs: 1000 * values.MILLRACE_APP_START_SECONDS },
    /** What is not set has the default of the table engine. */
    tables: {
      ...defined({ longWorkers: values.MILLRACE_TABLE_WORKERS }),
      warmWorkers: values.MILLRACE_TABLE_WARM_WORKERS,
      workerMemoryMb: values.MILLRACE_TABLE_WORKER_MEMORY_MB,
      maxRowBytes: values.MILLRACE_TABLE_MAX_ROW_BYTES,
      maxInflatedBytes: values.MILLRACE_TABLE_MAX_INFLATED_BYTES,
      maxInflateRatio: values.MILLRACE_TABLE_MAX_INFLATE_RATIO,
      retentionDays: values.MILLRACE_TABLE_RETENTION_DAYS,
    },
    sql: {
      sessions: values.MILLRACE_SQL_SESSIONS,
      memoryMb: values.MILLRACE_SQL_MEMORY_MB,
      diskMb: values.MILLRACE_SQL_DISK_MB,
      temporaryMb: values.MILLRACE_SQL_TEMPORARY_MB,
      timeoutMs: values.MILLRACE_SQL_TIMEOUT_SECONDS * 1000,
      workspaceMb: values.MILLRACE_WORKSPACE_MB,
      workspaceDays: values.MILLRACE_WORKSPACE_DAYS,
      workspacesPerProject: values.MILLRACE_WORKSPACES_PER_PROJECT,
      workspacesPerToken: values.MILLRACE_WORKSPACES_PER_TOKEN,
      ...defined({
        threads: values.MILLRACE_SQL_THREADS,
        tokenSessions: values.MILLRACE_SQL_TOKEN_SESSIONS,
        projectSessions: values.MILLRACE_SQL_PROJECT_SESSIONS,
      }),
    },
    egressAllow: values.MILLRACE_EGRESS_ALLOW,
    sampleApi: values.MILLRACE_SAMPLE_API !== 'no',
    smtpUrl: values.MILLRACE_SMTP_URL,
    servers: {
      sparkUrl: values.MILLRACE_SPARK_URL,
      sparkPagesUrl: values.MILLRACE_SPARK_PAGES_URL,
      mlflowUrl: values.MILLRACE_MLFLOW_URL,
      // Every node would have a store of its own.
      mlflowPython: isShared ? undefined : values.MILLRACE_MLFLOW_PYTHON,
    },
    spark: {
      url: values.MILLRACE_SPARK_URL,
      python: values.MILLRACE_SPARK_PYTHON,
      conf: values.MILLRACE_SPARK_CONF,
    },
    sessions: {
      idleMs: values.MILLRACE_SESSION_IDLE_HOURS * 3_600_000,
      maxMs: values.MILLRACE_SESSION_HOURS * 3_600_000,
    },
    /** Undefined: sign-in by a provider is disabled. */
    oidc: values.MILLRACE_OIDC_ISSUER === undefined ? undefined : oidcOf(values, values.MILLRACE_OIDC_ISSUER),
    templateFolders: values.MILLRACE_TEMPLATE_FOLDERS,
    templateRepositories: values.MILLRACE_TEMPLATE_REPOSITORIES.map((repository) => ({
      ...repository,
      credentials: values.MILLRACE_TEMPLATE_CREDENTIALS?.find(({ origin }) => origin === new URL(repository.url).origin),
    })),
    agentCallsPerDay: values.MILLRACE_AGENT_CALLS_PER_DAY,
    /** Undefined: no model is used. */
    ai: values.MILLRACE_AI_URL === undefined ? undefined : aiOf(values, values.MILLRACE_AI_URL),
    templateRefreshMs: values.MILLRACE_TEMPLATE_REFRESH_MINUTES * 60_000,
    clockOffsetMs: values.MILLRACE_TEST_CLOCK_OFFSET_MS,
    nodeClockOffsetMs: values.MILLRACE_TEST_NODE_CLOCK_OFFSET_MS,
    log: { level: values.MILLRACE_LOG_LEVEL },
    /** Unknown variables with our prefix, probably misspelt: logged as a warning. */
    unknown,
  }
}

const aiOf = (values: Values, url: string) => ({
  url,
  model: values.MILLRACE_AI_MODEL,
  key: values.MILLRACE_AI_KEY,
  timeoutMs: values.MILLRACE_AI_TIMEOUT_SECONDS * 1000,
  callsPerDay: values.MILLRACE_AI_CALLS_PER_DAY,
})

const oidcOf = (values: Values, issuer: string) => ({
  issuer,
  clientId: values.MILLRACE_OIDC_CLIENT_ID!, // contradictions() has seen to both
  clientSecret: values.MILLRACE_OIDC_CLIENT_SECRET!,
  domains: values.MILLRACE_OIDC_DOMAINS,
  role: values.MILLRACE_OIDC_ROLE === 'none' ? undefined : values.MILLRACE_OIDC_ROLE,
  projectId: values.MILLRACE_OIDC_PROJECT,
})

const externalS3 = (values: Values, endpoint: string) => ({
  endpoint,
  accessKeyId: values.MILLRACE_S3_ACCESS_KEY_ID!, // contradictions() has seen to both
  secretAccessKey: values.MILLRACE_S3_SECRET_ACCESS_KEY!,
  roleArn: values.MILLRACE_S3_ROLE_ARN,
})

const backupPlan = (values: Values) => ({
  /** Undefined: into the bucket. */
  folder: values.MILLRACE_BACKUP_FOLDER,
  everyMs: values.MILLRACE_BACKUP_EVERY_HOURS * 3_600_000,
  keep: values.MILLRACE_BACKUP_KEEP,
  withKey: values.MILLRACE_BACKUP_WITH_KEY === 'yes',
})
export type BackupPlan = ReturnType<typeof backupPlan>

const backupBucket = (values: Values, endpoint: string) => ({
  endpoint,
  region: values.MILLRACE_BACKUP_S3_REGION,
  bucket: values.MILLRACE_BACKUP_S3_BUCKET!, // contradictions() has seen to these
  accessKeyId: values.MILLRACE_BACKUP_S3_ACCESS_KEY_ID!,
  secretAccessKey: values.MILLRACE_BACKUP_S3_SECRET_ACCESS_KEY!,
  prefix: values.MILLRACE_BACKUP_S3_PREFIX,
})
export type BackupBucket = ReturnType<typeof backupBucket>

/** Not for the server, but it may be started where they are set: those of the command line, of the single executable and of tests. */
const OF_OTHERS = /^MILLRACE_(URL|TOKEN|RUNTIME_DIR|EXECUTABLE|LONG|TEST_.*)$/

const unknownNames = (environment: Environment): readonly string[] =>
  Object.keys(environment).filter((name) => name.startsWith('MILLRACE_') && !OF_OTHERS.test(name) && !(name in VARIABLES))

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  Object.values(value).forEach(freeze)
  return Object.freeze(value)
}
