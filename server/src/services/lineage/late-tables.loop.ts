// Looks for tables that became late, for all readers at once: one indexed question every few seconds.

export interface LateTablesLoopDeps {
  readonly tellLate: () => Promise<number>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 10_000

export function createLateTablesLoop({ tellLate, onError }: LateTablesLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<unknown> = Promise.resolve()
  return {
    start(): void {
      timer = setInterval(() => {
        looking = looking.then(tellLate).catch(onError)
      }, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await looking
    },
  }
}
