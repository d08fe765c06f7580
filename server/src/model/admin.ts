// An admin that can be named across projects: a user, or the master token of a project. Both take their ids from one space.

export interface Admin {
  readonly id: number
  readonly name: string
  /** A master token has none. */
  readonly email: string | null
}
