// The beginning of a JSON file: a list of objects, or objects one after the other as JSON lines have them. One pass over the text.

import type { SniffedColumn, SniffedProblem } from '../csv/csv-sniff.ts'
import { guessType } from '../csv/guess-type.ts'

export interface SniffedJson {
  readonly columns: readonly SniffedColumn[]
  readonly rows: number
  readonly preview: readonly (readonly string[])[]
  readonly problems: readonly SniffedProblem[]
  readonly isLoadable: boolean
}

const PREVIEW_ROWS = 20
const MAX_COLUMNS = 4096
const SHOWN_CHARS = 120

export function sniffJson(text: string): SniffedJson {
  const rows: ReadonlyMap<string, string>[] = []
  const problems: SniffedProblem[] = []
  for (const { from, to } of objectsIn(text)) {
    try {
      rows.push(textsOf(JSON.parse(text.slice(from, to)) as Record<string, unknown>))
    } catch (error) {
      const why = error instanceof RangeError ? 'a value is nested too deeply' : (error as Error).message // both throw errors
      problems.push(problemAt(text, from, why))
      break // the records after an error cannot be separated
    }
  }
  const values = new Map<string, string[]>()
  for (const row of rows)
    for (const [name, shown] of row) {
      if (!values.has(name) && values.size < MAX_COLUMNS) values.set(name, [])
      if (shown !== '') values.get(name)?.push(shown)
    }
  const names = [...values.keys()]
  return {
    columns: names.map((name) => ({
      name,
      type: guessType(values.get(name)!),
      nullable: values.get(name)!.length < rows.length,
    })),
    rows: rows.length,
    preview: rows.slice(0, PREVIEW_ROWS).map((row) => names.map((name) => row.get(name) ?? '')),
    problems,
    isLoadable: problems.length === 0 && names.length > 0,
  }
}

const textsOf = (row: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(row).map(([name, value]) => [name, textOf(value)]))

const textOf = (value: unknown): string => (value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value))

/** Objects of the list, or of the text itself; one that the text does not end is left out. */
function* objectsIn(text: string): Generator<{ readonly from: number; readonly to: number }> {
  const base = /^\s*\[/.test(text) ? 1 : 0
  let [depth, from, inText] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (inText) {
      if (c === '\\') i++
      else if (c === '"') inText = false
    } else if (c === '"') inText = true
    else if (c === '{' || c === '[') {
      if (depth === base) from = i
      depth++
    } else if (c === '}' || c === ']') {
      depth--
      if (depth === base && c === '}') yield { from, to: i + 1 }
    }
  }
}

function problemAt(text: string, from: number, why: string): SniffedProblem {
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  const lineEnd = text.indexOf('\n', lineStart)
  const line = text.slice(0, from).split('\n').length
  return {
    kind: 'json',
    line,
    column: 1 + from - lineStart,
    offset: Buffer.byteLength(text.slice(0, from)),
    message: `Line ${line} is not valid JSON: ${why.split('\n')[0]!.slice(0, SHOWN_CHARS)}`,
    text: text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).slice(0, SHOWN_CHARS),
  }
}
