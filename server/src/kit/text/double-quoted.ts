/** In double quotes, those inside doubled: an identifier of SQL, a value of CSV. */
export const doubleQuoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** A line of CSV (RFC 4180), every value in quotes. */
export const csvLine = (values: readonly string[]): string => `${values.map(doubleQuoted).join(',')}\n`
