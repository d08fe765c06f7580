// How people, sessions and members are shown.

import { Type } from 'typebox'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { Role } from '../../../model/actor.ts'
import type { Member } from '../../../model/members.ts'
import type { LinkRecord, ManageTokenRecord, PersonRecord, SessionRecord } from './people.store.ts'

export const RoleSchema = Type.Union([Type.Literal('viewer'), Type.Literal('editor'), Type.Literal('admin')], {
  description: '`viewer` can read, `editor` can also change, `admin` can also manage tokens and users.',
})

export const PersonView = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    email: Type.String(),
    isStackAdmin: Type.Boolean({ description: 'Manages projects and users of the whole stack.' }),
  },
  { title: 'Person' },
)

export const personView = ({ id, name, email, isStackAdmin }: Pick<PersonRecord, 'id' | 'name' | 'email' | 'isStackAdmin'>) => ({
  id,
  name,
  email,
  isStackAdmin,
})

export const AccountView = Type.Object(
  {
    ...PersonView.properties,
    hasPassword: Type.Boolean(),
    hasAuthenticator: Type.Boolean(),
    recoveryCodesLeft: Type.Integer(),
    created: Timestamp,
    projects: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), role: RoleSchema }), {
      description: 'Send the id of one of them in the header X-KBC-ProjectId.',
    }),
  },
  { title: 'Account' },
)

type Projects = readonly { readonly id: number; readonly name: string; readonly role: Role }[]

export const accountView = (person: PersonRecord, projects: Projects) => ({
  ...personView(person),
  hasPassword: person.password !== undefined,
  hasAuthenticator: person.totp !== undefined,
  recoveryCodesLeft: person.recoveryCodes.length,
  created: formatTimestamp(person.createdAt),
  projects: [...projects],
})

export const SessionView = Type.Object(
  {
    id: Type.Integer(),
    method: Type.String({ description: '`password`, `link` or `oidc`.' }),
    address: Type.Union([Type.String(), Type.Null()]),
    userAgent: Type.Union([Type.String(), Type.Null()]),
    created: Timestamp,
    lastSeen: Timestamp,
    expires: Timestamp,
    isCurrent: Type.Boolean({ description: 'The session of this request.' }),
  },
  { title: 'Session' },
)

export const sessionView = (session: SessionRecord, currentId: number | undefined) => ({
  id: session.id,
  method: session.method,
  address: session.address,
  userAgent: session.userAgent,
  created: formatTimestamp(session.createdAt),
  lastSeen: formatTimestamp(session.seenAt),
  expires: formatTimestamp(session.expiresAt),
  isCurrent: session.id === currentId,
})

/** A user of a project in the public shape. */
export const MemberView = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the user.' }),
    name: Type.String(),
    email: Type.String(),
    role: RoleSchema,
    status: Type.String({ description: '`active`.' }),
    created: Timestamp,
    tokenId: Type.Integer({
      description: 'The token that represents the user: versions, events and jobs show its id and their name.',
    }),
    isAutomatic: Type.Boolean({ description: 'True: a stack admin who opened the project.' }),
  },
  { title: 'ProjectUser' },
)

export const memberView = (member: Member) => ({
  id: member.personId,
  name: member.name,
  email: member.email,
  mfaEnabled: false,
  role: member.role,
  status: 'active',
  created: formatTimestamp(member.since),
  expires: null,
  reason: '',
  tokenId: member.tokenId,
  isAutomatic: member.isAutomatic,
})

export const InvitationView = Type.Object(
  {
    id: Type.Integer(),
    email: Type.String(),
    role: RoleSchema,
    created: Timestamp,
    expires: Timestamp,
    creator: Type.Object({ name: Type.String() }),
    link: Type.Optional(Type.String({ description: 'Pass it to the user; only in the response that creates it.' })),
    isMailed: Type.Optional(Type.Boolean({ description: 'Whether a mail with the link was sent.' })),
  },
  { title: 'Invitation' },
)

export const invitationView = ({ id, email, role, createdAt, expiresAt, creator }: LinkRecord) => ({
  id,
  email: email ?? '',
  role: role ?? 'viewer',
  created: formatTimestamp(createdAt),
  expires: formatTimestamp(expiresAt),
  creator: { name: creator ?? '' },
})

export const ManageTokenView = Type.Object(
  {
    id: Type.Integer(),
    description: Type.String(),
    created: Timestamp,
    expires: Type.Union([Timestamp, Type.Null()]),
    token: Type.Optional(Type.String({ description: 'Plain value; returned only when it is created.' })),
  },
  { title: 'ManageToken' },
)

export const manageTokenView = ({ id, description, createdAt, expiresAt }: ManageTokenRecord) => ({
  id,
  description,
  created: formatTimestamp(createdAt),
  expires: expiresAt ? formatTimestamp(expiresAt) : null,
})
