// Results of queries as files of the project, written as they are read.

import { pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { SqlEngine, SqlSession, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { singleStatement } from '../../../engines/sql/statements.ts'
import type { Origin } from '../../../model/event.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'
import type { JobHandler } from '../../../model/storage-job.ts'

export interface ResultFile {
  readonly fileName: string
  readonly fileType: 'csv' | 'parquet'
  readonly gzip: boolean
}

export type SaveResult = ReturnType<typeof createSaveResult>

/** `save` keeps bytes as a file and answers its id. */
export function createSaveResult(
  save: (scope: Scope, name: string, bytes: AsyncIterable<Uint8Array>, origin: Origin) => Promise<number>,
) {
  return async (
    session: SqlSession,
    sql: string,
    { fileName, fileType, gzip }: ResultFile,
    { scope, origin, signal }: { readonly scope: Scope; readonly origin: Origin; readonly signal: AbortSignal },
  ): Promise<{ readonly file: { readonly id: number } }> => {
    const { bytes, end } = await session.copy(sql, fileType, { signal })
    // The error of the statement has more details than that of the broken pipe.
    const id = await save(scope, fileName, gzip ? packed(bytes) : bytes, origin).catch((error: unknown) =>
      end.then(() => Promise.reject(error)),
    )
    return { file: { id } }
  }
}

/** The bytes through gzip; what breaks at one end breaks the other. */
const packed = (bytes: AsyncIterable<Buffer>): AsyncIterable<Uint8Array> => pipeline(bytes, createGzip(), () => {})

export interface QueryExportInput extends ResultFile {
  readonly scope: Scope
  readonly sql: string
}

export interface QueryExportDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  readonly saveResult: SaveResult
  /** How long a session was open. */
  readonly onSession: (projectId: number, ms: number) => void
}

/** Refuses what is not one statement, before a job is made of it. */
export const checkQuery = async (sql: string): Promise<void> => {
  await singleStatement(sql)
}

export function createQueryExport({ engine, findTable, saveResult, onSession }: QueryExportDeps): JobHandler {
  return async ({ job, signal }) => {
    const { scope, sql, ...file } = job.input as QueryExportInput // written by the routes of this module
    await using session = await engine.open({
      mode: 'read',
      reader: readerOf(scope),
      findTable: (schema, name) => findTable(scope, schema, name),
      signal,
      onClosed: (ms) => onSession(scope.actor.projectId, ms),
    })
    return { results: await saveResult(session, sql, file, { scope, origin: job.origin, signal }) }
  }
}
