// Rows of a driver as a CSV file without a header line. Lines are gathered into large writes; a slow disk slows the reading down.

import { type FileHandle, open } from 'node:fs/promises'

const BUFFER_CHARACTERS = 2 ** 18

export interface CsvFile {
  write(row: readonly (string | null)[]): void | Promise<void>
  close(): Promise<void>
}

export async function createCsvFile(
  path: string,
  nullMarker: string,
  { isAppended = false }: { readonly isAppended?: boolean | undefined } = {},
): Promise<CsvFile> {
  const file = await open(path, isAppended ? 'a' : 'w')
  let gathered = ''
  return {
    write(row) {
      for (let at = 0; at < row.length; at++) gathered += (at === 0 ? '' : ',') + cellOf(row[at] ?? null, nullMarker)
      gathered += '\n'
      if (gathered.length < BUFFER_CHARACTERS) return
      const text = gathered
      gathered = ''
      return append(file, text)
    },
    async close() {
      try {
        await append(file, gathered)
      } finally {
        await file.close()
      }
    },
  }
}

const append = async (file: FileHandle, text: string): Promise<void> => {
  if (text !== '') await file.writeFile(text)
}

/** An empty text is quoted: a line of nothing would be no row. */
export const cellOf = (value: string | null, nullMarker: string): string => {
  if (value === null) return nullMarker
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
