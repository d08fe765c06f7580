// JSON that this program wrote itself: a column of its own tables, a file of its data folder. What a client or a component sent is
// `unknown` until a schema has checked it, and is never read with this.

/** The value as it was stored. */
export const readStored = <T>(text: string): T => JSON.parse(text) as T // the same program wrote it as a T
