// Parts of a program that run in the background: started in order, stopped in reverse.

type MaybePromise<T> = T | Promise<T>

export interface BackgroundPart {
  /** Absent: nothing has to be started, only stopped. */
  readonly start?: () => MaybePromise<unknown>
  readonly stop?: () => MaybePromise<unknown>
}

export async function startInOrder(parts: readonly BackgroundPart[]): Promise<void> {
  for (const { start } of parts) await start?.()
}

/** One that cannot be stopped does not keep the others. */
export async function stopInReverse(parts: readonly BackgroundPart[], onError: (error: unknown) => void): Promise<void> {
  for (const { stop } of parts.toReversed())
    try {
      await stop?.()
    } catch (error) {
      onError(error)
    }
}
