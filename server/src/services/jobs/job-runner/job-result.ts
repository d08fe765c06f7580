// The result of a job, collected while its rows run.

import { type Mask, maskValue } from '../../../engines/runner/mask.ts'
import type { StoredConfiguration } from '../../../model/run-ports.ts'
import { type RowAccount, rowView, spanOf } from './row-account.ts'
import type { RowProgress, RowResult } from './row-types.ts'

/** What is gathered for the result while rows run; a failed job reports what it has done. */
export interface Gathered {
  readonly rows: RowResult[]
  readonly progress: RowProgress[]
  /** Of every row that was begun, those that could not even be planned included. */
  readonly accounts: RowAccount[]
  /** How long the job waited for a worker. */
  readonly queued: { readonly startedAt: number; readonly endedAt: number }
  readonly secrets: string[]
  version: string
  /** What runs, once it was read. */
  stored: StoredConfiguration | undefined
  variables: Readonly<Record<string, string>>
  /** Of the backend, for the metrics. */
  size: string
  context: string | undefined
  /** The row that runs, when it saves its state. */
  running: { readonly rowId: string | null; readonly before: string } | undefined
}

/** Variables are masked too: one may have filled a `#` field, and a component may print its settings. */
export function resultOf(
  { rows, progress, accounts, queued, version, variables }: Gathered,
  mask: Mask,
): Record<string, unknown> {
  const tableOf = ({
    id,
    name,
    displayName,
    columns,
  }: {
    id: string
    name: string
    displayName: string
    columns: readonly string[]
  }) => ({
    id,
    name,
    displayName,
    columns: columns.map((column) => ({ name: column })),
  })
  const unique = <T extends { readonly id: string }>(tables: readonly T[]): T[] => [
    ...new Map(tables.map((table) => [table.id, table])).values(),
  ]
  return {
    configVersion: version,
    queue: spanOf(queued),
    rows: accounts.map((account) => rowView(account, mask)),
    images: progress.map(({ images }) => images),
    input: { tables: unique(progress.flatMap(({ inputTables }) => inputTables)).map(tableOf) },
    output: {
      tables: rows
        .flatMap(({ outputTables }) => outputTables)
        .map((table) => ({
          ...tableOf(table),
          importedRowsCount: table.importedRowsCount,
          ...(table.warnings.length > 0 && { warnings: table.warnings.slice(0, MAX_WARNINGS).map(mask) }),
        })),
    },
    artifacts: {
      uploaded: progress.flatMap(({ artifacts }) => artifacts.uploaded).map(storageFile),
      downloaded: progress.flatMap(({ artifacts }) => artifacts.downloaded).map(storageFile),
    },
    ...dbtOf(progress, mask),
    variables: maskValue(variables, mask),
    outputVariables: maskValue(Object.assign({}, ...rows.map(({ outputVariables }) => outputVariables)), mask), // the last row wins
  }
}

/** Every node of a run of dbt; absent for other components. */
const dbtOf = (progress: readonly RowProgress[], mask: Mask) => {
  const nodes = progress.flatMap(({ dbt }) => dbt?.nodes ?? [])
  return progress.some(({ dbt }) => dbt) ? { dbt: { nodes: maskValue(nodes, mask) } } : {}
}

/** Of a table in the result. */
const MAX_WARNINGS = 20

const storageFile = (id: number) => ({ storageFileId: String(id) })

export const usageOf = ({ progress }: Gathered, mask: Mask): unknown[] =>
  progress.flatMap(({ usage }) => usage.map((one) => maskValue(one, mask)))

export const metricsOf = ({ rows, size, context }: Gathered): Record<string, unknown> => ({
  storage: {
    inputTablesBytesSum: rows.reduce((sum, { inputBytes }) => sum + inputBytes, 0),
    outputTablesBytesSum: rows.reduce((sum, { outputBytes }) => sum + outputBytes, 0),
  },
  backend: { size: null, containerSize: size, context: context ?? null },
})
