import { mapRecords, readRecords } from '../csv.ts'
import {
  columnsOf,
  dialectOf,
  type Folder,
  type Item,
  listItems,
  outputPath,
  passOnAll,
  slicesOf,
  withColumns,
  writeManifest,
} from '../folder.ts'
import { readParameters } from '../parameters.ts'

/** Fills short records with empty values up to the widest one; columns nobody named get a name from their place. */
export async function orthogonal(folder: Folder): Promise<void> {
  readParameters(folder.parameters, {})
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const columns = columnsOf(table)
    const width = await widthOf(table, columns.length)
    for (const slice of await slicesOf(table)) {
      await mapRecords(
        table.path + slice,
        outputPath(folder, 'tables', table.name + slice),
        dialectOf(table.manifest),
        (record) => (record.length < width ? [...record, ...Array<string>(width - record.length).fill('')] : record),
      )
    }
    const added = Array.from({ length: width - columns.length }, (_, index) => `auto_col_${columns.length + index + 1}`)
    await writeManifest(folder, 'tables', table.name, withColumns(table.manifest ?? {}, [...columns, ...added]))
  }
}

async function widthOf(table: Item, least: number): Promise<number> {
  let width = least
  for (const slice of await slicesOf(table)) {
    for await (const records of readRecords(table.path + slice, dialectOf(table.manifest))) {
      for (const record of records) width = Math.max(width, record.length)
    }
  }
  return width
}
