// Data folders of runs that left nothing behind serve again, under another name. Making and removing its ten folders is the larger part of
// what the disk does for a small run, and the more runs end the dearer it gets: ext4 gives no number of a removed file or folder away
// again for minutes, and steps over each of them whenever it makes a new one (docs/performance.md).
//  (1) Only a folder without remaining processes is kept: all its programs were unable to start another process.
//  (2) Only a folder that is as it was made is kept; anything else goes, with all that is in it.
//  (3) A spare folder holds no file at all. What is left of them by a killed server is swept with the folders of its runs.

import { createDataFolder, type DataFolder, emptyDataFolder, removeDataFolder, renameDataFolder } from './data-folder.ts'

export interface SpareFolders {
  /** A folder at `root`, which must not exist yet. */
  take(root: string, withArtifacts: boolean): Promise<DataFolder>
  /** The run is over; `isDeserted` by (1). What a caller has of the folder must not be used any more. */
  release(folder: DataFolder, isDeserted: boolean): Promise<void>
  clear(): Promise<void>
}

/** About as many as run at once. */
const MAX_FOLDERS = 16

export function createSpareFolders(): SpareFolders {
  const spare = { plain: [] as DataFolder[], withArtifacts: [] as DataFolder[] }
  const shelfOf = (withArtifacts: boolean) => (withArtifacts ? spare.withArtifacts : spare.plain)

  return {
    async take(root, withArtifacts) {
      const found = shelfOf(withArtifacts).pop()
      try {
        if (found) return renameDataFolder(found, root)
      } catch {
        // It was removed by a cleanup of the disk.
      }
      return createDataFolder(root, withArtifacts)
    },
    async release(folder, isDeserted) {
      const shelf = shelfOf(folder.withArtifacts)
      if (isDeserted && shelf.length < MAX_FOLDERS && emptyDataFolder(folder)) shelf.push(folder)
      else await removeDataFolder(folder)
    },
    async clear() {
      const all = [...spare.plain.splice(0), ...spare.withArtifacts.splice(0)]
      await Promise.all(all.map(removeDataFolder))
    },
  }
}
