// The data folder as a processor sees it: tables (a file, or a folder of slices) and files, each with an optional manifest.

import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UserError } from '../../http-extractor/src/errors.ts'

export interface Folder {
  readonly root: string
  readonly parameters: unknown
}

export type Kind = 'tables' | 'files'

export interface Item {
  readonly kind: Kind
  readonly name: string
  readonly path: string
  readonly isFolder: boolean
  readonly manifest: Manifest | undefined
}

export type Manifest = Readonly<Record<string, unknown>>

export async function openFolder(root: string): Promise<Folder> {
  const text = await readFile(join(root, 'config.json'), 'utf8')
  const config: unknown = JSON.parse(text)
  const parameters = typeof config === 'object' && config !== null && 'parameters' in config ? config.parameters : {}
  return { root, parameters }
}

const inputPath = (folder: Folder, kind: Kind, name = ''): string => join(folder.root, 'in', kind, name)
export const outputPath = (folder: Folder, kind: Kind, name = ''): string => join(folder.root, 'out', kind, name)

const SUFFIX = '.manifest'

/** Everything in `in/<kind>` that is not a manifest, sorted by name. */
export async function listItems(folder: Folder, kind: Kind): Promise<Item[]> {
  const names = (await readdir(inputPath(folder, kind)).catch(() => [])).sort()
  const items = names.filter((name) => !name.endsWith(SUFFIX)).map((name) => openItem(folder, kind, name, names))
  return Promise.all(items)
}

async function openItem(folder: Folder, kind: Kind, name: string, names: readonly string[]): Promise<Item> {
  const path = inputPath(folder, kind, name)
  const manifest = names.includes(name + SUFFIX) ? await readManifest(path + SUFFIX) : undefined
  return { kind, name, path, isFolder: (await stat(path)).isDirectory(), manifest }
}

async function readManifest(path: string): Promise<Manifest> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest as Manifest // just checked
  } catch {
    // reported below
  }
  throw new UserError(`The manifest ${path.split('/in/').at(-1)} is not a JSON object.`)
}

export const writeManifest = (folder: Folder, kind: Kind, name: string, manifest: Manifest): Promise<void> =>
  writeFile(outputPath(folder, kind, name + SUFFIX), JSON.stringify(manifest))

/** Hands an item on as it is, with its manifest. */
export async function passOn(folder: Folder, item: Item): Promise<void> {
  await moveTo(item.path, outputPath(folder, item.kind, item.name))
  if (item.manifest) await rename(item.path + SUFFIX, outputPath(folder, item.kind, item.name + SUFFIX))
}

export async function passOnAll(folder: Folder, kind: Kind): Promise<void> {
  for (const item of await listItems(folder, kind)) await passOn(folder, item)
}

/** Moves without copying; in and out are on one disk. Existing files are never overwritten. */
export async function moveTo(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  if (await exists(to)) throw new UserError(`Two results would have the name ${to.split('/out/').at(-1)}.`)
  await rename(from, to)
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The files of an item: itself, or its slices in order, as paths relative to the item (empty for a plain file). */
export async function slicesOf(item: Item): Promise<string[]> {
  return item.isFolder ? (await listFiles(item.path)).map((path) => `/${path}`) : ['']
}

/** Plain files under a folder, relative to it, sorted. */
export async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()
}

/** Columns of a headerless table: the manifest has to name them. */
export function columnsOf(item: Item): readonly string[] {
  const { columns, schema } = item.manifest ?? {}
  const named = Array.isArray(schema) ? schema.map((column: unknown) => (column as { name?: unknown })?.name) : columns
  if (!Array.isArray(named) || named.length === 0 || !named.every((name) => typeof name === 'string')) {
    throw new UserError(
      `The table ${item.name} needs a manifest with its columns. Put processor-create-manifest before this one.`,
    )
  }
  return named as readonly string[] // every one was checked
}

/** The manifest with other columns; a typed manifest gets columns without a type, which are texts. */
export function withColumns(manifest: Manifest, columns: readonly string[]): Manifest {
  const { schema } = manifest
  if (!Array.isArray(schema)) return { ...manifest, columns }
  const known = new Map(schema.map((column: { name: string }) => [column.name, column]))
  return { ...manifest, schema: columns.map((name) => known.get(name) ?? { name }) }
}

export interface Dialect {
  readonly delimiter: string
  readonly enclosure: string
}

export function dialectOf(manifest: Manifest | undefined): Dialect {
  const { delimiter, enclosure } = manifest ?? {}
  return {
    delimiter: typeof delimiter === 'string' ? delimiter : ',',
    enclosure: typeof enclosure === 'string' ? enclosure : '"',
  }
}
