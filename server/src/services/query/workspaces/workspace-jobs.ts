// Creates and drops workspaces by a job, for clients that request it. The password of such a workspace is requested afterwards.

import type { Scope } from '../../../model/scope.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import { workspaceView } from './workspace-view.ts'
import type { Workspace } from './workspaces.store.ts'
import type { NewWorkspace, OfConfiguration, Workspaces } from './workspaces.ts'

interface CreateInput {
  readonly scope: Scope
  readonly wanted: NewWorkspace
  readonly of?: OfConfiguration
}

export function createWorkspaceJobs(
  workspaces: Pick<Workspaces, 'create' | 'remove'>,
  backendName: (projectId: number) => Promise<string>,
  sqlPort: () => number | undefined,
): { readonly create: JobHandler; readonly drop: JobHandler } {
  return {
    create: async ({ job }) => {
      const { scope, wanted, of } = job.input as CreateInput // written by the routes of this module
      const { workspace } = await workspaces.create(scope, wanted, of, job.origin)
      const backend = await backendName(job.projectId)
      return { results: workspaceView(workspace, { backend, baseUrl: job.baseUrl, port: sqlPort() }) }
    },
    drop: async ({ job }) => {
      await workspaces.remove(job.input as Pick<Workspace, 'projectId' | 'id'>, job) // written by the routes of this module
      return { results: null }
    },
  }
}
