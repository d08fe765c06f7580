// Templates: everything that one describes is written in one transaction, by the modules it belongs to.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import type { GitAddress } from '../engines/git/fetch-repository.ts'
import { openGitCheckout } from '../engines/git/git-checkout.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { createUlids } from '../kit/ulid.ts'
import { mayUse, usableComponent } from '../services/configurations/access.ts'
import { createCatalogue } from '../services/templates/catalogue.ts'
import { projectWriter } from '../services/templates/project-writer.ts'
import { createRefreshLoop, folderSource, gitSource } from '../services/templates/sources.ts'
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
  /** And git repositories. */
  readonly repositories: readonly GitAddress[]
  readonly refreshMs: number
  readonly egressAllow: readonly string[]
  readonly dataDir: string
  readonly baseUrl: () => string
}

const BUILT_IN = fileURLToPath(new URL('../services/templates/repository', import.meta.url))
const SCHEDULER = 'keboola.scheduler'

/** The same repository at another branch is another checkout. */
const folderName = ({ url, ref }: GitAddress): string => createHash('sha256').update(`${url}#${ref}`).digest('hex').slice(0, 16)

export async function createTemplateModules(deps: TemplateModulesDeps) {
  const { metadata, events, clock, log, configurations, queueModules, scheduleModules } = deps
  const { components, branches, encryption, runAccess, inside } = configurations
  const { inTransaction } = metadata

  const policy = egressPolicyFrom(deps.egressAllow)
  const checkouts = await Promise.all(
    deps.repositories.map(async (address) => {
      const folder = join(deps.dataDir, 'template-repositories', folderName(address))
      return {
        address,
        checkout: await openGitCheckout({ ...address, credentialsIn: 'MILLRACE_TEMPLATE_CREDENTIALS', folder, policy, clock }),
      }
    }),
  )
  const fetched = checkouts.map(({ address, checkout }) => gitSource(address, checkout))
  const loop = createRefreshLoop({ sources: fetched, everyMs: deps.refreshMs, log })

  const templates = createTemplates({
    store: createTemplatesStore(metadata.db),
    catalogue: createCatalogue({ sources: [...[BUILT_IN, ...deps.folders].map(folderSource), ...fetched], log }),
    clock,
    newId: createUlids(clock),
    recordEvent: events.record,
    stackUrl: deps.baseUrl,
    usableComponent: (actor, componentId) => usableComponent(components, actor, componentId),
    mayUseComponent: (actor, componentId) => mayUse(components, actor, componentId),
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
    start: loop.start,
    async stop() {
      loop.stop()
      await Promise.all(checkouts.map(({ checkout }) => checkout.stop()))
    },
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, templatesRoutes({ templates, findBranch: async (projectId, name) => branches.resolve(projectId, name) }))
    },
  }
}
