// Names and texts in statements.

/** As standard SQL writes names and texts; MySQL does so with ANSI_QUOTES and NO_BACKSLASH_ESCAPES. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const textLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`
