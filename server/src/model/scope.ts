// For whom and in which branch something is read or changed.

import type { Actor } from './actor.ts'

export interface Scope {
  readonly actor: Actor
  readonly branch: {
    readonly id: number
    readonly isDefault: boolean
    /** A development branch that shows its own buckets, tables and files only, and not those of the default branch it lacks. */
    readonly isOwnOnly?: boolean
  }
}

/** A different text for each caller, set of permissions and branch. */
export const readerOf = ({ actor, branch }: Scope): string => JSON.stringify([actor, branch.id, branch.isOwnOnly === true])
