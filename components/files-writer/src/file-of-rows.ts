// A file of one format while it is written.

import type { Cells, InputColumn } from '../../connector-kit/src/input-table.ts'
import type { RowSettings } from './settings.ts'

export interface FileOfRows {
  write(row: Cells): void | Promise<void>
  close(): Promise<void>
}

export interface FormatWork {
  readonly columns: readonly InputColumn[]
  readonly settings: RowSettings
  /** The file exists, and this is added to it. */
  readonly isAppended: boolean
  /** The workbook that the rows are put into. */
  readonly template: Uint8Array | undefined
}
