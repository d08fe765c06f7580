/** The data or a mapping cannot be turned into tables: the user's fault, exit 1. The message is complete. */
export class TablesError extends Error {}
