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
  ...about('mapping', ['tables-in', ['input']], ['tables-out', ['output']], ['tables-in-and-out', ['storage']]),
  ...about('components', ['processors', ['processors']], ['values-that-configurations-share', ['variables_id']]),
])

/** What a component is about as a whole. */
const COMPONENTS: ReadonlyMap<string, About> = new Map(
  (
    [
      ['keboola.ex-generic-v2', 'extractor', 'a-first-job'],
      ['keboola.flow', 'flows', 'phases-and-tasks'],
      ['keboola.orchestrator', 'flows', 'phases-and-tasks'],
      ['keboola.scheduler', 'schedules', 'when-does-it-run'],
      ['keboola.variables', 'components', 'values-that-configurations-share'],
      ['keboola.snowflake-transformation', 'sql', 'transformations-without-running-them'],
      ['keboola.duckdb-transformation', 'sql', 'transformations-without-running-them'],
      ['keboola.data-apps', 'apps', 'the-configuration'],
    ] as const
  ).map(([id, page, section]) => [id, { page, section }]),
)
const ANY_COMPONENT: About = { page: 'components', section: 'what-a-component-sees' }

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
  Storage: { page: 'getting-data-out', section: 'getting-data-out' },
  Upload: { page: 'files', section: 'the-short-way' },
  Files: { page: 'files', section: 'find-and-remove' },
  SQL: { page: 'sql', section: 'sql' },
  Components: ANY_COMPONENT,
  Templates: { page: 'templates', section: 'use-one' },
  Flows: { page: 'flows', section: 'phases-and-tasks' },
  Streams: { page: 'streams', section: 'from-a-webhook-to-a-table' },
  Workspaces: { page: 'sql', section: 'the-postgresql-port' },
  'Data apps': { page: 'apps', section: 'the-configuration' },
  Schedules: { page: 'schedules', section: 'when-does-it-run' },
  Notifications: { page: 'notifications', section: 'events' },
  Branches: { page: 'components', section: 'development-branches' },
  People: { page: 'people', section: 'roles' },
  Tokens: { page: 'people', section: 'calling-the-api-with-a-session' },
  Vault: { page: 'components', section: 'values-that-configurations-share' },
  Projects: { page: 'people', section: 'projects' },
  Account: { page: 'people', section: 'passwords-codes-and-sessions' },
  Operations: { page: 'operations', section: 'configuration' },
}

export const screenHelp = (noun: string): About => SCREENS[noun] ?? { page: 'walkthrough', section: '' }

/** For checking that the guides have them. */
export const allHelp: readonly About[] = [
  ...EXTRACTOR.values(),
  ...AROUND.values(),
  ...COMPONENTS.values(),
  ...Object.values(SCREENS),
]
