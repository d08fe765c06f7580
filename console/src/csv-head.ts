// The first rows of a delimited file, for people to look at before they load it. The server reads the whole file; this reads its head.

export const HEAD_BYTES = 64 * 1024
const DELIMITERS = [',', ';', '\t', '|'] as const

export interface Head {
  readonly delimiter: string
  readonly enclosure: string
  readonly rows: readonly (readonly string[])[]
}

/** The delimiter that cuts the first lines into the same, largest number of fields. */
export function headOf(text: string, rows = 12): Head {
  const tries = DELIMITERS.map((delimiter) => ({ delimiter, rows: parse(text, delimiter, rows) }))
  const best = tries.toSorted((a, b) => scoreOf(b.rows) - scoreOf(a.rows))[0]!
  return { delimiter: best.delimiter, enclosure: '"', rows: best.rows }
}

/** Fields of the first row when all rows have as many; a little for tables that do not agree. */
function scoreOf(rows: readonly (readonly string[])[]): number {
  const fields = rows[0]?.length ?? 0
  return rows.every((row) => row.length === fields) ? fields : 1 / (1 + fields)
}

export function parse(text: string, delimiter: string, most: number): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const endField = () => {
    row.push(field)
    field = ''
  }
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const letter = text[at]!
    if (isQuoted) {
      if (letter !== '"') field += letter
      else if (text[at + 1] === '"') field += text[++at]!
      else isQuoted = false
    } else if (letter === '"' && field === '') isQuoted = true
    else if (letter === delimiter) endField()
    else if (letter === '\n') {
      endField()
      rows.push(row)
      row = []
    } else if (letter !== '\r') field += letter
  }
  if (rows.length < most && (field !== '' || row.length > 0) && text.length < HEAD_BYTES) {
    endField()
    rows.push(row)
  }
  return rows
}
