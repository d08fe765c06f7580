// Work that runs ahead of its turn. Children of a page do not depend on each other, so several may be requested concurrently; what they give
// is stored in the order in which they would have run one after another, so that the tables are the same.
//
// An outlet takes what has to be done in order: at once when it is its turn, put aside until then when it is not. What is put aside is
// bounded: a producer that has too much of it waits for its turn.

export interface Outlet {
  /** `bytes` is what the work holds in memory. A promise when it has to wait. */
  run(work: () => void, bytes: number): Promise<void> | undefined
}

/** It is always the turn of the outermost one. */
export const DIRECT: Outlet = {
  run: (work) => {
    work()
    return undefined
  },
}

const MAX_PIECES = 2
const MAX_BYTES = 32 * 1024 * 1024

/** How much all outlets of a run have put aside. */
export interface Aside {
  bytes: number
}

function createOutlet(parent: Outlet, turn: Promise<void>, aside: Aside): { outlet: Outlet; finish: () => Promise<void> } {
  const pieces: { readonly work: () => void; readonly bytes: number }[] = []
  let isOpen = false

  const opened = turn.then(async () => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      aside.bytes -= piece.bytes
      await parent.run(piece.work, piece.bytes)
    }
    isOpen = true
  })
  opened.catch(() => {}) // every awaiting caller gets the error

  const outlet: Outlet = {
    run(work, bytes) {
      if (isOpen) return parent.run(work, bytes)
      pieces.push({ work, bytes })
      aside.bytes += bytes
      return pieces.length >= MAX_PIECES || aside.bytes > MAX_BYTES ? opened : undefined
    },
  }
  return { outlet, finish: () => opened }
}

/** Runs tasks, up to `width` at a time, as if one after another. Ends with the first that fails. */
export async function inOrder(
  tasks: Iterable<(outlet: Outlet) => Promise<void>>,
  parent: Outlet,
  width: number,
  aside: Aside,
): Promise<void> {
  if (width <= 1) {
    for (const task of tasks) await task(parent)
    return
  }
  const running = new Set<Promise<void>>()
  let turn: Promise<void> = Promise.resolve()
  for (const task of tasks) {
    if (running.size >= width) await Promise.race(running)
    const { outlet, finish } = createOutlet(parent, turn, aside)
    const done = task(outlet).then(finish)
    turn = done
    running.add(done)
    done.then(
      () => running.delete(done),
      () => {},
    )
  }
  await Promise.all(running)
}
