// What a file is, by its first bytes: CSV unless something else is certain.

export type FileFormat = 'csv' | 'json' | 'parquet'

/** Enough to tell formats apart. */
const FORMAT_BYTES = 512

const PARQUET = 'PAR1'
/** An object with a name, or a list of objects: no header of a CSV file begins so. JSON lines are recognised by their first line. */
const JSON_START = /^(?:\u00ef\u00bb\u00bf)?\s*(?:\{\s*["}]|\[\s*[{\]])/

export function formatOf(head: Uint8Array): FileFormat {
  const text = Buffer.from(head.subarray(0, FORMAT_BYTES)).toString('latin1')
  if (text.startsWith(PARQUET)) return 'parquet'
  return JSON_START.test(text) ? 'json' : 'csv'
}
