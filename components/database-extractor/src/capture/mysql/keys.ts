// Keys of rows, from the bytes of the binary log: as the table in the project has them, and for statements.

import { UserError } from '../../../../http-extractor/src/errors.ts'

/** A column of a key, as the catalogue has it. */
export interface KeyColumn {
  readonly name: string
  /** Its place in the table. */
  readonly place: number
  readonly native: string
  readonly charset: string | null
}

export interface KeyValue {
  readonly text: string
  readonly literal: string
}

const INTEGER = /^(tinyint|smallint|mediumint|int|integer|bigint)\b/
const TEXT = /^(char|varchar)\b/
const BYTES = /^(binary|varbinary)\b/
const UTF8 = /^(utf8mb4|utf8mb3|utf8|ascii)$/

/** Refuses keys that cannot be read from the log. */
export function checkKey(table: string, columns: readonly KeyColumn[]): void {
  for (const { name, native, charset } of columns) {
    if (INTEGER.test(native) || BYTES.test(native)) continue
    if (TEXT.test(native) && UTF8.test(charset ?? '')) continue
    throw new UserError(
      `The key column "${name}" of ${table} is ${native}${charset ? ` in ${charset}` : ''}. Changes are captured of tables whose key has whole numbers, texts in utf8mb4 or ascii, or bytes; read this table with the database extractor.`,
    )
  }
}

export function keyValue({ native, charset }: KeyColumn, bytes: Buffer): KeyValue {
  if (INTEGER.test(native)) {
    const text = integerText(bytes, native.includes('unsigned'))
    return { text, literal: text }
  }
  if (TEXT.test(native)) return { text: bytes.toString('utf8'), literal: `_${charset} x'${bytes.toString('hex')}'` }
  const length = /^binary\((\d+)\)/.exec(native)?.[1]
  const whole = length === undefined ? bytes : Buffer.concat([bytes], Number(length)) // zeros at the end are not in the log
  return { text: `0x${whole.toString('hex')}`, literal: `x'${whole.toString('hex')}'` }
}

function integerText(bytes: Buffer, isUnsigned: boolean): string {
  if (bytes.length === 8) return String(isUnsigned ? bytes.readBigUInt64LE(0) : bytes.readBigInt64LE(0))
  return String(isUnsigned ? bytes.readUIntLE(0, bytes.length) : bytes.readIntLE(0, bytes.length))
}
