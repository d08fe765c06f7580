import { UserError } from '../../../http-extractor/src/errors.ts'
import { mapRecords } from '../csv.ts'
import { dialectOf, type Folder, listItems, outputPath, passOnAll, writeManifest } from '../folder.ts'
import { readParameters, text } from '../parameters.ts'

/** Rewrites tables from the dialect in their manifest to another one. */
export async function formatCsv(folder: Folder): Promise<void> {
  const { delimiterTo, enclosureTo } = readParameters(folder.parameters, { delimiterTo: text(), enclosureTo: text() })
  const target = { delimiter: delimiterTo, enclosure: enclosureTo }
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    if (table.isFolder) throw new UserError(`The table ${table.name} is sliced; processor-format-csv works on whole files.`)
    if (!table.manifest) throw new UserError(`The table ${table.name} has no manifest with its delimiter and enclosure.`)
    await mapRecords(table.path, outputPath(folder, 'tables', table.name), dialectOf(table.manifest), (record) => record, target)
    await writeManifest(folder, 'tables', table.name, { ...table.manifest, ...target })
  }
}
