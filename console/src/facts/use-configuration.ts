// A configuration with the texts of its documents as the stack keeps them, and the schema they follow.

import { useQuery } from '@tanstack/react-query'
import type { Configuration } from '../../../client/src/operations.ts'
import type { Saved } from '../document/draft.ts'
import { pretty, sliceAt } from '../document/json-text.ts'
import type { Schema } from '../document/schema.ts'
import { useLoad } from '../load.tsx'
import { api, branchName } from '../session.ts'

export interface ConfigurationPlace {
  readonly componentId: string
  readonly configurationId: string
}

export interface LoadedConfiguration {
  readonly configuration: Configuration
  readonly root: Saved
  /** By id of the row. */
  readonly rows: ReadonlyMap<string, Saved>
  /** What runs left, as it is written: by id of the row, the root's without one. */
  readonly states: ReadonlyMap<string | undefined, string>
}

export async function readConfiguration(place: ConfigurationPlace, signal?: AbortSignal): Promise<LoadedConfiguration> {
  const response = await api.open('configurations.get', { path: place, ...(signal ? { signal } : {}) })
  const text = await response.text()
  const configuration = JSON.parse(text) as Configuration
  return {
    configuration,
    root: { text: documentText(sliceAt(text, ['configuration'])), version: configuration.version },
    rows: new Map(
      configuration.rows.map((row, index) => [
        row.id,
        { text: documentText(sliceAt(text, ['rows', index, 'configuration'])), version: row.version },
      ]),
    ),
    states: new Map([
      [undefined, documentText(sliceAt(text, ['state']))],
      ...configuration.rows.map(({ id }, index) => [id, documentText(sliceAt(text, ['rows', index, 'state']))] as const),
    ]),
  }
}

/** PHP clients write an empty object as a list. */
const documentText = (slice: string | undefined): string => (slice === undefined || slice === '[]' ? '{}' : pretty(slice))

export const useConfiguration = (place: ConfigurationPlace) =>
  useQuery<LoadedConfiguration, Error>({
    queryKey: ['configurations.get', 'exact', place],
    queryFn: ({ signal }) => readConfiguration(place, signal),
  })

/** The newest jobs of a configuration in this branch. */
export const useRuns = ({ componentId, configurationId }: ConfigurationPlace, limit: number) =>
  useLoad('queue.search', { query: { componentId, configId: configurationId, branchId: branchName(), limit } })

interface Described {
  readonly configurationSchema?: Schema
  readonly configurationRowSchema?: Schema
  readonly flags?: readonly string[]
}

export interface Schemas {
  readonly root: Schema | undefined
  readonly row: Schema | undefined
  readonly hasRows: boolean
}

const WHOLE = ['keboola.flow', 'keboola.orchestrator', 'keboola.scheduler', 'keboola.variables']

/** The schemas of the whole documents: the component's own parameters, and what every component has around them. */
export function useSchemas(componentId: string): Schemas {
  const component = useLoad('components.get', { path: { componentId } }).data as Described | undefined
  const isWhole = WHOLE.includes(componentId)
  return {
    root: documentSchema(component?.configurationSchema, isWhole),
    row: documentSchema(component?.configurationRowSchema ?? component?.configurationSchema, isWhole),
    hasRows: component?.flags?.includes('genericDockerUI-rows') ?? false,
  }
}

function documentSchema(schema: Schema | undefined, isWhole: boolean): Schema | undefined {
  if (!schema || Object.keys(schema).length === 0 || isWhole) return schema?.properties ? schema : undefined
  const { $defs = {}, ...parameters } = schema
  return {
    $defs,
    type: 'object',
    properties: { parameters: { ...parameters, title: 'Parameters' }, storage: STORAGE, processors: PROCESSORS },
  }
}

const tableId = { type: 'string', format: 'table-id' }
const STORAGE: Schema = {
  title: 'Storage',
  type: 'object',
  description: 'Which tables go in, and where results are kept.',
  properties: {
    input: {
      title: 'Tables in',
      type: 'object',
      properties: {
        tables: {
          title: 'Tables',
          type: 'array',
          items: {
            title: 'Table',
            type: 'object',
            properties: {
              source: { ...tableId, title: 'Table', description: 'Id of the table.' },
              destination: { type: 'string', title: 'Known as', description: 'Name of the file that the component reads.' },
              columns: { type: 'array', items: { type: 'string' }, description: 'Only these columns; all without it.' },
              changed_since: { type: 'string', description: 'Only rows changed since, for example -2 days.' },
              changes: { type: 'boolean', description: 'Rows that changed since the last run, and deleted ones.' },
              query: { type: 'string', format: 'textarea', description: 'Rows of this query instead of a table.' },
              where_column: { type: 'string' },
              where_values: { type: 'array', items: { type: 'string' } },
              limit: { type: 'integer' },
            },
          },
        },
      },
    },
    output: {
      title: 'Tables out',
      type: 'object',
      properties: {
        default_bucket: { type: 'string', description: 'Where tables go that have no place of their own.' },
        tables: {
          title: 'Tables',
          type: 'array',
          items: {
            title: 'Table',
            type: 'object',
            properties: {
              source: { type: 'string', title: 'File', description: 'Name of the file that the component writes.' },
              destination: { ...tableId, title: 'Table', description: 'Id of the table.' },
              primary_key: { type: 'array', items: { type: 'string' } },
              incremental: {
                type: 'boolean',
                default: false,
                description: 'yes: rows are added or replaced; no: the table is loaded anew.',
              },
            },
            required: ['source', 'destination'],
          },
        },
      },
    },
  },
}

const PROCESSOR_LIST = (title: string): Schema => ({
  title,
  type: 'array',
  description: 'In this order.',
  items: {
    title: 'Processor',
    type: 'object',
    properties: {
      definition: { title: 'Processor', type: 'object', properties: { component: { type: 'string', format: 'processor-id' } } },
      parameters: { type: 'object', additionalProperties: true },
    },
    required: ['definition'],
  },
})
const PROCESSORS: Schema = {
  title: 'Processors',
  type: 'object',
  description: 'Small programs that change the data before or after.',
  properties: { before: PROCESSOR_LIST('Before'), after: PROCESSOR_LIST('After') },
}
