// Workbooks of Excel, written as they grow: a new one with one sheet, or a template whose sheet gets the rows and keeps everything else.

import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { strFromU8, strToU8, unzipSync, Zip, ZipDeflate } from 'fflate'
import type { Cells, InputColumn } from '../../connector-kit/src/input-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { FileOfRows, FormatWork } from './file-of-rows.ts'

const MAX_ROWS = 1_048_576
const MAX_TEXT = 32_767
const CHUNK = 2 ** 16
const HEADER_STYLE = '3'

/** Before and behind the rows in the XML of the sheet, and the other files of the workbook. */
interface Frame {
  readonly sheet: string
  readonly before: string
  readonly after: string
  readonly others: ReadonlyMap<string, Uint8Array>
  /** Styles of cells by the letters of their columns; undefined: those of a new workbook. */
  readonly styles: ReadonlyMap<string, string> | undefined
}

export async function createExcel(local: string, { columns, settings, template }: FormatWork): Promise<FileOfRows> {
  const [, letters = 'A', digits = '1'] = /^([A-Z]+)(\d+)$/.exec(settings.startCell) ?? []
  const first = numberOf(letters)
  const frame = template ? templateFrame(template, settings.sheet, Number(digits)) : newFrame(settings.sheet || 'Data')
  const cells = columns.map((column, at) => {
    const name = lettersOf(first + at)
    return cellWriter(column, name, frame.styles ? (frame.styles.get(name) ?? '') : undefined)
  })
  const file = createWriteStream(local)
  let problem: Error | undefined
  const zip = new Zip((error, chunk, isLast) => {
    if (error) problem = error
    file.write(chunk)
    if (isLast) file.end()
  })
  for (const [name, bytes] of frame.others) {
    const entry = new ZipDeflate(name, { level: 6 })
    zip.add(entry)
    entry.push(bytes, true)
  }
  const sheet = new ZipDeflate(frame.sheet, { level: 6 })
  zip.add(sheet)
  let row = Number(digits) - 1
  let gathered = frame.before

  function add(values: Cells, write: (value: string, at: number, row: number) => string): void | Promise<void> {
    row++
    if (row > MAX_ROWS)
      throw new UserError(`A sheet of Excel has at most ${MAX_ROWS} rows. Set maxRowsPerFile, or use another format.`)
    const written = values.map((value, at) => (value === null ? '' : write(value, at, row))).join('')
    gathered += `<row r="${row}">${written}</row>`
    return gathered.length > CHUNK ? flush() : undefined
  }

  async function flush(): Promise<void> {
    if (problem) throw problem
    sheet.push(strToU8(gathered))
    gathered = ''
    if (file.writableNeedDrain) await new Promise<void>((drained) => file.once('drain', drained))
  }

  // A template has its own header.
  if (settings.header && !template)
    await add(
      columns.map(({ name }) => name),
      (value, at, number) => textCell(`${lettersOf(first + at)}${number}`, value, ` s="${HEADER_STYLE}"`),
    )
  return {
    write: (values) => add(values, (value, at, number) => cells[at]?.(value, number) ?? ''),
    async close() {
      sheet.push(strToU8(gathered + frame.after), true)
      zip.end()
      await finished(file)
      if (problem) throw problem
    },
  }
}

/** Excel keeps 15 digits of a number; what has more stays a text. */
const isShort = (text: string): boolean => /^-?\d+(\.\d+)?$/.test(text) && text.replace(/^-?0*\.?0*|\./g, '').length <= 15

function cellWriter({ name, base }: InputColumn, letters: string, style: string | undefined) {
  const styled = (own: string) => (style === undefined ? own : style)
  return (value: string, row: number): string => {
    const place = `${letters}${row}`
    if (value.length > MAX_TEXT)
      throw new UserError(
        `A value in the column ${name} has ${value.length} characters; a cell of Excel has at most ${MAX_TEXT}.`,
      )
    if ((base === 'INTEGER' || base === 'NUMERIC' || base === 'FLOAT') && isShort(value))
      return `<c r="${place}"${styled('')}><v>${value}</v></c>`
    if (base === 'BOOLEAN' && (value === 'true' || value === 'false'))
      return `<c r="${place}" t="b"${styled('')}><v>${value === 'true' ? 1 : 0}</v></c>`
    const days = base === 'DATE' || base === 'TIMESTAMP' ? daysOf(value) : undefined
    // Without a style, a template would show a date as a number.
    if (days !== undefined && style !== '')
      return `<c r="${place}"${styled(base === 'DATE' ? ' s="1"' : ' s="2"')}><v>${days}</v></c>`
    return textCell(place, value, styled(''))
  }
}

const textCell = (place: string, value: string, style: string): string =>
  `<c r="${place}" t="inlineStr"${style}><is><t xml:space="preserve">${escaped(value)}</t></is></c>`

