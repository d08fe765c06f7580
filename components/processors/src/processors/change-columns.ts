// What processors share that change the columns of headerless tables: every record of every slice, then the names in the manifest.

import { type CsvRecord, mapRecords } from '../csv.ts'
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

export interface ColumnChange {
  /** Names afterwards. */
  readonly columns: readonly string[]
  /** `file` is the name of the file the record is in. */
  readonly record: (record: CsvRecord, file: string) => CsvRecord
}

/** Files are passed on; `plan` is called once for each table, with the names of its columns. */
export async function changeColumns(
  folder: Folder,
  plan: (table: Item, columns: readonly string[]) => ColumnChange | Promise<ColumnChange>,
): Promise<void> {
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const change = await plan(table, columnsOf(table))
    for (const slice of await slicesOf(table)) {
      const file = slice === '' ? table.name : slice.slice(1)
      const to = outputPath(folder, 'tables', table.name + slice)
      await mapRecords(table.path + slice, to, dialectOf(table.manifest), (record) => change.record(record, file))
    }
    await writeManifest(folder, 'tables', table.name, withColumns(table.manifest ?? {}, change.columns))
  }
}
