// The addresses of apps.

/** Where people who are signed in open an app. */
export const appPath = (id: number): string => `/data-apps/${id}`

/** Where clients of git find the repository that the stack hosts for an app. */
export const repositoryPath = (id: number | string): string => `/git/data-apps/${id}.git`

const REPOSITORY = /^\/git\/data-apps\/(\d{1,15})\.git\/?$/

export interface RepositoryPlace {
  /** Of the app whose repository it is. */
  readonly id: string
  /** False: at another address, which may be another stack, or another name of this one. */
  readonly isHere: boolean
}

/** Undefined: no stack has a repository of an app there. */
export function repositoryAt(address: string, baseUrl: string): RepositoryPlace | undefined {
  const url = URL.parse(address)
  const id = REPOSITORY.exec(url?.pathname ?? '')?.[1]
  return id === undefined ? undefined : { id, isHere: url?.origin === new URL(baseUrl).origin }
}

/** The URL of the app itself, for holders of the link. */
export const linkPath = (id: number, link: string): string => `${appPath(id)}/~${link}/`
