import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import { createChangeFeed } from './change-feed.ts'
import type { ChangesModule } from './changes.module.ts'
import { changesRoutes } from './changes.routes.ts'

export interface ChangesApiDeps {
  readonly core: Core
  readonly changes: ChangesModule
  readonly components: ComponentsModule
}

export function createChangesApiModule({ core, changes, components }: ChangesApiDeps) {
  const feed = createChangeFeed({
    store: changes.store,
    clock: core.clock,
    canonicalId: components.canonicalId,
    onError: (err) => core.log.error({ err }, 'changes could not be read; they are looked at again'),
  })
  return defineModule({
    name: 'changes-api',
    routes: [changesRoutes(feed)],
    background: [{ role: 'api', start: feed.start, stop: feed.stop }],
  })
}
