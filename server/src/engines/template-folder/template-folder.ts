// A folder of templates, read on each request: people edit it, or check out another state of it, while the platform runs.

import type { Dirent } from 'node:fs'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

export interface TemplateFiles {
  readonly id: string
  /** `template.json`. */
  readonly text: string
  /** The names of its versions, in the order of numbers. */
  readonly versions: readonly string[]
}

export interface VersionFiles {
  /** `manifest.json`. */
  readonly text: string
  readonly readme: string
}

export interface TemplateFolder {
  readonly path: string
  readonly name: string
  isThere(): Promise<boolean>
  /** `repository.json`, or an object with the name. */
  repository(): Promise<string>
  list(): Promise<readonly TemplateFiles[]>
  find(id: string): Promise<TemplateFiles | undefined>
  version(id: string, version: string): Promise<VersionFiles | undefined>
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/
const MAX_BYTES = 2 ** 20
const MAX_TEMPLATES = 500

export function createTemplateFolder(path: string, name = basename(path)): TemplateFolder {
  const isThere = () =>
    lstat(path).then(
      (found) => found.isDirectory() || found.isSymbolicLink(),
      () => false,
    )
  const repository = async () => (await textOf(join(path, 'repository.json'))) ?? JSON.stringify({ name })

  async function list(): Promise<readonly TemplateFiles[]> {
    const found: TemplateFiles[] = []
    for (const id of (await foldersIn(path)).slice(0, MAX_TEMPLATES)) {
      const one = await find(id)
      if (one) found.push(one)
    }
    return found
  }

  async function find(id: string): Promise<TemplateFiles | undefined> {
    if (!(await foldersIn(path)).includes(id)) return undefined
    const text = await textOf(join(path, id, 'template.json'))
    if (text === undefined) return undefined
    const byNumber = new Intl.Collator('en', { numeric: true }).compare
    return { id, text, versions: (await foldersIn(join(path, id))).sort(byNumber) }
  }

  async function version(id: string, number: string): Promise<VersionFiles | undefined> {
    if (!(await find(id))?.versions.includes(number)) return undefined
    const text = await textOf(join(path, id, number, 'manifest.json'))
    return text === undefined ? undefined : { text, readme: (await textOf(join(path, id, number, 'README.md'))) ?? '' }
  }

  return { path, name, isThere, repository, list, find, version }
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries.flatMap((entry) => (entry.isDirectory() && NAME.test(entry.name) ? [entry.name] : [])).sort()
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path)
    return found.isFile() && found.size <= MAX_BYTES ? await readFile(path, 'utf8') : undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
