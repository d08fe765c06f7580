// The documents that come with the program, by their paths in the repository.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url))

export interface GuideFolder {
  /** `README.md`, `docs/files.md`, `docs/adr/README.md`, ... */
  list(): Promise<readonly string[]>
  /** Only paths of the list may be requested. */
  read(path: string): Promise<string>
  /** A picture of `docs/images`, by its name; undefined when it does not exist. */
  readImage(name: string): Promise<Uint8Array | undefined>
}

export function createGuideFolder(root = REPOSITORY): GuideFolder {
  return {
    list: async () => {
      const below = await readdir(join(root, 'docs'), { recursive: true }).catch(() => []) // a build may leave them out
      const documents = below.map((path) => `docs/${path.replaceAll('\\', '/')}`)
      const top = (await readdir(root)).filter((name) => name === 'README.md')
      return [...top, ...documents].filter((path) => path.endsWith('.md')).sort()
    },
    read: (path) => readFile(join(root, path), 'utf8'),
    readImage: async (name) => {
      const names: readonly string[] = await readdir(join(root, 'docs', 'images')).catch(() => [])
      return names.includes(name) ? readFile(join(root, 'docs', 'images', name)) : undefined
    },
  }
}
