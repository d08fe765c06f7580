// Tools that look around: the caller, the project, its tables, components and configurations, and the documentation.

import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import {
  Anything,
  asData,
  ComponentId,
  ConfigurationId,
  Data,
  defineTool,
  Items,
  Next,
  offsetOf,
  optionalText,
  type Tool,
  text,
} from '../tool.ts'

const PAGE = 100
/** With their profile and sample they fit into an answer. */
const MAX_COLUMNS = 20
const MAX_DESCRIPTION = 300

interface Table {
  readonly id: string
  readonly displayName?: string
  readonly primaryKey: readonly string[]
  readonly rowsCount: number | null
  readonly dataSizeBytes: number | null
  readonly lastImportDate: string | null
  readonly isAlias: boolean
  readonly isTyped: boolean
  readonly columns?: readonly string[]
  readonly definition?: {
    readonly columns?: readonly { readonly name: string; readonly definition?: { readonly type?: string } }[]
  }
  readonly metadata?: readonly MetadataItem[]
  readonly columnMetadata?: Readonly<Record<string, readonly MetadataItem[]>> | readonly never[]
}

interface MetadataItem {
  readonly key: string
  readonly value: string
  readonly provider: string
}

interface Component {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly description: string
  readonly configurations?: readonly Configuration[]
}

interface Configuration {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly version: number
  readonly changeDescription: string
  readonly isDisabled: boolean
  readonly configuration: unknown
  readonly rows?: readonly Row[]
}

interface Row {
  readonly id: string
  readonly name: string
  readonly isDisabled: boolean
  readonly version: number
  readonly configuration: unknown
}

interface User {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string | null
  readonly rowId: string | null
}

interface DataTest {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly parameters: unknown
  readonly severity: string
  readonly isEnabled: boolean
}

export interface Passage {
  readonly page: string
  readonly heading: string
  readonly address: string
  readonly passage: string
}

const FLAGS = ['canManageBuckets', 'canManageTokens', 'canReadAllFileUploads', 'canPurgeTrash', 'canManageDevBranches'] as const

