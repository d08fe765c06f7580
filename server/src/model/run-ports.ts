// What a run needs of the modules around it, as small interfaces. `platform.ts` fills them.

import type { Trx } from '../engines/metadata-db/dialects.ts'
import type { DataFolder } from '../engines/runner/data-folder.ts'
import type { LogEvent } from '../engines/runner/log-event.ts'
import type { Mask } from '../engines/runner/mask.ts'
import type { Limits } from '../engines/runner/runner.ts'
import type { Column } from '../engines/table-engine/snapshot.ts'
import type { Actor } from './actor.ts'
import type { ColumnOrigin } from './lineage.ts'
import type { SqlColumnMapping } from './sql-columns.ts'
import type { CommittedFile } from './table-commit.ts'

/** For whom and where a run reads and writes. */
export interface RunScope {
  readonly actor: Actor
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  /** Run id of storage events: the plain id of the job. */
  readonly runId: string
  readonly baseUrl: string
}

export interface MetadataItem {
  readonly id: string
  readonly key: string
  readonly value: string
  readonly provider: string
  readonly timestamp: string
}

export interface TableInfo {
  readonly id: string
  readonly uri: string
  readonly name: string
  readonly displayName: string
  readonly primaryKey: readonly string[]
  readonly columns: readonly string[]
  readonly created: string
  readonly lastChangeDate: string | null
  readonly lastImportDate: string | null
  /** The same moment, exactly. */
  readonly lastImportAt: Date | undefined
  readonly rowsCount: number
  readonly dataSizeBytes: number
  readonly isAlias: boolean
  readonly description: string
  readonly metadata: readonly MetadataItem[]
  readonly columnMetadata: Readonly<Record<string, readonly MetadataItem[]>>
  /** The `schema` of the manifest, for tables with a definition. */
  readonly schema: readonly { readonly name: string }[] | undefined
  /** The state that these facts are of. */
  readonly stateId: number
}

export interface TableQuery {
  readonly columns: readonly string[] | undefined
  readonly where: { readonly column: string; readonly operator: 'eq' | 'ne'; readonly values: readonly string[] } | undefined
  /** Epoch milliseconds. */
  readonly changedSince: number | undefined
  readonly limit: number | undefined
  /** In the CSV of a typed table a null is an empty field, and an empty text is `""`; otherwise both are `""`. */
  readonly bareNulls?: boolean
}

/** Rows of a result that lie in the object store as Parquet files, with the field ids that the table will have. */
export interface StoredRows {
  /** In the order of their field ids. */
  readonly columns: readonly string[]
  readonly files: readonly CommittedFile[]
}

/** Rows of a table as Parquet files of their own, with the field ids of the columns. */
export interface TablePart {
  readonly columns: readonly Column[]
  readonly files: readonly CommittedFile[]
}

/** What a result that another engine writes becomes a part of: the columns that the table has, and where its files lie until it takes them. */
export interface RunTarget {
  readonly typed: boolean
  readonly columns: readonly Column[]
  /** Of the first column that the table lacks. */
  readonly nextFieldId: number
  readonly folder: string
}

/** Tables of the catalogue that exist as long as a run, for the token of that run. */
export interface RunNamespace {
  /** `folder` is for what the run makes by itself. */
  open(
    owner: RunTokenOwner,
    folder: string,
    results: readonly { readonly name: string; readonly target: RunTarget }[],
  ): Promise<void>
  /** A table that the run finds there; its files lie in `folder`, below the folder of the run. */
  add(owner: RunTokenOwner, name: string, folder: string, part: TablePart): Promise<void>
  /** Undefined: the run has not made it. */
  rowsOf(owner: RunTokenOwner, name: string): Promise<StoredRows | undefined>
  close(owner: RunTokenOwner): Promise<void>
}

export interface RunTokenOwner {
  readonly projectId: number
  readonly tokenId: number
}

