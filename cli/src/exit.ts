// How the command ends: what of an error is printed, and the exit code. Errors that the user can fix are one sentence, never a stack trace.

import { getSystemErrorMap } from 'node:util'
import { CommanderError } from 'commander'
import { PlatformError } from '../../server/src/kit/errors.ts'
import { ConfigError } from '../../server/src/start/config.ts'
import { UserError } from './output.ts'

const SQLITE_FULL = 13

/** A closed pipe ends the command as if all had been read; output that cannot be written fails it. */
export function watchOutput(): void {
  process.stdout.on('error', (error) => process.exit(report(error)))
  process.stderr.on('error', () => {}) // there is no place left to report it
}

/** Prints what went wrong and returns the exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
  if (isClosedPipe(error)) return Number(process.exitCode ?? 0)
  const sentence = sentenceOf(error)
  if (sentence !== undefined) {
    console.error(`millrace: ${sentence}`)
    return 1
  }
  console.error('millrace: something went wrong on our side.', error)
  return 2
}

/** The reader of standard output has seen enough, as `head` does. A pipe that breaks elsewhere has an address or a path. */
const isClosedPipe = (error: unknown): boolean => isSystemError(error) && error.code === 'EPIPE' && error.syscall === 'write'

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof UserError || error instanceof ConfigError || (error instanceof PlatformError && error.kind !== 'bug'))
    return error.message
  if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL)
    return 'The database of the data folder cannot grow: the disk is full. Free some space, then run the command again.'
  if (!isSystemError(error)) return undefined
  const [, reason = error.message] = getSystemErrorMap().get(error.errno) ?? []
  if (error.path !== undefined) return `${error.path}: ${reason} (${error.syscall}, ${error.code}).`
  return error.syscall === 'write' ? `The output cannot be written: ${reason} (${error.code}).` : undefined
}

/** Of an operation on a file or a stream; not of a connection, which has its own sentence. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException & { readonly errno: number } =>
  error instanceof Error && 'code' in error && 'syscall' in error && 'errno' in error && typeof error.errno === 'number'
