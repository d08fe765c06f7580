// A file as a table load reads it: the objects that hold its bytes, in order, and what messages and events call them.

import { formatTimestamp } from '../../../kit/clock.ts'
import type { FileSlices } from './file-slices.ts'
import type { Files } from './files.ts'

export const createFileOpener = (files: Pick<Files, 'find'>, slices: FileSlices) => async (projectId: number, fileId: number) => {
  const file = await files.find(projectId, fileId)
  const { id, name, isSliced, createdAt } = file
  const found = await slices.of(file)
  return {
    name,
    isSliced,
    slices: await Promise.all(
      found.map(async (slice) => ({
        ...slice,
        gzip: await slices.isPacked(file, slice),
        name: isSliced ? `${name} (${slice.key.slice(file.key.length)})` : name,
      })),
    ),
    attachment: {
      id,
      name,
      isSliced,
      sizeBytes: found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      created: formatTimestamp(createdAt),
    },
  }
}
