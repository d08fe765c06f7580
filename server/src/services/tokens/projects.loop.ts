// Removes projects whose grace time is over: the bytes of their files first, then every row. A crash in between is made good by the next look.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import type { Projects } from './projects.ts'

export interface ProjectsLoopDeps {
  readonly projects: Pick<Projects, 'listPurgeable' | 'forget'>
  readonly removeBytes: (projectId: number) => Promise<void>
  readonly removeRows: (trx: Trx, projectId: number) => Promise<void>
  readonly onPurged: (projectId: number) => void
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 3_600_000

export function createProjectsLoop({ projects, removeBytes, removeRows, onPurged, onError }: ProjectsLoopDeps) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function tick(): Promise<void> {
    for (const { id } of await projects.listPurgeable()) {
      await removeBytes(id)
      await projects.forget((trx) => removeRows(trx, id))
      onPurged(id)
    }
  }

  return {
    tick,
    start(): void {
      const look = () => {
        running = running.then(tick).catch(onError)
      }
      look()
      timer = setInterval(look, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}
