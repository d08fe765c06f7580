// All problems of a configuration before it is saved or run: its JSON, the schema of its component, and the rules of
// the modules that run it, which the wiring passes.

import { PlatformError } from '../../../kit/errors.ts'
import type { ContentProblem } from '../../../model/content-problem.ts'
import { schemaProblems } from '../../../model/schema-problems.ts'
import { type Caller, type ComponentLookup, usableComponent } from './access.ts'
import { readObject } from './input.ts'
import type { Reader } from './reader.ts'

type Content = Readonly<Record<string, unknown>>

/** Of a component, as far as its configurations are concerned. */
export interface ConfigurationSchemas {
  readonly configurationSchema: unknown
  readonly configurationRowSchema: unknown
  readonly emptyConfiguration: unknown
}

/** The problems that one module finds in a configuration of a component. */
export type ContentRule = (
  caller: Caller,
  place: { readonly componentId: string; readonly configurationId?: string | undefined; readonly isRow: boolean },
  content: Content,
  text: string,
) => Promise<readonly ContentProblem[]> | readonly ContentProblem[]

export interface ValidationDeps {
  readonly components: ComponentLookup
  readonly findSchemas: (componentId: string) => ConfigurationSchemas | undefined
  /** Problems that other modules find. */
  readonly rules: ContentRule
  readonly reader: Pick<Reader, 'get'>
}

export interface RowProblem extends ContentProblem {
  /** Null: of the configuration itself. */
  readonly rowId: string | null
}

export interface ValidationAnswer {
  readonly isValid: boolean
  readonly problems: readonly RowProblem[]
}

export type Validation = ReturnType<typeof createValidation>

export function createValidation({ components, findSchemas, rules, reader }: ValidationDeps) {
  /** A configuration, or a row of one, that need not be saved. */
  async function validate(caller: Caller, componentId: string, text: string, isRow: boolean): Promise<ValidationAnswer> {
    const place = { componentId: usableComponent(components, caller.actor, componentId), isRow }
    return answerOf(await problemsOf(caller, place, text, null))
  }

  /** A saved configuration with its rows; `text` replaces its content to validate a change. */
  async function validateSaved(
    caller: Caller,
    componentId: string,
    configurationId: string,
    text?: string,
  ): Promise<ValidationAnswer> {
    const saved = (await reader.get(caller, componentId, configurationId)).bytes().toString()
    const { configuration, rows } = JSON.parse(saved) as SavedConfiguration // written by our own views
    const place = { componentId: usableComponent(components, caller.actor, componentId), configurationId }
    const own = await problemsOf(caller, { ...place, isRow: false }, text ?? JSON.stringify(configuration), null)
    const ofRows = await Promise.all(
      rows.map((row) => problemsOf(caller, { ...place, isRow: true }, JSON.stringify(row.configuration), row.id)),
    )
    return answerOf([...own, ...ofRows.flat()])
  }

  async function problemsOf(
    caller: Caller,
    place: Parameters<ContentRule>[1],
    text: string,
    rowId: string | null,
  ): Promise<RowProblem[]> {
    const read = readContent(text)
    if ('problem' in read) return [{ ...read.problem, rowId }]
    const found = await Promise.all([
      ofSchema(findSchemas(place.componentId), place.isRow, read.content),
      rules(caller, place, read.content, text),
    ])
    return found.flat().map((problem) => ({ ...problem, rowId }))
  }

  return { validate, validateSaved }
}

interface SavedConfiguration {
  readonly configuration: Content
  readonly rows: readonly { readonly id: string; readonly configuration: Content }[]
}

const answerOf = (problems: readonly RowProblem[]): ValidationAnswer => ({
  isValid: problems.every(({ level }) => level !== 'error'),
  problems,
})

function readContent(text: string): { readonly content: Content } | { readonly problem: ContentProblem } {
  try {
    return { content: readObject(text, 'validation.invalidConfigurationFormat').value as Content } // readObject takes objects only
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return { problem: { level: 'error', pointer: '', message: error.message, rule: 'json' } }
  }
}

function ofSchema(schemas: ConfigurationSchemas | undefined, isRow: boolean, content: Content): readonly ContentProblem[] {
  const schema = isRow ? schemas?.configurationRowSchema : schemas?.configurationSchema
  if (!isObject(schema) || Object.keys(schema).length === 0) return []
  const base = isOfParameters(schemas?.emptyConfiguration) ? '/parameters' : ''
  const value = base === '' ? content : (content.parameters ?? {})
  try {
    return schemaProblems(schema, value)
      .filter(({ pointer }) => !isSealed(value, pointer))
      .map(({ pointer, message }) => ({ level: 'error', pointer: base + pointer, message, rule: 'schema' }))
  } catch (error) {
    const message = `The schema of the component cannot be used, so nothing was compared with it: ${String(error).slice(0, 200)}`
    return [{ level: 'warning', pointer: base, message, rule: 'schema' }]
  }
}

/** A schema describes what a secret opens as; the cipher cannot be checked. */
function isSealed(value: unknown, pointer: string): boolean {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = keys.reduce<unknown>((at, key) => (at as Content | undefined)?.[key], value)
  return keys.some((key) => key.startsWith('#')) && typeof found === 'string' && found.startsWith('KBC::')
}

/** Schemas describe `parameters`, as everywhere, except of components whose configuration has other members (schedules, flows, variables). */
function isOfParameters(emptyConfiguration: unknown): boolean {
  const members = isObject(emptyConfiguration) ? Object.keys(emptyConfiguration) : []
  return members.length === 0 || members.includes('parameters')
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
