// The files extractor as a program: a table of the files that match, one of the rows that could not be read, and the state.

import { untilJob } from '../../../contract/started-ahead.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { eachFile, extractFiles, matchingFiles } from './extract.ts'
import { readRows } from './formats.ts'
import { type RowSettings, readRowSettings, readSourceSettings, type SourceSettings } from './settings.ts'
import type { Store } from './stores/store.ts'

untilJob()

const LISTED_FILES = 200
const PREVIEW_ROWS = 50

/** Ends a list or a file early. */
const ENOUGH = new Error('enough was read')
const unlessEnough = (error: unknown): void => {
  if (error !== ENOUGH) throw error
}

async function withStore<T>(
  { guard }: Program,
  source: SourceSettings,
  row: RowSettings,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(source, row, guard)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

/** Only the code of the store that is used is loaded. */
async function openStore(source: SourceSettings, { urls }: RowSettings, guard: Program['guard']): Promise<Store> {
  switch (source.type) {
    case 's3':
      return (await import('./stores/s3.ts')).openS3(source, guard)
    case 'http': {
      const basic = `Basic ${Buffer.from(`${source.user}:${source.password}`).toString('base64')}`
      return (await import('./stores/http.ts')).openHttp(urls, source.user === '' ? {} : { authorization: basic }, guard)
    }
    case 'sftp':
      return (await import('./stores/sftp.ts')).openSftp(source, guard)
    case 'ftp':
      return (await import('./stores/ftp.ts')).openFtp(source, guard)
    case 'folder': {
      const folders = JSON.parse(process.env.MILLRACE_FOLDERS ?? '{}') as Record<string, string> // written by the platform
      return (await import('./stores/folder.ts')).openFolder(source.folder, folders)
    }
  }
}

type Action = (store: Store, source: SourceSettings, row: RowSettings, dataDir: string) => Promise<unknown>

const ACTIONS: Readonly<Record<string, Action>> = {
  async testConnection(store, source, row) {
    if (source.type === 'http') for (const entry of await matchingFiles(store, source, row)) (await store.open(entry)).destroy()
    // One file is enough: a bucket may have millions.
    else
      await store
        .list('', () => {
          throw ENOUGH
        })
        .catch(unlessEnough)
    return { status: 'success' }
  },
  async listFiles(store, source, row) {
    const files = await matchingFiles(store, source, { ...row, path: row.path || '**' })
    const shown = files.slice(0, LISTED_FILES).map(({ path, bytes }) => ({ path, bytes: bytes ?? null }))
    return { status: 'success', count: files.length, files: shown }
  },
  /** The first rows of the first file. */
  async preview(store, source, row, dataDir) {
    const [first] = await matchingFiles(store, source, row)
    if (!first) return { status: 'success', file: null, columns: [], rows: [], bad: 0 }
    const rows: ReadonlyMap<string, string | null>[] = []
    let bad = 0
    await eachFile(store, first, dataDir, (file) =>
      readRows(
        file,
        row,
        ({ cells }) => {
          rows.push(cells)
          if (rows.length === PREVIEW_ROWS) throw ENOUGH
        },
        () => {
          bad++
        },
      ),
    ).catch(unlessEnough)
    const columns = [...new Set(rows.flatMap((cells) => [...cells.keys()]))]
    return {
      status: 'success',
      file: first.path,
      columns,
      rows: rows.map((cells) => columns.map((name) => cells.get(name) ?? null)),
      bad,
    }
  },
}

await runProgram({
  pointer: '/parameters/source',
  async run(program) {
    const source = readSourceSettings(program.parameters)
    const row = readRowSettings(program.parameters)
    await withStore(program, source, row, (store) => extractFiles(store, source, row, program.dataDir, program.log))
  },
  async act(name, program) {
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (!action) throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use ${Object.keys(ACTIONS).join(', ')}.`)
    const source = readSourceSettings(program.parameters)
    const row = readRowSettings(program.parameters, { wantsTable: false })
    return withStore(program, source, row, (store) => action(store, source, row, program.dataDir))
  },
})
