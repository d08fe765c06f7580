// One row of the configuration: files that match become one table; files that the last run has read are passed over.

import { createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { counted } from '../../../contract/counted.ts'
import { globOf } from '../../connector-kit/src/glob.ts'
import { unzip } from '../../connector-kit/src/zip.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Log } from '../../http-extractor/src/log.ts'
import { type BadRow, type FoundRow, formatOf, type PlainFile, packingOf, readRows } from './formats.ts'
import { endOfRows, type Position, positionIn } from './growing.ts'
import type { RowSettings, SourceSettings } from './settings.ts'
import type { Entry, Store } from './stores/store.ts'
import { createGrowingTable } from './table.ts'

const MAX_FILES = 20_000
const [NAME, LINE] = ['file_name', 'file_line']

interface State {
  /** What was read, by path. */
  readonly files: Readonly<Record<string, string>>
  /** Columns that the table has: a file without some of them is no mistake. */
  readonly columns: readonly string[]
  /** Where the last run has ended in files that grow, by path. */
  readonly positions?: Readonly<Record<string, Position>>
}

export async function extractFiles(
  store: Store,
  source: SourceSettings,
  row: RowSettings,
  dataDir: string,
  log: Log,
): Promise<void> {
  const files = await matchingFiles(store, source, row)
  const { files: known, columns: before, positions: last = {} } = readState(dataDir)
  const wanted = row.newOnly ? files.filter(({ path, version }) => known[path] !== version) : files
  const added = [...(row.addFileName ? [NAME] : []), ...(row.addLine ? [LINE] : [])]
  const table = createGrowingTable(dataDir, row.outputTable, {
    ...row,
    first: [...added, ...before.filter((name) => !added.includes(name))],
  })
  const rejected = createGrowingTable(dataDir, `${row.outputTable}_rejected`, {
    primaryKey: [],
    incremental: row.incremental,
    first: [],
  })
  let bad = 0
  const positions: Record<string, Position> = {}
  for (const entry of wanted)
    await eachFile(store, entry, dataDir, async (plain) => {
      const found = row.growing ? await growingPart(plain, row, last[plain.name]) : undefined
      const file = found?.file ?? plain
      let columns = found?.columns
      const take = ({ line, cells }: FoundRow) => {
        const clash = added.find((name) => cells.has(name))
        if (clash !== undefined)
          throw new UserError(`${file.name} has a column "${clash}", which is added here. Set addFileName and addLine to false.`)
        const own: [string, string][] = [
          ...(row.addFileName ? [[NAME, file.name] as [string, string]] : []),
          ...(row.addLine ? [[LINE, String(line)] as [string, string]] : []),
        ]
        return table.write(new Map([...own, ...cells]))
      }
      const refuse = ({ line, reason, text }: BadRow) => {
        if (row.badRows === 'fail')
          throw new UserError(
            `${file.name}, line ${line}: the row ${reason}. Set badRows to "aside" to keep such rows in a table of their own.`,
          )
        bad++
        return rejected.write(
          new Map([
            [NAME, file.name],
            [LINE, String(line)],
            ['reason', reason],
            ['text', text.slice(0, 10_000)],
          ]),
        )
      }
      await readRows(file, row, take, refuse, (names) => {
        columns = names
      })
      if (found) positions[file.name] = { ...found.position, ...(columns && { columns }) }
    })
  const rows = await table.close()
  await rejected.close()
  // Files that are gone are forgotten, so that the state does not grow for ever.
  const read = Object.fromEntries(files.map(({ path, version }) => [path, version]))
  const kept = Object.fromEntries(Object.entries({ ...last, ...positions }).filter(([path]) => Object.hasOwn(read, path)))
  const state: State = {
    ...{ files: row.newOnly ? read : {}, columns: table.columns() },
    ...(row.growing && { positions: kept }),
  }
  writeFileSync(join(dataDir, 'out', 'state.json'), JSON.stringify(state))
  log.info(`Read ${counted(rows, 'row')} of ${wanted.length} of ${counted(files.length, 'file')} into ${row.outputTable}.`)
  if (bad > 0) log.warning(`${counted(bad, 'row')} could not be read; see ${row.outputTable}_rejected.`)
}

/** What is new in a file that grows, and where the next run begins. */
async function growingPart(file: PlainFile, row: RowSettings, last: Position | undefined) {
  const format = formatOf(file.name, row)
  if (file.packing !== 'none' || (format !== 'csv' && format !== 'jsonl'))
    throw new UserError(
      `${file.name} cannot be read as a file that grows: growing is for CSV and JSON lines that are not packed.`,
    )
  const from = await positionIn(file.path, last)
  const start = from ?? { bytes: 0, lines: 0 }
  const position = await endOfRows(file.path, start, format === 'csv' ? row.enclosure : undefined)
  const part = { start: start.bytes, end: position.bytes, lines: start.lines, columns: from?.columns }
  return { file: { ...file, part }, position, columns: from?.columns }
}

/** In the order of their paths, so that later files win over earlier ones by key. */
export async function matchingFiles(
  store: Store,
  { type }: SourceSettings,
  { path, urls }: RowSettings,
): Promise<readonly Entry[]> {
  if (type === 'http' && urls.length === 0) throw new UserError('urls is missing: the addresses of the files.')
  if (type !== 'http' && urls.length > 0) throw new UserError('urls is for the source http. Use path.')
  const glob = type === 'http' ? { prefix: '', matches: () => true } : globOf(path, 'path')
  const files: Entry[] = []
  await store.list(glob.prefix, (entry) => {
    if (glob.matches(entry.path)) files.push(entry)
    if (files.length > MAX_FILES) throw new UserError(`More than ${MAX_FILES} files match. Use a narrower path.`)
  })
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Brings a file here; an archive is unpacked, and each of its files is one. */
export async function eachFile(
  store: Store,
  entry: Entry,
  dataDir: string,
  work: (file: PlainFile) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, 'unpacked')
  const path = join(folder, 'file')
  mkdirSync(folder, { recursive: true })
  try {
    await pipeline(await store.open(entry), createWriteStream(path)).catch((error: Error) => {
      throw error instanceof UserError ? error : new UserError(`${entry.path} cannot be read: ${error.message}`, {}, error)
    })
    if (!/\.zip$/i.test(entry.path)) return await work({ name: entry.path, path, packing: packingOf(entry.path) })
    const content = join(folder, 'content')
    await unzip(path, (name) => placeIn(content, name, entry.path))
    for (const name of filesBelow(content))
      await work({ name: `${entry.path}/${name}`, path: join(content, name), packing: packingOf(name) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function placeIn(folder: string, name: string, archive: string): Promise<string> {
  const full = join(folder, name)
  if (!full.startsWith(`${folder}/`) || name.includes('\0'))
    throw new UserError(`The entry "${name.slice(0, 100)}" of ${archive} lies outside of the archive.`)
  await mkdir(dirname(full), { recursive: true })
  return full
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()

function readState(dataDir: string): State {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as Partial<State> | []
    return { files: {}, columns: [], ...(!Array.isArray(state) && state) }
  } catch {
    return { files: {}, columns: [] } // the first run
  }
}
