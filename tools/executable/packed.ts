// What the single executable carries: the list of its files, and their bytes one after the other.

import { createHash } from 'node:crypto'

export interface PackedFile {
  /** Below the folder of the program, with `/`. */
  readonly path: string
  readonly size: number
  /** SHA-256. */
  readonly digest: string
  readonly isProgram: boolean
  readonly isNative: boolean
}

export interface PackedIndex {
  readonly version: string
  /** Of everything: another program has another one. */
  readonly digest: string
  /** Path of Node. */
  readonly node: string
  /** Path of what it runs. */
  readonly main: string
  readonly files: readonly PackedFile[]
}

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')
