import type { TableFormat } from './table-engine.ts'

/** The end of the name of a file that holds rows. Parquet is packed in itself. */
export const suffixOf = (format: TableFormat, gzip = false): string => `.${format}${gzip && format !== 'parquet' ? '.gz' : ''}`
