// Ids as names of files and folders, reversibly: bytes that are not safe on every file system are written as %XX, as in addresses.
//
// 1. Ordinary ids (letters, digits, dot, underscore, hyphen) are their own names.
// 2. A name never leaves its folder, is never hidden, and is not reserved on Windows.
// 3. Ids that differ in case only have names that differ on file systems that ignore case: capitals of the later ones are written as %XX.
// 4. A name is at most MAX_NAME characters. Longer ones are cut and end in ~ and a digest; only `longNames` reads them back.

import { createHash } from 'node:crypto'

/** 255 bytes are allowed; `.json.new` follows. */
const MAX_NAME = 200
const DIGEST_LENGTH = 16
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
const NAME = /^(?:[A-Za-z0-9_-]|%[0-9A-F]{2})(?:[A-Za-z0-9._-]|%[0-9A-F]{2})*(?:~[0-9a-f]{16})?$/

export interface FileNames {
  readonly nameOf: (id: string) => string
  /** Names that do not hold their whole id, with it. */
  readonly longNames: Readonly<Record<string, string>>
}

/** Names for all ids of one folder; the same ids always have the same names. */
export function fileNames(ids: readonly string[]): FileNames {
  const byLowerCase = Map.groupBy(new Set(ids), (id) => plainName(id).toLowerCase())
  const names = new Map(
    [...byLowerCase.values()].flatMap((alike) =>
      alike.map((id) => [id, shortened(alike.length === 1 ? plainName(id) : withoutCapitals(id), id)] as const),
    ),
  )
  return {
    nameOf: (id) => names.get(id) ?? shortened(plainName(id), id),
    longNames: Object.fromEntries([...names].flatMap(([id, name]) => (name.includes('~') ? [[name, id] as const] : []))),
  }
}

/** Whether `fileNames` gives such names. */
export const isFileName = (name: string): boolean => NAME.test(name)

/** The id of a name; undefined when no id has such a name. */
export function idOf(name: string, longNames: Readonly<Record<string, string>>): string | undefined {
  if (!isFileName(name)) return undefined
  if (name.includes('~')) return Object.hasOwn(longNames, name) ? longNames[name] : undefined
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined // bytes that are not UTF-8
  }
}

function plainName(id: string): string {
  const name = id.replace(/[^A-Za-z0-9._-]+/g, (part) => bytesAsHex(part.toWellFormed()))
  const isHiddenOrReserved = name.startsWith('.') || RESERVED.test(name)
  const begun = isHiddenOrReserved ? bytesAsHex(name.slice(0, 1)) + name.slice(1) : name
  return begun.endsWith('.') ? `${begun.slice(0, -1)}%2E` : begun
}

/** Hexadecimal digits of %XX are capitals in all names, so they do not make two names differ. */
const withoutCapitals = (id: string): string =>
  plainName(id).replace(/%[0-9A-F]{2}|[A-Z]/g, (part) => (part.length === 1 ? bytesAsHex(part) : part))

const bytesAsHex = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

function shortened(name: string, id: string): string {
  if (name.length <= MAX_NAME) return name
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_LENGTH)
  const begun = name.slice(0, MAX_NAME - DIGEST_LENGTH - 1).replace(/%.?$/, '')
  return `${begun}~${digest}`
}
