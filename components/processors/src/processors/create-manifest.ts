import { readHeader, textOf } from '../csv.ts'
import { type Dialect, type Folder, type Item, listItems, passOn, passOnAll, slicesOf, writeManifest } from '../folder.ts'
import { choice, flag, listOrNone, optional, readParameters, text } from '../parameters.ts'

/** Writes or completes the manifest of every table. The data is not touched: a header line stays where it is. */
export async function createManifest(folder: Folder): Promise<void> {
  const given = readParameters(folder.parameters, {
    delimiter: text(','),
    enclosure: text('"'),
    columns: listOrNone(text()),
    columns_from: optional(choice(['header', 'auto'])),
    primary_key: listOrNone(text()),
    incremental: flag(false),
    has_header: optional(flag(true)),
  })
  const dialect = { delimiter: given.delimiter, enclosure: given.enclosure }
  await passOnAll(folder, 'files')
  for (const table of await listItems(folder, 'tables')) {
    const columns =
      given.columns.length > 0 ? given.columns : given.columns_from && (await columnsFrom(table, given.columns_from, dialect))
    await passOn(folder, table)
    await writeManifest(folder, 'tables', table.name, {
      ...table.manifest,
      ...dialect,
      ...(columns ? { columns } : {}),
      ...(given.primary_key.length > 0 ? { primary_key: given.primary_key } : {}),
      incremental: given.incremental,
      ...(given.has_header === undefined ? {} : { has_header: given.has_header }),
    })
  }
}

/** The first record of the table, of its first slice that has one; a name that is empty, or all of them, are made up. */
async function columnsFrom(table: Item, from: 'header' | 'auto', dialect: Dialect): Promise<string[] | undefined> {
  for (const slice of await slicesOf(table)) {
    const header = await readHeader(table.path + slice, dialect)
    if (header) return header.map((name, index) => (from === 'auto' || name === '' ? `col_${index + 1}` : textOf(name)))
  }
  return undefined
}
