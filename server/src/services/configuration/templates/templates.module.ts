// Templates: everything that one describes is written in one transaction, by the modules it belongs to.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import type { GitAddress } from '../../../engines/git/fetch-repository.ts'
import { openGitCheckout } from '../../../engines/git/git-checkout.ts'
import { createUlids } from '../../../kit/ulid.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { FlowsModule } from '../../jobs/flows/flows.module.ts'
import type { SchedulerModule } from '../../jobs/scheduler/scheduler.module.ts'
import type { BranchesModule } from '../branches/branches.module.ts'
import type { ConfigurationsModule } from '../configurations/configurations.module.ts'
import { createCatalogue } from './catalogue.ts'
import { examplesOf } from './examples.ts'
import { projectWriter } from './project-writer.ts'
import { createRefreshLoop, folderSource, gitSource } from './sources.ts'
import { templatesRoutes } from './templates.routes.ts'
import { createTemplatesStore } from './templates.store.ts'
import { createTemplates } from './templates.ts'

export interface TemplatesModuleDeps {
  readonly core: Core
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly flows: FlowsModule
  readonly scheduler: SchedulerModule
  /** Folders of templates besides the one that comes with the stack. */
  readonly folders: readonly string[]
  /** And git repositories. */
  readonly repositories: readonly GitAddress[]
  readonly refreshMs: number
  readonly egressAllow: readonly string[]
  readonly baseUrl: () => string
}

const BUILT_IN = fileURLToPath(new URL('./repository', import.meta.url))

/** The same repository at another branch is another checkout. */
const folderName = ({ url, ref }: GitAddress): string => createHash('sha256').update(`${url}#${ref}`).digest('hex').slice(0, 16)

export type TemplatesModule = Awaited<ReturnType<typeof createTemplatesModule>>

export async function createTemplatesModule(deps: TemplatesModuleDeps) {
  const { core, encryption, branches, configurations, flows, scheduler, refreshMs, baseUrl } = deps
  const { db, inTransaction, clock, log, recordEvent, dataDir } = core
  const { runAccess, inside } = configurations

  const policy = egressPolicyFrom(deps.egressAllow)
  const checkouts = await Promise.all(
    deps.repositories.map(async (address) => {
      const folder = join(dataDir, 'template-repositories', folderName(address))
      return {
        address,
        checkout: await openGitCheckout({ ...address, credentialsIn: 'MILLRACE_TEMPLATE_CREDENTIALS', folder, policy, clock }),
      }
    }),
  )
  const fetched = checkouts.map(({ address, checkout }) => gitSource(address, checkout))
  const loop = createRefreshLoop({ sources: fetched, everyMs: refreshMs, log })

  const catalogue = createCatalogue({ sources: [...[BUILT_IN, ...deps.folders].map(folderSource), ...fetched], log })
  const templates = createTemplates({
    store: createTemplatesStore(db),
    catalogue,
    clock,
    newId: createUlids(clock),
    recordEvent,
    stackUrl: baseUrl,
    usableComponent: configurations.usableComponent,
    mayUseComponent: configurations.mayUseComponent,
    isScheduler: scheduler.isScheduler,
    encrypt: encryption.encryptForProject,
    decrypt: encryption.decryptForProject,
    find: ({ actor, branch }, componentId, configurationId) =>
      runAccess.find({ projectId: actor.projectId, branchId: branch.id, componentId, configurationId }),
    change: async (caller, work) => {
      await runAccess.prepare(caller.actor.projectId) // keys are read before the transaction begins
      return inTransaction((trx) => {
        const inner = inside(trx, (access) => flows.checkWith(access))
        return work(projectWriter({ caller, ...inner, scheduler: scheduler.inside(trx, inner.runAccess) }), trx)
      })
    },
  })

  return defineModule({
    name: 'templates',
    routes: [templatesRoutes({ templates, findBranch: branches.findByName })],
    /** Of the component whose ids are accepted. */
    examplesOf: (isOf: (componentId: string) => boolean) => examplesOf(catalogue, baseUrl(), isOf),
    background: [
      {
        role: 'api',
        isOffInCopies: true,
        start: loop.start,
        stop: async () => {
          loop.stop()
          await Promise.all(checkouts.map(({ checkout }) => checkout.stop()))
        },
      },
    ],
  })
}
