// A process that ends before its native code is loaded: mostly because files of DuckDB are damaged or missing.

/** The reason of the end, with what to do. */
export const whileLoading = (reason: string): string =>
  `${reason} while it loaded DuckDB; install Millrace again if this persists`
