// The files writer as a program: rows of a table become files in another place, and a table of what was written.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { leaveCounts, leaveDryRun } from '../../connector-kit/src/delivered.ts'
import { type InputTable, onlyInputTable } from '../../connector-kit/src/input-table.ts'
import { createOutputTable } from '../../connector-kit/src/output-table.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { type LocalFile, makeFiles } from './file-parts.ts'
import { plainPath, withDates } from './names.ts'
import { type RowSettings, readRow, readTarget, type TargetSettings } from './settings.ts'
import type { Target } from './targets/target.ts'

untilJob()

const SHOWN_FILES = 100
const SHOWN_LINES = 5
const runId = process.env.KBC_RUNID ?? '0'

/** Only the code of the target that is used is loaded. */
async function openTarget(
  target: TargetSettings,
  row: RowSettings | undefined,
  now: Date,
  guard: Program['guard'],
): Promise<Target> {
  switch (target.type) {
    case 's3':
      return (await import('./targets/s3.ts')).openS3Target(target, guard)
    case 'sftp':
      return (await import('./targets/sftp.ts')).openSftpTarget(target, guard)
    case 'ftp':
      return (await import('./targets/ftp.ts')).openFtpTarget(target, guard)
    case 'folder':
      return (await import('./targets/folder.ts')).openFolderTarget(target.folder)
    case 'webhook':
      return (await import('./targets/webhook.ts')).openWebhookTarget(target, row?.format ?? '', guard)
    case 'mail': {
      const words = { subject: withDates(row?.subject ?? '', now, runId), text: withDates(row?.text ?? '', now, runId) }
      return (await import('./targets/mail.ts')).openMailTarget(target, words, guard)
    }
  }
}

interface Planned {
  readonly target: TargetSettings
  readonly input: InputTable
  readonly row: RowSettings
  readonly now: Date
  readonly path: string
}

function plan({ parameters, dataDir }: Program): Planned {
  const target = readTarget(parameters)
  const input = onlyInputTable(dataDir)
  const row = readRow(parameters, input, target)
  const now = new Date()
  return { target, input, row, now, path: plainPath(withDates(row.path, now, runId)) }
}

