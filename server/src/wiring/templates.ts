// Templates: everything that one describes is written in one transaction, by the modules it belongs to.

import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createTemplateFolder } from '../engines/template-folder/template-folder.ts'
import type { Clock } from '../kit/clock.ts'
import { createUlids } from '../kit/ulid.ts'
import { usableComponent } from '../services/configurations/access.ts'
import { createCatalogue } from '../services/templates/catalogue.ts'
import { projectWriter } from '../services/templates/project-writer.ts'
import { templatesRoutes } from '../services/templates/templates.routes.ts'
import { createTemplatesStore } from '../services/templates/templates.store.ts'
import { createTemplates } from '../services/templates/templates.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { QueueModules } from './queue.ts'
import type { ScheduleModules } from './schedules.ts'

export interface TemplateModulesDeps extends Core {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly queueModules: QueueModules
  readonly scheduleModules: ScheduleModules
  /** Folders of templates besides the one that comes with the stack. */
  readonly folders: readonly string[]
  readonly baseUrl: () => string
}

const BUILT_IN = fileURLToPath(new URL('../services/templates/repository', import.meta.url))
const SCHEDULER = 'keboola.scheduler'

export function createTemplateModules(deps: TemplateModulesDeps) {
  const { metadata, events, clock, log, configurations, queueModules, scheduleModules } = deps
  const { components, branches, encryption, runAccess, inside } = configurations
  const { inTransaction } = metadata

  const templates = createTemplates({
    store: createTemplatesStore(metadata.db),
    catalogue: createCatalogue({ folders: [BUILT_IN, ...deps.folders].map(createTemplateFolder), log }),
    clock,
    newId: createUlids(clock),
    recordEvent: events.record,
    stackUrl: deps.baseUrl,
    usableComponent: (actor, componentId) => usableComponent(components, actor, componentId),
    isScheduler: (componentId) => components.canonicalId(componentId) === SCHEDULER,
    encrypt: (projectId, text) => encryption.encryptBody(text, false, { projectId: String(projectId) }),
    decrypt: encryption.decryptForProject,
    find: ({ actor, branch }, componentId, configurationId) =>
      runAccess.find({ projectId: actor.projectId, branchId: branch.id, componentId, configurationId }),
    change: async (caller, work) => {
      await runAccess.prepare(caller.actor.projectId) // keys are read before the transaction begins
      return inTransaction((trx) => {
        const inner = inside(trx, (access) => queueModules.checkFlowWith(access))
        return work(projectWriter({ caller, ...inner, scheduler: scheduleModules.inside(trx, inner.runAccess) }), trx)
      })
    },
  })

  return {
    registerRoutes(app: FastifyInstance): void {
      app.register(templatesRoutes({ templates, findBranch: async (projectId, name) => branches.resolve(projectId, name) }))
    },
  }
}