/** One result table, ready to be loaded: where its bytes are and what it becomes. */
export interface TableLoad {
  readonly destination: string
  /** Then there are no `files`, and nothing of how they would be written counts. */
  readonly stored?: StoredRows | undefined
  /** Paths of files in the data folder, in order; several for a sliced table. */
  readonly files: readonly string[]
  /** Undefined: the first line of the file names them. */
  readonly columns: readonly string[] | undefined
  /** Lines to pass over in every file that has a header although the columns are known. */
  readonly hasHeader: boolean
  readonly incremental: boolean
  /** Undefined: the table keeps the key it has. */
  readonly primaryKey: readonly string[] | undefined
  readonly delimiter: string
  readonly enclosure: string
  readonly schema: readonly ColumnSchema[] | undefined
  /** Texts that are stored as null in typed tables; undefined: the empty one. */
  readonly nullValues: readonly string[] | undefined
  /** What may become of a table that is there; undefined: whatever the load needs. */
  readonly modifications: 'none' | 'non-destructive' | 'all' | undefined
  readonly deduplication: 'insert' | 'upsert' | undefined
  readonly deleteWhere: readonly DeleteRule[]
  /** One of `columns` that is not stored: true in rows that leave the table by their key. */
  readonly deletedColumn?: string | undefined
  readonly metadata: readonly { readonly key: string; readonly value: string }[]
  readonly columnMetadata: Readonly<Record<string, readonly { readonly key: string; readonly value: string }[]>>
  readonly description: string | undefined
  /** The author of the output: for the metadata KBC.createdBy and KBC.lastUpdatedBy, and as the provider of the component's own. */
  readonly writer: {
    readonly componentId: string
    readonly configurationId: string | null
    readonly rowId: string | null
    readonly branchId: number
  }
}

export interface ColumnSchema {
  readonly name: string
  readonly baseType: string | undefined
  readonly length: string | undefined
  readonly nullable: boolean
  readonly default: string | undefined
}

/** A delete before the load; its filters are joined by AND. */
export interface DeleteRule {
  readonly changedSince: number | undefined
  readonly changedUntil: number | undefined
  readonly filters: readonly { readonly column: string; readonly operator: 'eq' | 'ne'; readonly values: readonly string[] }[]
}

export interface LoadedTable {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly columns: readonly string[]
  readonly importedRowsCount: number
  readonly bytes: number
  readonly warnings: readonly string[]
}

export interface RunTables {
  find(scope: RunScope, tableId: string): Promise<TableInfo | undefined>
  bucketExists(scope: RunScope, bucketId: string): Promise<boolean>
  /** Ids of the tables that have such metadata and that the token may read. */
  findByMetadata(scope: RunScope, key: string, value: string): Promise<readonly string[]>
  /** Writes the rows as CSV with a header to `path`. */
  download(scope: RunScope, tableId: string, query: TableQuery, path: string, signal: AbortSignal): Promise<void>
  /** Writes the rows as slices of CSV without a header into a file of the project; answers its id. */
  exportFile(scope: RunScope, tableId: string, query: TableQuery, signal: AbortSignal): Promise<number>
  /** Whether its files show what the table does: an alias with a filter or with fewer columns shows less. */
  isWhole(scope: RunScope, tableId: string): Promise<boolean>
  /** Writes the rows into files of the object store, below `folder`. */
  materialise(scope: RunScope, tableId: string, query: TableQuery, folder: string, signal: AbortSignal): Promise<TablePart>
  /** The table that a result becomes a part of, as it is now. */
  targetOf(scope: RunScope, tableId: string): Promise<RunTarget>
  /** Values of one column, for delete rules that take them from another table. */
  columnValues(scope: RunScope, tableId: string, column: string | undefined): Promise<readonly string[]>
  /**
   * Loads all tables of a row side by side, then makes them visible in one transaction together with what `commit` writes.
   * When a load fails nothing is visible and the error has a line for each table that could not be loaded.
   */
  loadAll(
    scope: RunScope,
    loads: readonly TableLoad[],
    commit: (trx: Trx, loaded: readonly LoadedTable[]) => Promise<void>,
    signal: AbortSignal,
    onLoaded?: OnBytes,
  ): Promise<readonly LoadedTable[]>
}

/** A part of a table under its name in the SQL script. */
export interface SqlInput {
  readonly name: string
  readonly scope: RunScope
  readonly tableId: string
  readonly query: TableQuery
  /** Undefined: all, as they are. */
  readonly columns: readonly SqlColumnMapping[] | undefined
  /** A table of its own, which the script may change; else a view. */
  readonly isCopied: boolean
}

export interface SqlScriptPart {
  readonly block: string
  readonly code: string
  readonly script: readonly string[]
  /** JSON pointer of the script in the configuration. */
  readonly pointer: string
}

