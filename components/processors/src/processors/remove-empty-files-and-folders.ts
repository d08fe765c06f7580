import { readFile, stat } from 'node:fs/promises'
import { type Folder, listItems, moveTo, outputPath, slicesOf } from '../folder.ts'
import { flag, readParameters } from '../parameters.ts'

/** Small enough to be examined; a larger file of blanks alone is unlikely. */
const LOOKED_INTO_BYTES = 2 ** 20

/** Hands on what has content; a folder of nothing goes too, with its manifest. */
export async function removeEmptyFilesAndFolders(folder: Folder): Promise<void> {
  const { remove_files_with_whitespace } = readParameters(folder.parameters, { remove_files_with_whitespace: flag(false) })
  const isEmpty = async (path: string): Promise<boolean> => {
    const { size } = await stat(path)
    if (size === 0) return true
    return remove_files_with_whitespace && size <= LOOKED_INTO_BYTES && (await readFile(path, 'utf8')).trim() === ''
  }
  for (const kind of ['tables', 'files'] as const) {
    for (const item of await listItems(folder, kind)) {
      let kept = 0
      for (const slice of await slicesOf(item)) {
        if (await isEmpty(item.path + slice)) continue
        kept += 1
        await moveTo(item.path + slice, outputPath(folder, kind, item.name + slice))
      }
      if (kept > 0 && item.manifest) await moveTo(`${item.path}.manifest`, outputPath(folder, kind, `${item.name}.manifest`))
    }
  }
}
