// A member that may arrive as an object, as an empty PHP map (`[]`), or as a string holding JSON (forms).

import { PlatformError } from '../kit/errors.ts'
import { parseJson } from './body.ts'

export function objectFromField(field: string, value: unknown): Record<string, unknown> {
  const parsed = typeof value === 'string' && value.trim() !== '' ? parsedField(field, value) : (value ?? {})
  if (Array.isArray(parsed) && parsed.length === 0) return {}
  if (parsed === '') return {}
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw refusal(field, 'This value should be an object.')
  return parsed as Record<string, unknown> // an object, by the checks above
}

function parsedField(field: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw refusal(field, 'This value should be valid JSON.')
  }
}

const refusal = (field: string, reason: string) =>
  new PlatformError('validation.failed', { field, reason }, { errors: [{ key: field, message: reason }] })