export interface SqlRun {
  readonly scope: RunScope
  /** Where the database of the run may be. */
  readonly database: string
  readonly inputs: readonly SqlInput[]
  readonly parts: readonly SqlScriptPart[]
  /** Tables of the script that become CSV files with a header. `columns`: only these, in this order; undefined: all. */
  readonly outputs: readonly { readonly table: string; readonly path: string; readonly columns?: readonly string[] | undefined }[]
  readonly memoryMb: number
  readonly threads: number
  readonly timeoutMs: number
  /** The end has the types of the outputs. */
  readonly withTypes?: boolean
  say(text: string): void
  /** So many statements are done. */
  onStatement?(done: number, total: number): void
}

export interface SqlRunEnd {
  /** Tables of the project that statements named. */
  readonly namedTables: readonly string[]
  /** The sources of the columns of the outputs, where the statements show them. */
  readonly columns: Readonly<Record<string, readonly ColumnOrigin[]>>
  /** Columns of the outputs as SQL has them; empty unless the request has `withTypes`. */
  readonly types: Readonly<Record<string, readonly SqlDryRunColumn[]>>
}

export interface SqlDryRunColumn {
  readonly name: string
  readonly type: string
}

/** What a run would do, found out without reading or writing rows. */
export interface SqlDryRun {
  readonly inputs: readonly { readonly name: string; readonly tableId: string; readonly columns: readonly SqlDryRunColumn[] }[]
  readonly statements: readonly {
    readonly block: string
    readonly code: string
    readonly statement: number
    readonly sql: string
    /** Of its result, or of the table or view that it makes. */
    readonly columns: readonly SqlDryRunColumn[]
    /** DuckDB's, as text; null for statements without one. */
    readonly plan: string | null
  }[]
  readonly outputs: readonly {
    readonly table: string
    /** `from` is null where the statements do not show it. */
    readonly columns: readonly (SqlDryRunColumn & { readonly from: ColumnOrigin['from'] | null })[]
  }[]
}

/** A script that is tried: its statements run over rows, and nothing of them is kept. */
export interface SqlTry extends SqlRun {
  /** At most so many rows of each table of the project; undefined: all of them. */
  readonly sampleRows: number | undefined
  /** At most so many rows of each result are returned. */
  readonly shownRows: number
}

export type SqlTryValue = string | number | boolean | null

export interface SqlTryStep {
  readonly block: string
  readonly code: string
  /** Of the code, from 1. */
  readonly statement: number
  /** JSON pointer of its text in the configuration. */
  readonly pointer: string
  readonly sql: string
  /** The table or view that it creates or changes; null for none. */
  readonly table: string | null
  /** Time of the statement alone. */
  readonly ms: number
  /** Of its result, or of the table after it; null where they were not counted. */
  readonly rows: number | null
  readonly changedRows: number | null
  readonly columns: readonly SqlDryRunColumn[]
  readonly sample: readonly (readonly SqlTryValue[])[]
  /** More rows or longer values exist. */
  readonly isCut: boolean
  /** Why its rows cannot be shown. */
  readonly problem: string | null
}

export interface SqlTryFailure {
  readonly message: string
  readonly kind: string | null
  readonly pointer: string | null
  readonly block: string | null
  readonly code: string | null
  readonly statement: number | null
  /** In the text of the statement, from 1. */
  readonly line: number | null
  readonly character: number | null
}

export interface SqlTryEnd {
  readonly inputs: readonly { readonly name: string; readonly tableId: string; readonly rows: number }[]
  readonly steps: readonly SqlTryStep[]
  readonly outputs: readonly { readonly table: string; readonly rows: number | null }[]
  readonly failure: SqlTryFailure | null
  readonly ms: number
}

/** A sandbox that a job requests. */
export interface SandboxTask {
  readonly type: string
  readonly size?: string
  readonly shared?: boolean
  readonly expirationAfterHours?: number
}

export interface RunSandboxes {
  /** Returns its id. A configuration has one sandbox: repeated calls return the same. */
  create(scope: RunScope, configurationId: string | null, task: SandboxTask): Promise<string>
  remove(scope: RunScope, id: string): Promise<void>
}

export interface RunSql {
  /** Throws `sql.scriptFailed`, which names the block, the code and the statement. */
  run(request: SqlRun, signal: AbortSignal): Promise<SqlRunEnd>
  dryRun(request: SqlRun, signal: AbortSignal): Promise<SqlDryRun>
  tryRun(request: SqlTry, signal: AbortSignal): Promise<SqlTryEnd>
}

