import type { Folder } from '../folder.ts'
import { readParameters } from '../parameters.ts'
import { rewriteFiles } from './rewrite-files.ts'

/** Removes NUL bytes. */
export async function stripNull(folder: Folder): Promise<void> {
  readParameters(folder.parameters, {})
  await rewriteFiles(folder, async function* (chunks) {
    for await (const chunk of chunks)
      yield chunk.includes(0) ? Buffer.from(chunk.toString('latin1').replaceAll('\0', ''), 'latin1') : chunk
  })
}
