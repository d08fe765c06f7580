// The addresses of the console. The whole state of a screen is in its address: tab, filter, sort, page, selected row.

import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { ComponentsScreen } from './screens/components.tsx'
import { ConfigurationScreen } from './screens/configuration.tsx'
import { FilesScreen } from './screens/files.tsx'
import { HomeScreen } from './screens/home.tsx'
import { JobScreen } from './screens/job.tsx'
import { JobsScreen } from './screens/jobs.tsx'
import { NotFound } from './screens/not-found.tsx'
import { SchedulesScreen } from './screens/schedules.tsx'
import { SqlScreen } from './screens/sql.tsx'
import { StorageScreen } from './screens/storage.tsx'
import { TableScreen } from './screens/table.tsx'
import { TokensScreen } from './screens/tokens.tsx'
import { TryScreen } from './screens/try.tsx'
import { UploadScreen } from './screens/upload.tsx'
import { ScreenFailed } from './shell/screen-failed.tsx'
import { Shell } from './shell/shell.tsx'

/** Text parameters of an address, each left out when it is empty. */
const texts =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): { [P in K]?: string } =>
    Object.fromEntries(
      names.filter((name) => search[name] !== undefined && search[name] !== '').map((name) => [name, String(search[name])]),
    ) as { [P in K]?: string }

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: ScreenFailed })
const route = <P extends string>(path: P, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component, errorComponent: ScreenFailed })

const homeRoute = route('/', HomeScreen)
const storageRoute = createRoute({
  getParentRoute: () => root,
  path: '/storage',
  component: StorageScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('q', 'sort', 'stage'),
})
const tableRoute = createRoute({
  getParentRoute: () => root,
  path: '/storage/$tableId',
  component: TableScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('tab', 'column', 'value', 'sort', 'order'),
})
const filesRoute = createRoute({
  getParentRoute: () => root,
  path: '/files',
  component: FilesScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('q', 'tag'),
})
const uploadRoute = createRoute({
  getParentRoute: () => root,
  path: '/upload',
  component: UploadScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('table'),
})
const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  component: JobsScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('status', 'component', 'config', 'page'),
})
const jobRoute = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$jobId',
  component: JobScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('level', 'q'),
})
const componentsRoute = createRoute({
  getParentRoute: () => root,
  path: '/components',
  component: ComponentsScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('q'),
})
const configurationRoute = createRoute({
  getParentRoute: () => root,
  path: '/components/$componentId/$configurationId',
  component: ConfigurationScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('tab', 'row', 'version'),
})
const sqlRoute = route('/sql', SqlScreen)
const tryRoute = createRoute({
  getParentRoute: () => root,
  path: '/try',
  component: TryScreen,
  errorComponent: ScreenFailed,
  validateSearch: texts('first', 'broken', 'repaired'),
})
const schedulesRoute = route('/schedules', SchedulesScreen)
const tokensRoute = route('/tokens', TokensScreen)

export const router = createRouter({
  routeTree: root.addChildren([
    homeRoute,
    storageRoute,
    tableRoute,
    filesRoute,
    uploadRoute,
    jobsRoute,
    jobRoute,
    componentsRoute,
    configurationRoute,
    schedulesRoute,
    tokensRoute,
    sqlRoute,
    tryRoute,
  ]),
  basepath: '/console',
  defaultPreload: false,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
