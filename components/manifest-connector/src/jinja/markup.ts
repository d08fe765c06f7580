// The text that the filters escape, safe and tojson give. What is added to it, or put into it, is escaped.

import { compare, equals, isDict, isNumber, type PyObject, pyRepr, pyStr, Tuple } from '../python/values.ts'

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' }

export const escaped = (text: string): string => text.replace(/[&<>'"]/g, (sign) => SIGNS[sign]!)

export class Markup implements PyObject {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  pyStr(): string {
    return this.text
  }
  pyRepr(): string {
    return `Markup(${pyRepr(this.text)})`
  }
  pyTruth(): boolean {
    return this.text !== ''
  }
  pyEquals(other: unknown): boolean {
    return equals(this.text, plain(other))
  }
  pyCompare(other: unknown): number | undefined {
    return compare(this.text, plain(other))
  }
}

/** As the text that it is, where it makes no difference. */
export const plain = (value: unknown): unknown => (value instanceof Markup ? value.text : value)

export const allPlain = (values: readonly unknown[]): readonly unknown[] =>
  values.some((each) => each instanceof Markup) ? values.map(plain) : values

const escapedText = (value: unknown): string => (value instanceof Markup ? value.text : escaped(pyStr(value)))

/** A value that a text is formatted with. */
export function escapedValue(value: unknown): unknown {
  if (value instanceof Tuple) return Tuple.of(...value.map(escapedValue))
  if (isDict(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escapedValue(each)]))
  return isNumber(value) || typeof value === 'boolean' ? value : escapedText(value)
}

/** Undefined where Python adds nothing to such a text. */
export function joined(left: unknown, right: unknown): Markup | undefined {
  const isText = (value: unknown) => typeof value === 'string' || value instanceof Markup
  return isText(left) && isText(right) ? new Markup(escapedText(left) + escapedText(right)) : undefined
}

/** Methods of which an argument is escaped, and where it stands. */
const ESCAPES: Readonly<Record<string, number>> = { center: 1, ljust: 1, replace: 1, rjust: 1 }

export function escapedArguments(method: string, args: readonly unknown[]): readonly unknown[] {
  if (method === 'format') return args.map(escapedValue)
  if (method === 'join') {
    const [items] = args
    return Array.isArray(items) ? [items.map((each) => (typeof each === 'string' ? escaped(each) : plain(each)))] : args
  }
  const at = ESCAPES[method]
  return args.map((each, i) => (i === at && typeof each === 'string' ? escaped(each) : plain(each)))
}

/** What a method gives: texts are marked, too, but those of `encode`. */
export function marked(value: unknown): unknown {
  if (typeof value === 'string') return new Markup(value)
  if (value instanceof Tuple) return Tuple.of(...value.map(marked))
  return Array.isArray(value) ? value.map(marked) : value
}