export const lookTools = (readDocs: (question: string) => Promise<readonly Passage[]>): readonly Tool[] => [
  defineTool('look', 'who_am_i', {
    description: 'The project, the token and its rights, and whether writes go to production or into a proposal.',
    input: {},
    output: { project: Anything, token: Anything, rights: Anything, writes: Type.String() },
    kind: 'reads',
    run: async (_args, api) => {
      const token = await api.get<Record<string, unknown>>('/v2/storage/tokens/verify')
      const owner = token.owner as { id: number; name: string } | undefined
      return {
        project: { id: owner?.id, name: owner?.name },
        token: { id: token.id, description: token.description, expires: token.expires, isMaster: token.isMasterToken },
        rights: {
          ...Object.fromEntries(FLAGS.map((flag) => [flag, token[flag] === true])),
          buckets: token.bucketPermissions,
          components: token.componentAccess ?? [],
        },
        writes: api.onlyProposes
          ? 'a proposal: changes go into a branch of your own; submit_proposal asks a person to accept them'
          : api.branch === undefined
            ? 'production'
            : `branch ${api.branch}`,
      }
    },
  }),

  defineTool('look', 'project_overview', {
    description:
      'Counts of tables, configurations by component, failures of the last jobs, schedules and late tables. Call it first.',
    input: {},
    output: { buckets: Items, configurations: Items, failures: Data, schedules: Type.Integer(), lateTables: Items },
    kind: 'reads',
    run: async (_args, api) => {
      const buckets = await api.get<readonly { id: string; rowsCount: number; description: string }[]>('/v2/storage/buckets')
      const tables = (await api.find<readonly Table[]>('/v2/storage/tables')) ?? []
      const components = (await api.find<readonly Component[]>('/v2/storage/components', { include: 'configuration' })) ?? []
      const failures = await api.find<readonly Failure[]>('/queue/search/failures', { limit: 10 })
      const schedules = await api.find<readonly unknown[]>('/scheduler/schedules')
      const late = (await api.find<readonly { tableId: string; state: string }[]>('/v2/storage/freshness', { limit: 20 })) ?? []
      return {
        buckets: buckets.map(({ id, rowsCount }) => ({
          id,
          rows: rowsCount,
          tables: tables.filter((table) => isIn(table.id, id)).length,
        })),
        configurations: components
          .filter(({ configurations = [] }) => configurations.length > 0)
          .map(({ id, type, configurations = [] }) => ({ component: id, type, count: configurations.length })),
        failures: asData({ groups: (failures ?? []).map(failureView) }),
        schedules: schedules?.length ?? 0,
        lateTables: late.filter(({ state }) => state === 'late').map(({ tableId }) => tableId),
      }
    },
  }),

  defineTool('look', 'find', {
    description: 'Find tables, columns, configurations, rows, files, jobs, schedules and people by a word.',
    input: { text: text('Word to look for.') },
    output: { items: Items },
    kind: 'reads',
    run: async ({ text: word }, api) => {
      const { items, more } = await api.get<{ items: readonly unknown[]; more: readonly string[] }>('/v2/storage/search', {
        text: word.slice(0, 200),
        limit: 20,
      })
      return { items, hasMore: more.length > 0 }
    },
  }),

  defineTool('look', 'list_tables', {
    description: 'Tables with rows, size and last load; of one bucket or of all.',
    input: { bucket: optionalText('Bucket id, such as in.c-main.'), next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ bucket, next }, api) => {
      const all = await api.get<readonly Table[]>(bucket ? path`/v2/storage/buckets/${bucket}/tables` : '/v2/storage/tables')
      return { ...page(all, next), items: page(all, next).items.map(tableView) }
    },
  }),

  defineTool('look', 'describe_table', {
    description:
      'Columns with types and profile (nulls, distinct, min, max), a sample of rows, who reads and writes it, freshness, data tests.',
    input: { table: text('Table id, such as in.c-main.orders.'), next: Next },
    output: {
      table: Anything,
      columns: Items,
      data: Data,
      readBy: Items,
      writtenBy: Items,
      freshness: Type.Optional(Anything),
      tests: Items,
    },
    kind: 'reads',
    run: async ({ table: id, next }, api) => {
      const table = await api.get<Table>(path`/v2/storage/tables/${id}`)
      const all = table.columns ?? []
      const offset = offsetOf(next)
      const shown = all.slice(offset, offset + MAX_COLUMNS)
      const columns = shown.length === all.length ? undefined : shown.join(',') || undefined
      const profile = await api.find<{ columns: readonly ColumnProfile[] }>(path`/v2/storage/tables/${id}/profile`, {
        sampleRows: 10_000,
        columns,
      })
      const sample = await api.find<{ rows: readonly unknown[] }>(path`/v2/storage/tables/${id}/rows`, {
        limit: 5,
        cellChars: 60,
        columns,
      })
      const usedBy = await api.find<{ readBy: readonly User[]; writtenBy: readonly User[] }>(
        path`/v2/storage/tables/${id}/used-by`,
      )
      const freshness = await api.find<Record<string, unknown>>(path`/v2/storage/tables/${id}/freshness`)
      const tests = (await api.find<readonly DataTest[]>('/v2/storage/data-tests', { tableId: id, limit: 50 })) ?? []
      const described = (table.columnMetadata ?? {}) as Readonly<Record<string, readonly MetadataItem[]>> // an empty one is a list
      const types = new Map(table.definition?.columns?.map(({ name, definition }) => [name, definition?.type]))
      return {
        table: { ...tableView(table), ...descriptionIn(table.metadata) },
        columns: shown.map((name) => ({
          name,
          ...(types.get(name) !== undefined && { type: types.get(name) }),
          ...descriptionIn(described[name]),
        })),
        readBy: usedBy?.readBy.map(userView) ?? [],
        writtenBy: usedBy?.writtenBy.map(userView) ?? [],
        ...(freshness && {
          freshness: { state: freshness.state, lastLoad: freshness.lastLoadTime, expected: freshness.expectedTime },
        }),
        tests: tests.map(({ id: test, name, type, parameters, severity, isEnabled }) => ({
          ...{ test, name, type, parameters, severity, isEnabled },
        })),
        data: asData({
          profile: profile?.columns.map(({ name, nulls, empty, distinct, min, max }) => ({
            name,
            nulls,
            empty,
            distinct,
            min: short(min),
            max: short(max),
          })),
          sample: sample?.rows,
        }),
        ...(offset + shown.length < all.length && shown.length > 0 && { total: all.length, next: String(offset + shown.length) }),
      }
    },
  }),

  defineTool('look', 'list_components', {
    description: 'Extractors, writers, transformations and applications that can be configured.',
    input: {
      search: optionalText('Part of a name, id or description.'),
      type: optionalText('extractor, writer, transformation or application.'),
      next: Next,
    },
    output: { items: Items },
    kind: 'reads',
    run: async ({ search = '', type, next }, api) => {
      const all = await api.get<{ components: readonly Component[] }>('/v2/storage', { exclude: 'componentDetails' })
      const word = search.toLowerCase()
      const found = all.components.filter(
        (one) =>
          (type === undefined || one.type === type) && `${one.id} ${one.name} ${one.description}`.toLowerCase().includes(word),
      )
      return page(
        found.map(({ id, type: kind, name, description }) => ({ id, type: kind, name, description })),
        next,
      )
    },
  }),

  defineTool('look', 'describe_component', {
    description: 'Schema of its configuration and rows, an empty configuration, its sync actions.',
    input: {
      component: ComponentId,
      part: optionalText('configurationSchema, configurationRowSchema, longDescription or examples: only that. `at` narrows it.'),
      at: Type.Optional(Type.String()),
    },
    output: { component: Anything },
    kind: 'reads',
    run: async ({ component: id, part, at }, api) => {
      if (part === 'examples') {
        const known = await api.get<{
          readonly [name in 'rootConfigurationExamples' | 'rowConfigurationExamples']: readonly unknown[]
        }>(path`/ai/docs/components/${id}`)
        const examples = { configurations: known.rootConfigurationExamples, rows: known.rowConfigurationExamples }
        return { component: { id, examples: valueAt(examples, at) } }
      }
      const found = await api.get<Record<string, unknown>>(path`/v2/storage/components/${id}`)
      const data = found.data as { synchronous_actions?: unknown } | undefined
      const shown = part === undefined ? PARTS : PARTS.filter((name) => name === part)
      return {
        component: {
          id: found.id,
          type: found.type,
          name: found.name,
          actions: data?.synchronous_actions,
          ...Object.fromEntries(shown.map((name) => [name, part === undefined ? found[name] : valueAt(found[name], at)])),
        },
      }
    },
  }),

  defineTool('look', 'list_configurations', {
    description: 'Configurations of one component or of all.',
    input: { component: Type.Optional(ComponentId), next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ component, next }, api) => {
      const all =
        component === undefined
          ? (await api.get<readonly Component[]>('/v2/storage/components', { include: 'configuration' })).flatMap(
              ({ id, configurations = [] }) => configurations.map((one) => configurationView(id, one)),
            )
          : (await api.get<readonly Configuration[]>(path`/v2/storage/components/${component}/configs`)).map((one) =>
              configurationView(component, one),
            )
      return page(all, next)
    },
  }),

  defineTool('look', 'get_configuration', {
    description: 'A configuration with its rows; secrets are encrypted. `at` narrows a large one.',
    input: {
      component: ComponentId,
      configuration: ConfigurationId,
      row: optionalText('Row id: that row alone.'),
      at: optionalText('JSON pointer into the configuration, such as /parameters/api.'),
      next: Next,
    },
    output: { configuration: Anything, items: Type.Optional(Items) },
    kind: 'reads',
    run: async ({ component, configuration: id, row, at, next }, api) => {
      const found = await api.get<Configuration>(path`/v2/storage/components/${component}/configs/${id}`)
      const rows = found.rows ?? []
      const one = row === undefined ? undefined : rows.find((candidate) => candidate.id === row)
      if (row !== undefined && !one) await api.get(path`/v2/storage/components/${component}/configs/${id}/rows/${row}`)
      const content = valueAt(one ? one.configuration : found.configuration, at)
      const { name, description, version, changeDescription, isDisabled } = found
      return {
        configuration: { component, id, name, description, version, changeDescription, isDisabled, ...(row && { row }), content },
        ...(row === undefined && at === undefined && { ...page(rows, next), items: page(rows, next).items.map(rowView) }),
      }
    },
  }),

  defineTool('look', 'configuration_history', {
    description: 'Versions with author and change description, the newest first.',
    input: { component: ComponentId, configuration: ConfigurationId, next: Next },
    output: { items: Items },
    kind: 'reads',
    run: async ({ component, configuration, next }, api) => {
      const offset = offsetOf(next)
      const versions = await api.get<
        readonly { version: number; created: string; creatorToken: { description: string }; changeDescription: string }[]
      >(path`/v2/storage/components/${component}/configs/${configuration}/versions`, { limit: PAGE, offset })
      const items = versions.map(({ version, created, creatorToken, changeDescription }) => ({
        version,
        created,
        by: creatorToken.description,
        changeDescription,
      }))
      return { items, offset, total: versions.length < PAGE ? offset + versions.length : null, hasMore: versions.length === PAGE }
    },
  }),

  defineTool('look', 'read_docs', {
    description: 'Passages of the Millrace documentation that answer a question. Also takes an error code.',
    input: { question: text('A question, or words.') },
    output: { items: Items },
    kind: 'reads',
    run: async ({ question }) => ({ items: await readDocs(question) }),
  }),
]

