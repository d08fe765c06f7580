// Who belongs to a project, and as what: the port between people and the tokens that represent them.

import type { Trx } from '../engines/metadata-db/dialects.ts'
import type { Role } from './actor.ts'
import type { EventSource, Origin } from './event.ts'

export interface Member {
  readonly projectId: number
  /** Of the token that represents the person in the project. */
  readonly tokenId: number
  readonly personId: number
  readonly name: string
  readonly email: string
  readonly role: Role
  /** A stack admin who opened the project without being added as a member. */
  readonly isAutomatic: boolean
  readonly since: Date
}

export interface NewMember {
  readonly projectId: number
  readonly person: { readonly id: number; readonly name: string; readonly email: string }
  readonly role: Role
  readonly isAutomatic?: boolean
}

/** Who does it, and from where; without a source the member does it. */
export interface By {
  readonly source?: EventSource | undefined
  readonly origin?: Origin | undefined
}

export interface Members {
  join(trx: Trx, member: NewMember, by: By): Promise<Member>
  changeRole(trx: Trx, projectId: number, personId: number, role: Role, by: By): Promise<Member>
  leave(trx: Trx, projectId: number, personId: number, by: By): Promise<void>
  /** Deletes the tokens that the person made for scripts in the project, and those that were made with these. */
  endTokensMadeBy(trx: Trx, member: Pick<Member, 'projectId' | 'tokenId' | 'name'>, by: By): Promise<void>
  /** In every project of the person. */
  rename(trx: Trx, personId: number, person: { readonly name: string; readonly email: string }): Promise<void>
  find(projectId: number, personId: number, trx?: Trx): Promise<Member | undefined>
  ofPerson(personId: number, trx?: Trx): Promise<Member[]>
  inProject(projectId: number): Promise<Member[]>
}

/** What a member does is recorded under their token. */
export const sourceOf = ({ projectId, tokenId, name }: Member): EventSource => ({ projectId, tokenId, tokenDescription: name })
