import { mkdir } from 'node:fs/promises'
import { type Folder, type Item, listFiles, listItems, moveTo, outputPath, passOn } from '../folder.ts'
import { choice, flag, readParameters, text } from '../parameters.ts'

/** Moves everything from files to tables or back, without manifests; what is already on the other side stays there. */
export async function moveFiles(folder: Folder): Promise<void> {
  const given = readParameters(folder.parameters, {
    direction: choice(['tables', 'files']),
    addCsvSuffix: flag(false),
    folder: text(''),
    createEmptyFolder: flag(false),
  })
  const from = given.direction === 'tables' ? 'files' : 'tables'
  const target = (name: string): string => outputPath(folder, given.direction, given.folder ? `${given.folder}/${name}` : name)
  for (const item of await listItems(folder, given.direction)) await passOn(folder, item)
  if (given.folder && given.createEmptyFolder) await mkdir(target(''), { recursive: true })
  for (const item of await listItems(folder, from)) await moveItem(item, target(item.name), given.addCsvSuffix ? '.csv' : '')
}

async function moveItem(item: Item, to: string, suffix: string): Promise<void> {
  if (!item.isFolder) return moveTo(item.path, to + suffix)
  for (const path of await listFiles(item.path)) {
    if (!path.endsWith('.manifest')) await moveTo(`${item.path}/${path}`, `${to}/${path}${suffix}`)
  }
}