interface Failure {
  readonly cause: { readonly kind: string; readonly subject: string | null; readonly advice: string }
  readonly count: number
  readonly lastTime: string
  readonly lastJob: { readonly id: string; readonly message: string }
}

const failureView = ({ cause, count, lastTime, lastJob }: Failure) => ({
  kind: cause.kind,
  subject: cause.subject,
  count,
  lastTime,
  lastJob: lastJob.id,
  message: short(lastJob.message),
})

interface ColumnProfile {
  readonly name: string
  readonly nulls: number
  readonly empty: number
  readonly distinct: number
  readonly min: string | null
  readonly max: string | null
}

const PARTS = ['longDescription', 'configurationSchema', 'configurationRowSchema', 'emptyConfiguration']

const isIn = (tableId: string, bucketId: string): boolean => tableId.startsWith(`${bucketId}.`)

const short = (value: string | null, max = 80): string | null =>
  value !== null && value.length > max ? `${value.slice(0, max)}…` : value

/** What people and agents wrote, rather than components. */
function descriptionIn(items: readonly MetadataItem[] = []): { readonly description?: string } {
  const found = items.filter(({ key, value }) => key === 'KBC.description' && value !== '')
  const best = found.find(({ provider }) => provider === 'user') ?? found[0]
  return best ? { description: best.value.slice(0, MAX_DESCRIPTION) } : {}
}

