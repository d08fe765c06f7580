// What a job on tables would do: the job itself runs, in a transaction that is undone. Files that a load writes on the way are never
// referred to, and swept like those of a load that failed.

import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import type { DryRunAnswer, NamingConfiguration } from '../../../../model/dry-run.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { NewStorageJob, Requester } from '../../../../model/storage-job.ts'
import type { Table, TableParts } from '../catalog/table-catalog.ts'
import type { CreateInput } from '../rows/table-load.ts'

export interface TableDryRunDeps {
  readonly parts: TableParts
  /** Runs the handler of the job and undoes what it wrote; `look` sees it before that. */
  readonly rehearse: <T>(
    requester: Requester,
    job: NewStorageJob,
    signal: AbortSignal,
    look: (trx: Trx) => Promise<T>,
  ) => Promise<{ readonly results: unknown; readonly seen: T }>
  /** Configurations of the branch that name one of these texts as a value. */
  readonly configurationsNaming: (scope: Scope, texts: readonly string[]) => Promise<readonly NamingConfiguration[]>
}

export type TableDryRuns = ReturnType<typeof createTableDryRuns>

export function createTableDryRuns({ parts, rehearse, configurationsNaming }: TableDryRunDeps) {
  const { catalog, store, buckets } = parts

  /** `tables`: those the job works on. */
  async function dryRun(
    requester: Requester & Scope,
    job: NewStorageJob,
    tables: readonly Table[],
    signal: AbortSignal,
  ): Promise<DryRunAnswer> {
    const keys = tables.map(({ row }) => row.key)
    const { results, seen } = await rehearse(requester, job, signal, (trx) => store.countRowsOf(trx, keys))
    const ids = [...tables.map(({ id }) => id), ...(await aliasesOf(keys))]
    const { actor, branch } = requester
    return {
      isDryRun: true,
      operationName: job.operationName,
      tableId: job.tableId ?? null,
      results,
      rows: { before: tables.reduce((sum, { row }) => sum + row.rowsCount, 0), after: seen },
      tables: [...new Set(ids)].sort(),
      configurations: await configurationsNaming({ actor, branch }, ids),
      nextRuns: [],
    }
  }

  async function aliasesOf(keys: readonly number[]): Promise<string[]> {
    const ids: string[] = []
    for (const key of keys)
      for (const alias of await catalog.aliasesOf(key)) {
        const bucket = await buckets.findByKey(alias.bucketKey)
        if (bucket) ids.push(`${bucket.id}.${alias.name}`)
      }
    return ids
  }

  return {
    /** Of a job on one table, which its input names. */
    ofJob: async (requester: Requester & Scope, job: NewStorageJob, signal: AbortSignal): Promise<DryRunAnswer> => {
      const { tableKey } = job.input as { readonly tableKey: number } // jobs on one table have it: see jobOn
      return dryRun(requester, job, [await catalog.getByKey(requester.actor.projectId, tableKey)], signal)
    },
    ofTables: dryRun,
    /** Of a job that makes a table. */
    ofCreate: async (
      requester: Requester & Scope,
      job: NewStorageJob & { readonly input: CreateInput },
      signal: AbortSignal,
    ): Promise<DryRunAnswer> => {
      const { bucketKey, bucketId, name } = job.input
      const { results, seen } = await rehearse(requester, job, signal, async (trx) =>
        bucketKey === undefined ? undefined : store.findNamed(bucketKey, name, trx),
      )
      const tableId = `${bucketId}.${name}`
      const { actor, branch } = requester
      return {
        isDryRun: true,
        operationName: job.operationName,
        tableId,
        results,
        rows: { before: 0, after: seen?.rowsCount ?? 0 },
        tables: [tableId],
        configurations: await configurationsNaming({ actor, branch }, [tableId]),
        nextRuns: [],
      }
    },
  }
}
