// Whether a failure means that no disk space is left, in any part of the program.

import { PlatformError } from './errors.ts'

const CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
const POSTGRES_DISK_FULL = '53100'
/** SQLITE_FULL; and SQLITE_IOERR_SHMSIZE, when the index of the write-ahead log cannot grow. */
const SQLITE_CODES = new Set([13, 4874])
const MAX_CAUSES = 8

interface MaybeFull {
  readonly code?: unknown
  readonly errcode?: unknown
  readonly message?: unknown
  readonly cause?: unknown
}

/** No space, quota reached, or a database reporting so; looked for in the causes, too. */
export const isDiskFull = (error: unknown): boolean => isFullWhere(error) !== undefined

/** The error to report instead of one that a full disk has caused; undefined for all others. */
export function diskFullError(error: unknown): PlatformError | undefined {
  const where = isFullWhere(error)
  if (where === undefined) return undefined
  if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return undefined // it has its own name
  return new PlatformError('stack.diskFull', { where }, { cause: error })
}

function isFullWhere(error: unknown): string | undefined {
  let at = error
  for (let depth = 0; depth < MAX_CAUSES && typeof at === 'object' && at !== null; depth++) {
    const { code, errcode, message, cause } = at as MaybeFull
    if (code === POSTGRES_DISK_FULL) return 'the metadata database'
    if (CODES.has(String(code)) || SQLITE_CODES.has(Number(errcode)) || /database or disk is full/.test(String(message)))
      return 'the stack'
    at = cause
  }
  return undefined
}
