// Parquet with the types of the table, in row groups, so that memory does not grow with the rows.

import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import type { InputColumn } from '../../connector-kit/src/input-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { FileOfRows, FormatWork } from './file-of-rows.ts'

const ROWS_OF_GROUP = 20_000

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]
type Value = string | number | bigint | boolean | null

interface Typed {
  readonly element: Element
  readonly valueIn: (text: string) => Value
}

export function createParquet(local: string, { columns }: FormatWork): FileOfRows {
  const typed = columns.map(typeOf)
  const schema: Element[] = [{ name: 'root', num_children: columns.length }, ...typed.map(({ element }) => element)]
  const writer = new ParquetWriter({ writer: fileWriter(local), schema, createdBy: 'Millrace' })
  let gathered: Value[][] = columns.map(() => [])
  let rows = 0

  async function flush(): Promise<void> {
    if (rows === 0) return
    await writer.write({
      columnData: columns.map(({ name }, at) => ({ name, data: gathered[at] ?? [] })),
      rowGroupSize: ROWS_OF_GROUP,
    })
    gathered = columns.map(() => [])
    rows = 0
  }

  return {
    write(row) {
      for (const [at, { valueIn }] of typed.entries()) {
        const text = row[at] ?? null
        gathered[at]?.push(text === null ? null : valueIn(text))
      }
      rows++
      return rows >= ROWS_OF_GROUP ? flush() : undefined
    },
    async close() {
      await flush()
      await writer.finish()
    },
  }
}

function typeOf({ name, base, length }: InputColumn): Typed {
  const optional = { name, repetition_type: 'OPTIONAL' } as const
  const unless = (isValue: (text: string) => boolean, read: (text: string) => Value) => (text: string) => {
    if (text === '') return null
    if (!isValue(text)) throw new UserError(`"${text.slice(0, 60)}" in the column ${name} is not of the type ${base}.`)
    return read(text)
  }
  switch (base) {
    case 'INTEGER':
      return {
        element: { ...optional, type: 'INT64' },
        valueIn: unless((text) => /^-?\d{1,19}$/.test(text) && fits64(BigInt(text)), BigInt),
      }
    case 'NUMERIC': {
      const [precision = 38, scale = 9] = (length ?? '38,9').split(',').map(Number)
      const wide = precision > 18
      const type = wide ? { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 } : { type: 'INT64' }
      return {
        element: { ...optional, ...type, converted_type: 'DECIMAL', precision, scale } as Element, // one of both types
        valueIn: unless(
          (text) => /^-?\d+(\.\d+)?$/.test(text),
          (text) => unscaled(text, scale),
        ),
      }
    }
    case 'FLOAT':
      return {
        element: { ...optional, type: 'DOUBLE' },
        valueIn: unless((text) => !Number.isNaN(Number(text)) || /^-?nan$/i.test(text), Number),
      }
    case 'BOOLEAN':
      return {
        element: { ...optional, type: 'BOOLEAN' },
        valueIn: unless(
          (text) => text === 'true' || text === 'false',
          (text) => text === 'true',
        ),
      }
    case 'DATE':
      return {
        element: { ...optional, type: 'INT32', converted_type: 'DATE' },
        valueIn: unless(
          (text) => !Number.isNaN(Date.parse(`${text}T00:00:00Z`)),
          (text) => Math.floor(Date.parse(`${text}T00:00:00Z`) / 86_400_000),
        ),
      }
    case 'TIMESTAMP':
      return {
        element: { ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
        valueIn: unless((text) => MOMENT.test(text), microseconds),
      }
    default:
      return { element: { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' }, valueIn: (text) => text }
  }
}

const fits64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

function unscaled(text: string, scale: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale))
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?$/

function microseconds(text: string): bigint {
  const [, day = '', time = '', fraction = ''] = MOMENT.exec(text) ?? []
  return BigInt(Date.parse(`${day}T${time}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6) || '0')
}
