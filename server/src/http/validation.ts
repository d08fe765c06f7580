// Request validation from the same TypeBox schemas that make the types and the OpenAPI document.

import type { FastifySchemaCompiler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ErrorCode } from '../../../contract/error-codes.ts'
import { type FieldError, PlatformError } from '../kit/errors.ts'
import { coerce } from './scalars.ts'

/** Carries the field errors out of Fastify's validation step; the error handler turns it into a PlatformError with the route's code. */
export class InvalidRequest extends Error {
  readonly errors: readonly FieldError[]
  constructor(errors: readonly FieldError[]) {
    super('invalid request')
    this.errors = errors
  }
}

/** Compiled on first use: a start should not pay for unused routes. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  let compiled: ReturnType<typeof Compile> | undefined
  return (input: unknown) => {
    compiled ??= Compile(schema)
    const value = coerce(schema, input)
    if (compiled.Check(value)) return { value }
    return { error: new InvalidRequest(fieldErrorsOf(compiled.Errors(value))) }
  }
}

/** For what arrives beside a streamed body: the value in the shape of the schema, or the error a route's own validation would give. */
export function validate<T extends TSchema>(schema: T, input: unknown, code: ErrorCode = 'storage.validation'): Static<T> {
  const compiled = Compile(schema)
  const value = coerce(schema, input)
  if (!compiled.Check(value)) throw validationError(code, fieldErrorsOf(compiled.Errors(value)))
  return value
}

interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: unknown
  readonly message: string
}

const MAX_REPORTED = 20

/** One line per field, list positions written as `f[0][k]`. */
function fieldErrorsOf(errors: readonly SchemaError[]): FieldError[] {
  const byField = new Map<string, string>()
  for (const [path, values] of Map.groupBy(errors.filter(isConstant), ({ instancePath }) => instancePath)) {
    const allowed = values.map(({ params }) => String((params as { allowedValue: unknown }).allowedValue)) // typebox: of every constant
    byField.set(fieldOf(path), `This value should be ${allowed.length === 1 ? '' : 'one of '}${allowed.join(', ')}.`)
  }
  for (const error of errors) {
    for (const [key, message] of explain(error)) if (!byField.has(key)) byField.set(key, message)
    if (byField.size >= MAX_REPORTED) break
  }
  return [...byField].map(([key, message]) => ({ key, message }))
}

const isConstant = ({ keyword }: SchemaError): boolean => keyword === 'const'

function explain(error: SchemaError): [string, string][] {
  const params = error.params as Readonly<Record<string, unknown>> // typebox: an object for every keyword
  if (error.keyword === 'required') {
    const names = params.requiredProperties
    return Array.isArray(names) ? names.map((name) => [fieldOf(`${error.instancePath}/${name}`), 'This field is missing.']) : []
  }
  if (error.keyword === 'additionalProperties') {
    const names = params.additionalProperties
    return Array.isArray(names)
      ? names.map((name) => [fieldOf(`${error.instancePath}/${name}`), 'This field was not expected.'])
      : []
  }
  if (error.keyword === 'boolean') return []
  if (error.keyword === 'type') return [[fieldOf(error.instancePath), typeText(String(params.type))]]
  if (error.keyword === 'minLength' && params.limit === 1)
    return [[fieldOf(error.instancePath), 'This value should not be blank.']]
  return [[fieldOf(error.instancePath), `This value ${error.message}.`]]
}

/** The sentences clients compare (spec storage 1.8). */
function typeText(type: string): string {
  if (type === 'array') return 'This value should be of type array'
  if (type === 'boolean') return 'This value is not boolean. Possible values are true, false, 1, 0.'
  return `This value should be of type ${type}.`
}

function fieldOf(pointer: string): string {
  const [first = '', ...rest] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100))
  return first === '' ? 'body' : first + rest.map((part) => `[${part}]`).join('')
}

/** The text that clients expect: a headline and one line per field. */
export function validationError(code: ErrorCode, errors: readonly FieldError[]): PlatformError {
  const [first, ...others] = errors
  const error = new PlatformError(code, { field: first?.key ?? 'body', reason: first?.message ?? 'is not valid' }, { errors })
  if (others.length > 0 && error.message.startsWith('Invalid request:')) {
    error.message += others.map(({ key, message }) => `\n - ${key}: "${message}"`).join('')
  }
  return error
}
