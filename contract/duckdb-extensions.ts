// Where the extensions of DuckDB that an operator has added lie in the data folder, for the command line that adds them and the programs that load them.

/** Names that people use, and those of the files. */
export const EXTENSIONS = { postgres: 'postgres_scanner', mysql: 'mysql_scanner', sqlite: 'sqlite_scanner' } as const
export type ExtensionName = keyof typeof EXTENSIONS

/** In the data folder of a node. */
export const EXTENSIONS_FOLDER = 'extensions'

/** Below that folder: an extension belongs to one version of DuckDB and one kind of machine, as in DuckDB's own repository. */
export const extensionPath = (name: ExtensionName, version: string, platform: string): string =>
  `${version}/${platform}/${EXTENSIONS[name]}.duckdb_extension`
