// The right that each route declares as `config.needs`: the check, the API document and docs/rights.md all read this list.
//
// `admits` is what can be decided from the token alone, before the request reaches its module. Where `where` names an object, the module
// that owns the object also compares it with the token: a token with one bucket is admitted here, and refused there for another bucket.
// tests/conformance/rights.test.ts compares both with what every route answers.

import { type Actor, type BucketPermission, mayChangeEverything, seesWholeProject } from '../model/actor.ts'

interface Right {
  /** For the API document, after "Required right: `name`." */
  readonly sentence: string
  readonly admits: (actor: Actor) => boolean
}

const LEVELS: readonly BucketPermission[] = ['read', 'write', 'manage']

/** Some bucket with this permission or a higher one. */
const hasBucket = (actor: Actor, min: BucketPermission): boolean =>
  seesWholeProject(actor) ||
  Object.values(actor.bucketPermissions).some((permission) => LEVELS.indexOf(permission) >= LEVELS.indexOf(min))

const hasComponent = (actor: Actor): boolean => seesWholeProject(actor) || actor.componentAccess.length > 0

const any = (): boolean => true

export const RIGHTS = {
  nothing: { sentence: 'No token is required.', admits: any },
  session: { sentence: 'A signed-in user, for their own account.', admits: any },
  person: { sentence: 'A signed-in user or a manage token, with the lowest role given.', admits: any },
  token: { sentence: 'Any token of the project. Lists contain only objects that the token can read.', admits: any },
  newToken: {
    sentence: 'Any token, to create a token with only a description and an expiry; canManageTokens for tokens with permissions.',
    admits: any,
  },
  ownToken: { sentence: 'The token itself; canManageTokens for other tokens.', admits: any },
  ownFile: {
    sentence:
      'The token that created the file. canReadAllFileUploads reads all files, read permission of a bucket reads the exports of its tables, and a master token changes all files.',
    admits: any,
  },
  ownEvent: {
    sentence: 'The token that caused the event, or read permission of its bucket; canReadAllProjectEvents reads all events.',
    admits: any,
  },
  ownJob: {
    sentence: 'The token that started the job, read permission of the bucket, or access to the component that it runs.',
    admits: any,
  },
  grant: {
    sentence: 'A token with at least one bucket or component.',
    admits: (actor) => hasBucket(actor, 'read') || hasComponent(actor),
  },
  workspace: {
    sentence:
      'A token with at least one bucket or component that created the object; canManageBuckets for objects of other tokens.',
    admits: (actor) => hasBucket(actor, 'read') || hasComponent(actor),
  },
  sandbox: {
    sentence:
      'A token with at least one bucket or component that created the object; a master token for objects of other tokens.',
    admits: (actor) => hasBucket(actor, 'read') || hasComponent(actor),
  },
  bucketRead: { sentence: 'Read permission of the bucket.', admits: (actor) => hasBucket(actor, 'read') },
  bucketWrite: { sentence: 'Write permission of the bucket.', admits: (actor) => hasBucket(actor, 'write') },
  bucketManage: { sentence: 'Manage permission of the bucket.', admits: (actor) => hasBucket(actor, 'manage') },
  catalogueRead: {
    sentence: 'Read permission of the bucket; for the namespace `run`, the token of the Spark run.',
    admits: any,
  },
  catalogueWrite: {
    sentence: 'Write permission of the bucket; for the namespace `run`, the token of the Spark run.',
    admits: any,
  },
  component: { sentence: 'Access to the component, or canManageBuckets.', admits: hasComponent },
  trigger: {
    sentence: 'Access to the component of the trigger, or canManageBuckets, else 422; read permission of its tables.',
    admits: any,
  },
  project: {
    sentence: 'A token that reads the whole project: canManageBuckets, a master token or a user.',
    admits: seesWholeProject,
  },
  canManageBuckets: { sentence: 'canManageBuckets.', admits: (actor) => actor.canManageBuckets || mayChangeEverything(actor) },
  branchRead: {
    sentence: 'canManageDevBranches, or a token that reads the whole project.',
    admits: (actor) => actor.canManageDevBranches || seesWholeProject(actor),
  },
  branchDescribe: {
    sentence: 'canManageDevBranches, canManageBuckets or a master token.',
    admits: (actor) => actor.canManageDevBranches || actor.canManageBuckets || mayChangeEverything(actor),
  },
  proposal: {
    sentence:
      'The token that created the proposal; canManageDevBranches, or a token that reads the whole project, for other proposals.',
    admits: any,
  },
  ownProposal: { sentence: 'The token that created the proposal.', admits: any },
  canManageDevBranches: {
    sentence: 'canManageDevBranches, or a master token.',
    admits: (actor) => actor.canManageDevBranches || mayChangeEverything(actor),
  },
  canManageTokens: { sentence: 'canManageTokens.', admits: (actor) => actor.canManageTokens },
  master: { sentence: 'A master token.', admits: mayChangeEverything },
} as const satisfies Record<string, Right>

export type Needs = keyof typeof RIGHTS

export const mayUse = (actor: Actor, needs: Needs): boolean => RIGHTS[needs].admits(actor)
