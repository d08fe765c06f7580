// Somebody who may do everything in a project, for tests that speak to rules and not to HTTP.

import type { Actor } from '../../server/src/model/actor.ts'

export const masterActor = (projectId: number): Actor => ({
  projectId,
  tokenId: 1,
  tokenDescription: 'test',
  isMasterToken: true,
  canManageBuckets: true,
  canManageTokens: true,
  canReadAllFileUploads: true,
  canPurgeTrash: true,
  canReadAllProjectEvents: true,
  canManageDevBranches: true,
  bucketPermissions: {},
  componentAccess: [],
})
