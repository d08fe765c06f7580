// A project that is a zip file. It is unpacked here, where nothing but the run suffers from what is in it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'

const MAX_FILES = 20_000
const MAX_BYTES = 512 * 2 ** 20

export function unpackZip(archive: string, folder: string): void {
  let files = 0
  let bytes = 0
  const refuse = (reason: string): never => {
    throw new ConnectorError(`The file with the project cannot be used: ${reason}.`)
  }
  const entries = (() => {
    try {
      return unzipSync(readFileSync(archive), {
        filter: ({ name, originalSize }) => {
          if (name.endsWith('/')) return false
          if (name.startsWith('/') || name.includes('\\') || name.split('/').some((part) => part === '..' || part === ''))
            return refuse(`the name "${name.slice(0, 100)}" leads out of it`)
          files++
          bytes += originalSize
          if (files > MAX_FILES) return refuse(`it has more than ${MAX_FILES} files`)
          if (bytes > MAX_BYTES) return refuse(`it has more than ${MAX_BYTES / 2 ** 20} MB`)
          return true
        },
      })
    } catch (error) {
      if (error instanceof ConnectorError) throw error
      return refuse(`it is not a zip file that can be read (${error instanceof Error ? error.message : String(error)})`)
    }
  })()
  for (const [name, content] of Object.entries(entries)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}
