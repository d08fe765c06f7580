// The role that a route requires of a person: the check and the API document both read it here.

import { PlatformError } from '../kit/errors.ts'
import type { Role } from '../model/actor.ts'
import type { Needs } from './rights.ts'

/** From the least to the most. A stack admin is an admin of every project. */
export const ROLES = ['viewer', 'editor', 'admin', 'stack admin'] as const
export type MinimumRole = (typeof ROLES)[number]

export interface RouteRights {
  readonly needs: Needs
  readonly onlyReads?: true | undefined
  readonly role?: MinimumRole | undefined
}

export const mayChange = (method: string, { onlyReads }: RouteRights): boolean =>
  method !== 'GET' && method !== 'HEAD' && !onlyReads

/** Clients compare the first sentence and its code (corrections-2, A8). */
export const viewerRefused = (): PlatformError =>
  new PlatformError(
    'accessDenied',
    {},
    {
      text: "You don't have access to the resource. Your role in this project is viewer, which is read-only; an admin of the project can make you an editor.",
    },
  )

/** Undefined: public, or about the caller's own account. */
export function minimumRole(method: string, route: RouteRights): MinimumRole | undefined {
  const { needs, role } = route
  if (role) return role
  if (needs === 'nothing' || needs === 'person' || needs === 'session') return undefined
  if (needs === 'canManageTokens') return 'admin'
  return mayChange(method, route) || needs === 'canManageBuckets' || needs === 'master' ? 'editor' : 'viewer'
}

export const isBelow = (own: Role, asked: MinimumRole | undefined): boolean =>
  asked !== undefined && ROLES.indexOf(own) < ROLES.indexOf(asked)
