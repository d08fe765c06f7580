// Looks into the components folder now and then, so that a new or changed file counts without a restart.

import type { Components } from './components.ts'

const EVERY_MS = 1000

export interface ComponentsLoop {
  start(): void
  stop(): Promise<void>
  /** One look. A folder that cannot be read is reported and tried again. */
  tick(): Promise<void>
}

export interface ComponentsLoopDeps {
  readonly components: Pick<Components, 'reload'>
  /** After each look, whether something changed or not. */
  readonly afterLook: () => Promise<void>
  readonly log: { warn(details: object, text: string): void }
}

export function createComponentsLoop({ components, afterLook, log }: ComponentsLoopDeps): ComponentsLoop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const tick = async (): Promise<void> => {
    await components.reload().catch((error: unknown) => log.warn({ err: error }, 'The components folder could not be read'))
    await afterLook().catch((error: unknown) =>
      log.warn({ err: error }, 'The components of this node and of others could not be exchanged'),
    )
  }

  function start(): void {
    timer = setInterval(() => {
      running = running.then(tick)
    }, EVERY_MS)
    timer.unref()
  }

  async function stop(): Promise<void> {
    clearInterval(timer)
    await running
  }

  return { start, stop, tick }
}
