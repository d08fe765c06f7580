// What the format demands of a manifest before anything is requested: known types, required fields, types of values.

import { ManifestError } from '../errors.ts'
import { type Dict, isDict } from '../python/values.ts'
import { CHILDREN, COMPONENTS, CUSTOM, type FieldType, NOT_SUPPORTED } from './components.ts'
import { nearestOf } from './nearest.ts'

type Path = readonly (string | number)[]

export function checkManifest(manifest: Dict, lineOf: (path: Path) => number | undefined): void {
  const fail = (path: Path, why: string): never => {
    const line = lineOf(path)
    throw new ManifestError(`${path.join('.') || 'The manifest'}${line === undefined ? '' : ` (line ${line})`}: ${why}`)
  }
  if (manifest.version === undefined) fail([], "the required field 'version' is missing.")
  if (!isDict(manifest.check)) fail([], "the required field 'check' is missing.")
  if (!Array.isArray(manifest.streams) && !Array.isArray(manifest.dynamic_streams))
    fail([], "'streams' or 'dynamic_streams' is required.")
  checkComponent({ ...manifest, type: 'DeclarativeSource' }, [], fail)
}

type Fail = (path: Path, why: string) => never

function checkComponent(node: Dict, path: Path, fail: Fail): void {
  const type = node.type
  if (typeof type !== 'string' || CUSTOM.test(type)) return
  const fields = Object.hasOwn(COMPONENTS, type) ? COMPONENTS[type]! : undefined
  if (!fields) {
    const since = Object.hasOwn(NOT_SUPPORTED, type) ? NOT_SUPPORTED[type] : undefined
    if (since !== undefined)
      fail([...path, 'type'], `the component type '${type}' exists since version ${since} of the format and is not supported.`)
    const near = nearestOf(type, Object.keys(COMPONENTS))
    fail(
      [...path, 'type'],
      `the component type '${type}' is unknown.${near ? ` Did you mean '${near}'?` : ' This engine supports the types of version 7.39 of the format.'}`,
    )
    return
  }
  checkFields(node, type, fields, path, fail)
  for (const name of CHILDREN[type] ?? []) checkChild(node[name], [...path, name], fail)
}

/** A component, a list of them, or components by name. */
function checkChild(value: unknown, path: Path, fail: Fail): void {
  if (Array.isArray(value)) for (const [i, each] of value.entries()) checkChild(each, [...path, i], fail)
  else if (isDict(value) && value.type !== undefined) checkComponent(value, path, fail)
  else if (isDict(value) && path.at(-1) === 'authenticators')
    for (const [name, each] of Object.entries(value)) checkChild(each, [...path, name], fail)
}

function checkFields(node: Dict, type: string, fields: Readonly<Record<string, FieldType>>, path: Path, fail: Fail): void {
  for (const [name, wanted] of Object.entries(fields)) {
    const value = node[name.replace('!', '')]
    if (name.endsWith('!') && (value === undefined || value === null)) {
      const near = nearestOf(
        name.slice(0, -1),
        Object.keys(node).filter((key) => !Object.hasOwn(fields, key) && !Object.hasOwn(fields, `${key}!`)),
      )
      fail(
        path,
        `the required field '${name.slice(0, -1)}' of ${type} is missing.${near ? ` Found '${near}', which is not a field of it.` : ''}`,
      )
    }
    if (value !== undefined && value !== null && !isA(value, wanted))
      fail([...path, name.replace('!', '')], `the value must be ${NAMES[wanted]}, not ${JSON.stringify(value)?.slice(0, 80)}.`)
  }
}

const NAMES: Readonly<Record<FieldType, string>> = {
  any: 'a value',
  text: 'a text',
  texts: 'an object of texts, or a text',
  queryTexts: 'an object of texts, or a text',
  list: 'a list',
  object: 'an object',
  integer: 'an integer or an expression',
  number: 'a number or an expression',
  boolean: 'true or false',
  place: 'request_parameter, header, body_data or body_json',
  method: 'GET or POST',
  path: 'a list of texts',
}

function isA(value: unknown, type: FieldType): boolean {
  const isTexts = (allow: (each: unknown) => boolean) =>
    typeof value === 'string' || (isDict(value) && Object.values(value).every((each) => typeof each === 'string' || allow(each)))
  switch (type) {
    case 'any':
      return true
    case 'text':
      return typeof value === 'string'
    case 'texts':
      return isTexts(() => false)
    case 'queryTexts':
      return isTexts((each) => isDict(each) && each.type === 'QueryProperties')
    case 'list':
      return Array.isArray(value)
    case 'object':
      return isDict(value)
    case 'integer':
      return Number.isInteger(value) || typeof value === 'string'
    case 'number':
      return typeof value === 'number' || typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'place':
      return typeof value === 'string' && ['request_parameter', 'header', 'body_data', 'body_json', 'path'].includes(value)
    case 'method':
      return typeof value === 'string' && ['GET', 'POST'].includes(value)
    case 'path':
      return Array.isArray(value) && value.every((part) => typeof part === 'string')
  }
}
