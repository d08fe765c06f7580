// What the dictionaries of a Parquet file may take while DuckDB writes it.

const COLUMN_BYTES = 1 << 20 // DuckDB's own answer
const ALL_COLUMNS_BYTES = 128 << 20
const MIN_BYTES = 4096

/**
 * An option of COPY. DuckDB reserves the limit in full for every column of texts as soon as one of its values comes twice: with its own
 * answer, 1,200 columns of `x` were more than a worker has.
 */
export function dictionaryBytes(columns: number): string {
  const bytes = Math.max(MIN_BYTES, Math.floor(ALL_COLUMNS_BYTES / Math.max(1, columns)))
  return `STRING_DICTIONARY_PAGE_SIZE_LIMIT ${Math.min(COLUMN_BYTES, bytes)}`
}
