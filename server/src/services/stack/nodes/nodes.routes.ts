// HTTP for the nodes of the stack (spec platform 6.10a). Only for stack admins.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { Nodes, NodeView } from './nodes.ts'

const Leases = Type.Array(Type.Object({ id: Type.Integer(), projectId: Type.Integer(), leaseUntil: Timestamp }))
const NodeSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the process; changes with each start.' }),
    name: Type.String({ description: 'Host and port.' }),
    version: Type.String(),
    roles: Type.Array(Type.String()),
    labels: Type.Array(Type.String()),
    state: Type.String({ description: 'working, draining, or silent after 20 seconds without a heartbeat.' }),
    startedAt: Timestamp,
    lastSeenAt: Timestamp,
    load: Type.Object({
      jobs: Type.Integer({ description: 'Running component jobs.' }),
      slots: Type.Integer({ description: 'Maximum number of parallel component jobs; 0 on a node without the role worker.' }),
      storageJobs: Type.Integer(),
      memoryBytes: Type.Integer(),
      loadAverage: Type.Number({ description: 'Load of the machine in the last minute.' }),
      clockDifferenceMs: Type.Optional(
        Type.Integer({ description: 'How far its clock is ahead of the clock of the database, which the stack follows.' }),
      ),
    }),
    leases: Type.Object({ jobs: Leases, storageJobs: Leases }, { description: 'Jobs that the node holds.' }),
  },
  { title: 'StackNode' },
)

export function nodesRoutes({ list }: Pick<Nodes, 'list'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/operations/nodes',
      {
        config: {
          operation: 'operations.nodes',
          summary: 'List nodes of the stack (stack admin)',
          needs: 'person',
          role: 'stack admin',
        },
        schema: { response: { 200: Type.Array(NodeSchema) } },
      },
      async () => (await list()).map(nodeView),
    )
  }
}

const nodeView = ({ startedAt, seenAt, jobs, storageJobs, load, ...node }: NodeView) => ({
  ...node,
  roles: [...node.roles],
  labels: [...node.labels],
  startedAt: formatTimestamp(startedAt),
  lastSeenAt: formatTimestamp(seenAt),
  load: { ...load },
  leases: { jobs: jobs.map(leaseView), storageJobs: storageJobs.map(leaseView) },
})

const leaseView = ({ id, projectId, leaseUntil }: NodeView['jobs'][number]) => ({
  id,
  projectId,
  leaseUntil: formatTimestamp(leaseUntil),
})
