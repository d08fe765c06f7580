// A folder of configurations, for version control. The same project always gives the same bytes:
//
//   <component>/<id>/configuration.json     name, description, isDisabled, rowsSortOrder, configuration (secrets as ciphers)
//   <component>/<id>/rows/<row>.json        the same of each row
//   .millrace.json                          which version each configuration had, so that a push does not overwrite newer work
//
// Names are ids, encoded where an id is not a safe name (file-names.ts). Links in the folder are not followed.
// State is not in it: it belongs to one stack and one branch.

import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { membersOf, readJson, sameJson } from '../../../server/src/kit/text/json-text.ts'
import { UserError } from '../output.ts'
import { fileNames, idOf, isFileName } from '../storage/file-names.ts'
import { type ConfigurationFile, type FileMembers, laidOut, objectText, type RowFile } from './config-text.ts'

const VERSIONS = '.millrace.json'
const ROOT = 'configuration.json'
const ROWS = 'rows'

export type Versions = Readonly<Record<string, number>>

export const keyOf = ({ componentId, id }: { readonly componentId: string; readonly id: string }): string =>
  `${componentId}/${id}`

interface PullRecord {
  readonly versions: Versions
  /** Names of files that do not hold their whole id. */
  readonly longNames: Readonly<Record<string, string>>
}

/** Writes every configuration and removes those that are not among them; returns how many files changed. */
export async function writeFolder(folder: string, configurations: readonly ConfigurationFile[]): Promise<number> {
  const { files: wanted, longNames } = filesOf(configurations)
  const versions = Object.fromEntries(configurations.map((one) => [keyOf(one), one.version] as const).toSorted())
  const record = Object.keys(longNames).length > 0 ? { versions, longNames } : { versions }
  wanted.set(VERSIONS, `${JSON.stringify(record, null, 2)}\n`)
  let changed = 0
  for (const stale of (await listFiles(folder)).filter((file) => !wanted.has(file))) {
    await rm(join(folder, stale))
    changed++
  }
  for (const [file, text] of wanted) if (await writeIfChanged(folder, file, text)) changed++
  await removeEmptyFolders(folder)
  return changed
}

function filesOf(configurations: readonly ConfigurationFile[]) {
  const files = new Map<string, string>()
  const longNames: Record<string, string> = {}
  const namesFor = (ids: readonly string[]) => {
    const names = fileNames(ids)
    Object.assign(longNames, names.longNames)
    return names.nameOf
  }
  const byComponent = Map.groupBy(configurations, ({ componentId }) => componentId)
  const componentName = namesFor([...byComponent.keys()])
  for (const [componentId, own] of byComponent) {
    const configurationName = namesFor(own.map(({ id }) => id))
    for (const { id, members, rows } of own) {
      const place = `${componentName(componentId)}/${configurationName(id)}`
      files.set(`${place}/${ROOT}`, laidOut(objectText(members)))
      const rowName = namesFor(rows.map((row) => row.id))
      for (const row of rows) files.set(`${place}/${ROWS}/${rowName(row.id)}.json`, laidOut(objectText(row.members)))
    }
  }
  return { files, longNames }
}

export async function readFolder(folder: string): Promise<{ configurations: readonly ConfigurationFile[]; versions: Versions }> {
  const record = await readRecord(folder)
  const { versions = {}, longNames = {} } = record ?? {}
  const read = (name: string, file: string): string => {
    const id = idOf(name, longNames)
    if (id === undefined)
      throw new UserError(`${join(folder, file)}: "${name}" is not the name of an id of this folder. Pull into a fresh folder.`)
    return id
  }
  const files = await listFiles(folder)
  const configurations: ConfigurationFile[] = []
  for (const file of files.filter((name) => name.endsWith(`/${ROOT}`)).sort()) {
    const [component, configuration] = file.split('/') as [string, string] // listFiles returns only this shape
    const [componentId, id] = [read(component, file), read(configuration, file)]
    const prefix = `${component}/${configuration}/${ROWS}/`
    const rows: RowFile[] = []
    for (const row of files.filter((name) => name.startsWith(prefix)).sort()) {
      rows.push({ id: read(row.slice(prefix.length, -'.json'.length), row), members: await readMembers(join(folder, row)) })
    }
    const version = versions[`${componentId}/${id}`] ?? 0
    configurations.push({ componentId, id, version, members: await readMembers(join(folder, file)), rows })
  }
  if (record === undefined && configurations.length === 0)
    throw new UserError(
      `${folder} holds no configurations. Write those of a project into it with: millrace config pull ${folder}`,
    )
  return { configurations, versions }
}

