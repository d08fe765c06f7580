// Extensions of DuckDB in the data folder: fetched from DuckDB's repository or taken from a file, loaded once to check their signature, and kept
// with the hash that they had. DuckDB checks the signature again whenever a program loads one.

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { EXTENSIONS, EXTENSIONS_FOLDER, type ExtensionName, extensionPath } from '../../../contract/duckdb-extensions.ts'
import { UserError } from '../output.ts'

/** The largest are about 50 MB. */
const MAX_BYTES = 200e6
const FETCH_MS = 300_000

export interface KeptExtension {
  readonly name: ExtensionName
  readonly version: string
  readonly platform: string
  readonly bytes: number
  readonly sha256: string
  /** The address or the file that it came from; undefined: it was put into the folder by other means. */
  readonly from: string | undefined
  /** `changed`: it is not the file that was added. `other-version`: this version of Millrace does not load it. */
  readonly state: 'ready' | 'changed' | 'other-version'
}

interface Origin {
  readonly sha256: string
  readonly from: string
}

export function extensionNamed(name: string): ExtensionName {
  if (Object.hasOwn(EXTENSIONS, name)) return name as ExtensionName // just looked up
  throw new UserError(`"${name}" is not an extension that Millrace uses. Use ${Object.keys(EXTENSIONS).join(', ')}.`)
}

interface Target {
  readonly version: string
  readonly platform: string
}

/** Of the DuckDB that this installation has. */
async function targetOf(): Promise<Target> {
  const { DuckDBInstance, version } = await import('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create()).connect()
  try {
    const [row] = (await connection.runAndReadAll('pragma platform')).getRows()
    return { version: version(), platform: String(row?.[0]) }
  } finally {
    connection.closeSync()
  }
}

/** `source`: a file, or undefined for the repository. */
export async function addExtension(
  dataDir: string,
  name: ExtensionName,
  { file, repository }: { readonly file: string | undefined; readonly repository: string },
): Promise<KeptExtension> {
  const target = await targetOf()
  const path = join(dataDir, EXTENSIONS_FOLDER, extensionPath(name, target.version, target.platform))
  const from = file ?? `${repository.replace(/\/+$/, '')}/${extensionPath(name, target.version, target.platform)}.gz`
  await mkdir(dirname(path), { recursive: true })
  const folder = await mkdtemp(join(dirname(path), '.new-'))
  try {
    const fresh = join(folder, basename(path))
    await pipeline([
      await bytesOf(from, file !== undefined),
      ...unpacked(from),
      atMost(MAX_BYTES, from),
      createWriteStream(fresh),
    ])
    await checkSignature(fresh, from)
    const sha256 = await hashOf(fresh)
    await writeFile(`${path}.json`, `${JSON.stringify({ sha256, from } satisfies Origin)}\n`)
    await rename(fresh, path)
    return { name, ...target, bytes: (await stat(path)).size, sha256, from, state: 'ready' }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const unpacked = (from: string): Transform[] => (from.endsWith('.gz') ? [createGunzip()] : [])

async function bytesOf(from: string, isFile: boolean): Promise<Readable> {
  if (isFile) {
    if (!existsSync(from)) throw new UserError(`The file ${from} does not exist.`)
    return createReadStream(from)
  }
  const answer = await fetch(from, { signal: AbortSignal.timeout(FETCH_MS) }).catch((error: unknown) => {
    const { cause, message } = error as Error & { cause?: Error }
    throw new UserError(
      `${from} could not be fetched: ${cause?.message ?? message}. Fetch it on another machine and add it with --file.`,
    )
  })
  if (!answer.ok || answer.body === null)
    throw new UserError(`${from} could not be fetched: the server returned ${answer.status}. Check MILLRACE_EXTENSIONS_URL.`)
  return Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]) // both are the stream of the web
}

function atMost(limit: number, from: string): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limit) done(new UserError(`${from} has more than ${limit / 1e6} MB, so it is no extension of DuckDB.`))
      else done(null, chunk)
    },
  })
}

/** DuckDB loads only what its makers have signed, for this version and this kind of machine. */
async function checkSignature(path: string, from: string): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })).connect()
  try {
    await connection.run(`load '${path.replaceAll("'", "''")}'`)
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n', 1) // of the driver
    throw new UserError(`${from} was not added: DuckDB refuses it (${reason.replaceAll(path, 'the file').slice(0, 300)}).`)
  } finally {
    connection.closeSync()
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Of all versions, by name. */
export async function listExtensions(dataDir: string): Promise<readonly KeptExtension[]> {
  const folder = join(dataDir, EXTENSIONS_FOLDER)
  const own = await targetOf()
  const found: KeptExtension[] = []
  for (const version of await namesIn(folder))
    for (const platform of await namesIn(join(folder, version)))
      for (const name of Object.keys(EXTENSIONS) as ExtensionName[]) {
        const path = join(folder, extensionPath(name, version, platform))
        if (!existsSync(path)) continue
        const origin = await originOf(path)
        const sha256 = await hashOf(path)
        const isOwn = version === own.version && platform === own.platform
        const state = !isOwn ? 'other-version' : origin && origin.sha256 !== sha256 ? 'changed' : 'ready'
        found.push({ name, version, platform, bytes: (await stat(path)).size, sha256, from: origin?.from, state })
      }
  return found
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(() => [])).toSorted()

async function originOf(path: string): Promise<Origin | undefined> {
  try {
    return JSON.parse(await readFile(`${path}.json`, 'utf8')) as Origin // written above
  } catch {
    return undefined
  }
}

/** Of all versions. */
export async function removeExtension(dataDir: string, name: ExtensionName): Promise<number> {
  const kept = (await listExtensions(dataDir)).filter((one) => one.name === name)
  for (const { version, platform } of kept) {
    const path = join(dataDir, EXTENSIONS_FOLDER, extensionPath(name, version, platform))
    await rm(path)
    await rm(`${path}.json`, { force: true })
  }
  return kept.length
}
