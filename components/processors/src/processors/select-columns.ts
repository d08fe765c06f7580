import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Folder } from '../folder.ts'
import { list, readParameters, text } from '../parameters.ts'
import { changeColumns } from './change-columns.ts'

/** Keeps the named columns, in the given order, of headerless tables. */
export async function selectColumns(folder: Folder): Promise<void> {
  const { columns } = readParameters(folder.parameters, { columns: list(text()) })
  await changeColumns(folder, (table, present) => {
    const places = columns.map((column) => {
      const place = present.indexOf(column)
      if (place === -1) throw new UserError(`The table ${table.name} has no column "${column}". It has: ${present.join(', ')}.`)
      return place
    })
    return { columns, record: (record) => places.map((place) => record[place] ?? '') }
  })
}
