import type { Folder } from '../folder.ts'
import { readParameters } from '../parameters.ts'
import { rewriteFiles } from './rewrite-files.ts'

/** CRLF and CR become LF. */
export async function lineEndings(folder: Folder): Promise<void> {
  readParameters(folder.parameters, {})
  await rewriteFiles(folder, async function* (chunks) {
    let held = ''
    for await (const chunk of chunks) {
      const text = held + chunk.toString('latin1')
      held = text.endsWith('\r') ? '\r' : '' // its line feed may be in the next chunk
      yield Buffer.from(text.slice(0, text.length - held.length).replace(/\r\n?/g, '\n'), 'latin1')
    }
    if (held) yield '\n'
  })
}
