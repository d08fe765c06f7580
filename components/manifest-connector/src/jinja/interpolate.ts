// Values of the manifest that are expressions. The result of a template is a text, which becomes a value by Python's literal_eval; an
// empty result is replaced by the default.

import { ConnectorError, ValueError } from '../errors.ts'
import { copied } from '../python/json.ts'
import { literal, NO_LITERAL } from '../python/literal.ts'
import { type Dict, equals, isDict, isFloat, isInt, pyStr, setKey, Tuple } from '../python/values.ts'
import type { PyDatetime } from '../time/datetime.ts'
import { PyTypeError, Run, UndefinedError } from './runtime.ts'
import { compileTemplate, type Template } from './statements.ts'

/** Python types that the conversion may give; any when absent. */
export type ValidType = 'str' | 'list' | 'float' | 'int' | 'bool'

const VALID: Readonly<Record<ValidType, (value: unknown) => boolean>> = {
  str: (v) => typeof v === 'string',
  list: (v) => Array.isArray(v) && !(v instanceof Tuple),
  float: isFloat,
  int: (v) => isInt(v) || typeof v === 'boolean',
  bool: (v) => typeof v === 'boolean',
}

export interface Interpolator {
  /** The value; an empty result is null. An undefined value inside an undefined one is empty too. */
  optional(template: unknown, context: Dict, valid?: readonly ValidType[]): unknown
  /** The value; an empty result is the empty text. */
  value(template: unknown, context: Dict, valid?: readonly ValidType[]): unknown
  /** The value as text. */
  text(template: unknown, context: Dict): string
  truth(condition: unknown, context: Dict): boolean
  /** Keys and values; those that are null are left out. */
  mapping(values: Dict, context: Dict, valid?: readonly ValidType[]): Dict
  /** A JSON value with expressions at every level; null members of objects are left out. */
  nested(value: unknown, context: Dict): unknown
  readonly now: () => PyDatetime
}

const MAX_TEMPLATES = 10_000

export function createInterpolator(now: () => PyDatetime): Interpolator {
  const templates = new Map<string, Template>()

  function templateOf(source: string): Template {
    const known = templates.get(source)
    if (known) return known
    if (source.includes('stream_state') && /\{[{%]/.test(source))
      throw new ConnectorError(
        `The expression '${shortened(source)}' uses stream_state, which is not supported. Use stream_interval instead.`,
      )
    try {
      const template = compileTemplate(source)
      if (templates.size > MAX_TEMPLATES) templates.clear()
      templates.set(source, template)
      return template
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error
      throw new ConnectorError(`The expression '${shortened(source)}' is not valid: ${error.message}`, error)
    }
  }

  /** Converted by literal_eval; undefined when the text is empty. Throws UndefinedError. */
  function evaluate(source: string, context: Dict, valid?: readonly ValidType[]): unknown {
    if (!/\{[{%#]/.test(source)) return plainValue(source.replace(/\r\n?/g, '\n').replace(/\n$/, ''), valid)
    const template = templateOf(source)
    const variables = withAliases(context)
    for (const name of template.variables)
      if (!Object.hasOwn(variables, name))
        throw new ConnectorError(
          `The expression '${shortened(source)}' uses the variable '${name}', which does not exist here. Known: ${Object.keys(variables).join(', ')}.`,
        )
    const run = new Run(now)
    try {
      if (!template.value) return plainValue(template.render(variables, run), valid)
      const value = template.value(variables, run)
      return isItsOwnLiteral(value) && !valid ? copied(value) : plainValue(run.text(value), valid)
    } catch (error) {
      if (error instanceof PyTypeError) return plainValue(source, valid)
      if (error instanceof RangeError) throw new ValueError(error.message) // of a date
      throw error
    }
  }

  function optional(template: unknown, context: Dict, valid?: readonly ValidType[]): unknown {
    if (typeof template !== 'string') return template
    try {
      return evaluate(template, context, valid) ?? null
    } catch (error) {
      if (error instanceof UndefinedError) return null
      throw error
    }
  }

  function value(template: unknown, context: Dict, valid?: readonly ValidType[]): unknown {
    if (typeof template !== 'string') return template
    const result = evaluate(template, context, valid)
    return result === undefined ? '' : result
  }

  function truth(condition: unknown, context: Dict): boolean {
    if (typeof condition === 'boolean') return condition
    let result: unknown
    try {
      result = evaluate(pyStr(condition), context) ?? false
    } catch (error) {
      if (!(error instanceof UndefinedError)) throw error
      result = false
    }
    return !FALSE_VALUES.some((falsy) => equals(falsy, result))
  }

  function mapping(values: Dict, context: Dict, valid?: readonly ValidType[]): Dict {
    const out: Dict = {}
    for (const [name, template] of Object.entries(values)) {
      const result = optional(template, context, valid)
      if (result !== null && result !== undefined) setKey(out, pyStr(optional(name, context, ['str'])), result)
    }
    return out
  }

  function nested(template: unknown, context: Dict): unknown {
    if (typeof template === 'string') return optional(template, context)
    if (Array.isArray(template)) return template.map((each) => nested(each, context))
    if (!isDict(template)) return template
    const out: Dict = {}
    for (const [name, member] of Object.entries(template)) {
      const result = nested(member, context)
      if (result !== null && result !== undefined) setKey(out, pyStr(optional(name, context)), result)
    }
    return out
  }

  return { optional, value, text: (template, context) => pyStr(value(template, context)), truth, mapping, nested, now }
}

const FALSE_VALUES: readonly unknown[] = ['False', 'false', '{}', '[]', '()', '', '0', '0.0', false, {}, []]

function plainValue(text: string, valid?: readonly ValidType[]): unknown {
  if (text === '') return undefined
  const value = literal(text)
  if (value === NO_LITERAL) return text
  return valid && !valid.some((type) => VALID[type](value)) ? text : value
}

/** Values that print and read back as themselves. */
function isItsOwnLiteral(value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string' || isItsOwnLiteral(each))
  return isDict(value) && Object.values(value).every((each) => typeof each === 'string' || isItsOwnLiteral(each))
}

function withAliases(context: Dict): Dict {
  if (!Object.hasOwn(context, 'stream_slice')) return context
  return { ...context, stream_interval: context.stream_slice, stream_partition: context.stream_slice }
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
