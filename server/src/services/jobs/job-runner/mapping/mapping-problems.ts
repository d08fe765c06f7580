// Everything a run would refuse of a configuration before it starts: mapping, processors, runtime. A run stops at the first; an editor
// needs all of them.

import { PlatformError } from '../../../../kit/errors.ts'
import { type ContentProblem, escaped, pointerOf } from '../../../../model/content-problem.ts'
import { schemaProblems } from '../../../../model/schema-problems.ts'
import {
  checkFileInput,
  checkTableInput,
  checkTableOutput,
  isEmptyList,
  Processors,
  Runtime,
  readMapping,
  Storage,
} from './mapping.ts'

const SECTIONS = { storage: Storage, processors: Processors, runtime: Runtime } as const

export function mappingProblems(configuration: Readonly<Record<string, unknown>>): readonly ContentProblem[] {
  const ofShape = Object.entries(SECTIONS).flatMap(([name, schema]) => {
    const section = configuration[name]
    if (section === undefined || isEmptyList(section)) return []
    return schemaProblems(schema, section).map(({ pointer, message }) => problem(`/${name}${pointer}`, message))
  })
  return ofShape.length > 0 ? ofShape : contradictions(configuration.storage)
}

/** Problems beyond the shape; checked only when the shape is valid. */
function contradictions(storage: unknown): readonly ContentProblem[] {
  if (storage === undefined || isEmptyList(storage)) return []
  const { input, output } = storage as { readonly input?: Lists; readonly output?: Lists } // its shape was just checked
  const each = <T>(items: readonly T[] | null | undefined, place: string, check: (item: T, place: string) => unknown) =>
    (items ?? []).flatMap((item, i) => refusalOf(() => check(item, `${place}[${i}]`), `${place}[${i}]`))
  const ofItems = [
    ...each(input?.tables, 'storage.input.tables', checkTableInput),
    ...each(input?.files, 'storage.input.files', checkFileInput),
    ...each(output?.tables, 'storage.output.tables', checkTableOutput),
  ]
  return ofItems.length > 0 ? ofItems : refusalOf(() => readMapping(storage), 'storage')
}

interface Lists {
  // biome-ignore lint/suspicious/noExplicitAny: items of three kinds, each checked by its own function
  readonly tables?: readonly any[] | null
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly files?: readonly any[] | null
}

/** The place at the start of the sentence becomes the pointer. */
function refusalOf(check: () => unknown, place: string): ContentProblem[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    const [, path = place, message = error.message] = /^(storage[\w.[\]]*):? (.*)$/s.exec(String(error.details.reason)) ?? []
    return [problem(pointerOf(path), message)]
  }
}

const problem = (pointer: string, message: string): ContentProblem => ({ level: 'error', pointer, message, rule: 'mapping' })

/** Tables and components that a configuration names, with their places. */
export function namesIn(configuration: Readonly<Record<string, unknown>>) {
  const storage = objectOf(configuration.storage)
  const processors = objectOf(configuration.processors)
  const tables = listOf(objectOf(storage.input).tables).flatMap((item, i) => {
    const { source } = objectOf(item)
    return typeof source === 'string' ? [{ id: source, pointer: `/storage/input/tables/${i}/source` }] : []
  })
  const components = Object.entries(processors).flatMap(([when, list]) =>
    listOf(list).flatMap((item, i) => {
      const { component } = objectOf(objectOf(item).definition)
      const pointer = `/processors/${escaped(when)}/${i}/definition/component`
      return typeof component === 'string' ? [{ id: component, pointer }] : []
    }),
  )
  return { tables, components }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
