import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { createRunWorkspaces, type RunWorkspacesDeps } from './run-workspaces.ts'

const RUN = { actor: masterActor(1), projectId: 1, branchId: 1, isDefaultBranch: true, runId: '1', baseUrl: 'http://127.0.0.1' }

/** Workspaces as values: 1 of the configuration `its`, and new ones from 2 on. */
function workspaces(mayUse: boolean) {
  const removed: number[] = []
  let created = 1
  const unused = () => Promise.reject(new Error('not used here'))
  const deps: RunWorkspacesDeps<{ readonly id: number }> = {
    find: async (_, { configurationId }) => (configurationId === 'its' ? { id: 1 } : undefined),
    mayUse: () => mayUse,
    create: async () => ({ id: ++created }),
    remove: async ({ id }) => void removed.push(id),
    use: unused,
    connect: async () => ({ host: '127.0.0.1', port: 1, user: 'u', password: 'p', database: 'default', close: () => {} }),
    listTables: unused,
    traceRelations: unused,
  }
  return { ...createRunWorkspaces(deps), removed }
}

test('a run opens the workspace of its configuration, or one of its own that goes with it', async () => {
  const { open, removed } = workspaces(true)
  const its = await open(RUN, 'platform.dbt', 'its')
  const first = await open(RUN, 'platform.dbt', 'new')
  const passing = await open(RUN, 'platform.dbt', null)
  assert.deepEqual([its.id, first.id, passing.id], [1, 2, 3])
  for (const one of [its, first, passing]) await one.close()
  assert.deepEqual(removed, [3])
})

test('a run is refused in a workspace that its token may not use', async () => {
  const { open } = workspaces(false)
  await assert.rejects(open(RUN, 'platform.dbt', 'its'), { code: 'workspace.ofOtherToken' })
  assert.equal((await open(RUN, 'platform.dbt', 'new')).id, 2, 'a new one is of this token')
})