/** Days since the end of 1899, as Excel counts; undefined before its calendar begins. */
function daysOf(text: string): number | undefined {
  const ms = Date.parse(`${text.replace(' ', 'T').slice(0, 23)}${text.length > 10 ? 'Z' : 'T00:00:00Z'}`)
  const days = ms / 86_400_000 + 25_569
  return Number.isNaN(days) || days < 61 ? undefined : Math.round(days * 1e9) / 1e9
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"]/g, (character) => XML[character] ?? '')

const numberOf = (letters: string): number => [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
const lettersOf = (number: number): string =>
  number <= 26
    ? String.fromCharCode(64 + number)
    : lettersOf(Math.floor((number - 1) / 26)) + String.fromCharCode(65 + ((number - 1) % 26))

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

function newFrame(sheet: string): Frame {
  if (sheet.length > 31 || /[[\]:*?/\\]/.test(sheet))
    throw new UserError('sheet must be a name of at most 31 characters without [ ] : * ? / \\.')
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const files = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${escaped(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
    // 0: plain, 1: a date, 2: a date with its time, 3: bold
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/><xf fontId="1" applyFont="1"/></cellXfs></styleSheet>`,
  }
  return {
    sheet: 'xl/worksheets/sheet1.xml',
    before: `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`,
    after: '</sheetData></worksheet>',
    others: new Map(Object.entries(files).map(([name, text]) => [name, strToU8(HEAD + text)])),
    styles: undefined,
  }
}

/** Rows above the first one stay, those below are replaced; new cells look as those of the first row did. */
function templateFrame(bytes: Uint8Array, wanted: string, firstRow: number): Frame {
  const files = unzipped(bytes)
  const text = (name: string): string => strFromU8(files[name] ?? new Uint8Array())
  const workbook = text('xl/workbook.xml')
  const sheets = [...workbook.matchAll(/<sheet\b[^>]*>/g)].map(([tag]) => ({
    name: unescaped(attribute(tag, 'name')),
    id: attribute(tag, 'r:id'),
  }))
  const chosen = wanted === '' ? sheets[0] : sheets.find(({ name }) => name === wanted)
  if (!chosen)
    throw new UserError(
      `The template has no sheet "${wanted.slice(0, 60)}". It has ${sheets.map(({ name }) => name).join(', ') || 'none'}.`,
    )
  const relation = [...text('xl/_rels/workbook.xml.rels').matchAll(/<Relationship\b[^>]*>/g)]
    .map(([tag]) => tag)
    .find((tag) => attribute(tag, 'Id') === chosen.id)
  const target = attribute(relation ?? '', 'Target')
  const sheet = target.startsWith('/') ? target.slice(1) : `xl/${target}`
  const xml = text(sheet)
  const [, head, data = '', tail] = /^([\s\S]*?)<sheetData(?:\/>|>([\s\S]*?)<\/sheetData>)([\s\S]*)$/.exec(xml) ?? []
  if (head === undefined || tail === undefined) throw new UserError(`The sheet "${chosen.name}" of the template cannot be read.`)
  const rows = [...data.matchAll(/<row\b[^>]*?(?:\/>|>[\s\S]*?<\/row>)/g)].map(([row]) => row)
  const numberIn = (row: string): number => Number(attribute(row.slice(0, row.indexOf('>') + 1), 'r'))
  const pattern = rows.find((row) => numberIn(row) === firstRow) ?? ''
  const styles = new Map(
    [...pattern.matchAll(/<c\b[^>]*>/g)].map(([cell]) => {
      const style = attribute(cell, 's')
      return [attribute(cell, 'r').replace(/\d+$/, ''), style === '' ? '' : ` s="${style}"`] as const
    }),
  )
  const others = new Map(Object.entries(files).filter(([name]) => name !== sheet && name !== 'xl/calcChain.xml'))
  const put = (name: string, next: string) => others.has(name) && others.set(name, strToU8(next))
  const withoutChain = (one: string) => text(one).replace(/<(?:Override|Relationship)\b[^>]*calcChain[^>]*\/>/g, '')
  put('[Content_Types].xml', withoutChain('[Content_Types].xml'))
  put('xl/_rels/workbook.xml.rels', withoutChain('xl/_rels/workbook.xml.rels'))
  // Formulas of other sheets are recalculated when the workbook is opened.
  const recalculated = /<calcPr\b[^>]*\/>/.test(workbook)
    ? workbook.replace(/<calcPr\b[^>]*\/>/, '<calcPr fullCalcOnLoad="1"/>')
    : workbook.replace(/(<\/sheets>(?:[\s\S]*?<\/definedNames>)?)/, '$1<calcPr fullCalcOnLoad="1"/>')
  put('xl/workbook.xml', recalculated)
  return {
    sheet,
    before: `${head.replace(/<dimension\b[^>]*\/>/, '')}<sheetData>${rows.filter((row) => numberIn(row) < firstRow).join('')}`,
    after: `</sheetData>${tail}`,
    others,
    styles,
  }
}

function unzipped(bytes: Uint8Array): Record<string, Uint8Array> {
  try {
    const files = unzipSync(bytes, { filter: ({ originalSize }) => originalSize < 2 ** 27 })
    if (files['xl/workbook.xml']) return files
  } catch {
    // reported below
  }
  throw new UserError('The template is not a workbook of Excel (.xlsx).')
}

const attribute = (tag: string, name: string): string => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
