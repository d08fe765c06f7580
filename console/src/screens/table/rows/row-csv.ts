// One row as CSV.

/** Null is a text that no value of the row is, so that an empty text stays one. */
export function rowCsv(
  columns: readonly string[],
  row: Readonly<Record<string, string | null>>,
): { readonly csv: string; readonly nullText: string } {
  const values = columns.map((column) => row[column] ?? null)
  let nullText = '<null>'
  while (values.includes(nullText)) nullText += '>'
  const line = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
  return { csv: `${line(columns)}\n${line(values.map((value) => value ?? nullText))}\n`, nullText }
}
