// The problems of a value by a JSON schema, in sentences for people: each problem once, at its path. A schema with alternatives (anyOf,
// oneOf) has errors for each of them; only those of the alternative that most likely was meant are reported.

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { escaped } from './content-problem.ts'

export interface SchemaProblem {
  readonly pointer: string
  readonly message: string
}

/** As typebox writes them. */
interface Complaint {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly message: string
  readonly params: Readonly<Record<string, unknown>>
}

const MAX_COMPLAINTS = 2000
const MAX_PROBLEMS = 200

const compiled = new WeakMap<object, ReturnType<typeof Compile>>()

/** Throws what the schema itself is wrong in, if it cannot be used. */
export function schemaProblems(schema: object, value: unknown): readonly SchemaProblem[] {
  const checker = compiled.get(schema) ?? Compile(schema as TSchema) // any JSON schema is one of typebox
  compiled.set(schema, checker)
  if (checker.Check(value)) return []
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: MAX_COMPLAINTS })
  try {
    const complaints = checker.Errors(value) as unknown as readonly Complaint[] // params by keyword, read with care below
    const problems = condensed(complaints).flatMap(worded)
    return [...new Map(problems.map((one) => [`${one.pointer} ${one.message}`, one])).values()].slice(0, MAX_PROBLEMS)
  } finally {
    Settings.Set({ maxErrors })
  }
}

const isChoice = ({ keyword }: Complaint): boolean => keyword === 'anyOf' || keyword === 'oneOf'
const isBelow = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`)

function condensed(complaints: readonly Complaint[]): readonly Complaint[] {
  const choice = complaints.filter(isChoice).sort((a, b) => a.schemaPath.length - b.schemaPath.length)[0]
  if (!choice) return complaints
  const start = `${choice.schemaPath}/${choice.keyword}/`
  const isInside = (one: Complaint) => one.schemaPath.startsWith(start) && isBelow(one.instancePath, choice.instancePath)
  const rest = complaints.filter((one) => one !== choice && !isInside(one))
  const alternatives = Map.groupBy(complaints.filter(isInside), ({ schemaPath }) => schemaPath.slice(start.length).split('/')[0]!)
  return [...likeliest(choice, [...alternatives.values()].map(condensed)), ...condensed(rest)]
}

/** Of alternatives that all failed, the problems of the one that was meant. */
function likeliest(choice: Complaint, alternatives: readonly (readonly Complaint[])[]): readonly Complaint[] {
  const isFixed = ({ keyword }: Complaint) => keyword === 'const' || keyword === 'enum'
  const wrongKind = (complaints: readonly Complaint[]) =>
    complaints.find((one) => one.instancePath === choice.instancePath && (one.keyword === 'type' || isFixed(one)))
  const ofKind = alternatives.filter((complaints) => wrongKind(complaints) === undefined)
  if (ofKind.length === 0)
    return [
      oneOfThese(
        alternatives.flatMap((complaints) => wrongKind(complaints) ?? []),
        choice,
      ),
    ]
  // A member with a fixed value identifies the alternative: {"method": "offset"}.
  const named = ofKind.filter((complaints) => !complaints.some(isFixed))
  if (named.length === 0 && ofKind.length > 1) return [oneOfThese(ofKind.flat().filter(isFixed))]
  return (named.length > 0 ? named : ofKind).reduce((best, one) =>
    depthOf(one) > depthOf(best) || (depthOf(one) === depthOf(best) && one.length < best.length) ? one : best,
  )
}

/** How far the value was understood: the further in it goes wrong, the more of it was right. */
const depthOf = (complaints: readonly Complaint[]): number =>
  complaints.reduce((max, { instancePath }) => Math.max(max, instancePath.split('/').length), 0)

/** Several values or kinds would do. */
function oneOfThese(complaints: readonly Complaint[], fallback?: Complaint): Complaint {
  const first = complaints[0] ?? fallback!
  const here = complaints.filter(({ instancePath }) => instancePath === first.instancePath)
  const words = new Set(here.flatMap(allowedBy))
  if (words.size > 1) words.delete('null')
  return words.size === 0 ? first : { ...first, keyword: 'allowed', message: `must be ${listed([...words])}` }
}

function allowedBy({ keyword, params }: Complaint): string[] {
  if (keyword === 'type') return [params.type].flat().map(String)
  if (keyword === 'const') return [JSON.stringify(params.allowedValue)]
  return Array.isArray(params.allowedValues) ? params.allowedValues.map((value) => JSON.stringify(value)) : []
}

const listed = (words: readonly string[]): string =>
  words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function worded(complaint: Complaint): SchemaProblem[] {
  const { keyword, instancePath, params, message } = complaint
  const members = (names: unknown, text: string): SchemaProblem[] =>
    (Array.isArray(names) ? names : []).map((name) => ({ pointer: `${instancePath}/${escaped(String(name))}`, message: text }))
  if (keyword === 'required') return members(params.requiredProperties, 'is missing')
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
    return members(params.additionalProperties ?? params.unevaluatedProperties, 'is not known here')
  if (keyword === 'boolean') return [] // of an unknown member, which is reported already
  if (keyword === 'const' || keyword === 'enum')
    return [{ pointer: instancePath, message: `must be ${listed(allowedBy(complaint))}` }]
  return [{ pointer: instancePath, message }]
}
