// What the writer needs of a place where files go.

import type { LocalFile } from '../file-parts.ts'

export interface Target {
  /** Whether the connection works; writes nothing. */
  check(): Promise<void>
  exists(path: string): Promise<boolean>
  /** The file has its name once it is whole, where the place allows it. */
  put(file: LocalFile, how: { readonly append: boolean }): Promise<void>
  /** After the last file. */
  finish?(): Promise<void>
  close(): void
}
