import { basename } from 'node:path'
import type { Folder } from '../folder.ts'
import { readParameters, text } from '../parameters.ts'
import { appendColumn } from './append-column.ts'

/** Appends the name of the file a record was in; in a sliced table that is the slice. */
export function addFilenameColumn(folder: Folder): Promise<void> {
  const { column_name } = readParameters(folder.parameters, { column_name: text('filename') })
  return appendColumn(folder, column_name, () => (file) => basename(file))
}
