// Checks the values that a person filled in against the inputs of a template.

import { PlatformError } from '../../../kit/errors.ts'
import { matchesPattern } from '../../../kit/text/bounded-pattern.ts'
import { type Answers, holds } from './conditions.ts'
import type { TemplateInput, TemplateManifest, TemplateStep, TemplateStepGroup } from './manifest.ts'

export interface FilledStep {
  readonly id: string
  readonly inputs: readonly { readonly id: string; readonly value?: unknown }[]
}

export interface InputCheck {
  readonly id: string
  readonly visible: boolean
  readonly error: string | null
}
export interface StepCheck {
  readonly id: string
  readonly configured: boolean
  readonly valid: boolean
  readonly error: string | null
  readonly inputs: readonly InputCheck[]
}
export interface GroupCheck {
  readonly id: string
  readonly valid: boolean
  readonly error: string | null
  readonly steps: readonly StepCheck[]
}
export interface Check {
  readonly valid: boolean
  readonly stepGroups: readonly GroupCheck[]
  readonly answers: Answers
}

export function checkSteps({ stepGroups }: TemplateManifest, filled: readonly FilledStep[]): Check {
  const known = new Map(stepGroups.flatMap((group) => group.steps.map((step) => [step.id, step] as const)))
  for (const { id, inputs } of filled) {
    const step = known.get(id)
    if (!step) throw new PlatformError('templates.unknownStep', { id: id.slice(0, 100) })
    const unknown = inputs.find((input) => !step.inputs.some((one) => one.id === input.id))
    if (unknown) throw new PlatformError('templates.unknownInput', { id: unknown.id.slice(0, 100), step: id })
  }
  const answers = answersOf([...known.values()], filled)
  const groups = stepGroups.map((group) => checkGroup(group, answers))
  return { valid: groups.every((group) => group.valid), stepGroups: groups, answers }
}

function answersOf(steps: readonly TemplateStep[], filled: readonly FilledStep[]): Answers {
  const configured = new Set(filled.map(({ id }) => id))
  const given = new Map(filled.flatMap(({ inputs }) => inputs.map(({ id, value }) => [id, value] as const)))
  const inputs = new Map<string, unknown>()
  for (const step of steps.filter(({ id }) => configured.has(id)))
    for (const input of step.inputs) inputs.set(input.id, given.get(input.id) ?? input.default ?? null)
  return { inputs, steps: configured }
}

function checkGroup(group: TemplateStepGroup, answers: Answers): GroupCheck {
  const steps = group.steps.map((step) => checkStep(step, answers))
  const count = steps.filter(({ configured }) => configured).length
  const error = countError(group, count)
  return { id: group.id, valid: error === null && steps.every(({ valid }) => valid), error, steps }
}

function countError({ required, steps }: TemplateStepGroup, count: number): string | null {
  if (required === 'all' && count < steps.length) return 'All steps must be filled in.'
  if (required === 'atLeastOne' && count === 0) return 'At least one step must be filled in.'
  if (required === 'exactlyOne' && count !== 1) return 'Exactly one step must be filled in.'
  return null
}

function checkStep(step: TemplateStep, answers: Answers): StepCheck {
  const configured = answers.steps.has(step.id)
  const inputs = step.inputs.map((input) => {
    const visible = configured && holds(input.showIf, answers)
    return { id: input.id, visible, error: visible ? inputError(input, answers.inputs.get(input.id)) : null }
  })
  return { id: step.id, configured, valid: inputs.every(({ error }) => error === null), error: null, inputs }
}

const TYPES: Readonly<Record<TemplateInput['type'], { readonly is: (value: unknown) => boolean; readonly name: string }>> = {
  string: { is: (value) => typeof value === 'string', name: 'a text' },
  int: { is: (value) => Number.isSafeInteger(value), name: 'a whole number' },
  double: { is: (value) => typeof value === 'number' && Number.isFinite(value), name: 'a number' },
  bool: { is: (value) => typeof value === 'boolean', name: 'true or false' },
  'string[]': { is: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'), name: 'a list of texts' },
  object: { is: (value) => typeof value === 'object' && value !== null && !Array.isArray(value), name: 'an object' },
}

function inputError(input: TemplateInput, value: unknown): string | null {
  const isEmpty = value === null || value === undefined || value === ''
  if (isEmpty) return input.required === false ? null : 'A value is required.'
  const { is, name } = TYPES[input.type]
  if (!is(value)) return `The value should be ${name}.`
  if (typeof value === 'string' && value.length > 10_000) return 'The value is longer than 10,000 characters.'
  if (typeof value === 'number' && (value < (input.minimum ?? -Infinity) || value > (input.maximum ?? Infinity)))
    return `The value should be from ${input.minimum ?? 'anything'} to ${input.maximum ?? 'anything'}.`
  const allowed = input.options?.map((option) => option.value)
  const chosen = Array.isArray(value) ? value : [value]
  const wrong = allowed && chosen.find((one) => !allowed.includes(String(one)))
  if (wrong !== undefined) return `"${String(wrong).slice(0, 100)}" is not one of ${allowed?.join(', ')}.`
  return typeof value === 'string' && input.pattern !== undefined ? patternError(input.pattern, value) : null
}

function patternError(pattern: string, value: string): string | null {
  if (value.length > 1000) return 'The value is longer than 1,000 characters, the most where it must match a pattern.'
  const found = matchesPattern(pattern, value)
  if (found === undefined)
    return `The value could not be compared with ${pattern} in time. Report this to the author of the template.`
  return found ? null : `The value does not match ${pattern}.`
}
