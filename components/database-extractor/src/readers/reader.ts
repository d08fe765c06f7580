// What a reader of DuckDB is, and what it is given.

import type { ExtensionName } from '../../../../contract/duckdb-extensions.ts'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import type { DatabaseSettings } from '../../../connector-kit/src/database/connection.ts'
import type { Folders } from '../../../connector-kit/src/database/files.ts'
import type { Log } from '../../../http-extractor/src/log.ts'
import type { RowSettings } from '../configuration.ts'
import type { Database, ReadRequest } from '../databases/database.ts'

export interface ReaderContext {
  readonly settings: DatabaseSettings
  readonly database: Database
  readonly row: RowSettings
  readonly guard: EgressGuard
  readonly folders: Folders
  readonly dataDir: string
  readonly log: Log
  /** The folder with the extensions; undefined: the stack has not named it. */
  readonly extensions: string | undefined
}

export interface Reader {
  /** Why the driver has to read this; undefined: DuckDB can. */
  unfit(request: ReadRequest): string | undefined
  /** Before the first rows are read. */
  open?(duckdb: DuckDB): Promise<void>
  /** Answers the number of rows. */
  read(request: ReadRequest, duckdb: DuckDB): Promise<number>
}

export interface DuckDB {
  run(sql: string): Promise<void>
  ask(sql: string): Promise<readonly (readonly unknown[])[]>
  /** Answers the number of rows. */
  copy(sql: string): Promise<number>
}

export const missing = (extension: ExtensionName): string =>
  `the extension ${extension} of DuckDB is not in the data folder of this node. \`millrace extension add ${extension}\` adds it`
