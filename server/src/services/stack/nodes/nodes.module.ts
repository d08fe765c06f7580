import { hostname } from 'node:os'
import { nodeIdOf } from '../../../engines/data-dir/node-id.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule, type Role } from '../../../model/module.ts'
import { nodesRoutes } from './nodes.routes.ts'
import { createNodesStore } from './nodes.store.ts'
import { createNodes, type NodesDeps } from './nodes.ts'

export interface NodesModuleDeps {
  readonly core: Core
  readonly id: string
  /** The name of its machine when left out. */
  readonly nodeName: string | undefined
  readonly version: string
  readonly roles: readonly Role[]
  readonly labels: readonly string[]
  readonly load: NodesDeps['load']
}

export type NodesModule = ReturnType<typeof createNodesModule>

export function createNodesModule({ core, id, nodeName, version, roles, labels, load }: NodesModuleDeps) {
  const nodes = createNodes({
    store: createNodesStore(core.db),
    dataFolder: nodeIdOf(core.dataDir),
    clock: core.clock,
    node: { id, name: nodeName ?? hostname(), version, roles, labels },
    load,
    onError: (err) => core.log.warn({ err }, 'this node could not send its heartbeat; retrying'),
  })
  return defineModule({
    name: 'nodes',
    routes: [nodesRoutes(nodes)],
    background: [{ start: nodes.start, stop: nodes.stop }],
    ...nodes,
  })
}
