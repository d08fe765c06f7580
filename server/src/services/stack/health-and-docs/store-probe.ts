// Whether the object store responds: for readiness and metrics. It is probed on demand, and not more often than every few seconds.

export interface StoreProbeDeps {
  /** Resolves when the store answers. */
  readonly ask: () => Promise<unknown>
  /** How long an answer counts. */
  readonly keepMs?: number
  /** A store that takes longer counts as away. */
  readonly patienceMs?: number
}

export function createStoreProbe({ ask, keepMs = 5_000, patienceMs = 3_000 }: StoreProbeDeps) {
  let last: { readonly isUp: Promise<boolean>; readonly at: number } | undefined

  async function look(): Promise<boolean> {
    let late: NodeJS.Timeout | undefined
    const tooLate = new Promise<boolean>((resolve) => {
      late = setTimeout(() => resolve(false), patienceMs).unref()
    })
    const answer = ask().then(
      () => true,
      () => false,
    )
    return Promise.race([answer, tooLate]).finally(() => clearTimeout(late))
  }

  function isUp(): Promise<boolean> {
    const now = performance.now()
    if (!last || now - last.at >= keepMs) last = { isUp: look(), at: now }
    return last.isUp
  }

  return {
    isUp,
    /** For readiness. */
    problems: async (): Promise<readonly string[]> => ((await isUp()) ? [] : ['the object store does not answer']),
  }
}
