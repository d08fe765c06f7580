// A template becomes configurations: placeholders are replaced by values, parts whose condition does not hold are left out.
//  {"$input": "id"}            what was filled in
//  {"$configuration": "id"}    the id that a configuration of the template gets in the project
//  {"$instance": "id"}         id or name of the instance
//  {"$stack": "url"}           the address of the stack
//  {"$text": [..., ...]}       the parts as one text
//  {"$if": condition, "$then": value, "$else": value}    one of the two; without $else the member is left out

import { PlatformError } from '../../../kit/errors.ts'
import { type Answers, holds } from './conditions.ts'
import type { TemplateManifest } from './manifest.ts'

export interface RenderContext {
  readonly answers: Answers
  readonly instance: { readonly id: string; readonly name: string }
  readonly stackUrl: string
  /** Ids in the project, by the id in the template. */
  readonly configurationIds: ReadonlyMap<string, string>
}

export interface RenderedRow {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly isDisabled: boolean
  readonly configuration: Readonly<Record<string, unknown>>
}

export interface RenderedConfiguration {
  /** In the template. */
  readonly id: string
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  readonly description: string
  readonly configuration: Readonly<Record<string, unknown>>
  readonly rows: readonly RenderedRow[]
}

const DEEPEST = 60
const LEFT_OUT = Symbol('left out')

/** The configurations of a template whose condition holds. */
export const chosenConfigurations = ({ configurations }: TemplateManifest, answers: Answers) =>
  configurations.filter(({ when }) => holds(when, answers))

export function render(manifest: TemplateManifest, context: RenderContext): readonly RenderedConfiguration[] {
  return chosenConfigurations(manifest, context.answers).map((one) => ({
    id: one.id,
    componentId: one.componentId,
    configurationId: configurationId(one.id, context),
    name: textOf(one.name, context),
    description: one.description ?? '',
    configuration: objectOf(one.configuration, context),
    rows: (one.rows ?? [])
      .filter(({ when }) => holds(when, context.answers))
      .map((row) => ({
        id: row.id,
        name: textOf(row.name, context),
        description: row.description ?? '',
        isDisabled: row.isDisabled ?? false,
        configuration: objectOf(row.configuration, context),
      })),
  }))
}

const textOf = (value: unknown, context: RenderContext): string => String(filled(value, context, 0) ?? '')

const objectOf = (value: Readonly<Record<string, unknown>>, context: RenderContext) =>
  filled(value, context, 0) as Readonly<Record<string, unknown>> // an object without a placeholder at its root stays one

function filled(value: unknown, context: RenderContext, depth: number): unknown {
  if (depth > DEEPEST) throw broken('it is nested too deep')
  if (Array.isArray(value)) return value.map((item) => filled(item, context, depth + 1)).filter((item) => item !== LEFT_OUT)
  if (typeof value !== 'object' || value === null) return value
  const members = value as Readonly<Record<string, unknown>>
  const [word] = Object.keys(members).filter((name) => name.startsWith('$'))
  if (word !== undefined) return replaced(word, members, context, depth)
  return Object.fromEntries(
    Object.entries(members)
      .map(([name, member]) => [name, filled(member, context, depth + 1)] as const)
      .filter(([, member]) => member !== LEFT_OUT),
  )
}

function replaced(word: string, members: Readonly<Record<string, unknown>>, context: RenderContext, depth: number): unknown {
  const value = members[word]
  switch (word) {
    case '$input':
      return context.answers.inputs.get(String(value)) ?? null
    case '$configuration':
      return configurationId(String(value), context)
    case '$instance':
      return value === 'name' ? context.instance.name : context.instance.id
    case '$stack':
      return context.stackUrl
    case '$text':
      if (!Array.isArray(value)) break
      return value.map((part) => String(filled(part, context, depth + 1) ?? '')).join('')
    case '$if':
    case '$then':
    case '$else': {
      const chosen = holds(members.$if, context.answers) ? '$then' : '$else'
      return Object.hasOwn(members, chosen) ? filled(members[chosen], context, depth + 1) : LEFT_OUT
    }
  }
  throw broken(`"${word}" with ${JSON.stringify(value)?.slice(0, 100)} is not a placeholder`)
}

function configurationId(id: string, { configurationIds }: RenderContext): string {
  const found = configurationIds.get(id)
  if (found === undefined) throw broken(`it refers to the configuration "${id}", which it does not make here`)
  return found
}

const broken = (reason: string): PlatformError => new PlatformError('templates.broken', { file: 'manifest.json', reason })
