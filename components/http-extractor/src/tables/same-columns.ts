/** Rows of different shape must not be mixed in one table (spec extractor 14, 23.7). */
import { TablesError } from './tables-error.ts'

type Shape = {
  readonly name: string
  readonly columns: readonly string[]
  /** The data type or place it comes from. */
  readonly origin: string
}

export function requireSameColumns(first: Shape, second: Shape): void {
  if (JSON.stringify(first.columns) === JSON.stringify(second.columns)) return
  throw new TablesError(
    `Multiple results for '${second.name}' table have different columns! '${first.origin}' gives ${first.columns.join(', ')}; ` +
      `'${second.origin}' gives ${second.columns.join(', ')}. Set a different "dataType" or mapping destination for one of them.`,
  )
}
