// Reads a component description: fills what was left out, and names what is wrong by file and field.

import { Compile } from 'typebox/compile'
import { ComponentDescription } from '../../../../../contract/component.ts'

const DATA_DEFAULTS = {
  definition: { type: 'builtin', uri: '', tag: 'latest', repository: { region: '' } },
  vendor: { contact: [], licenseUrl: '' },
  configuration_format: 'json',
  network: 'bridge',
  memory: '256m',
  process_timeout: 3600,
  forward_token: false,
  forward_token_details: false,
  default_bucket: false,
  default_bucket_stage: 'in',
  staging_storage: { input: 'local', output: 'local' },
  image_parameters: {},
  synchronous_actions: [],
  node_labels: [],
  repeatable: false,
  logging: { type: 'standard', gelf_server_type: 'tcp', verbosity: {}, no_application_errors: false },
} as const

const DEFAULTS = {
  aliases: [],
  type: 'other',
  description: '',
  longDescription: '',
  version: 1,
  hasUI: true, // the console has a form for every component
  hasRun: false,
  ico32: null,
  ico64: null,
  ico128: null,
  flags: [],
  features: [],
  categories: [],
  configurationSchema: {},
  configurationRowSchema: {},
  createConfigurationRowSchema: {},
  emptyConfiguration: {},
  emptyConfigurationRow: {},
  uiOptions: {},
  configurationDescription: null,
  documentationUrl: '',
  uri: '',
  complexity: null,
  expiredOn: null,
  dataTypesConfiguration: {},
  processorConfiguration: {},
} as const

/** Types that change things outside the project: a run in a development branch must be allowed (spec platform 1.25). */
const OUTSIDE: ReadonlySet<unknown> = new Set(['writer', 'application'])

const checker = Compile(ComponentDescription)

export type ReadDescription =
  | { readonly ok: true; readonly description: ComponentDescription }
  | { readonly ok: false; readonly problems: readonly string[] }

export function readDescription(value: unknown): ReadDescription {
  if (!isObject(value)) return { ok: false, problems: ['the file is not a JSON object'] }
  const data = isObject(value.data) ? value.data : {}
  const filled: unknown = {
    ...{ id: value.id, type: DEFAULTS.type, name: value.name }, // first, where a reader looks for them
    ...DEFAULTS,
    ...(OUTSIDE.has(value.type) && { features: ['dev-branch-configuration-unsafe'] }),
    ...value,
    data: value.data === undefined || isObject(value.data) ? withDefaults(DATA_DEFAULTS, data) : value.data,
  }
  if (checker.Check(filled)) return { ok: true, description: filled }
  const problems = checker.Errors(filled).map((error) => `${fieldOf(error)}: ${error.message}`)
  return { ok: false, problems: [...new Set(problems)].slice(0, 20) }
}

/** One level of nesting: `repository` given without `region` keeps the default region. */
function withDefaults(
  defaults: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...defaults, ...given }
  for (const [name, value] of Object.entries(defaults)) {
    const own = given[name]
    if (isObject(value) && isObject(own)) result[name] = withDefaults(value, own)
  }
  return result
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldOf(error: { readonly instancePath: string; readonly keyword: string; readonly params: unknown }): string {
  const names = (error.params as { requiredProperties?: readonly string[] }).requiredProperties // typebox: set for `required`
  const path = error.instancePath.split('/').slice(1).join('.')
  return [path, error.keyword === 'required' ? names?.join(', ') : undefined].filter(Boolean).join('.') || 'the description'
}
