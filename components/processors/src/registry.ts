// Name of a processor (without `processor-`) to what it does.

import type { Folder } from './folder.ts'
import { addFilenameColumn } from './processors/add-filename-column.ts'
import { addMetadata } from './processors/add-metadata.ts'
import { addRowNumberColumn } from './processors/add-row-number-column.ts'
import { createEmptyTable } from './processors/create-empty-table.ts'
import { createManifest } from './processors/create-manifest.ts'
import { decompress } from './processors/decompress.ts'
import { filterFiles } from './processors/filter-files.ts'
import { flattenFolders } from './processors/flatten-folders.ts'
import { formatCsv } from './processors/format-csv.ts'
import { iconv } from './processors/iconv.ts'
import { lastFile } from './processors/last-file.ts'
import { lineEndings } from './processors/line-endings.ts'
import { moveFiles } from './processors/move-files.ts'
import { orthogonal } from './processors/orthogonal.ts'
import { removeEmptyFilesAndFolders } from './processors/remove-empty-files-and-folders.ts'
import { renameHeaders } from './processors/rename-headers.ts'
import { selectColumns } from './processors/select-columns.ts'
import { skipLines } from './processors/skip-lines.ts'
import { splitTable } from './processors/split-table.ts'
import { stripNull } from './processors/strip-null.ts'

export type Processor = (folder: Folder) => Promise<void>

export const PROCESSORS: Readonly<Record<string, Processor>> = {
  'add-filename-column': addFilenameColumn,
  'add-metadata': addMetadata,
  'add-row-number-column': addRowNumberColumn,
  'create-empty-table': createEmptyTable,
  'create-manifest': createManifest,
  decompress,
  'filter-files': filterFiles,
  'flatten-folders': flattenFolders,
  'format-csv': formatCsv,
  iconv,
  'last-file': lastFile,
  'line-endings': lineEndings,
  'move-files': moveFiles,
  orthogonal,
  'remove-empty-files-and-folders': removeEmptyFilesAndFolders,
  'rename-headers': renameHeaders,
  'select-columns': selectColumns,
  'skip-lines': skipLines,
  'split-table': splitTable,
  'strip-null': stripNull,
}
