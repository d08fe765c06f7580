import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createInflate } from 'node:zlib'
import { unzip } from '../../../connector-kit/src/zip.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import { type Folder, type Item, listItems, outputPath, passOnAll, slicesOf } from '../folder.ts'
import { choice, flag, integer, optional, readParameters } from '../parameters.ts'
import { snappyFrames } from './snappy.ts'

const SUFFIXES: Readonly<Record<string, Compression>> = {
  zip: 'zip',
  gz: 'gzip',
  gzip: 'gzip',
  snappy: 'snappy',
  sz: 'snappy',
  zlib: 'zlib',
  zz: 'zlib',
}
type Compression = 'zip' | 'gzip' | 'snappy' | 'zlib'

/** Unpacks every file of in/files into a folder named like the archive. */
export async function decompress(folder: Folder): Promise<void> {
  const given = readParameters(folder.parameters, {
    compression_type: optional(choice(['zip', 'gzip', 'snappy', 'zlib'])),
    graceful: flag(false),
    zlib_window_size: optional(integer()),
  })
  await passOnAll(folder, 'tables')
  for (const item of await listItems(folder, 'files')) {
    for (const slice of await slicesOf(item)) {
      const target = outputPath(folder, 'files', item.name + slice)
      try {
        await unpack(item, slice, target, given.compression_type, given.zlib_window_size)
      } catch (cause) {
        const message = `The file ${item.name}${slice} could not be unpacked: ${cause instanceof Error ? cause.message : cause}`
        if (!given.graceful) throw new UserError(message)
        await rm(target, { recursive: true, force: true })
        process.stdout.write(`${message}. It is left out.\n`)
      }
    }
  }
}

async function unpack(
  item: Item,
  slice: string,
  target: string,
  wanted: Compression | undefined,
  windowBits?: number,
): Promise<void> {
  const from = item.path + slice
  const name = (item.name + slice).split('/').at(-1)!
  const suffix = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const type = wanted ?? SUFFIXES[suffix]
  if (!type) throw new UserError(`its suffix "${suffix}" names no compression; set compression_type`)
  await mkdir(target, { recursive: true })
  if (type === 'zip') return unzip(from, (path) => inside(target, path))
  const plain = name in SUFFIXES || !(suffix in SUFFIXES) ? name : name.slice(0, -suffix.length - 1)
  const to = createWriteStream(join(target, plain))
  if (type === 'gzip') return pipeline(createReadStream(from), createGunzip(), to)
  if (type === 'zlib') return pipeline(createReadStream(from), createInflate(windowBits ? { windowBits } : {}), to)
  return pipeline(createReadStream(from), snappyFrames, to)
}

/** Where an entry of an archive goes; a name that climbs out is refused. */
async function inside(target: string, path: string): Promise<string> {
  const full = join(target, path)
  if (!full.startsWith(`${target}/`) || path.includes('\0'))
    throw new UserError(`its entry "${path}" lies outside of the archive`)
  await mkdir(dirname(full), { recursive: true })
  return full
}
