import { readRecords } from '../csv.ts'
import { dialectOf, type Folder, type Item, slicesOf } from '../folder.ts'
import { readParameters } from '../parameters.ts'
import { changeColumns } from './change-columns.ts'

/** Fills short records with empty values up to the widest one; unnamed columns get a name from their place. */
export async function orthogonal(folder: Folder): Promise<void> {
  readParameters(folder.parameters, {})
  await changeColumns(folder, async (table, columns) => {
    const width = await widthOf(table, columns.length)
    const added = Array.from({ length: width - columns.length }, (_, index) => `auto_col_${columns.length + index + 1}`)
    const filled = (count: number) => Array<string>(count).fill('')
    return {
      columns: [...columns, ...added],
      record: (record) => (record.length < width ? [...record, ...filled(width - record.length)] : record),
    }
  })
}

async function widthOf(table: Item, min: number): Promise<number> {
  let width = min
  for (const slice of await slicesOf(table)) {
    for await (const records of readRecords(table.path + slice, dialectOf(table.manifest))) {
      for (const record of records) width = Math.max(width, record.length)
    }
  }
  return width
}
