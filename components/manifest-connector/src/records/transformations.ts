// Transformations change records in place, in the order of the manifest.

import { contextOf, type Deps } from '../component.ts'
import { ConnectorError } from '../errors.ts'
import type { ValidType } from '../jinja/interpolate.ts'
import type { StreamSlice } from '../partitions/slice.ts'
import * as dpath from '../python/dpath.ts'
import { type Dict, isDict, pyStr, setKey, truthy } from '../python/values.ts'

export type Transform = (record: Dict, slice: StreamSlice) => void

const VALUE_TYPES: Readonly<Record<string, ValidType>> = { string: 'str', number: 'float', integer: 'int', boolean: 'bool' }

export function createTransformation(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Transform {
  switch (definition.type) {
    case 'AddFields':
      return addFields(definition, deps)
    case 'RemoveFields':
      return removeFields(definition, deps)
    case 'KeysToLower':
      return (record) =>
        replaceWith(
          record,
          mapKeys(record, (key) => key.toLowerCase(), false),
        )
    case 'KeysToSnakeCase':
      return (record) => replaceWith(record, mapKeys(record, snakeCase, true))
    case 'KeysReplace':
      return keysReplace(definition, deps)
    case 'FlattenFields':
      return (record) => replaceWith(record, flattened(record, definition.flatten_lists !== false))
    case 'DpathFlattenFields':
      return flattenPath(definition, deps)
    default:
      throw new ConnectorError(`The transformation '${pyStr(definition.type)}' is not supported.`)
  }
}

function replaceWith(record: Dict, next: Dict): void {
  for (const key of Object.keys(record)) delete record[key]
  for (const [key, value] of Object.entries(next)) setKey(record, key, value)
}

function addFields(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Transform {
  const { expressions } = deps
  const own = contextOf(definition, deps)
  const fields = (definition.fields as Dict[]).map((field) => ({
    path: (field.path as unknown[]).map(pyStr),
    value: field.value,
    valid: typeof field.value_type === 'string' && VALUE_TYPES[field.value_type] ? [VALUE_TYPES[field.value_type]!] : undefined,
    context: contextOf(field, deps),
  }))
  const condition = truthy(definition.condition) ? definition.condition : undefined
  return (record, slice) => {
    for (const { path, value, valid, context } of fields) {
      const variables = { ...context, record, stream_slice: slice }
      const result = expressions.value(value, variables, valid)
      if (condition === undefined || expressions.truth(condition, { ...own, record, stream_slice: slice, value: result, path }))
        dpath.put(record, path, result)
    }
  }
}

function removeFields(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Transform {
  const own = contextOf(definition, deps)
  const pointers = (definition.field_pointers as unknown[][]).map((pointer) => pointer.map(pyStr))
  const chosen = truthy(definition.condition)
    ? (value: unknown) => deps.expressions.truth(definition.condition, { ...own, property: value })
    : undefined
  return (record) => {
    // With a condition the reference looks at every value, and not at the pointers.
    if (chosen && pointers.length > 0) dpath.removeLeaves(record, chosen)
    if (!chosen) for (const pointer of pointers) dpath.remove(record, pointer)
  }
}

function mapKeys(record: Dict, change: (key: string) => string, deep: boolean): Dict {
  const out: Dict = {}
  for (const [key, value] of Object.entries(record))
    setKey(out, change(key), deep && isDict(value) ? mapKeys(value, change, deep) : value)
  return out
}

function keysReplace(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Transform {
  const own = contextOf(definition, deps)
  return (record, slice) => {
    const context = { ...own, record, stream_slice: slice }
    const [from, to] = [
      pyStr(deps.expressions.value(definition.old, context)),
      pyStr(deps.expressions.value(definition.new, context)),
    ]
    replaceWith(
      record,
      // As Python replaces: nothing is found before and after each character, and a dollar sign is one.
      mapKeys(
        record,
        (key) => (from === '' ? `${to}${[...key].map((each) => each + to).join('')}` : key.split(from).join(to)),
        true,
      ),
    )
  }
}

/** Tokens of a name; anything between them is one underscore. */
function snakeCase(key: string): string {
  const plain = key.normalize('NFKD').replace(/[\u0300-\u036f]/g, '')
  let tokens = [...plain.matchAll(/[A-Z]+[a-z]*|[a-z]+|\d+|([^a-zA-Z\d]+)/g)].map(([token, other]) =>
    other === undefined ? token : '',
  )
  if (tokens.length >= 3) tokens = [tokens[0]!, ...tokens.slice(1, -1).filter(Boolean), tokens.at(-1)!]
  if (tokens[0] !== undefined && /^\d+$/.test(tokens[0])) tokens.unshift('')
  return tokens.map((token) => token.toLowerCase()).join('_')
}

function flattened(record: Dict, lists: boolean): Dict {
  const out: Dict = {}
  const stack: [unknown, string][] = [[record, '_']]
  let withParent = false
  for (let top = stack.pop(); top; top = stack.pop()) {
    const [value, name] = top
    if (isDict(value))
      for (const [key, member] of Object.entries(value))
        stack.push([member, Object.hasOwn(out, key) || withParent ? `${name}.${key}` : key])
    else if (Array.isArray(value) && lists) {
      withParent ||= value.length > 0
      for (const [i, item] of value.entries()) stack.push([item, `${name}.${i}`])
    } else setKey(out, name, value)
  }
  return out
}

function flattenPath(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Transform {
  const own = contextOf(definition, deps)
  const rename = isDict(definition.key_transformation) ? definition.key_transformation : undefined
  const text = (template: unknown) =>
    template === undefined || template === null ? '' : pyStr(deps.expressions.value(template, own))
  return (record) => {
    const path = (definition.field_path as unknown[]).map(text)
    const found = path.includes('*') ? [...dpath.values(record, path)][0] : dpath.get(record, path)
    if (!isDict(found)) return
    const fields = rename ? mapKeys(found, (key) => `${text(rename.prefix)}${key}${text(rename.suffix)}`, false) : { ...found }
    if (definition.replace_record === true && truthy(fields)) {
      replaceWith(record, fields)
      return
    }
    if (Object.keys(fields).some((key) => Object.hasOwn(record, key))) return
    if (definition.delete_origin_value === true) dpath.remove(record, path)
    for (const [key, value] of Object.entries(fields)) setKey(record, key, value)
  }
}
