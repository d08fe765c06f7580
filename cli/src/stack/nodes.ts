// millrace nodes: the nodes of this installation, from the database directly.

import type { Command } from 'commander'
import { stateAt } from '../../../server/src/services/stack/nodes/nodes.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import { print } from '../json-output.ts'
import { withCore } from '../open-core.ts'
import { table } from '../output.ts'

export function addNodesCommand(program: Command): void {
  program
    .command('nodes')
    .description('nodes of this installation: version, roles, labels, load')
    .action(async (_options, command: Command) => {
      const { createNodesStore } = await import('../../../server/src/services/stack/nodes/nodes.store.ts') // only this command needs it
      const { nodes, now } = await withCore(readConfig(), async ({ metadata, clock }) => ({
        nodes: await createNodesStore(metadata.db).list(),
        now: clock.now(), // by which nodes record when they were last seen
      }))
      print(
        command,
        nodes.map((node) => ({ ...node, state: stateAt(node, now) })),
        (rows) =>
          table(
            ['NAME', 'STATE', 'VERSION', 'ROLES', 'LABELS', 'JOBS', 'LOADS', 'MEMORY', 'SEEN'],
            rows.map(({ name, state, version, roles, labels, load, seenAt }) => [
              name,
              state,
              version,
              roles.join(','),
              labels.join(','),
              `${load.jobs}/${load.slots}`,
              load.storageJobs,
              `${Math.round(load.memoryBytes / 2 ** 20)} MB`,
              `${Math.max(0, Math.round((now.getTime() - seenAt.getTime()) / 1000))} s ago`,
            ]),
          ),
      )
    })
}
