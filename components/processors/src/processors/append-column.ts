// What the two processors that append a column share: one more value in every record.

import { UserError } from '../../../http-extractor/src/errors.ts'
import { bytesOf } from '../csv.ts'
import type { Folder } from '../folder.ts'
import { changeColumns } from './change-columns.ts'

/** `startTable` gives a function that is called for every record, with the name of the file the record is in. */
export const appendColumn = (folder: Folder, column: string, startTable: () => (file: string) => string): Promise<void> =>
  changeColumns(folder, (table, columns) => {
    if (columns.includes(column)) throw new UserError(`The table ${table.name} already has a column "${column}".`)
    const valueFor = startTable()
    return { columns: [...columns, column], record: (record, file) => [...record, bytesOf(valueFor(file))] }
  })