const tableView = ({ id, displayName, primaryKey, rowsCount, dataSizeBytes, lastImportDate, isAlias, isTyped }: Table) => ({
  id,
  ...(displayName !== undefined && !id.endsWith(`.${displayName}`) && { displayName }),
  rows: rowsCount,
  bytes: dataSizeBytes,
  primaryKey,
  lastImport: lastImportDate,
  ...(isAlias && { isAlias }),
  isTyped,
})

const userView = ({ componentId, configurationId, name, rowId }: User) => ({
  component: componentId,
  configuration: configurationId,
  name,
  row: rowId,
})

const configurationView = (component: string, { id, name, description, version, isDisabled, rows = [] }: Configuration) => ({
  component,
  id,
  name,
  ...(description !== '' && { description: short(description, 200) }),
  version,
  rows: rows.length,
  isDisabled,
})

const rowView = ({ id, name, isDisabled, version, configuration }: Row) => ({
  id,
  name,
  isDisabled,
  version,
  content: configuration,
})

export function page<T>(all: readonly T[], next: string | undefined) {
  const offset = offsetOf(next)
  return { items: all.slice(offset, offset + PAGE), offset, total: all.length }
}

/** Undefined members are shown as null: the pointer leads nowhere. */
function valueAt(value: unknown, pointer: string | undefined): unknown {
  if (pointer === undefined || pointer === '') return value
  let found = value
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? (found as Record<string, unknown>)[name] : null
  }
  return found
}
