import type { Folder } from '../folder.ts'
import { readParameters, text } from '../parameters.ts'
import { appendColumn } from './append-column.ts'

/** Appends a counter that starts at 1 in every table and continues from slice to slice. */
export function addRowNumberColumn(folder: Folder): Promise<void> {
  const { column_name } = readParameters(folder.parameters, { column_name: text('row_number') })
  return appendColumn(folder, column_name, () => {
    let row = 0
    return () => String(++row)
  })
}
