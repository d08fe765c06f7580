// Where the guides describe a part of a configuration, and what the screens are about.

import type { Path } from '../document/json-text.ts'

export interface About {
  readonly page: string
  readonly section: string
}

const about = (page: string, ...entries: readonly (readonly [section: string, names: readonly string[]])[]) =>
  entries.flatMap(([section, names]) => names.map((name) => [name, { page, section }] as const))

const EXTRACTOR: ReadonlyMap<string, About> = new Map(
  about(
    'extractor',
    ['authentication', ['authentication']],
    ['pagination', ['pagination']],
    ['multiple', ['scrollers', 'scroller']],
    ['stopping-conditions', ['nextPageFlag', 'forceStop', 'stopIfDuplicate', 'limitStop']],
    ['transport', ['http', 'caCertificate', 'clientCertificate', '#clientCertificate', 'proxy']],
    ['errors-and-retries', ['retryConfig', 'ignoreErrors', 'failWhen']],
    ['parameters-and-methods', ['method', 'params', 'headers', 'defaultOptions']],
    ['items', ['dataField', 'dataType', 'responseFilter', 'responseFilterDelimiter', 'responseType']],
    ['tables', ['outputBucket', 'userData']],
    ['children', ['children', 'placeholders', 'recursionFilter']],
    ['mappings', ['mappings']],
    ['state-and-increments', ['incrementalOutput']],
    ['a-first-job', ['api', 'baseUrl', 'jobs', 'endpoint']],
    ['expressions', ['config']],
  ),
)

const AROUND: ReadonlyMap<string, About> = new Map([
  ...about('mapping', ['input-tables', ['input']], ['output-tables', ['output']], ['input-and-output-mapping', ['storage']]),
  ...about('components', ['processors', ['processors']]),
  ...about('secrets', ['vault-values-shared-by-configurations', ['variables_id']]),
])

/** What a component is about as a whole. */
const COMPONENTS: ReadonlyMap<string, About> = new Map(
  (
    [
      ['keboola.ex-generic-v2', 'extractor', 'a-first-job'],
      ['keboola.flow', 'flows', 'phases-and-tasks'],
      ['keboola.orchestrator', 'flows', 'phases-and-tasks'],
      ['keboola.scheduler', 'schedules', 'create-a-schedule'],
      ['keboola.variables', 'secrets', 'vault-values-shared-by-configurations'],
      ['keboola.snowflake-transformation', 'sql-transformations', 'rules'],
      ['keboola.duckdb-transformation', 'sql-transformations', 'rules'],
      ['keboola.data-apps', 'apps', 'the-configuration'],
    ] as const
  ).map(([id, page, section]) => [id, { page, section }]),
)
const ANY_COMPONENT: About = { page: 'components', section: 'the-data-folder' }

/** The innermost part of the path that a guide describes. */
export function helpFor(componentId: string, path: Path): About {
  const own = componentId === 'keboola.ex-generic-v2' ? EXTRACTOR : new Map<string, About>()
  const isAround = path[0] === 'storage' || path[0] === 'processors'
  const known = isAround ? AROUND : own
  const name = path.findLast((key) => known.has(String(key)))
  return (name === undefined ? undefined : known.get(String(name))) ?? COMPONENTS.get(componentId) ?? ANY_COMPONENT
}

/** By the first word of the breadcrumb. */
const SCREENS: Readonly<Record<string, About>> = {
  Storage: { page: 'tables', section: 'tables' },
  Upload: { page: 'files', section: 'in-one-request' },
  Files: { page: 'files', section: 'search-and-delete' },
  SQL: { page: 'sql', section: 'sql' },
  Components: ANY_COMPONENT,
  Templates: { page: 'templates', section: 'use-a-template' },
  Flows: { page: 'flows', section: 'phases-and-tasks' },
  Streams: { page: 'streams', section: 'from-a-webhook-to-a-table' },
  Workspaces: { page: 'workspaces', section: 'workspaces' },
  'Data apps': { page: 'apps', section: 'the-configuration' },
  Schedules: { page: 'schedules', section: 'create-a-schedule' },
  Notifications: { page: 'notifications', section: 'events' },
  Branches: { page: 'branches', section: 'development-branches-and-merge-requests' },
  People: { page: 'people', section: 'roles' },
  Tokens: { page: 'tokens', section: 'tokens' },
  Vault: { page: 'secrets', section: 'vault-values-shared-by-configurations' },
  Projects: { page: 'people', section: 'projects' },
  Settings: { page: 'settings', section: 'settings' },
  Operations: { page: 'operations', section: 'operate-a-stack' },
}

export const screenHelp = (noun: string): About => SCREENS[noun] ?? { page: 'walkthrough', section: '' }

/** For checking that the guides have them. */
export const allHelp: readonly About[] = [
  ...EXTRACTOR.values(),
  ...AROUND.values(),
  ...COMPONENTS.values(),
  ...Object.values(SCREENS),
]
