// The script of a transformation as blocks, codes and the text of each code. Changes leave every other byte of the configuration alone.

import { statementEnds, statementsOf, withoutHead } from '../editor/sql-statements.ts'
import { isRecord, type Path, parsed, setAt, sliceAt, spliceAt, swapAt, valueIn } from './json-text.ts'

export interface Code {
  readonly name: string
  readonly script: readonly string[]
}

export interface Block {
  readonly name: string
  readonly codes: readonly Code[]
}

/** A code, or without one a whole block. */
export interface Spot {
  readonly block: number
  readonly code?: number
}

const BLOCKS: Path = ['parameters', 'blocks']

const pathOf = ({ block, code }: Spot): Path => [...BLOCKS, block, ...(code === undefined ? [] : ['codes', code])]

const listAt = (document: unknown, path: Path): readonly unknown[] => {
  const value = valueIn(document, path)
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

const nameOf = (value: unknown, otherwise: string): string =>
  isRecord(value) && typeof value.name === 'string' && value.name !== '' ? value.name : otherwise

export function readBlocks(text: string): readonly Block[] {
  return listAt(parsed(text), BLOCKS).map((block, b) => ({
    name: nameOf(block, `Block ${b + 1}`),
    codes: listAt(block, ['codes']).map((code, c) => ({ name: nameOf(code, `Code ${c + 1}`), script: scriptIn(code) })),
  }))
}

function scriptIn(code: unknown): readonly string[] {
  const script = valueIn(code, ['script'])
  if (typeof script === 'string') return [script]
  return Array.isArray(script) ? script.map(String) : []
}

/** Statements as one text: what ends without a semicolon gets one where another statement follows. */
export function textOfScript(script: readonly string[]): string {
  return script
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement, at, all) => (at < all.length - 1 && isOpen(statement) ? `${statement}${closing(statement)}` : statement))
    .join('\n\n')
}

const isOpen = (text: string): boolean => {
  const last = statementsOf(text).at(-1)
  return last !== undefined && (statementEnds(text).at(-1) ?? -1) < last.offset
}

/** A comment would swallow a semicolon on its line. */
const closing = (statement: string): string => (/--[^\n]*$/.test(statement) ? '\n;' : ';')

/** One entry for each statement, with the comments before it; comments behind the last one stay with it. */
export function scriptOfText(text: string): readonly string[] {
  const ends = [...statementEnds(text), text.length - 1]
  const pieces = ends.map((end, at) => text.slice((ends[at - 1] ?? -1) + 1, end + 1).trim()).filter((piece) => piece !== '')
  const last = pieces.at(-1)
  if (pieces.length > 1 && last !== undefined && statementsOf(last).length === 0)
    return [...pieces.slice(0, -2), `${pieces.at(-2)}\n${last}`]
  return pieces
}

export const writeScript = (text: string, { block, code = 0 }: Spot, script: readonly string[]): string =>
  setAt(text, [...pathOf({ block, code }), 'script'], script)

export const renameSpot = (text: string, spot: Spot, name: string): string => setAt(text, [...pathOf(spot), 'name'], name)

export const removeSpot = (text: string, spot: Spot): string => setAt(text, pathOf(spot), undefined)

const EMPTY_CODE = { name: 'New code', script: [] }

export function addBlock(text: string): { readonly text: string; readonly spot: Spot } {
  const block = listAt(parsed(text), BLOCKS).length
  return { text: setAt(text, [...BLOCKS, block], { name: 'New block', codes: [EMPTY_CODE] }), spot: { block, code: 0 } }
}

export function addCode(text: string, block: number): { readonly text: string; readonly spot: Spot } {
  const code = listAt(parsed(text), [...BLOCKS, block, 'codes']).length
  return { text: setAt(text, [...BLOCKS, block, 'codes', code], EMPTY_CODE), spot: { block, code } }
}

/** One place up or down; a code at the edge of its block goes into the next one. Undefined where it cannot move. */
export function moveSpot(text: string, spot: Spot, by: -1 | 1): { readonly text: string; readonly spot: Spot } | undefined {
  const blocks = readBlocks(text)
  const { block, code } = spot
  const siblings = code === undefined ? blocks.length : blocks[block]!.codes.length
  const at = (code ?? block) + by
  if (at >= 0 && at < siblings) {
    const to = code === undefined ? { block: at } : { block, code: at }
    return { text: swapAt(text, pathOf(spot), pathOf(to)), spot: to }
  }
  const other = blocks[block + by]
  if (code === undefined || !other) return undefined
  const slice = sliceAt(text, pathOf(spot))!
  const path: Path = [...BLOCKS, block + by, 'codes']
  const target = { block: block + by, code: by < 0 ? other.codes.length : 0 }
  const rest = listAt(parsed(text), path).map((_, i) => sliceAt(text, [...path, i])!)
  const list = by < 0 ? [...rest, slice] : [slice, ...rest]
  const made = spliceAt(removeSpot(text, spot), path, `[${list.join(', ')}]`)
  return { text: made, spot: target }
}

/** What runs up to this code: the blocks and codes behind it are left out. */
export function untilSpot(text: string, { block, code = 0 }: Spot): string {
  const blocks = listAt(parsed(text), BLOCKS)
  let result = text
  for (let b = blocks.length - 1; b > block; b--) result = removeSpot(result, { block: b })
  for (let c = listAt(blocks[block], ['codes']).length - 1; c > code; c--) result = removeSpot(result, { block, code: c })
  return result
}

export interface MappedTable {
  readonly source: string
  readonly destination: string
}

/** Tables in or out, as the mapping names them. */
export const mappedTables = (text: string, side: 'input' | 'output'): readonly MappedTable[] =>
  listAt(parsed(text), ['storage', side, 'tables'])
    .filter(isRecord)
    .map(({ source, destination }) => ({ source: String(source ?? ''), destination: String(destination ?? '') }))

/** A failure `at` a statement of a code, in characters of its text; undefined where the text has been changed or filled in. */
export function placeInCode(
  text: string,
  { statement, line, character }: { readonly statement: number; readonly line: number; readonly character: number },
): number | undefined {
  const found = statementsOf(text)[statement - 1]
  if (!found || found.sql.includes('{{')) return found?.offset
  const statementText = withoutHead(found.sql)
  const before = statementText.split('\n').slice(0, line - 1)
  const at = Math.min(statementText.length, before.reduce((sum, one) => sum + one.length + 1, 0) + character - 1)
  return found.offset + found.sql.length - statementText.length + at
}
