// Root keys: they wrap data keys and do nothing else. Given by the environment, or kept in a file only its owner can read.
//  (1) the file is replaced whole: temporary name, fsync, rename; a crash leaves the old keys or the new ones;
//  (2) two processes that start at once agree on one key: the first link wins, the other reads it;
//  (3) while a rotation runs both keys are in the file, so whichever half of it a crash leaves behind can be opened.

import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto'
import { chmod, link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KEY_BYTES, newKey, rootKeyId } from './cipher.ts'

export interface RootKey {
  readonly id: string
  readonly key: KeyObject
}

export interface RootKeys {
  /** The current key first, then older ones that may still wrap something; none when there is no file. Read again on every call: another process may rotate. */
  read(): Promise<readonly RootKey[]>
  /** The same, and a first key when there is none. Only for a stack that has wrapped nothing yet. */
  readOrCreate(): Promise<readonly RootKey[]>
  /** Replaces the keys; impossible when they come from the environment. */
  write(keys: readonly RootKey[]): Promise<void>
  readonly source: 'environment' | 'file'
}

const HEADER =
  '# Millrace root keys, 32 bytes each in base64, the current one first. Without them no secret can be read: back this file up.\n'

const asRootKey = (key: KeyObject): RootKey => ({ id: rootKeyId(key), key })

export const newRootKey = (): RootKey => asRootKey(newKey())

/** A key line of the file; undefined when it is none. */
function parseRootKey(text: string): RootKey | undefined {
  const bytes = Buffer.from(text.trim(), 'base64')
  return bytes.length === KEY_BYTES ? asRootKey(createSecretKey(bytes)) : undefined
}

/** The current key first, older ones behind it until they are rotated away. */
export function rootKeysFromEnvironment(given: readonly Uint8Array[]): RootKeys {
  const keys = given.map((bytes) => asRootKey(createSecretKey(bytes)))
  return {
    source: 'environment',
    read: async () => keys,
    readOrCreate: async () => keys,
    write: async () => {
      throw new Error('The root key is set by MILLRACE_ENCRYPTION_KEY. Put the new key in front of the old one there: NEW,OLD.')
    },
  }
}

export function rootKeysFromFile(path: string): RootKeys {
  async function read(): Promise<readonly RootKey[]> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (text === undefined) return []
    await keepPrivate()
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
    const keys = lines.map(parseRootKey)
    const broken = keys.indexOf(undefined)
    if (lines.length === 0 || broken >= 0) {
      throw new Error(
        `${path} holds no usable root key${broken >= 0 ? ` in key line ${broken + 1}` : ''}. Restore it from a backup.`,
      )
    }
    return keys as RootKey[] // none is undefined, by the check above
  }

  async function readOrCreate(): Promise<readonly RootKey[]> {
    const present = await read()
    if (present.length > 0) return present
    await create()
    return read()
  }

  async function create(): Promise<void> {
    const temporary = await writeTemporary([newRootKey()])
    try {
      await link(temporary, path)
      await syncFolder()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // by (2) another process was first
    } finally {
      await rm(temporary, { force: true })
    }
  }

  async function write(keys: readonly RootKey[]): Promise<void> {
    await rename(await writeTemporary(keys), path)
    await syncFolder()
  }

  async function writeTemporary(keys: readonly RootKey[]): Promise<string> {
    const temporary = `${path}.${randomUUID()}`
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(HEADER + keys.map(({ key }) => `${key.export().toString('base64')}\n`).join(''))
      await file.sync()
    } finally {
      await file.close()
    }
    return temporary
  }

  async function syncFolder(): Promise<void> {
    const folder = await open(dirname(path), 'r')
    await folder.sync().finally(() => folder.close())
  }

  /** A restored backup often comes back with the usual mode; on systems without modes this does nothing. */
  async function keepPrivate(): Promise<void> {
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600)
  }

  return { source: 'file', read, readOrCreate, write }
}
