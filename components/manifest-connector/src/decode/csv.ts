// CSV with a header line: every value is text, missing ones are null.

import { parse } from 'csv-parse/sync'
import { ConnectorError, messageOf } from '../errors.ts'
import { type Dict, isDict, pyStr, setKey } from '../python/values.ts'

export function* csvRows(text: string, definition: Dict): Iterable<Dict> {
  const delimiter = pyStr(definition.delimiter ?? ',').replaceAll('\\t', '\t')
  const unset = new Set(Array.isArray(definition.set_values_to_none) ? definition.set_values_to_none.map(pyStr) : [])
  let rows: string[][]
  try {
    rows = parse(text, {
      delimiter: delimiter || ',',
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      bom: true,
    })
  } catch (cause) {
    throw new ConnectorError(`The answer is not valid CSV: ${messageOf(cause)}`, cause)
  }
  const skip =
    isDict(definition) && typeof definition.skip_rows_before_header === 'number' ? definition.skip_rows_before_header : 0
  const [header, ...lines] = rows.slice(skip)
  for (const line of lines) {
    const row: Dict = {}
    for (const [i, name] of header!.entries()) setKey(row, name, line[i] === undefined || unset.has(line[i]) ? null : line[i])
    yield row
  }
}
