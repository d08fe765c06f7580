// Work that is done every so often, one time after the other, also when one takes longer than that.

export interface RepeatOptions {
  readonly everyMs: number
  readonly work: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

export interface Repeated {
  /** Once now, after what is under way. Never rejects. */
  tick(): Promise<void>
  start(): void
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>
}

export function repeat({ everyMs, work, onError }: RepeatOptions): Repeated {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const tick = (): Promise<void> => {
    running = running.then(work).then(() => {}, onError)
    return running
  }
  return {
    tick,
    start(): void {
      timer = setInterval(tick, everyMs).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
