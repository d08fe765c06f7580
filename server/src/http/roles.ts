// Which role of a person a route asks for: the check and the API document both read it here.

import type { Role } from '../model/actor.ts'

/**
 * What a route asks of the token: any valid one, a master token, one permission, or nothing at all. A person's session stands for the token
 * of that person in the project. `person` and `session` are about people and not about a project: the first also takes a manage token.
 */
export type Needs = 'nothing' | 'token' | 'master' | 'canManageTokens' | 'canManageBuckets' | 'components' | 'person' | 'session'

/** From the least to the most. A stack admin is an admin of every project. */
export const ROLES = ['viewer', 'editor', 'admin', 'stack admin'] as const
export type MinimumRole = (typeof ROLES)[number]

export interface RouteRights {
  readonly needs?: Needs | undefined
  readonly onlyReads?: true | undefined
  readonly role?: MinimumRole | undefined
}

export const mayChange = (method: string, { onlyReads }: RouteRights): boolean =>
  method !== 'GET' && method !== 'HEAD' && !onlyReads

/** Undefined: open to everybody, or about the caller's own account. */
export function minimumRole(method: string, route: RouteRights): MinimumRole | undefined {
  const { needs = 'token', role } = route
  if (role) return role
  if (needs === 'nothing' || needs === 'person' || needs === 'session') return undefined
  if (needs === 'canManageTokens') return 'admin'
  return mayChange(method, route) || needs === 'canManageBuckets' || needs === 'master' ? 'editor' : 'viewer'
}

export const isBelow = (own: Role, asked: MinimumRole | undefined): boolean =>
  asked !== undefined && ROLES.indexOf(own) < ROLES.indexOf(asked)
