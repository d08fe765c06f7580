// Name of a processor (without `processor-`) to what it does. Each is loaded when it is asked for: a run should not pay for the others.

import type { Folder } from './folder.ts'

export type Processor = (folder: Folder) => Promise<void>

export const PROCESSORS: Readonly<Record<string, Processor>> = {
  'add-filename-column': async (folder) => (await import('./processors/add-filename-column.ts')).addFilenameColumn(folder),
  'add-metadata': async (folder) => (await import('./processors/add-metadata.ts')).addMetadata(folder),
  'add-row-number-column': async (folder) => (await import('./processors/add-row-number-column.ts')).addRowNumberColumn(folder),
  'create-empty-table': async (folder) => (await import('./processors/create-empty-table.ts')).createEmptyTable(folder),
  'create-manifest': async (folder) => (await import('./processors/create-manifest.ts')).createManifest(folder),
  decompress: async (folder) => (await import('./processors/decompress.ts')).decompress(folder),
  'filter-columns': async (folder) => (await import('./processors/select-columns.ts')).selectColumns(folder),
  'filter-files': async (folder) => (await import('./processors/filter-files.ts')).filterFiles(folder),
  'flatten-folders': async (folder) => (await import('./processors/flatten-folders.ts')).flattenFolders(folder),
  'format-csv': async (folder) => (await import('./processors/format-csv.ts')).formatCsv(folder),
  iconv: async (folder) => (await import('./processors/iconv.ts')).iconv(folder),
  'last-file': async (folder) => (await import('./processors/last-file.ts')).lastFile(folder),
  'line-endings': async (folder) => (await import('./processors/line-endings.ts')).lineEndings(folder),
  'move-files': async (folder) => (await import('./processors/move-files.ts')).moveFiles(folder),
  orthogonal: async (folder) => (await import('./processors/orthogonal.ts')).orthogonal(folder),
  'remove-empty-files-and-folders': async (folder) =>
    (await import('./processors/remove-empty-files-and-folders.ts')).removeEmptyFilesAndFolders(folder),
  'rename-columns': async (folder) => (await import('./processors/rename-headers.ts')).renameHeaders(folder),
  'rename-headers': async (folder) => (await import('./processors/rename-headers.ts')).renameHeaders(folder),
  'select-columns': async (folder) => (await import('./processors/select-columns.ts')).selectColumns(folder),
  'skip-lines': async (folder) => (await import('./processors/skip-lines.ts')).skipLines(folder),
  'split-table': async (folder) => (await import('./processors/split-table.ts')).splitTable(folder),
  'strip-null': async (folder) => (await import('./processors/strip-null.ts')).stripNull(folder),
}
