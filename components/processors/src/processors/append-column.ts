// What the two processors that append a column share: headerless tables with named columns, one more value in every record.

import { bytesOf, mapRecords } from '../csv.ts'
import {
  columnsOf,
  dialectOf,
  type Folder,
  listItems,
  outputPath,
  passOnAll,
  slicesOf,
  withColumns,
  writeManifest,
} from '../folder.ts'
import { UserError } from '../user-error.ts'

/** `valueFor` is called for every record, with the name of the file the record is in. */
export async function appendColumn(folder: Folder, column: string, startTable: () => (file: string) => string): Promise<void> {
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const columns = columnsOf(table)
    if (columns.includes(column)) throw new UserError(`The table ${table.name} already has a column "${column}".`)
    const valueFor = startTable()
    for (const slice of await slicesOf(table)) {
      const file = slice === '' ? table.name : slice.slice(1)
      await mapRecords(
        table.path + slice,
        outputPath(folder, 'tables', table.name + slice),
        dialectOf(table.manifest),
        (record) => [...record, bytesOf(valueFor(file))],
      )
    }
    await writeManifest(folder, 'tables', table.name, withColumns(table.manifest ?? {}, [...columns, column]))
  }
}
