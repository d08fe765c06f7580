/** Lets other work of this process run: between the parts of work that would otherwise hold the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
