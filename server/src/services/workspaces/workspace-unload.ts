// A table of a workspace as the source of a load: one CSV file with a header on this machine, for as long as the load takes.

import { randomUUID } from 'node:crypto'
import { removeFile, saveText } from '../../engines/sql/database-files.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Scope } from '../../model/scope.ts'
import { objectsIn } from './workspace-objects.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import type { Workspaces } from './workspaces.ts'

export interface UnloadedTable {
  readonly path: string
  readonly sizeBytes: number
  readonly name: string
  remove(): Promise<void>
}

export function createWorkspaceUnload(
  workspaces: Pick<Workspaces, 'find'>,
  sessions: Pick<WorkspaceSessions, 'use'>,
  scratchDir: string,
) {
  return async (scope: Scope, workspaceId: number, table: string, signal: AbortSignal): Promise<UnloadedTable> => {
    const workspace = await workspaces.find(scope.actor.projectId, workspaceId)
    const path = `${scratchDir}/workspace-${randomUUID()}.csv`
    return sessions.use(
      scope,
      workspace,
      async ({ session, signal: either }) => {
        if (!(await objectsIn(session)).some(({ name }) => name === table))
          throw new PlatformError('storage.tableNotFound', { workspace: workspaceId, table: table.slice(0, 100) })
        const { bytes } = await session.copy(`FROM "${table.replaceAll('"', '""')}"`, 'csv', { signal: either })
        const { sizeBytes } = await saveText(path, bytes)
        return { path, sizeBytes, name: `${table} of workspace ${workspaceId}`, remove: () => removeFile(path) }
      },
      { signal },
    )
  }
}
