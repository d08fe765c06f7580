// A folder for the files of tests in a file system that is in memory. Stacks under test sync their files thousands of times: nine test
// files took 133 s on a disk and 97 s in memory. No test cuts the power: what a killed process has written stays here as it does in the
// cache of a disk.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PLACE = '/dev/shm'
const MIN_FREE_BYTES = 8e9

export interface MemoryFolder {
  readonly path: string
  remove(): void
}

/** Undefined where there is no such file system, where it is small, or where programs cannot be started from it. */
export function makeMemoryFolder(): MemoryFolder | undefined {
  if (process.availableMemory() < MIN_FREE_BYTES || freeBytes() < MIN_FREE_BYTES) return undefined
  const path = mkdtempSync(join(PLACE, 'millrace-tests-'))
  chmodSync(path, 0o755) // PostgreSQL runs as another user
  if (canStartPrograms(path)) return { path, remove: () => remove(path) }
  remove(path)
  return undefined
}

/** What still writes there is no reason to call tests failed that have passed. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    console.error(`${path} is still there: ${(error as Error).message}`)
  }
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(PLACE)
    return bavail * bsize
  } catch {
    return 0
  }
}

function canStartPrograms(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const { status } = spawnSync(program)
  rmSync(program)
  return status === 0
}
