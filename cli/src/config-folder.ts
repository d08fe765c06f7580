// A folder of configurations, for version control. The same project always gives the same bytes:
//
//   <component>/<id>/configuration.json     name, description, isDisabled, rowsSortOrder, configuration (secrets as ciphers)
//   <component>/<id>/rows/<row>.json        the same of each row
//   .millrace.json                          which version each configuration had, so that a push overwrites nobody's work
//
// State is not in it: it belongs to one stack and one branch.

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { membersOf, readJson, sameJson } from '../../server/src/kit/json-text.ts'
import { type ConfigurationFile, type FileMembers, laidOut, objectText, type RowFile } from './config-text.ts'
import { UserError } from './output.ts'

const VERSIONS = '.millrace.json'
const ROOT = 'configuration.json'
const NAME = /^[A-Za-z0-9._-]+$/

export type Versions = Readonly<Record<string, number>>

export const keyOf = ({ componentId, id }: { readonly componentId: string; readonly id: string }): string =>
  `${componentId}/${id}`

/** Writes every configuration and removes those that are not among them; answers how many files changed. */
export async function writeFolder(folder: string, configurations: readonly ConfigurationFile[]): Promise<number> {
  const wanted = new Map<string, string>()
  for (const configuration of configurations) {
    const place = join(safe(configuration.componentId), safe(configuration.id))
    wanted.set(join(place, ROOT), laidOut(objectText(configuration.members)))
    for (const row of configuration.rows)
      wanted.set(join(place, 'rows', `${safe(row.id)}.json`), laidOut(objectText(row.members)))
  }
  const versions = Object.fromEntries(configurations.map((one) => [keyOf(one), one.version] as const).toSorted())
  wanted.set(VERSIONS, `${JSON.stringify({ versions }, null, 2)}\n`)
  let changed = 0
  for (const stale of (await listFiles(folder)).filter((file) => !wanted.has(file))) {
    await rm(join(folder, stale))
    changed++
  }
  for (const [file, text] of wanted) if (await writeIfChanged(join(folder, file), text)) changed++
  await removeEmptyFolders(folder)
  return changed
}

export async function readFolder(folder: string): Promise<{ configurations: readonly ConfigurationFile[]; versions: Versions }> {
  const versions = await readVersions(folder)
  const files = await listFiles(folder)
  const configurations: ConfigurationFile[] = []
  for (const file of files.filter((name) => name.endsWith(`/${ROOT}`)).sort()) {
    const [componentId, id] = file.split('/') as [string, string] // listFiles answers only this shape
    const prefix = `${componentId}/${id}/rows/`
    const rows: RowFile[] = []
    for (const row of files.filter((name) => name.startsWith(prefix)).sort()) {
      rows.push({ id: row.slice(prefix.length, -'.json'.length), members: await readMembers(join(folder, row)) })
    }
    const version = versions[`${componentId}/${id}`] ?? 0
    configurations.push({ componentId, id, version, members: await readMembers(join(folder, file)), rows })
  }
  return { configurations, versions }
}

async function readVersions(folder: string): Promise<Versions> {
  const text = await readFile(join(folder, VERSIONS), 'utf8').catch(() => undefined)
  if (text === undefined) return {}
  const read = readJson(text)
  const versions = read.ok ? (read.value as { versions?: Versions } | null)?.versions : undefined // written by writeFolder
  if (!versions)
    throw new UserError(`${join(folder, VERSIONS)} is damaged. Pull into a fresh folder and bring your changes there.`)
  return versions
}

async function readMembers(path: string): Promise<FileMembers> {
  const text = await readFile(path, 'utf8')
  const read = readJson(text)
  if (!read.ok) throw new UserError(`${path} cannot be used: ${read.reason}.`)
  if (read.kind !== 'object') throw new UserError(`${path} does not hold a JSON object.`)
  return Object.fromEntries(membersOf(text))
}

/** The files this program writes, relative to the folder; what else lies there is nobody's business. */
async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const component of await folders(folder)) {
    for (const id of await folders(join(folder, component))) {
      const names = await readdir(join(folder, component, id))
      if (names.includes(ROOT)) found.push(`${component}/${id}/${ROOT}`)
      if (!names.includes('rows')) continue
      const rows = (await readdir(join(folder, component, id, 'rows'))).filter((name) => name.endsWith('.json'))
      found.push(...rows.map((row) => `${component}/${id}/rows/${row}`))
    }
  }
  return found
}

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries
    .filter((entry) => entry.isDirectory() && NAME.test(entry.name) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
}

async function removeEmptyFolders(folder: string): Promise<void> {
  for (const component of await folders(folder)) {
    for (const id of await folders(join(folder, component))) {
      await removeIfEmpty(join(folder, component, id, 'rows'))
      await removeIfEmpty(join(folder, component, id))
    }
    await removeIfEmpty(join(folder, component))
  }
}

async function removeIfEmpty(path: string): Promise<void> {
  const names = await readdir(path).catch(() => undefined)
  if (names?.length === 0) await rm(path, { recursive: true })
}

/** A file that is as it should be keeps its time; a changed one is never half written. */
async function writeIfChanged(path: string, text: string): Promise<boolean> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
  return true
}

function safe(name: string): string {
  if (!NAME.test(name) || /^\.+$/.test(name)) throw new UserError(`"${name}" cannot be the name of a file.`)
  return name
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
