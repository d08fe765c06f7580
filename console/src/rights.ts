// What the caller may do: for people by the lowest role that the API document names for an operation, for tokens by the right that it
// requires. The stack decides; this only shows it before a request is refused.

import { createContext, useContext } from 'react'
import type { OperationName } from '../../client/src/client.ts'
import { LOWEST_ROLES, REQUIRED_RIGHTS, type Token } from '../../client/src/operations.ts'
import { useMe } from './facts/me.ts'
import { type Session, useSession } from './session.ts'

const RANKS = ['viewer', 'editor', 'admin']

/** The role of the person in the project of this tab; undefined for tokens. */
const roleOf = (session: Session): string | undefined =>
  session.kind === 'person' ? session.account.projects.find(({ id }) => id === session.projectId)?.role : undefined

export const useRole = (): string | undefined => roleOf(useSession())

/** What the actions of a screen are about: tokens have rights of single buckets and components. */
export interface Subject {
  readonly bucketId?: string
  readonly componentId?: string
}

export const RightsSubject = createContext<Subject>({})

/** Why the caller may not call an operation; undefined for those who may. */
export function useRefusal(operation: OperationName | undefined): string | undefined {
  const session = useSession()
  const subject = useContext(RightsSubject)
  const token = useMe(session.kind === 'token')
  if (operation === undefined) return undefined
  if (session.kind === 'person') return refusalOfPerson(session, operation)
  return token ? refusalOfToken(token, operation, subject) : undefined
}

function refusalOfPerson(session: Session & { readonly kind: 'person' }, operation: OperationName): string | undefined {
  if (!(operation in LOWEST_ROLES)) return undefined
  const needed: string = LOWEST_ROLES[operation as keyof typeof LOWEST_ROLES] // as was just looked up
  if (session.account.isStackAdmin) return undefined // an admin of every project
  if (needed === 'stack admin') return 'This requires an admin of the stack.'
  const role = roleOf(session)
  if (role === undefined || RANKS.indexOf(role) >= RANKS.indexOf(needed)) return undefined
  return `This requires the role ${needed}. Your role in this project is ${role}.`
}

/** A token may name a component by an alias without its vendor. */
const isNamed = (componentId: string) => (id: string) => id.split('.').at(-1) === componentId.split('.').at(-1)

/** As `RIGHTS` of the server; where the screen names no bucket or component, having any of them is enough. */
export function refusalOfToken(token: Token, operation: OperationName, { bucketId, componentId }: Subject): string | undefined {
  const right: string | undefined =
    operation in REQUIRED_RIGHTS ? REQUIRED_RIGHTS[operation as keyof typeof REQUIRED_RIGHTS] : undefined // as was just looked up
  const flags = token as Token & { readonly canManageBuckets?: boolean; readonly canManageDevBranches?: boolean } // described loosely
  const { isMasterToken, bucketPermissions, componentAccess = [] } = token
  const mayManage = isMasterToken || (flags.canManageBuckets ?? false)
  const refused = (isAllowed: boolean, needed: string) =>
    isAllowed ? undefined : `This requires ${needed}, which your token does not have.`
  const bucket = (levels: readonly string[], name: string) => {
    const own = bucketId === undefined ? Object.values(bucketPermissions) : [bucketPermissions[bucketId] ?? '']
    return refused(
      mayManage || own.some((level) => levels.includes(level)),
      `${name} permission of ${bucketId === undefined ? 'a bucket' : `the bucket ${bucketId}`}`,
    )
  }
  switch (right) {
    case undefined:
      return undefined
    case 'master':
      return isMasterToken ? undefined : 'This requires a master token.'
    case 'canManageBuckets':
    case 'project':
      return refused(mayManage, 'the right canManageBuckets')
    case 'canManageDevBranches':
      return refused(isMasterToken || (flags.canManageDevBranches ?? false), 'the right canManageDevBranches')
    case 'branchDescribe':
      return refused(mayManage || (flags.canManageDevBranches ?? false), 'the right canManageDevBranches')
    case 'component':
      return refused(
        mayManage || (componentId === undefined ? componentAccess.length > 0 : componentAccess.some(isNamed(componentId))),
        `access to ${componentId === undefined ? 'a component' : `the component ${componentId}`}`,
      )
    case 'bucketManage':
      return bucket(['manage'], 'manage')
    case 'bucketWrite':
    case 'catalogueWrite':
      return bucket(['write', 'manage'], 'write')
    case 'bucketRead':
      return bucket(['read', 'write', 'manage'], 'read')
    default:
      return refused(mayManage || Object.keys(bucketPermissions).length + componentAccess.length > 0, 'a bucket or a component')
  }
}
