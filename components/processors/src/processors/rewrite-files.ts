// What the processors share that change the bytes of every file, tables and files alike, and keep names and manifests.

import { createReadStream, createWriteStream } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Folder, listItems, outputPath, slicesOf } from '../folder.ts'

export type Change = (chunks: AsyncIterable<Buffer>, path: string) => AsyncIterable<Buffer | string>

export async function rewriteFiles(folder: Folder, change: Change): Promise<void> {
  for (const kind of ['tables', 'files'] as const) {
    for (const item of await listItems(folder, kind)) {
      for (const slice of await slicesOf(item)) {
        const to = outputPath(folder, kind, item.name + slice)
        await mkdir(dirname(to), { recursive: true })
        await pipeline(
          createReadStream(item.path + slice),
          (chunks: AsyncIterable<Buffer>) => change(chunks, item.name + slice),
          createWriteStream(to),
        )
      }
      if (item.manifest) await copyFile(`${item.path}.manifest`, outputPath(folder, kind, `${item.name}.manifest`))
    }
  }
}
