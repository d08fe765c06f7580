// Sheets of an Excel workbook as CSV. The browser reads it, so that a person can choose the sheet; the stack would load the first one.

export type Sheet = { readonly name: string; readonly rows: readonly (readonly SheetCell[])[] }
type SheetCell = string | number | boolean | Date | null

/** Beginnings of workbooks. */
const MAGIC: readonly (readonly [kind: FileKind, bytes: readonly number[]])[] = [
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['old-excel', [0xd0, 0xcf, 0x11, 0xe0]],
]

export type FileKind = 'zip' | 'old-excel' | undefined

/** A workbook is a ZIP file, whatever it is called. */
export async function kindOf(file: File): Promise<FileKind> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  return MAGIC.find(([, bytes]) => bytes.every((byte, index) => start[index] === byte))?.[0]
}

/** Loaded when the first workbook is chosen. Numbers stay the text that the workbook has. */
export async function readWorkbook(file: File): Promise<readonly Sheet[]> {
  const { default: readSheets } = await import('read-excel-file/browser')
  const sheets = await readSheets(file, { parseNumber: (text) => text })
  return sheets.map(({ sheet, data }) => ({ name: sheet, rows: data as unknown as Sheet['rows'] })) // dates are objects, not their class
}

/** Every row as long as the longest one; empty rows at the end are left out. */
export function csvOf(rows: Sheet['rows']): string {
  const isEmpty = (row: readonly SheetCell[]) => row.every((cell) => cell === null || cell === '')
  const filled = rows.slice(0, rows.findLastIndex((row) => !isEmpty(row)) + 1)
  const width = filled.reduce((widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== null && cell !== '') + 1), 0)
  return filled.map((row) => `${Array.from({ length: width }, (_, at) => fieldOf(row[at] ?? null)).join(',')}\n`).join('')
}

function fieldOf(cell: SheetCell): string {
  const text = cell === null ? '' : cell instanceof Date ? timeOf(cell) : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A workbook has times without a zone. */
const timeOf = (time: Date): string =>
  time
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '')
