// Measures the storage of every project every ten minutes.

export interface UsageLoopDeps {
  readonly measureStorage: () => Promise<void>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 600_000

export function createUsageLoop({ measureStorage, onError }: UsageLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let measuring: Promise<void> = Promise.resolve()
  const measure = (): void => {
    measuring = measuring.then(measureStorage).catch(onError)
  }
  return {
    start(): void {
      timer = setInterval(measure, EVERY_MS).unref()
      measure()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await measuring
    },
  }
}
