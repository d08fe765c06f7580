// How values of MySQL and MariaDB are selected.

import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import type { SourceColumn } from './columns.ts'

/** Of BINARY, VARBINARY, BLOB and BIT: bytes as hexadecimal digits. The protocol marks a text only by its character set. */
export const isBinary = ({ native }: SourceColumn): boolean => /binary|blob|^bit/.test(native)

const GEOMETRY = /^(geometry|point|linestring|polygon|multi|geomcollection|geometrycollection)/

export function selected({ name, native }: SourceColumn): string {
  if (GEOMETRY.test(native)) return `ST_AsText(${quoted(name)})`
  // As text a single-precision number has six digits only: 1234567 would arrive as 1234570.
  return native.startsWith('float') ? `(${quoted(name)} + 0e0)` : quoted(name)
}
