// A person who is signed in, or whose manage token was presented.

import type { Actor } from './actor.ts'

export interface Person {
  readonly id: number
  readonly name: string
  readonly email: string
  readonly isStackAdmin: boolean
  /** Undefined: a manage token represents the person. */
  readonly sessionId: number | undefined
}

/** How http/ finds out who a person is, and what they may do in a project. */
export interface PersonFinder {
  ofSession(value: string): Person | undefined | Promise<Person | undefined>
  ofManageToken(value: string): Promise<Person | undefined>
  /** `projectId` undefined: the only project that the person belongs to. Throws a PlatformError when there is none. */
  actorOf(person: Person, projectId: number | undefined): Promise<Actor>
}
