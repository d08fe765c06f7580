import { mapRecords } from '../csv.ts'
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
import { list, readParameters, text } from '../parameters.ts'
import { UserError } from '../user-error.ts'

/** Keeps the named columns, in the given order, of headerless tables. */
export async function selectColumns(folder: Folder): Promise<void> {
  const { columns } = readParameters(folder.parameters, { columns: list(text()) })
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const present = columnsOf(table)
    const places = columns.map((column) => {
      const place = present.indexOf(column)
      if (place === -1) throw new UserError(`The table ${table.name} has no column "${column}". It has: ${present.join(', ')}.`)
      return place
    })
    for (const slice of await slicesOf(table)) {
      await mapRecords(
        table.path + slice,
        outputPath(folder, 'tables', table.name + slice),
        dialectOf(table.manifest),
        (record) => places.map((place) => record[place] ?? ''),
      )
    }
    await writeManifest(folder, 'tables', table.name, withColumns(table.manifest ?? {}, columns))
  }
}
