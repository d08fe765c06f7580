// What the extractor needs of a place where files lie.

import type { Readable } from 'node:stream'

export interface Entry {
  /** As patterns see it, and the column file_name shows it. */
  readonly path: string
  /** Changes when the file does: its size, and its tag or time. */
  readonly version: string
  readonly bytes: number | undefined
}

export interface Store {
  /** Files whose path begins so, in any order; `take` is called for each. */
  list(prefix: string, take: (entry: Entry) => void): Promise<void>
  open(entry: Entry): Promise<Readable>
  close(): void
}
