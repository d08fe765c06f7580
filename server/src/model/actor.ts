// The caller and what its token may do. Every rule that depends on permissions calls these functions.

export type BucketPermission = 'read' | 'write' | 'manage'

/** What a person may do in a project: read, also change, also manage tokens and people. */
export type Role = 'viewer' | 'editor' | 'admin'

export interface Actor {
  readonly projectId: number
  readonly tokenId: number
  readonly tokenDescription: string
  readonly isMasterToken: boolean
  readonly canManageBuckets: boolean
  readonly canManageTokens: boolean
  readonly canReadAllFileUploads: boolean
  readonly canPurgeTrash: boolean
  readonly canReadAllProjectEvents: boolean
  readonly canManageDevBranches: boolean
  readonly bucketPermissions: Readonly<Record<string, BucketPermission>>
  /** Component ids this token may configure; empty means none beyond what canManageBuckets gives. */
  readonly componentAccess: readonly string[]
  /**
   * Who the token is: the id of a person, or that of the project's master token, both of one space (`admin.id` in the API). The tokens of
   * scripts have none: neither the description nor the id of a token identifies a user.
   */
  readonly adminId?: number | undefined
  /**
   * The person behind the token: whose it is, or who made it, if only by other tokens. What one person must not do twice is compared by
   * this; it gives no rights.
   */
  readonly personId?: number | undefined
  /** Of a person; the tokens of scripts have none. */
  readonly role?: Role | undefined
  /** Changes go into a branch of its own, which a person accepts or refuses; http/server.ts enforces it. */
  readonly onlyProposes?: boolean | undefined
  /** What a person allowed an agent that they signed in; other tokens have none. */
  readonly agentScope?: 'read' | 'propose' | 'write' | undefined
  /** Why the project is paused: then it is read, and nothing changes. */
  readonly pausedReason?: string | undefined
}

/** The embedded object that records show for who made them. */
export const creatorTokenOf = (actor: Actor) => ({ id: actor.tokenId, description: actor.tokenDescription })

export const isAdmin = (actor: Actor): boolean => actor.isMasterToken

/** Everything of buckets and components is open to these tokens; others see what was given to them, and what they made themselves. */
export const seesWholeProject = (actor: Actor): boolean =>
  actor.isMasterToken || actor.canManageBuckets || actor.role === 'viewer' // http/ refuses what would change something

/** Callers that may change everything except tokens and users: master tokens, admins and editors. */
export const mayChangeEverything = (actor: Actor): boolean => actor.isMasterToken || actor.role === 'editor'

export function bucketPermissionOf(actor: Actor, bucketId: string): BucketPermission | undefined {
  if (actor.role === 'viewer') return 'read'
  if (seesWholeProject(actor)) return 'manage'
  return Object.hasOwn(actor.bucketPermissions, bucketId) ? actor.bucketPermissions[bucketId] : undefined
}

/** The same for a table, which has the permissions of its bucket; also takes the id of a bucket. */
export const tablePermissionOf = (actor: Actor, tableId: string): BucketPermission | undefined =>
  bucketPermissionOf(actor, tableId.split('.').slice(0, 2).join('.'))

/**
 * Component and configuration routes are open to master tokens, to tokens that manage buckets, and to tokens given that component.
 * Both the token and the request may name it by an alias; `canonicalId` brings the two together.
 */
export const canUseComponent = (actor: Actor, componentId: string, canonicalId: (id: string) => string = (id) => id): boolean =>
  seesWholeProject(actor) || actor.componentAccess.some((allowed) => canonicalId(allowed) === canonicalId(componentId))
