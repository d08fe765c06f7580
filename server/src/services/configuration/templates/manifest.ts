// The files of a template. Everything in them is data: placeholders and conditions are objects, nothing is evaluated as code.

import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { PlatformError } from '../../../kit/errors.ts'
import { patternProblem } from '../../../kit/text/bounded-pattern.ts'

const Id = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' })
const Text = Type.String({ maxLength: 5000 })
const Condition = Type.Record(Type.String(), Type.Unknown())

export const Input = Type.Object(
  {
    id: Id,
    name: Text,
    description: Type.Optional(Text),
    type: Type.Enum(['string', 'int', 'double', 'bool', 'string[]', 'object']),
    /** The form control; the value of a `hidden` one is a secret. */
    kind: Type.Enum(['input', 'hidden', 'textarea', 'confirm', 'select', 'multiselect']),
    default: Type.Optional(Type.Unknown()),
    options: Type.Optional(Type.Array(Type.Object({ value: Text, label: Text }), { maxItems: 200 })),
    required: Type.Optional(Type.Boolean()),
    pattern: Type.Optional(Text),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    showIf: Type.Optional(Condition),
    /** What a form offers; another value may be typed. */
    suggest: Type.Optional(Type.Enum(['tables'])),
  },
  { additionalProperties: false },
)

const Step = Type.Object(
  {
    id: Id,
    name: Text,
    description: Type.Optional(Text),
    icon: Type.Optional(Text),
    inputs: Type.Array(Input, { maxItems: 100 }),
  },
  { additionalProperties: false },
)

const StepGroup = Type.Object(
  {
    id: Id,
    description: Text,
    required: Type.Enum(['all', 'atLeastOne', 'exactlyOne', 'optional']),
    steps: Type.Array(Step, { minItems: 1, maxItems: 50 }),
  },
  { additionalProperties: false },
)

const Row = Type.Object(
  {
    id: Id,
    name: Type.Unknown(),
    description: Type.Optional(Text),
    isDisabled: Type.Optional(Type.Boolean()),
    when: Type.Optional(Condition),
    configuration: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: false },
)

const Configuration = Type.Object(
  {
    id: Id,
    componentId: Type.String({ minLength: 1, maxLength: 200 }),
    name: Type.Unknown(),
    description: Type.Optional(Text),
    when: Type.Optional(Condition),
    configuration: Type.Record(Type.String(), Type.Unknown()),
    rows: Type.Optional(Type.Array(Row, { maxItems: 200 })),
  },
  { additionalProperties: false },
)

const Manifest = Type.Object(
  {
    description: Text,
    longDescription: Type.Optional(Text),
    stable: Type.Optional(Type.Boolean()),
    /** The configuration that people look at first. */
    mainConfiguration: Type.Optional(Id),
    stepGroups: Type.Array(StepGroup, { maxItems: 20 }),
    configurations: Type.Array(Configuration, { minItems: 1, maxItems: 100 }),
  },
  { additionalProperties: false },
)

const Template = Type.Object(
  {
    name: Text,
    description: Text,
    author: Type.Optional(Type.Object({ name: Text, url: Type.Optional(Text) })),
    categories: Type.Optional(Type.Array(Text, { maxItems: 20 })),
    deprecated: Type.Optional(Type.Boolean()),
    defaultVersion: Type.Optional(Text),
  },
  { additionalProperties: false },
)

const Repository = Type.Object(
  { name: Id, author: Type.Optional(Type.Object({ name: Text, url: Type.Optional(Text) })) },
  { additionalProperties: true },
)

export type TemplateInput = Static<typeof Input>
export type TemplateStep = Static<typeof Step>
export type TemplateStepGroup = Static<typeof StepGroup>
export type TemplateManifest = Static<typeof Manifest>
export type TemplateConfiguration = Static<typeof Configuration>
export type TemplateHead = Static<typeof Template>
export type RepositoryHead = Static<typeof Repository>

const checkManifest = Compile(Manifest)
const checkTemplate = Compile(Template)
const checkRepository = Compile(Repository)

export const readRepository = (text: string, file: string): RepositoryHead => read(checkRepository, text, file)
export const readTemplate = (text: string, file: string): TemplateHead => read(checkTemplate, text, file)

export function readManifest(text: string, file: string): TemplateManifest {
  const manifest: TemplateManifest = read(checkManifest, text, file)
  const steps = manifest.stepGroups.flatMap((group) => group.steps)
  const inputs = steps.flatMap((step) => step.inputs)
  refuseTwice(file, 'step', steps)
  refuseTwice(file, 'input', inputs)
  for (const { id, pattern } of inputs) {
    const problem = pattern === undefined ? undefined : patternProblem(pattern)
    if (problem !== undefined) throw broken(file, `the pattern of the input "${id}" cannot be used: ${problem}`)
  }
  refuseTwice(file, 'configuration', manifest.configurations)
  for (const { rows = [] } of manifest.configurations) refuseTwice(file, 'row', rows)
  const secrets = new Set(inputs.flatMap(({ id, kind }) => (kind === 'hidden' ? [id] : [])))
  for (const [i, part] of manifest.configurations.entries())
    refuseShownSecrets(file, secrets, part, `configurations[${i}]`, false)
  return manifest
}

function refuseTwice(file: string, what: string, items: readonly { readonly id: string }[]): void {
  const seen = new Set<string>()
  for (const { id } of items) {
    if (seen.has(id)) throw broken(file, `two of kind ${what} have the id "${id}"`)
    seen.add(id)
  }
}

/** A secret is put into members that are encrypted, and nowhere else. */
function refuseShownSecrets(file: string, secrets: ReadonlySet<string>, value: unknown, path: string, isHidden: boolean): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) refuseShownSecrets(file, secrets, item, `${path}[${i}]`, isHidden)
    return
  }
  const { $input } = value as { $input?: unknown }
  if (typeof $input === 'string' && secrets.has($input) && !isHidden)
    throw broken(file, `${path} uses the secret input "${$input}" outside a member whose name begins with #`)
  for (const [name, member] of Object.entries(value)) {
    refuseShownSecrets(file, secrets, member, `${path}.${name}`, isHidden || name.startsWith('#'))
  }
}

function read<T>(
  check: { Check(value: unknown): value is T; Errors(value: unknown): readonly { instancePath: string; message: string }[] },
  text: string,
  file: string,
): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw broken(file, 'it is not valid JSON')
  }
  if (check.Check(value)) return value
  const [first] = check.Errors(value)
  throw broken(file, `${first?.instancePath || 'it'} ${first?.message ?? 'is not as it should be'}`)
}

const broken = (file: string, reason: string): PlatformError => new PlatformError('templates.broken', { file, reason })
