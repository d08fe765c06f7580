/**
 * The tables of a type without a mapping (spec extractor 13).
 *
 * The specification has two phases (spec extractor 13.1): analyse all pages, then write rows. Most APIs show all their columns on the first page, so rows are
 * written at once, in the layout known so far, while every page is also spooled. As long as the layout of the tables that have
 * rows stays the same, that is the result. When it changes (a new column, a single value that becomes an array), the rows so far
 * are thrown away, later pages are only analysed, and `finish` writes everything again from the spool. Never more than once.
 */
import { rmSync } from 'node:fs'
import { isArray, isScalar, type JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'
import { batchBytes, CsvFile } from './csv.ts'
import { type Layout, layOut } from './layout.ts'
import { legacyNaming, moveColliding, overwritten, toLegacyState } from './legacy.ts'
import type { AddedValue, Page, TablesLog } from './page.ts'
import type { MadeTable } from './publish.ts'
import { createRowWriter, Mismatch, type TableTarget } from './rows.ts'
import { Spool } from './spool.ts'
import { type Aliases, createStructure, naming, type TableNode } from './structure.ts'

export type AutomaticType = {
  readonly add: (page: Page) => void
  readonly finish: () => readonly MadeTable[]
  /** Those that it would write, in no order. */
  readonly tables: () => readonly TableNode[]
  /** Its part of the remembered structures. */
  readonly toState: () => readonly [string, JsonValue][]
  readonly discard: () => void
}

type Options = {
  readonly type: string
  readonly state: JsonValue | undefined
  /** Added columns that earlier runs renamed. */
  readonly aliases: Aliases
  readonly nextOrder: () => number
  /** Converts as compatLevel 1 does. */
  readonly isLegacy: boolean
  readonly newFile: (suffix: string) => string
  readonly log: TablesLog
}

type Pick = (response: JsonValue) => readonly JsonValue[]

export function createAutomaticType({ type, state, aliases, nextOrder, isLegacy, newFile, log }: Options): AutomaticType {
  const structure = createStructure({
    type,
    state,
    aliases,
    nextOrder,
    naming: isLegacy ? legacyNaming : naming,
    warn: log.warning,
  })
  const spool = new Spool(newFile('pages'))
  const picks: Pick[] = []
  const targets = new Map<TableNode, TableTarget>()
  const unscalar = new Set<string>()
  let layouts: ReadonlyMap<TableNode, Layout> = layOut(structure.rows)
  let writesAtOnce = true
  let isFirst = true

  const writeRows = createRowWriter((table) => {
    let target = targets.get(table)
    if (target === undefined) {
      table.order ??= table.nextOrder()
      const layout = layouts.get(table)!
      target = { layout, file: new CsvFile(newFile('csv'), layout.columns) }
      targets.set(table, target)
    }
    return target
  }, log.warning)

  function spoolPage({ items, added = [], origin }: Page): void {
    const recipe = origin === undefined ? -1 : recipeOf(origin.pick)
    spool.add(exactJson([recipe, added.map((pair) => [...pair])]), origin?.body ?? exactJson([...items]))
  }

  function recipeOf(pick: Pick): number {
    const known = picks.indexOf(pick)
    return known === -1 ? picks.push(pick) - 1 : known
  }

  function noteAdded(added: readonly AddedValue[]): void {
    const { table } = structure.rows
    for (const [name, value] of added) {
      if (!table.added.includes(name)) {
        table.added.push(name)
        table.changed = true
      }
      if (value !== null && !isScalar(value) && !unscalar.has(name)) {
        unscalar.add(name)
        const kind = isArray(value) ? 'array' : 'object'
        log.error(`Data parse error in '${name}' - unexpected '${kind}' where 'string' was expected! It is stored as JSON.`)
      }
    }
  }

  /** After a change: rows in the old layout are lost to us; tables without rows simply start in the new one. */
  function settle(): void {
    const outdated = [...targets].filter(([table]) => table.changed)
    if (outdated.some(([, { file }]) => file.rows > 0)) {
      writesAtOnce = false
      dropTargets([...targets.keys()])
    } else {
      dropTargets(outdated.map(([table]) => table))
    }
    layouts = layOut(structure.rows)
    for (const table of layouts.keys()) table.changed = false
  }

  function dropTargets(tables: readonly TableNode[]): void {
    for (const table of tables) {
      rmSync(targets.get(table)!.file.path, { force: true })
      targets.delete(table)
    }
  }

  function write(items: readonly JsonValue[], added: readonly AddedValue[]): void {
    const { rows } = structure
    writeRows(isLegacy ? moveColliding(overwritten(items, rows, added), rows) : items, rows, added)
    const batch = batchBytes(targets.size)
    for (const { file } of targets.values()) file.commit(batch)
  }

  /** False when the page does not fit the layout; then nothing of it is written. */
  function writes(items: readonly JsonValue[], added: readonly AddedValue[]): boolean {
    try {
      write(items, added)
      return true
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      for (const { file } of targets.values()) file.rollBack()
      return false
    }
  }

  return {
    add: (page) => {
      const { items, added = [], keptAsText = [] } = page
      if (isFirst) structure.expectText(keptAsText)
      isFirst = false
      spoolPage(page)
      noteAdded(added)
      if (structure.rows.table.changed) settle()
      if (writesAtOnce && writes(items, added)) return
      structure.analyse(items)
      settle()
      if (writesAtOnce) write(items, added)
    },
    finish: () => {
      if (structure.tables().some(({ changed }) => changed)) settle() // new names for its added columns
      if (!writesAtOnce) {
        for (const { header, body } of spool.records()) {
          const [recipe, added] = parseJson(header) as [number, AddedValue[]] // written by spoolPage
          const value = parseJson(body)
          write(recipe === -1 ? (value as JsonValue[]) : picks[recipe]!(value), added)
        }
      }
      spool.close()
      return [...targets].map(([table, { layout, file }]) => {
        file.flush()
        return {
          name: table.name,
          path: file.path,
          columns: layout.columns,
          rows: file.rows,
          primaryKey: [],
          origin: table.rows.place,
          dataType: table === structure.rows.table ? type : '',
        }
      })
    },
    toState: () => (isLegacy ? toLegacyState(structure.rows) : [[`_${type}`, structure.toState()]]),
    tables: structure.tables,
    discard: () => spool.close(),
  }
}
