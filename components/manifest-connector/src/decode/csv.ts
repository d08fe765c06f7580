// CSV with a header line, as Python's csv module reads it: every value is text, missing ones are null.

import { type Dict, pyStr, setKey } from '../python/values.ts'

export function* csvRows(text: string, definition: Dict): Iterable<Dict> {
  const delimiter = pyStr(definition.delimiter ?? ',').replaceAll('\\t', '\t')
  const unset = new Set(Array.isArray(definition.set_values_to_none) ? definition.set_values_to_none.map(pyStr) : [])
  const skip = typeof definition.skip_rows_before_header === 'number' ? definition.skip_rows_before_header : 0
  const filled = (cell: string | undefined) => (cell === undefined || unset.has(cell) ? null : cell)
  let header: readonly string[] | undefined
  let passed = 0
  // Python's text files have one line ending only.
  for (const line of rowsOf(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text, delimiter[0] ?? ',')) {
    if (line.length === 0 || passed++ < skip) continue
    if (!header) {
      header = line
      continue
    }
    const row: Dict = {}
    for (const [i, name] of header.entries()) setKey(row, name, filled(line[i]))
    // Cells without a name are a list under the key of Python's None.
    if (line.length > header.length) row.null = line.slice(header.length)
    yield row
  }
}

/** A quote begins a quoted part at the start of a cell only; what follows its end belongs to the cell. */
function* rowsOf(text: string, delimiter: string): Iterable<string[]> {
  let cells: string[] = []
  let at = 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      at++
      for (;;) {
        const end = text.indexOf('"', at)
        cell += text.slice(at, end < 0 ? text.length : end)
        at = end < 0 ? text.length : end + 1
        if (end < 0 || text[at] !== '"') break
        cell += '"'
        at++
      }
    }
    let end = at
    while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++
    cell += text.slice(at, end)
    if (text[end] === delimiter) {
      cells.push(cell)
      at = end + 1
      if (at < text.length) continue
      cell = '' // a delimiter at the very end has an empty cell after it
    }
    if (cells.length > 0 || cell !== '' || text[end - 1] === '"') cells.push(cell)
    yield cells
    cells = []
    at = Math.max(at, end + 1)
  }
}
