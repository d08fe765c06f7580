// Fixtures of the tests and benches of this engine: an object store that is a folder, and a table held in a variable.

import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createTableEngine, type RunningTableEngine } from './engine.ts'
import { addColumn, emptySnapshot, type TableSnapshot } from './snapshot.ts'
import type {
  CsvDialect,
  LoadRequest,
  LoadResult,
  QueryRequest,
  TableEngineSettings,
  TableObjects,
  UnloadRequest,
} from './table-engine.ts'

/** Keys are paths below the folder. Counts what is open, so that a leak shows, and the maximum at once since the last call. */
export function createFolderObjects(root: string): TableObjects & { open(): number; max(): number } {
  let open = 0
  let max = 0
  const pathOf = (key: string) => join(root, key)
  return {
    open: () => open,
    max: () => {
      const found = max
      max = open
      return found
    },
    openLocal: async (key) => {
      if (!existsSync(pathOf(key))) return undefined
      max = Math.max(max, ++open)
      return {
        path: pathOf(key),
        release: async () => {
          open--
        },
      }
    },
    adopt: async (key, localPath) => {
      await mkdir(dirname(pathOf(key)), { recursive: true })
      await rename(localPath, pathOf(key)).catch(() => copyFile(localPath, pathOf(key)))
    },
    delete: (key) => rm(pathOf(key), { force: true }),
  }
}

export interface TestTables extends AsyncDisposable {
  readonly engine: RunningTableEngine
  readonly root: string
  readonly objects: ReturnType<typeof createFolderObjects>
  /** Puts bytes into the store and returns how a load names them. */
  put(key: string, bytes: string | Uint8Array): Promise<void>
  /** Header, columns and load in one go, the way the tables module does it. New columns of the file are added. */
  load(csv: string | Uint8Array | readonly (string | Uint8Array)[], options?: LoadOptions): Promise<LoadResult>
  /** All rows of a query as arrays of text, through a CSV export and back. */
  rows(snapshot: TableSnapshot, query?: Omit<QueryRequest, 'snapshot'>): Promise<(string | null)[][]>
  unloadText(request: Omit<UnloadRequest, 'keyPrefix'>): Promise<string>
  /** Keys in the store below a prefix. */
  keys(prefix: string): Promise<string[]>
  scratch(): Promise<string[]>
}

export interface LoadOptions extends Partial<Omit<LoadRequest, 'source'>> {
  readonly dialect?: CsvDialect
  readonly gzip?: boolean
  readonly columns?: readonly string[]
  readonly primaryKey?: readonly string[]
  readonly name?: string
}

/** As if the objects lay in this bucket. */
export const URI_PREFIX = 's3://tables-of-tests/'

export async function startTables(settings: TableEngineSettings = {}): Promise<TestTables> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-tables-'))
  const store = join(root, 'objects')
  const objects = createFolderObjects(store)
  const engine = await createTableEngine({ objects, scratchDir: join(root, 'scratch'), uriPrefix: URI_PREFIX, settings })
  let uploads = 0

  async function put(key: string, bytes: string | Uint8Array): Promise<void> {
    await mkdir(dirname(join(store, key)), { recursive: true })
    await writeFile(join(store, key), bytes)
  }

  async function load(
    csv: string | Uint8Array | readonly (string | Uint8Array)[],
    options: LoadOptions = {},
  ): Promise<LoadResult> {
    const parts = Array.isArray(csv) ? csv : [csv]
    const slices = []
    for (const [i, part] of parts.entries()) {
      const key = `uploads/${uploads++}`
      await put(key, options.gzip && typeof part === 'string' ? gzipSync(part) : part)
      slices.push({ key, gzip: options.gzip ?? false, name: options.name ?? `file${i || ''}.csv` })
    }
    const source = { slices, ...(options.dialect ? { dialect: options.dialect } : {}) }
    const header = options.fileColumns ?? options.columns ?? (await engine.readHeader(source))
    const named = header.filter((name) => name !== null && name !== '_timestamp' && name !== options.deletedColumn) as string[] // these are no columns
    const before =
      options.snapshot ??
      emptySnapshot(
        named.map((name) => ({ name })),
        { primaryKey: options.primaryKey ?? [] },
      )
    const missing = named.filter((name) => !before.columns.some((c) => c.name === name))
    const snapshot = missing.reduce((table, name) => addColumn(table, { name }), before)
    return engine.load({
      mode: 'full',
      skipLines: options.columns || options.fileColumns ? 0 : 1,
      loadedAt: Date.UTC(2026, 0, 1),
      keyPrefix: 'tables/t/',
      ...options,
      snapshot,
      source,
      fileColumns: header,
    })
  }

  async function rows(snapshot: TableSnapshot, query: Omit<QueryRequest, 'snapshot'> = {}): Promise<(string | null)[][]> {
    const { rows: found } = await engine.preview({ limit: 1000, ...query, snapshot })
    return found.map((row) => row.map((cell) => cell.value))
  }

  async function unloadText(request: Omit<UnloadRequest, 'keyPrefix'>): Promise<string> {
    const { slices } = await engine.unload({ ...request, keyPrefix: `exports/${uploads++}/` })
    const texts = await Promise.all(slices.map(async ({ key }) => readFile(join(store, key))))
    return Buffer.concat(request.gzip ? texts.map((bytes) => gunzipSync(bytes)) : texts).toString('utf8')
  }

  async function keys(prefix: string): Promise<string[]> {
    const names = await readdir(join(store, prefix), { recursive: true, withFileTypes: true }).catch(() => [])
    return names.filter((entry) => entry.isFile()).map((entry) => entry.name)
  }

  return {
    engine,
    root,
    objects,
    put,
    load,
    rows,
    unloadText,
    keys,
    scratch: async () => (await readdir(join(root, 'scratch'))).filter((name) => name !== 'spill'),
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
