// One row of the configuration: files that match become one table; files that the last run has read are passed over.

import { createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { globOf } from '../../connector-kit/src/glob.ts'
import { unzip } from '../../connector-kit/src/zip.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Log } from '../../http-extractor/src/log.ts'
import { type BadRow, type FoundRow, type PlainFile, readRows } from './formats.ts'
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
}

export async function extractFiles(
  store: Store,
  source: SourceSettings,
  row: RowSettings,
  dataDir: string,
  log: Log,
): Promise<void> {
  const files = await matchingFiles(store, source, row)
  const { files: known, columns: before } = readState(dataDir)
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
  for (const entry of wanted)
    await eachFile(store, entry, dataDir, (file) => {
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
      return readRows(file, row, take, refuse)
    })
  const rows = await table.close()
  await rejected.close()
  // Files that are gone are forgotten, so that the state does not grow for ever.
  const read = Object.fromEntries(files.map(({ path, version }) => [path, version]))
  const state: State = { files: row.newOnly ? read : {}, columns: table.columns() }
  writeFileSync(join(dataDir, 'out', 'state.json'), JSON.stringify(state))
  log.info(`Read ${rows} rows of ${wanted.length} of ${files.length} files into ${row.outputTable}.`)
  if (bad > 0) log.warning(`${bad} rows could not be read; they are in ${row.outputTable}_rejected.`)
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
    if (!/\.zip$/i.test(entry.path)) return await work({ name: entry.path, path, isGzip: /\.gz$/i.test(entry.path) })
    const content = join(folder, 'content')
    await unzip(path, (name) => placeIn(content, name, entry.path))
    for (const name of filesBelow(content))
      await work({ name: `${entry.path}/${name}`, path: join(content, name), isGzip: /\.gz$/i.test(name) })
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
