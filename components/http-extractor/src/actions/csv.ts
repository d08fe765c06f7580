// Reads back the CSV this component writes: every cell quoted, quotes doubled, lines ended by LF.

export function parseCsv(text: string, maxRows: number): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /"((?:[^"]|"")*)"(,|\n|$)/y
  while (rows.length < maxRows) {
    const match = cell.exec(text)
    if (!match) break
    row.push(match[1]!.replaceAll('""', '"'))
    if (match[2] !== ',') {
      rows.push(row)
      row = []
    }
  }
  return rows
}
