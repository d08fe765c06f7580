// Conditions of a template: objects with one operator. They can do nothing else.

import { PlatformError } from '../../../kit/errors.ts'

/** What a person has filled in. */
export interface Answers {
  /** Values of the inputs of steps that are filled in, defaults included. */
  readonly inputs: ReadonlyMap<string, unknown>
  readonly steps: ReadonlySet<string>
}

const DEEPEST = 20

/** `{"input": "x", "is": 1}`, `{"input": "x", "in": [1, 2]}`, `{"step": "s"}`, `{"all": []}`, `{"any": []}`, `{"not": {}}`. */
export function holds(condition: unknown, answers: Answers, depth = 0): boolean {
  if (condition === undefined) return true
  if (typeof condition !== 'object' || condition === null || depth > DEEPEST) throw unknownCondition(condition)
  const { input, is, in: list, step, all, any, not } = condition as Record<string, unknown>
  const part = (one: unknown) => holds(one, answers, depth + 1)
  if (typeof step === 'string') return answers.steps.has(step)
  if (Array.isArray(all)) return all.every(part)
  if (Array.isArray(any)) return any.some(part)
  if (not !== undefined) return !part(not)
  if (typeof input === 'string') {
    const value = answers.inputs.get(input)
    return Array.isArray(list) ? list.includes(value) : value === is
  }
  throw unknownCondition(condition)
}

const unknownCondition = (condition: unknown): PlatformError =>
  new PlatformError('templates.broken', {
    file: 'manifest.json',
    reason: `${JSON.stringify(condition)?.slice(0, 200)} is not a condition`,
  })
