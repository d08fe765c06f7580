// What a new project has from its first moment. The command line creates projects, too, and needs nothing else of branches.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { insertDefaultBranch } from './branches.store.ts'

export function createDefaultBranchModule({ clock, subscribe }: Pick<Core, 'clock' | 'subscribe'>) {
  subscribe('project.created', (trx, projectId) => insertDefaultBranch(trx, projectId, clock.now().getTime()))
  return defineModule({ name: 'default-branch' })
}
