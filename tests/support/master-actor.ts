// An actor with all rights in a project, for tests that call rules and not HTTP.

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
