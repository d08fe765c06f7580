// Writes the files of a commit to a folder.

import type fs from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readBlob, readCommit, readTree } from 'isomorphic-git'
import type { FileRules } from './file-rules.ts'

export interface Git {
  readonly fs: typeof fs
  readonly gitdir: string
  readonly cache: object
}

const MAX_FILES = 10_000

/** `object` is a commit, or a tag that names one; answers the commit. */
export async function writeCommit(git: Git, object: string, folder: string, rules: FileRules): Promise<string> {
  const { oid } = await readCommit({ ...git, oid: object })
  await writeTree({ git, rules, written: 0 }, oid, folder)
  return oid
}

interface Writing {
  readonly git: Git
  readonly rules: FileRules
  written: number
}

async function writeTree(writing: Writing, oid: string, folder: string, depth = 1): Promise<void> {
  const { git, rules } = writing
  await mkdir(folder)
  const { tree } = await readTree({ ...git, oid })
  for (const { path, type, mode, oid: entry } of tree) {
    if (!rules.names.test(path)) continue
    if (type === 'tree' && depth < rules.deepest) await writeTree(writing, entry, join(folder, path), depth + 1)
    if (type !== 'blob' || !mode.startsWith('100')) continue // a link has the mode 120000
    if (++writing.written > MAX_FILES) throw new Error(`The repository has more than ${MAX_FILES} files.`)
    const { blob } = await readBlob({ ...git, oid: entry })
    if (blob.length <= rules.maxBytes) await writeFile(join(folder, path), blob)
  }
}
