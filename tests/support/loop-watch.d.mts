export function watchLoop(onHold: (heldMs: number) => void, worthNotingMs: number): () => void
export function threadMs(): number