export interface SparkScriptPart extends SqlScriptPart {
  readonly language: 'sql' | 'python'
}

/** A relation of the workspace of a run. */
export interface WorkspaceRelation {
  readonly schema: string
  readonly name: string
}

/** The workspace in which the jobs of a configuration work: it outlives them. */
export interface RunWorkspace {
  readonly id: number
  /** How the program of the run connects, with the rights of the run and until it is closed. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly password: string
    readonly database: string
  }
  /**
   * Writes a relation as CSV with a header; answers its columns with their types, which are DuckDB's. Columns of `wanted` that it lacks follow
   * as `absent`, without values.
   */
  save(
    relation: WorkspaceRelation,
    path: string,
    wanted: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly columns: readonly SqlDryRunColumn[]; readonly absent: readonly string[] }>
  /** Copies every table of a bucket into a schema, unless the schema has a relation of the name; answers their names. */
  restore(bucketId: string, schema: string, signal: AbortSignal): Promise<readonly string[]>
  /** What the columns of relations are made of, by `schema.name`; relations that others read come first. */
  trace(
    relations: readonly (WorkspaceRelation & { readonly query: string | undefined; readonly tableId: string | undefined })[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly ColumnOrigin[]>>
  close(): Promise<void>
}

export interface RunWorkspaces {
  /** Without a configuration it is gone with the run. */
  open(scope: RunScope, componentId: string, configurationId: string | null): Promise<RunWorkspace>
}

/** A script for the registered Spark cluster. */
export interface SparkRun {
  readonly scope: RunScope
  readonly folder: DataFolder
  readonly inputs: readonly SqlInput[]
  readonly parts: readonly SparkScriptPart[]
  /** Tables of the script, and the tables of the project that they become. `columns`: only these, in this order; undefined: all. */
  readonly results: readonly {
    readonly table: string
    readonly destination: string
    readonly columns: readonly string[] | undefined
  }[]
  readonly limits: Limits
  readonly mask: Mask
  say(event: LogEvent): void
  /** So many statements are done. */
  onStatement(done: number, total: number): void
}

export interface SparkRunEnd {
  /** By destination. */
  readonly stored: Readonly<Record<string, StoredRows>>
}

export interface RunSpark {
  run(request: SparkRun, signal: AbortSignal): Promise<SparkRunEnd>
}

export interface FileInfo {
  readonly id: number
  readonly name: string
  readonly created: string
  readonly isPublic: boolean
  readonly isEncrypted: boolean
  readonly isSliced: boolean
  readonly tags: readonly string[]
  readonly maxAgeDays: number | null
  readonly sizeBytes: number
  readonly creatorToken: { readonly id: number; readonly description: string }
}

export interface FileQuery {
  readonly fileIds: readonly number[] | undefined
  readonly tags: readonly string[]
  readonly withoutTags: readonly string[]
  readonly query: string | undefined
  readonly createdSince: number | undefined
  readonly sinceId: number | undefined
  readonly limit: number
}

export interface NewFile {
  readonly name: string
  readonly path: string
  /** A folder becomes a sliced file. */
  readonly slices: readonly string[] | undefined
  readonly tags: readonly string[]
  readonly isPublic: boolean
  readonly isPermanent: boolean
  readonly isEncrypted: boolean
  readonly notify: boolean
}

export interface StagedFile {
  readonly id: number
  publish(trx: Trx): Promise<void>
}

/** Where the bytes of a file are, and what opens them for a while. */
export interface S3Place {
  readonly isSliced: boolean
  readonly region: string
  readonly bucket: string
  /** Of a sliced file: its manifest. */
  readonly key: string
  /** Address of the object store: ours need not be Amazon's. */
  readonly endpoint: string
  readonly credentials: {
    readonly access_key_id: string
    readonly secret_access_key: string
    readonly session_token: string
  }
}

export interface RunFiles {
  list(scope: RunScope, query: FileQuery): Promise<readonly FileInfo[]>
  /** Writes a file, or a sliced one as a folder, to `path`. */
  download(scope: RunScope, fileId: number, path: string, signal: AbortSignal): Promise<void>
  /** Credentials that read the file from the object store. */
  s3Place(scope: RunScope, fileId: number): Promise<S3Place>
  /** Stores the bytes; the file is there for others once `publish` has committed. */
  stage(scope: RunScope, file: NewFile, signal: AbortSignal): Promise<StagedFile>
  /** With the results of the row; a file that is gone by then is left out. */
  addTags(trx: Trx, scope: RunScope, fileId: number, tags: readonly string[]): Promise<void>
}

export interface RowOfConfiguration {
  readonly id: string
  readonly name: string
  readonly isDisabled: boolean
  /** JSON texts, secrets as ciphers. */
  readonly configuration: string
  readonly state: string
}

export interface StoredConfiguration {
  /** The id of the component under which it was made; undefined when it is not stored. */
  readonly listedAs?: string
  readonly version: number
  readonly isDisabled: boolean
  readonly configuration: string
  readonly state: string
  /** In the order they run. */
  readonly rows: readonly RowOfConfiguration[]
}

export interface ConfigurationPlace {
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string
  readonly configurationId: string
}

/** What is different from an earlier version of a configuration. */
export interface ConfigurationChanges {
  readonly isConfigurationChanged: boolean
  readonly rowIds: readonly string[]
}

/** So many bytes of a known total are done. */
export type OnBytes = (done: number, total: number) => void

export interface RunConfigurations {
  find(place: ConfigurationPlace): Promise<StoredConfiguration | undefined>
  /** Saves the state without a new version, `#` values encrypted, and answers it as stored; undefined when the configuration or row is gone. */
  saveState(trx: Trx, place: ConfigurationPlace, rowId: string | null, state: string): Promise<string | undefined>
}

export interface SecretPlace {
  readonly projectId: number
  readonly componentId: string
  readonly configurationId: string | undefined
  readonly isDefaultBranch: boolean
}

export interface RunSecrets {
  decrypt(place: SecretPlace, text: string): Promise<{ readonly text: string; readonly values: readonly string[] }>
  /** Encrypts clear `#` values for a component of the project. Without waiting, so that it can be used in a transaction. */
  encrypterOf(projectId: number): Promise<(text: string, componentId: string) => string>
}

/** The older name of a component and ours are one. */
export interface RunComponents {
  find(id: string): RunnableComponent | undefined
}

export interface RunnableComponent {
  readonly id: string
  /** Other ids of it. */
  readonly aliases: readonly string[]
  readonly type: string
  readonly features: readonly string[]
  readonly definition: {
    readonly type: string
    readonly uri: string
    readonly tag: string
    readonly digest?: string
    readonly name?: string
    readonly command?: readonly string[]
    readonly repository?: {
      readonly region?: string
      readonly username?: string
      readonly '#password'?: string
      readonly server?: string
    }
  }
  /** Of config, state and manifests. */
  readonly configurationFormat: 'json' | 'yaml'
  readonly network: 'none' | 'bridge' | 'no-internet'
  readonly memory: string
  readonly processTimeoutSeconds: number
  readonly forwardToken: boolean
  readonly forwardTokenDetails: boolean
  readonly defaultBucket: boolean
  readonly defaultBucketStage: 'in' | 'out'
  readonly stagingInput: string
  readonly stagingOutput: string
  readonly imageParameters: Readonly<Record<string, unknown>>
  /** A run that was lost may be run again: it has no effect but its results. */
  readonly isRepeatable: boolean
  readonly synchronousActions: readonly string[]
  readonly logging: {
    readonly type: 'standard' | 'gelf'
    readonly gelfServerType: 'tcp' | 'udp' | 'http'
    readonly verbosity: Readonly<Record<string, 'none' | 'camouflage' | 'normal' | 'verbose'>>
    readonly noApplicationErrors: boolean
  }
  readonly dataTypesSupport: 'none' | 'hints' | 'authoritative'
  readonly processorPosition: 'any' | 'before' | 'after'
}

/** What the OAuth broker keeps for components. */
export interface RunOauth {
  /** JSON text of the record, secrets in clear, and each of them; `isRefreshed`: with an access token that still holds. */
  credentialsFor(
    actor: Actor,
    key: { readonly componentId: string; readonly credentialsId: string },
    isRefreshed: boolean,
  ): Promise<{ readonly text: string; readonly values: readonly string[] }>
}

/** A token for the time of one job, with the rights of who started it. */
export interface RunTokens {
  issue(scope: RunScope, description: string, expiresInSeconds: number): Promise<{ readonly id: number; readonly value: string }>
  revoke(scope: RunScope, tokenId: number): Promise<void>
}

export interface ProjectInfo {
  readonly name: string
  readonly features: readonly string[]
}
