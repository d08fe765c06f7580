import { basename, matchesGlob } from 'node:path'
import { type Folder, type Item, listFiles, listItems, moveTo, outputPath, passOn } from '../folder.ts'
import { readParameters, text } from '../parameters.ts'

/** Keeps the files whose name, or path inside the folder, matches; what stays keeps its place and its manifest. */
export async function filterFiles(folder: Folder): Promise<void> {
  const { mask } = readParameters(folder.parameters, { mask: text() })
  const fits = (path: string): boolean => matchesGlob(basename(path), mask) || matchesGlob(path, mask)
  for (const kind of ['tables', 'files'] as const) {
    for (const item of await listItems(folder, kind)) await keepMatching(folder, item, fits)
  }
}

async function keepMatching(folder: Folder, item: Item, fits: (path: string) => boolean): Promise<void> {
  if (!item.isFolder) return fits(item.name) ? passOn(folder, item) : undefined
  const kept = (await listFiles(item.path)).filter((path) => fits(`${item.name}/${path}`))
  const to = (path: string): string => outputPath(folder, item.kind, `${item.name}/${path}`)
  for (const path of kept) await moveTo(`${item.path}/${path}`, to(path))
  if (kept.length > 0 && item.manifest)
    await moveTo(`${item.path}.manifest`, outputPath(folder, item.kind, `${item.name}.manifest`))
}
