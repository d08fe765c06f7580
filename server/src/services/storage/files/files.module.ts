import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { createEgress } from '../../../engines/egress/egress.ts'
import { createWaitForStore } from '../../../engines/object-store/wait-for-store.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import type { Origin } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ObjectsModule } from '../s3/s3.module.ts'
import type { StorageJobsModule } from '../storage-jobs/storage-jobs.module.ts'
import type { UsageModule } from '../usage/usage.module.ts'
import { createFetchFile } from './fetch-file.ts'
import { fileHeadRoutes } from './file-head.routes.ts'
import { createFileHeads } from './file-head.ts'
import { createFileSlices } from './file-slices.ts'
import { fileView } from './file-view.ts'
import { createFilesLoop } from './files.loop.ts'
import { filesRoutes } from './files.routes.ts'
import type { FileRecord } from './files.store.ts'
import { createFiles, type Files } from './files.ts'
import { importerRoutes } from './importer.routes.ts'
import { createFileOpener } from './open-file.ts'
import { createRunFiles } from './run-files.ts'

export interface FilesModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly tokens: TokensModule
  readonly usage: UsageModule
  readonly branches: BranchesModule
  readonly storageJobs: StorageJobsModule
  readonly egressAllow: readonly string[]
  /** How long runs wait for an object store that does not answer. */
  readonly storeWaitMs: number
}

export type FilesModule = ReturnType<typeof createFilesModule>

export function createFilesModule(deps: FilesModuleDeps) {
  const { core, objects, tokens, usage, branches, storageJobs, egressAllow, storeWaitMs } = deps
  const { db, inTransaction, clock, log, recordEvent, subscribe } = core
  const { store, access } = objects
  const waitForStore = createWaitForStore(storeWaitMs)
  const files = createFiles({
    db,
    inTransaction,
    clock,
    objects: store,
    access,
    recordEvent,
    providerOf: tokens.fileProviderOf,
    usage: usage.port,
  })
  const loop = createFilesLoop({
    files,
    objects: store,
    inTransaction,
    clock,
    onError: (err) => log.error({ err }, 'the sweep of files failed; it runs again later'),
  })
  const slices = createFileSlices(store, access)
  const fetchFile = createFetchFile({
    open: createEgress({ policy: egressPolicyFrom(egressAllow) }).open,
    upload: files.upload,
  })
  const viewFor = ({ baseUrl }: { readonly baseUrl: string }, file: FileRecord) =>
    fileView(file, files.link(file, access.endpointFor(baseUrl)), access.region)

  subscribe('project.measured', (projectId, at) => files.store.usageOfProject(projectId, at))
  subscribe('project.removed', files.removeBytesOfProject)
  subscribe('branch.deleted', (trx, { projectId, id }) => files.deleteOfBranch(trx, projectId, id))
  subscribe('branch.removed', files.removeBytesOfBranch)

  return defineModule({
    name: 'files',
    routes: [
      filesRoutes({ files, access, createJob: storageJobs.create }),
      fileHeadRoutes({ heads: createFileHeads({ getFile: files.get, slices, objects: store }) }),
      importerRoutes({
        uploadFile: async (request, { filename, body, fields }) =>
          viewFor(request, await files.upload(request.actor, filename, body, fields, request.origin)),
        getBranch: branches.get,
        fetchFile: async (request, body, gone) => viewFor(request, await fetchFile(request.actor, body, request.origin, gone)),
      }),
    ],
    lightJobHandlers: { fileDelete: files.runDelete },
    background: [{ start: loop.start, stop: loop.stop }],
    ...files,
    loop,
    slices,
    open: createFileOpener(files, slices),
    /** What has become of files that events name. */
    statesAt: (actor: Actor, ids: readonly number[], baseUrl: string) => files.statesOf(actor, ids, access.endpointFor(baseUrl)),
    /** Keeps bytes as a file of the project, and returns its id. */
    save: async (
      { actor, branch }: Scope,
      name: string,
      bytes: Parameters<Files['upload']>[2],
      origin: Origin,
      tags: readonly string[] = [],
    ): Promise<number> => (await files.upload(actor, name, bytes, async () => ({ name, tags, branch }), origin)).id,
    /** For the job runner: files as a run of a component sees them. */
    runFiles: createRunFiles({ files, access, slices, objects: store, waitForStore }),
    waitForStore,
  })
}
