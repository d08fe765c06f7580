// The addresses of apps.

/** Where people who are signed in open an app. */
export const appPath = (id: number): string => `/data-apps/${id}`

/** Where clients of git find the repository that the stack hosts for an app. */
export const repositoryPath = (id: number | string): string => `/git/data-apps/${id}.git`

const REPOSITORY = /^\/git\/data-apps\/(\d{1,15})\.git\/?$/

/** The id of the app whose repository is at this address of this stack. */
export function repositoryIdAt(address: string, baseUrl: string): string | undefined {
  const url = URL.parse(address)
  return url?.origin === new URL(baseUrl).origin ? REPOSITORY.exec(url.pathname)?.[1] : undefined
}

/** Where the app itself is, for whoever has the link. */
export const linkPath = (id: number, link: string): string => `${appPath(id)}/~${link}/`
