// One piece of a stream: a partition and a window. In expressions it is one object with the fields of both.

import { PyFunction, type WithMembers } from '../jinja/runtime.ts'
import { type Dict, equals, getKey, type PyObject, pyRepr, pyStr, Tuple } from '../python/values.ts'

const METHODS: Readonly<Record<string, (fields: Dict, args: readonly unknown[]) => unknown>> = {
  get: (fields, [key, otherwise = null]) =>
    Object.hasOwn(fields, pyStr(key)) ? (getKey(fields, pyStr(key)) ?? null) : otherwise,
  keys: (fields) => Object.keys(fields),
  values: (fields) => Object.values(fields),
  items: (fields) => Object.entries(fields).map(([key, value]) => Tuple.of<unknown>(key, value)),
}

/** The extra field that holds the first page of a stream that is read lazily. */
export const CHILD_RESPONSE = 'child_response'

export class StreamSlice implements PyObject, WithMembers {
  readonly partition: Dict
  readonly cursorSlice: Dict
  readonly extraFields: Dict
  readonly fields: Dict

  constructor(partition: Dict, cursorSlice: Dict = {}, extraFields: Dict = {}) {
    this.partition = partition
    this.cursorSlice = cursorSlice
    this.extraFields = extraFields
    this.fields = { ...partition, ...cursorSlice }
  }

  pyMember(name: string): unknown {
    if (name === 'partition') return this.partition
    if (name === 'cursor_slice') return this.cursorSlice
    if (name === 'extra_fields') return this.extraFields
    if (!Object.hasOwn(METHODS, name)) return undefined
    return new PyFunction(name, (args) => METHODS[name]!(this.fields, args))
  }
  pyStr(): string {
    return this.pyRepr()
  }
  pyRepr(): string {
    return pyRepr(this.fields)
  }
  pyTruth(): boolean {
    return Object.keys(this.fields).length > 0
  }
  pyEquals(other: unknown): boolean {
    return equals(this.fields, other instanceof StreamSlice ? other.fields : other)
  }
}

export const EMPTY_SLICE = new StreamSlice({})
