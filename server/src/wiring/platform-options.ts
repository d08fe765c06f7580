// What a platform is created with. Most of it comes from the environment (start/config.ts).

import type { GitAddress } from '../engines/git/fetch-repository.ts'
import type { Trust } from '../engines/tls/trust.ts'
import type { RequestLimitSettings } from '../http/request-limits.ts'
import type { TlsPair } from '../http/tls.ts'
import type { Log } from '../kit/log.ts'
import type { Role } from '../model/module.ts'
import type { StackSetting } from '../model/stack-setting.ts'
import type { WorkerSettings } from '../model/worker-settings.ts'
import type { OidcOptions } from '../services/access/people/people-api.module.ts'
import type { UnknownComponents } from '../services/configuration/components/components.module.ts'
import type { InstanceSettings } from '../services/jobs/apps/apps.module.ts'
import type { ServerAddresses } from '../services/jobs/registered-servers/registered-servers.module.ts'
import type { SparkSettings } from '../services/jobs/spark/spark.module.ts'
import type { SqlSettings } from '../services/query/sql/sql.module.ts'
import type { WorkspaceSettings } from '../services/query/workspaces/workspaces.module.ts'
import type { ModelSettings } from '../services/stack/ai/ai.module.ts'
import type { BackupWork } from '../services/stack/backups/backups-api.module.ts'
import type { ExternalS3 } from '../services/storage/s3/s3.module.ts'
import type { TableSettings } from '../services/storage/tables/tables.module.ts'
import type { CoreOptions } from './core.ts'

export interface PlatformOptions extends CoreOptions {
  readonly log: Log
  readonly version: string
  /** Of the sources that run; left out where it is not known. */
  readonly commit?: string | undefined
  /** What components need to trust the stack's own authority. */
  readonly trust?: Trust | undefined
  /** Version and commit; the version when left out. */
  readonly build?: string
  readonly publicUrl?: string | undefined
  readonly domain?: string | undefined
  readonly region: string
  readonly bucket: string
  /** The address clients use for the embedded object store, when it is not the host of the API. */
  readonly s3PublicUrl?: string | undefined
  readonly externalS3?: ExternalS3 | undefined
  /** Both listeners over TLS with HTTP/2; plain HTTP without it. */
  readonly tls?: TlsPair | undefined
  readonly bodyLimitBytes: number
  readonly maintenance?: { readonly reason: string } | undefined
  readonly corsOrigins: readonly string[]
  /** Set: the stack is a copy, and the one it was copied from may still run. Nothing starts by itself, and nothing goes out. */
  readonly restoredAt?: Date | undefined
  /** Left out: the metrics are readable without a token. */
  readonly metricsToken?: string | undefined
  /** Where people sign in with a provider; left out: with passwords and links only. */
  readonly oidc?: OidcOptions | undefined
  /** Left out: no limits. */
  readonly requestLimits?: RequestLimitSettings
  /** Not ready when the disk with the data folder has less. */
  readonly diskReserveBytes?: number
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[]
  /** What people call this node; the name of its machine when left out. */
  readonly nodeName?: string | undefined
  /** What this node does; everything by default. */
  readonly roles?: readonly Role[]
  readonly worker?: Partial<WorkerSettings>
  /** Whether the sample shop is served; it is when left out. */
  readonly sampleApi?: boolean
  /** Where mail is sent through; without it none is. */
  readonly smtpUrl?: string | undefined
  /** The cluster of `platform.spark-sql`, and what its drivers run with. */
  readonly spark?: SparkSettings | undefined
  /** Servers beside the stack: Spark and MLflow. */
  readonly servers?: ServerAddresses | undefined
  /** Manages the OAuth providers; without it they cannot be changed. */
  readonly manageToken?: string | undefined
  /** Folders of templates besides the one that comes with the stack. */
  readonly templateFolders?: readonly string[] | undefined
  /** And git repositories of templates, fetched now and then; 0: only on request. */
  readonly templateRepositories?: readonly GitAddress[] | undefined
  readonly templateRefreshMs?: number | undefined
  /** How much tables may take; the defaults of the table engine where it is not set. */
  readonly tables?: TableSettings | undefined
  /** Max tools of agents that a token may call on a day. */
  readonly agentCallsPerDay?: number | undefined
  /** The model that writes answers; without it none is used. */
  readonly ai?: ModelSettings | undefined
  /** How many data apps run, and how long they may take to start. */
  readonly apps?: Partial<InstanceSettings> | undefined
  /** How much SQL may take; the defaults of the SQL engine where it is not set. */
  readonly sql?: (SqlSettings & WorkspaceSettings) | undefined
  /** Configurations of components that the stack does not have; refused when left out. */
  readonly unknownComponents?: UnknownComponents | undefined
  /** The settings of the environment, which operators can read and, in part, change. */
  readonly settings?: readonly StackSetting[]
  /** Backups on request; left out: there are none. */
  readonly backupWork?: BackupWork | undefined
  /** How long running work may finish when the platform closes. */
  readonly graceMs?: number
}
