// Removes projects whose grace time is over: the bytes of their files first, then every row. A crash in between is made good by the next look.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { repeat } from '../../../kit/repeat.ts'
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
  async function tick(): Promise<void> {
    for (const { id } of await projects.listPurgeable()) {
      await removeBytes(id)
      await projects.forget((trx) => removeRows(trx, id))
      onPurged(id)
    }
  }

  const repeated = repeat({ everyMs: EVERY_MS, work: tick, onError })

  return {
    tick,
    start(): void {
      void repeated.tick()
      repeated.start()
    },
    stop: repeated.stop,
  }
}
