// Somebody who can be named across projects: a person, or the master token of a project. The ids of both are of one space.

export interface Admin {
  readonly id: number
  readonly name: string
  /** A master token has none. */
  readonly email: string | null
}
