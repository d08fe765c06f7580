// The addresses of the console. The whole state of a screen is in its address: tab, filter, sort, page, selected row.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from '@tanstack/react-router'
import { PeopleScreen } from './screens/access/people.tsx'
import { ProjectsScreen } from './screens/access/projects.tsx'
import { TokensScreen } from './screens/access/tokens.tsx'
import { ComponentsScreen } from './screens/components/components.tsx'
import { TemplatesScreen } from './screens/components/templates.tsx'
import { FlowsScreen } from './screens/flows/flows.tsx'
import { HelpScreen } from './screens/home/help.tsx'
import { HomeScreen } from './screens/home/home.tsx'
import { AccountMoved } from './screens/home/moved.tsx'
import { NotFound } from './screens/home/not-found.tsx'
import { TryScreen } from './screens/home/try.tsx'
import { DeliveriesScreen } from './screens/jobs/deliveries.tsx'
import { JobScreen } from './screens/jobs/job.tsx'
import { JobsScreen } from './screens/jobs/jobs.tsx'
import { NotificationsScreen } from './screens/project/notifications.tsx'
import { OperationsScreen } from './screens/project/operations.tsx'
import { UsageScreen } from './screens/project/usage.tsx'
import { SchedulesScreen } from './screens/schedules/schedules.tsx'
import { FilesScreen } from './screens/storage/files.tsx'
import { StorageScreen } from './screens/storage/storage.tsx'
import { StreamsScreen } from './screens/storage/streams.tsx'
import { UploadScreen } from './screens/storage/upload.tsx'
import { TableScreen } from './screens/table/table.tsx'
import { ScreenFailed } from './shell/screen-failed.tsx'
import { Shell } from './shell/shell.tsx'

/** Text parameters of an address, each left out when it is empty. */
const texts =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): { [P in K]?: string | undefined } =>
    Object.fromEntries(
      names.filter((name) => search[name] !== undefined && search[name] !== '').map((name) => [name, String(search[name])]),
    ) as { [P in K]?: string | undefined }

/** Editors are large and loaded when they are first opened. */
const ConfigurationScreen = lazyRouteComponent(() => import('./screens/configuration/configuration.tsx'), 'ConfigurationScreen')
const FlowScreen = lazyRouteComponent(() => import('./screens/flows/flow.tsx'), 'FlowScreen')
const BranchesScreen = lazyRouteComponent(() => import('./screens/project/branches.tsx'), 'BranchesScreen')
const BranchScreen = lazyRouteComponent(() => import('./screens/project/branches.tsx'), 'BranchScreen')
const SqlScreen = lazyRouteComponent(() => import('./screens/sql/sql.tsx'), 'SqlScreen')
const DashboardsScreen = lazyRouteComponent(() => import('./screens/dashboards/dashboards.tsx'), 'DashboardsScreen')
const DashboardScreen = lazyRouteComponent(() => import('./screens/dashboards/dashboard.tsx'), 'DashboardScreen')
const WorkspacesScreen = lazyRouteComponent(() => import('./screens/sql/workspaces.tsx'), 'WorkspacesScreen')
const AppsScreen = lazyRouteComponent(() => import('./screens/project/apps.tsx'), 'AppsScreen')
const AgentsScreen = lazyRouteComponent(() => import('./screens/agents/agents.tsx'), 'AgentsScreen')
const AuthorizeScreen = lazyRouteComponent(() => import('./screens/agents/authorize.tsx'), 'AuthorizeScreen')
const ProposalScreen = lazyRouteComponent(() => import('./screens/agents/proposal.tsx'), 'ProposalScreen')
const BucketScreen = lazyRouteComponent(() => import('./screens/storage/bucket.tsx'), 'BucketScreen')
const SettingsScreen = lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'SettingsScreen')
const VaultScreen = lazyRouteComponent(() => import('./screens/components/vault.tsx'), 'VaultScreen')
const BuilderScreen = lazyRouteComponent(() => import('./screens/builder/builder.tsx'), 'BuilderScreen')

/** The development branch that every screen works in; links keep it. */
const branchOf = ({ branch }: Record<string, unknown>): { branch?: number | undefined } =>
  Number.isSafeInteger(branch) ? { branch: Number(branch) } : {}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: branchOf,
  search: { middlewares: [retainSearchParams(['branch'])] },
})
/** A screen; `names` are the parameters that its address carries. */
const route = <P extends string, K extends string = never>(path: P, component: RouteComponent, ...names: readonly K[]) =>
  createRoute({ getParentRoute: () => root, path, component, validateSearch: texts(...names) })

export const router = createRouter({
  routeTree: root.addChildren([
    route('/', HomeScreen),
    route('/storage', StorageScreen, 'q', 'sort', 'size', 'age', 'favourite'),
    route(
      '/storage/$tableId',
      TableScreen,
      'tab',
      'column',
      'op',
      'value',
      'and',
      'q',
      'sort',
      'order',
      'page',
      'hide',
      'at',
      'pin',
      'width',
      'edit',
    ),
    route('/buckets/$bucketId', BucketScreen),
    route('/files', FilesScreen, 'q', 'tag', 'file'),
    route('/upload', UploadScreen, 'table', 'bucket', 'file'),
    route('/sql', SqlScreen, 'table', 'query', 'sql'),
    route('/dashboards', DashboardsScreen),
    route('/dashboards/$dashboardId', DashboardScreen, 'filters', 'edit'),
    route('/components', ComponentsScreen, 'q', 'view'),
    route(
      '/components/$componentId/$configurationId',
      ConfigurationScreen,
      'tab',
      'row',
      'view',
      'code',
      'version',
      'to',
      'success',
      'error_description',
    ),
    route('/builder/$configurationId', BuilderScreen, 'row', 'step', 'job', 'recording', 'view'),
    route('/flows', FlowsScreen),
    route('/flows/$componentId/$configurationId', FlowScreen),
    route('/branches', BranchesScreen),
    route('/branches/$branchId', BranchScreen, 'config'),
    route('/agents', AgentsScreen, 'request'),
    route(
      '/agents/authorize',
      AuthorizeScreen,
      'client_id',
      'redirect_uri',
      'response_type',
      'code_challenge',
      'code_challenge_method',
      'scope',
      'state',
      'resource',
    ),
    route('/proposals/$proposalId', ProposalScreen),
    route('/apps', AppsScreen),
    route('/workspaces', WorkspacesScreen),
    route('/templates', TemplatesScreen),
    route('/deliveries', DeliveriesScreen),
    route('/streams', StreamsScreen),
    route('/notifications', NotificationsScreen),
    route('/schedules', SchedulesScreen, 'view', 'q'),
    route('/jobs', JobsScreen, 'status', 'component', 'config', 'since', 'by', 'cause', 'page', 'view', 'hours', 'until'),
    route('/jobs/$jobId', JobScreen, 'level', 'q', 'line', 'task'),
    route('/people', PeopleScreen),
    route('/account', AccountMoved),
    route('/settings', SettingsScreen, 'tab'),
    route('/projects', ProjectsScreen),
    route('/tokens', TokensScreen),
    route('/vault', VaultScreen, 'set'),
    route('/usage', UsageScreen, 'month'),
    route('/operations', OperationsScreen, 'who', 'what', 'logs'),
    route('/help', HelpScreen, 'guide', 'at'),
    route('/try', TryScreen, 'first', 'broken', 'repaired'),
  ]),
  basepath: '/console',
  defaultErrorComponent: ScreenFailed,
  defaultPreload: false,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
