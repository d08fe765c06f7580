/** A text as a literal of SQL. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