/** The files in a folder that ends with this. */
async function withFiles<T>(
  { dataDir }: Program,
  { input, row, path }: Planned,
  isAppendedTo: (path: string) => Promise<boolean>,
  work: (files: readonly LocalFile[], folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(dataDir, 'out', 'made-'))
  try {
    const template = row.format === 'excel' ? templateIn(dataDir, row.template) : undefined
    return await work(await makeFiles(input, path, row, folder, { isAppendedTo, template }), folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A workbook of the input mapping. */
function templateIn(dataDir: string, wanted: string): Uint8Array | undefined {
  const folder = join(dataDir, 'in', 'files')
  const names = listed(folder).filter((name) => /\.xlsx$/i.test(name))
  const found = wanted === '' ? names : names.filter((name) => name === wanted || name.endsWith(`_${wanted}`))
  const [name] = found
  if (name === undefined && wanted === '') return undefined
  if (name === undefined)
    throw new UserError(
      `The template "${wanted.slice(0, 60)}" is not among the files of the input mapping: ${names.join(', ') || 'none'}.`,
    )
  if (found.length > 1) throw new UserError(`More than one file can be the template: ${found.join(', ')}. Name one in template.`)
  return readFileSync(join(folder, name))
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no files in the mapping
  }
}

async function send(program: Program, planned: Planned): Promise<void> {
  const { dataDir, log, guard } = program
  const { target, row, now, path, input } = planned
  const place = await openTarget(target, row, now, guard)
  const written = await createOutputTable(dataDir, 'files_written', COLUMNS, {
    ...{ primaryKey: ['run', 'path'], incremental: true, always: true },
  })
  let sent: readonly LocalFile[] = []
  try {
    const isAppendedTo = async (to: string): Promise<boolean> => {
      const isThere = row.ifExists !== 'replace' && (await place.exists(to))
      if (isThere && row.ifExists === 'fail')
        throw new UserError(`${to} already exists. Choose another name, or another ifExists.`)
      return isThere
    }
    sent = await withFiles(program, planned, isAppendedTo, async (files, folder) => {
      for (const file of files) {
        await place.put(file, { append: file.isAppended })
        if (target.type !== 'mail') await written.write(lineOf(file, input, now))
      }
      if (row.manifest) await place.put(manifestFile(folder, path, input, files, now), { append: false })
      await place.finish?.()
      return files
    })
    if (target.type === 'mail') for (const file of sent) await written.write(lineOf(file, input, now))
  } finally {
    place.close()
    await written.close()
  }
  const [rows, bytes] = [sent.reduce((sum, file) => sum + file.rows, 0), sent.reduce((sum, file) => sum + file.bytes, 0)]
  leaveCounts(dataDir, { 'rows written': rows, 'files written': sent.length })
  log.info(
    sent.length === 0
      ? `${input.id} has no rows, so no file was written.`
      : `Wrote ${sent.length === 1 ? sent[0]?.path : `${sent.length} files`}: ${counted(rows, 'row')}, ${counted(bytes, 'byte')}.`,
  )
}

const COLUMNS = [
  ...(['run', 'path'] as const).map((name) => ({ name, base: 'STRING' as const })),
  { name: 'source', base: 'STRING' as const },
  ...(['rows', 'bytes'] as const).map((name) => ({ name, base: 'INTEGER' as const })),
  { name: 'sha256', base: 'STRING' as const },
  { name: 'written_at', base: 'TIMESTAMP' as const },
]

const lineOf = ({ path, rows, bytes, sha256 }: LocalFile, { id }: InputTable, now: Date): string[] => [
  ...[runId, path, id, String(rows), String(bytes), sha256],
  now.toISOString().replace('T', ' ').replace('Z', ''),
]

/** The last file: a reader that sees it finds all others. */
function manifestFile(
  folder: string,
  path: string,
  { id, columns }: InputTable,
  files: readonly LocalFile[],
  now: Date,
): LocalFile {
  const local = join(folder, 'manifest')
  const text = JSON.stringify({
    ...{ source: id, run: runId, writtenAt: now.toISOString() },
    columns: columns.map(({ name, base }) => ({ name, type: base })),
    files: files.map(({ path: name, rows, bytes, sha256 }) => ({ path: name, rows, bytes, sha256 })),
  })
  writeFileSync(local, text)
  return { path: `${path}.manifest.json`, local, rows: 0, bytes: Buffer.byteLength(text), sha256: '', isAppended: false }
}

const shown = (files: readonly LocalFile[]) => files.slice(0, SHOWN_FILES).map(({ path, rows, bytes }) => ({ path, rows, bytes }))

await runProgram({
  pointer: '/parameters/target',
  async run(program) {
    mkdirSync(join(program.dataDir, 'out', 'tables'), { recursive: true })
    const planned = plan(program)
    if (!planned.row.dryRun && process.env.KBC_COMPONENT_RUN_MODE !== 'debug') return send(program, planned)
    await withFiles(
      program,
      planned,
      async () => false,
      async (files) => {
        for (const { path, rows, bytes } of shown(files))
          program.log.info(`Would write ${path}: ${counted(rows, 'row')}, ${counted(bytes, 'byte')}.`)
        leaveDryRun(program.dataDir)
        program.log.info(`Dry run, nothing was written: ${counted(files.length, 'file')}.`)
      },
    )
  },
  async act(name, program) {
    mkdirSync(join(program.dataDir, 'out'), { recursive: true })
    if (name === 'testConnection') {
      const place = await openTarget(readTarget(program.parameters), undefined, new Date(), program.guard)
      try {
        await place.check()
        return { status: 'success' }
      } catch (error) {
        throw error instanceof UserError ? error : new UserError(`The connection failed: ${(error as Error).message}`, {}, error)
      } finally {
        place.close()
      }
    }
    if (name !== 'preview') throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use testConnection, preview.`)
    const planned = plan(program)
    const { format, gzip } = planned.row
    return withFiles(
      program,
      planned,
      async () => false,
      async (files) => {
        const [first] = files
        const isText = !gzip && (format === 'csv' || format === 'jsonl')
        const lines = first && isText ? readFileSync(first.local, 'utf8').split('\n').slice(0, SHOWN_LINES) : []
        return { status: 'success', rowsOfTable: planned.input.rowsCount, files: shown(files), lines }
      },
    )
  },
})
