// What the role of a person allows, by the lowest role that the API document names for an operation. The stack decides; this only says it
// before a request is refused. The rights of a token are not known here.

import type { OperationName } from '../../client/src/client.ts'
import { LOWEST_ROLES } from '../../client/src/operations.ts'
import { type Session, useSession } from './session.ts'

const RANKS = ['viewer', 'editor', 'admin']

/** The role of the person in the project of this tab; undefined for tokens. */
const roleOf = (session: Session): string | undefined =>
  session.kind === 'person' ? session.account.projects.find(({ id }) => id === session.projectId)?.role : undefined

export const useRole = (): string | undefined => roleOf(useSession())

/** Why the person may not call an operation; undefined for those who may. */
export function useRefusal(operation: OperationName | undefined): string | undefined {
  const session = useSession()
  if (operation === undefined || session.kind !== 'person' || !(operation in LOWEST_ROLES)) return undefined
  const needed: string = LOWEST_ROLES[operation as keyof typeof LOWEST_ROLES] // as was just looked up
  if (session.account.isStackAdmin) return undefined // an admin of every project
  if (needed === 'stack admin') return 'This requires an admin of the stack.'
  const role = roleOf(session)
  if (role === undefined || RANKS.indexOf(role) >= RANKS.indexOf(needed)) return undefined
  return `This requires the role ${needed}. Your role in this project is ${role}.`
}
