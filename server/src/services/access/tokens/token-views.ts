// The bodies of requests for tokens, and their views (spec storage 2.2).

import { Type } from 'typebox'
import { optionalFlag, optionalText } from '../../../http/parameters.ts'
import { CreatorToken, Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { Role } from '../../../model/actor.ts'
import type { Admin } from '../../../model/admin.ts'
import type { Token } from './tokens.store.ts'
import { adminOf, type Tokens } from './tokens.ts'

export const TokenBody = Type.Object(
  {
    description: optionalText('Purpose of the token.'),
    expiresIn: Type.Optional(Type.Integer({ description: 'Seconds until the token expires.' })),
    canManageBuckets: optionalFlag('Can create and delete buckets, and use all of them.'),
    canManageTokens: optionalFlag('Can create, change and delete tokens.'),
    canReadAllFileUploads: optionalFlag('Can read files that other tokens uploaded.'),
    canPurgeTrash: optionalFlag('Can delete configurations permanently.'),
    canManageProtectedDefaultBranch: optionalFlag('Stored and returned; not used on this stack.'),
    canCreateJobs: optionalFlag('Stored and returned; not used on this stack.'),
    canReadAllProjectEvents: optionalFlag('Can read events that other tokens caused.'),
    canManageDevBranches: optionalFlag('Can create and delete branches.'),
    onlyProposes: optionalFlag(
      'For agents: changes go to a separate branch, and a person accepts or refuses them. All other changes are refused.',
    ),
    // An empty PHP map arrives as [].
    bucketPermissions: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.String()), Type.Array(Type.Never())], {
        description: 'Id of a bucket to `read` or `write`.',
        examples: [{ 'in.c-main': 'read' }],
      }),
    ),
    componentAccess: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { description: 'Components whose configurations it may use.' }),
    ),
  },
  { title: 'TokenRequest' },
)

export const OnlyGivenBuckets = optionalFlag(
  'True: `bucketPermissions` has only buckets that were given to the token one by one, and not every bucket of the project for a token that has rights to all of them.',
)

export const TokenView = Type.Object(
  {
    id: Type.String(),
    token: Type.Optional(Type.String({ description: 'Plain value; returned only when it is created or refreshed.' })),
    description: Type.String(),
    created: Timestamp,
    refreshed: Timestamp,
    uri: Type.String(),
    isMasterToken: Type.Boolean(),
    expires: Type.Union([Timestamp, Type.Null()]),
    isExpired: Type.Boolean(),
    isDisabled: Type.Boolean(),
    lastUsed: Type.Optional(
      Type.Union([Timestamp, Type.Null()], {
        description: 'Last use, to the minute; null if it was never used. In the list and in the detail.',
      }),
    ),
    creatorToken: Type.Optional(CreatorToken),
    admin: Type.Optional(
      Type.Object(
        { id: Type.Integer(), name: Type.String(), role: Type.String() },
        { description: 'Owner of the token: a user, or the master token.' },
      ),
    ),
    bucketPermissions: Type.Record(Type.String(), Type.String()),
    componentAccess: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Token' },
)

export const tokenViews = (tokens: Tokens) =>
  async function view(
    token: Token,
    baseUrl: string,
    { owners, onlyGivenBuckets = false }: { owners?: ReadonlyMap<number, Admin>; onlyGivenBuckets?: boolean | undefined } = {},
  ) {
    const admins = owners ?? (await tokens.adminOwners(token.projectId))
    const { componentAccess, bucketPermissions: given, ...flags } = token.permissions
    return {
      id: String(token.id),
      description: token.description,
      created: formatTimestamp(token.createdAt),
      refreshed: formatTimestamp(token.refreshedAt),
      uri: `${baseUrl}/v2/storage/tokens/${token.id}`,
      isMasterToken: token.isMasterToken || token.person !== undefined, // as clients expect of people, whatever their role
      ...flags,
      expires: token.expiresAt ? formatTimestamp(token.expiresAt) : null,
      isExpired: tokens.isExpired(token),
      isDisabled: token.isDisabled,
      dailyCapacity: 0,
      bucketPermissions: onlyGivenBuckets ? given : await tokens.bucketPermissionsOf(token),
      ...(token.creatorToken && { creatorToken: token.creatorToken }),
      adminOwner: adminOf(token) ?? admins.get(token.creatorToken?.id ?? -1) ?? null,
      ...(componentAccess && { componentAccess: [...componentAccess] }),
      ...adminView(token),
    }
  }

export const withLastUse = <View>(view: View, { lastUsedAt }: Token) => ({
  ...view,
  lastUsed: lastUsedAt ? formatTimestamp(lastUsedAt) : null,
})

/** Roles by the names that clients expect (corrections-2, A8). */
const PUBLIC_ROLES: Readonly<Record<Role, string>> = { viewer: 'readOnly', editor: 'guest', admin: 'admin' }

function adminView(token: Token) {
  const admin = adminOf(token)
  if (!admin) return {}
  const { id, name, email } = admin
  const role = PUBLIC_ROLES[token.person?.role ?? 'admin']
  const constant = { features: [], isOrganizationMember: true, isActivated: true, samlParameters: null }
  return { admin: { id, name, ...(email !== null && { email }), role, ...constant } }
}

export function requestFrom({ bucketPermissions, ...body }: Type.Static<typeof TokenBody>) {
  return { ...body, ...(bucketPermissions && !Array.isArray(bucketPermissions) && { bucketPermissions }) }
}
