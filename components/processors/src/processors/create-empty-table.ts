import { writeFile } from 'node:fs/promises'
import { bytesOf, formatter } from '../csv.ts'
import { exists, type Folder, outputPath, passOnAll } from '../folder.ts'
import { asRecord, list, type Reader, readParameters, text } from '../parameters.ts'

const emptyTable: Reader<{ tableName: string; columns: readonly string[] }> = (value, name) => {
  const { tableName, columns } = asRecord(value, name)
  return { tableName: text()(tableName, `${name}.tableName`), columns: list(text())(columns, `${name}.columns`) }
}

/** Adds a table with a header and no rows, unless a table of that name is there. */
export async function createEmptyTable(folder: Folder): Promise<void> {
  const { tables } = readParameters(folder.parameters, { tables: list(emptyTable) })
  await passOnAll(folder, 'files')
  await passOnAll(folder, 'tables')
  const format = formatter({ delimiter: ',', enclosure: '"' })
  for (const { tableName, columns } of tables) {
    const path = outputPath(folder, 'tables', tableName)
    if (!(await exists(path))) await writeFile(path, format(columns.map(bytesOf)), 'latin1')
  }
}
