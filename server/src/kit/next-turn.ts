/** Lets everything else that waits in this process go on: between the parts of work that would otherwise hold the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
