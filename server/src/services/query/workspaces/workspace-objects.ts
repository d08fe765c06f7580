// Tables and views of a workspace.

import { isNoConnectionSchema } from '../../../engines/sql/connection-schemas.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import type { Scope } from '../../../model/scope.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspaces } from './workspaces.ts'

export interface WorkspaceObject {
  readonly name: string
  readonly type: 'table' | 'view'
}

/** By name. */
export async function objectsIn(session: SqlSession): Promise<WorkspaceObject[]> {
  const { batches } = await session.query(
    `SELECT table_name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END FROM information_schema.tables
     WHERE table_catalog = 'workspace' AND ${isNoConnectionSchema('table_schema')} ORDER BY 1`,
  )
  const rows = (await Array.fromAsync(batches)).flat()
  return rows.map(([name, type]) => ({ name: String(name), type: type === 'view' ? 'view' : 'table' }))
}

export interface DeleteObjectsInput {
  readonly workspaceId: number
  readonly objects: readonly string[]
  readonly scope: Scope
}

/** All that can be deleted are; the others fail the job. */
export function createObjectsDeletion(
  workspaces: Pick<Workspaces, 'find'>,
  sessions: Pick<WorkspaceSessions, 'use'>,
): JobHandler {
  return async ({ job, signal }) => {
    const { workspaceId, objects, scope } = job.input as DeleteObjectsInput // written by the routes of this module
    const workspace = await workspaces.find(job.projectId, workspaceId)
    const missing = await sessions.use(
      scope,
      workspace,
      async ({ session }) => {
        const known = await objectsIn(session)
        for (const { name, type } of known.filter((one) => objects.includes(one.name)))
          await session.execute(`DROP ${type} ${doubleQuoted(name)}`, { signal })
        return objects.filter((name) => !known.some((one) => one.name === name))
      },
      { signal },
    )
    if (missing.length > 0)
      throw new PlatformError('storage.workspace.batchDeleteFailed', { objects: missing.join(', ').slice(0, 500) })
    return { results: { objects } }
  }
}
