// How programs run on this node: the runner, its isolation and the engine of containers.

import { join } from 'node:path'
import { createEngineFinder } from '../../../engines/runner/container-engine.ts'
import { createIsolation } from '../../../engines/runner/isolation.ts'
import { createRunner } from '../../../engines/runner/runner.ts'
import type { Trust } from '../../../engines/tls/trust.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'

export interface ProgramsModuleDeps {
  readonly core: Core
  readonly worker: WorkerSettings
  readonly trust: Trust | undefined
}

/** Long enough for the next task of a flow and for a user who tries out a configuration. */
const SPARE_IDLE_MS = 30_000

export type ProgramsModule = ReturnType<typeof createProgramsModule>

export function createProgramsModule({ core: { dataDir, clock }, worker, trust }: ProgramsModuleDeps) {
  const isolation = createIsolation({ ...worker.isolation, path: worker.path, hidden: [dataDir] })
  const runner = createRunner({
    runsFolder: join(dataDir, 'runs'),
    cacheFolder: join(dataDir, 'cache', 'programs'),
    path: worker.path,
    trust,
    isolation,
    spares: { count: () => worker.spares, idleMs: SPARE_IDLE_MS },
  })
  return defineModule({
    name: 'programs',
    background: [{ start: runner.sweep, stop: runner.close }],
    runner,
    isolation,
    findContainerEngine: createEngineFinder(clock, worker.path),
  })
}
