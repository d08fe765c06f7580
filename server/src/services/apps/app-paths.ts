// The addresses of apps.

/** Where people who are signed in open an app. */
export const appPath = (id: number): string => `/data-apps/${id}`

/** Where the app itself is, for whoever has the link. */
export const linkPath = (id: number, link: string): string => `${appPath(id)}/~${link}/`