async function readRecord(folder: string): Promise<Partial<PullRecord> | undefined> {
  const text = await readFile(join(folder, VERSIONS), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const read = readJson(text)
  const record = read.ok ? (read.value as Partial<PullRecord> | null) : undefined // written by writeFolder
  if (!record?.versions)
    throw new UserError(`${join(folder, VERSIONS)} is damaged. Pull into a fresh folder and bring your changes there.`)
  return record
}

async function readMembers(path: string): Promise<FileMembers> {
  const text = await readFile(path, 'utf8')
  const read = readJson(text)
  if (!read.ok) throw new UserError(`${path} cannot be used: ${read.reason}.`)
  if (read.kind !== 'object') throw new UserError(`${path} does not hold a JSON object.`)
  return Object.fromEntries(membersOf(text))
}

/** The files this program writes, relative to the folder; other files are ignored. */
async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const component of await folders(folder)) {
    for (const id of await folders(join(folder, component))) {
      const place = join(folder, component, id)
      if ((await filesIn(place)).includes(ROOT)) found.push(`${component}/${id}/${ROOT}`)
      if (!(await folders(place)).includes(ROWS)) continue
      const rows = (await filesIn(join(place, ROWS))).filter((name) => name.endsWith('.json'))
      found.push(...rows.map((row) => `${component}/${id}/${ROWS}/${row}`))
    }
  }
  return found
}

const entriesOf = async (path: string) =>
  readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw new UserError(`${path} is not a folder.`)
    throw error
  })

const filesIn = async (path: string): Promise<string[]> =>
  (await entriesOf(path)).filter((entry) => entry.isFile()).map((entry) => entry.name)

const folders = async (path: string): Promise<string[]> =>
  (await entriesOf(path)).filter((entry) => entry.isDirectory() && isFileName(entry.name)).map((entry) => entry.name)

async function removeEmptyFolders(folder: string): Promise<void> {
  for (const component of await folders(folder)) {
    for (const id of await folders(join(folder, component))) {
      await removeIfEmpty(join(folder, component, id, ROWS))
      await removeIfEmpty(join(folder, component, id))
    }
    await removeIfEmpty(join(folder, component))
  }
}

async function removeIfEmpty(path: string): Promise<void> {
  const names = await readdir(path).catch(() => undefined)
  if (names?.length === 0) await rm(path, { recursive: true })
}

/** An unchanged file keeps its time; a changed one is never half written, and never outside the folder. */
async function writeIfChanged(folder: string, file: string, text: string): Promise<boolean> {
  const path = join(folder, file)
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false
  await mkdir(dirname(path), { recursive: true })
  if ((await realpath(dirname(path))) !== join(await realpath(folder), dirname(file)))
    throw new UserError(`${dirname(path)} is a link to another folder. Remove the link, then run the command again.`)
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, text, { flag: 'wx' })
  await rename(`${path}.new`, path)
  return true
}

export type Step =
  | { readonly kind: 'create'; readonly key: string; readonly file: ConfigurationFile }
  | { readonly kind: 'delete'; readonly key: string; readonly file: ConfigurationFile }
  | {
      readonly kind: 'update'
      readonly key: string
      readonly file: ConfigurationFile
      readonly fields: readonly string[]
      readonly rows: {
        readonly create: readonly RowFile[]
        readonly update: readonly RowFile[]
        readonly delete: readonly string[]
      }
      readonly isConflict: boolean
    }

/** What a push would do. Only configurations that were pulled before are deleted when their files are gone. */
export function planPush(
  local: { readonly configurations: readonly ConfigurationFile[]; readonly versions: Versions },
  remote: readonly ConfigurationFile[],
): readonly Step[] {
  const remoteByKey = new Map(remote.map((one) => [keyOf(one), one]))
  const localKeys = new Set(local.configurations.map(keyOf))
  const steps: Step[] = []
  for (const file of local.configurations) {
    const key = keyOf(file)
    const theirs = remoteByKey.get(key)
    const step = theirs ? updateStep(key, file, theirs) : ({ kind: 'create', key, file } as const)
    if (step) steps.push(step)
  }
  for (const [key, file] of remoteByKey) {
    if (!localKeys.has(key) && local.versions[key] !== undefined) steps.push({ kind: 'delete', key, file })
  }
  return steps
}

function updateStep(key: string, file: ConfigurationFile, theirs: ConfigurationFile): Step | undefined {
  const known = new Map(theirs.rows.map((row) => [row.id, row]))
  const ids = new Set(file.rows.map((row) => row.id))
  const rows = {
    create: file.rows.filter((row) => !known.has(row.id)),
    update: file.rows.filter((row) => known.has(row.id) && changedFields(row.members, known.get(row.id)!.members).length > 0),
    delete: theirs.rows.map((row) => row.id).filter((id) => !ids.has(id)),
  }
  const fields = changedFields(file.members, theirs.members)
  if (fields.length + rows.create.length + rows.update.length + rows.delete.length === 0) return undefined
  return { kind: 'update', key, file, fields, rows, isConflict: file.version !== theirs.version }
}

const changedFields = (ours: FileMembers, theirs: FileMembers): string[] =>
  Object.keys(ours).filter((name) => theirs[name] === undefined || !sameJson(ours[name]!, theirs[name]))
