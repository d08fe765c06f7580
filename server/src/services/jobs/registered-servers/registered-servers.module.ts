import { join } from 'node:path'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { ProgramsModule } from '../job-runner/programs.module.ts'
import { createOwnMlflow } from './own-mlflow.ts'
import { registeredServersRoutes } from './registered-servers.routes.ts'
import { createRegisteredServers, type ServerAddresses } from './registered-servers.ts'

export interface RegisteredServersModuleDeps {
  readonly core: Core
  readonly programs: ProgramsModule
  readonly servers: ServerAddresses
}

export function createRegisteredServersModule({ core, programs, servers }: RegisteredServersModuleDeps) {
  const ownMlflow = createOwnMlflow({
    runner: programs.runner,
    python: servers.mlflowPython,
    folder: join(core.dataDir, 'mlflow'),
  })
  core.subscribe('project.removed', ownMlflow.removeProject)
  return defineModule({
    name: 'registered-servers',
    routes: [registeredServersRoutes(createRegisteredServers(servers, ownMlflow))],
    background: [{ stop: ownMlflow.close }],
  })
}

export type { ServerAddresses }
