// What a file is, by its first bytes: CSV unless something else is certain.

export type FileFormat = 'csv' | 'json' | 'parquet' | 'excel' | 'avro'

/** Enough to distinguish formats. */
const FORMAT_BYTES = 512

/** A workbook is a ZIP file, or one of the older format, which is refused with its name. */
const BINARY: readonly (readonly [start: string, format: FileFormat])[] = [
  ['PAR1', 'parquet'],
  ['Obj\u0001', 'avro'],
  ['PK\u0003\u0004', 'excel'],
  ['\u00d0\u00cf\u0011\u00e0', 'excel'],
]
/** An object with a name, or a list of objects: no header of a CSV file begins so. JSON lines are recognised by their first line. */
const JSON_START = /^(?:\u00ef\u00bb\u00bf)?\s*(?:\{\s*["}]|\[\s*[{\]])/

export function formatOf(head: Uint8Array): FileFormat {
  const text = Buffer.from(head.subarray(0, FORMAT_BYTES)).toString('latin1')
  const binary = BINARY.find(([start]) => text.startsWith(start))
  if (binary) return binary[1]
  return JSON_START.test(text) ? 'json' : 'csv'
}
