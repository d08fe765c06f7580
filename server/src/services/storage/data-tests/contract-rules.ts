// A data contract in the Open Data Contract Standard (ODCS 3, YAML), as far as a table can be checked against it. What is not checked is
// listed, so that a contract never promises more than a load is tested for.

import { parse, stringify } from 'yaml'
import { type Column, primaryKeyNames, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Severity } from './run-tests.ts'
import { BASE_TYPES, type OwnTestType, readRule, type TestRule } from './test-rules.ts'

export interface ContractTest {
  readonly name: string
  readonly rule: TestRule
  readonly severity: Severity
}

export interface Contract {
  readonly name: string
  readonly version: string
  readonly columns: readonly ContractProperty[]
  readonly primaryKey: readonly string[]
  /** Quality rules and service levels; those of columns and of the table. */
  readonly checks: readonly ContractTest[]
  /** What it states and no load is tested for. */
  readonly notChecked: readonly string[]
}

interface ContractProperty {
  readonly name: string
  /** A base type of tables; undefined if the contract leaves it open. */
  readonly type: string | undefined
  readonly isRequired: boolean
}

export const MAX_CONTRACT = 262_144
export const MAX_ALIASES = 100
const MAX_PROPERTIES = 4096
const VERSION = /^v3(\.\d+)*$/
const TYPES: Readonly<Record<string, string>> = {
  string: 'STRING',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
}
/** What values of an untyped table look like, if the contract gives them a type. */
const LOOKS: Readonly<Record<string, string>> = {
  INTEGER: '[+-]?[0-9]+',
  NUMERIC: String.raw`[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)`,
  FLOAT: String.raw`[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?`,
  BOOLEAN: '(?i)true|false|1|0|yes|no',
  DATE: '[0-9]{4}-[0-9]{2}-[0-9]{2}',
  TIMESTAMP: '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9:.]+(Z|[+-][0-9:]+)?)?',
}

type Node = Readonly<Record<string, unknown>>

/** Throws `storage.contracts.invalid` with what is wrong and where. */
export function readContract(text: string, tableId: string): Contract {
  if (text.length > MAX_CONTRACT) throw wrong(`The contract has more than ${MAX_CONTRACT} characters`)
  const root = nodeOf(parsed(text))
  if (root?.kind !== 'DataContract') throw wrong('kind must be DataContract')
  if (typeof root.apiVersion !== 'string' || !VERSION.test(root.apiVersion))
    throw wrong('apiVersion must be a version 3 of the standard, such as v3.0.2')
  const notChecked: string[] = []
  const objects = listOf(root.schema, 'schema')
  const object = objectOf(objects, tableId)
  if (!object) throw wrong(`schema has no object for ${tableId}. Set physicalName to the id of the table`)
  const properties = listOf(object.properties, 'properties')
  if (properties.length === 0 || properties.length > MAX_PROPERTIES)
    throw wrong(`properties must have 1 to ${MAX_PROPERTIES} columns`)
  const columns = properties.map(propertyOf)
  const twice = columns.find(({ name }, i) => columns.findIndex((one) => one.name === name) !== i)
  if (twice) throw wrong(`properties have ${twice.name} twice`)
  const keyed = properties.filter(({ primaryKey }) => primaryKey === true)
  const position = ({ primaryKeyPosition: at }: Node) => (typeof at === 'number' ? at : Number.MAX_SAFE_INTEGER)
  const known = new Set(columns.map(({ name }) => name))
  const checks = [
    ...properties.flatMap((one) => checksOfProperty(one, tableId, notChecked)),
    ...listOf(object.quality, 'quality').flatMap((one) => qualityCheck(one, undefined, tableId, notChecked)),
    ...listOf(root.slaProperties, 'slaProperties').flatMap((one) => levelCheck(one, known, notChecked)),
  ]
  return {
    name: textOf(root.name) ?? textOf(root.id) ?? tableId,
    version: textOf(root.version) ?? '',
    columns,
    primaryKey: keyed.toSorted((a, b) => position(a) - position(b)).map(({ name }) => String(name)),
    checks: unique(checks),
    notChecked,
  }
}

/** The object that describes the table: by its id, else by its name, else the only one. */
export function objectOf(objects: readonly Node[], tableId: string): Node | undefined {
  const named = objects.find(({ name, physicalName }) => physicalName === tableId || name === tableId)
  const bare = tableId.slice(tableId.lastIndexOf('.') + 1)
  return named ?? objects.find(({ name }) => name === bare) ?? (objects.length === 1 ? objects[0] : undefined)
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES })
  } catch (error) {
    throw wrong(`The contract is not YAML: ${(error as Error).message.split('\n')[0]}`) // the parser throws errors only
  }
}

const wrong = (reason: string) => new PlatformError('storage.contracts.invalid', { reason: reason.slice(0, 500) })

const nodeOf = (value: unknown): Node | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : undefined

function listOf(value: unknown, name: string): readonly Node[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrong(`${name} must be a list`)
  return value.map((one) => {
    const node = nodeOf(one)
    if (!node) throw wrong(`${name} must be a list of objects`)
    return node
  })
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 255) : undefined

function propertyOf(property: Node): ContractProperty {
  const name = typeof property.name === 'string' ? property.name : ''
  if (name === '' || name.length > 255) throw wrong('Every property needs a name of 1 to 255 characters')
  const physical = typeof property.physicalType === 'string' ? property.physicalType.toUpperCase().replace(/\(.*$/, '') : ''
  const logical = typeof property.logicalType === 'string' ? property.logicalType : ''
  return {
    name,
    type: BASE_TYPES.includes(physical) ? physical : TYPES[logical],
    isRequired: property.required === true || property.primaryKey === true,
  }
}

// --------------------------------------------------------------------------------------------------------------------- checks

/** A parameter that a rule does not take is one that the standard has and we do not. */
function check(name: string, severity: Severity, type: OwnTestType, parameters: Node, notChecked: string[]): ContractTest[] {
  try {
    return [{ name, severity, rule: readRule(type, parameters) }]
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    notChecked.push(`${name}: ${error.message}`)
    return []
  }
}

function checksOfProperty(property: Node, tableId: string, notChecked: string[]): readonly ContractTest[] {
  const column = String(property.name)
  const options = nodeOf(property.logicalTypeOptions) ?? {}
  const found: ContractTest[] = []
  const add = (name: string, type: OwnTestType, parameters: Node) =>
    found.push(...check(name, 'stop', type, parameters, notChecked))
  if (property.required === true) add(`${column} is required`, 'notNull', { columns: [column] })
  if (property.unique === true) add(`${column} is unique`, 'unique', { columns: [column] })
  for (const [option, value] of Object.entries(options)) {
    if (option === 'pattern') add(`${column} matches its pattern`, 'pattern', { column, pattern: value })
    else if (option === 'minimum') add(`${column} has its minimum`, 'range', { column, min: value })
    else if (option === 'maximum') add(`${column} has its maximum`, 'range', { column, max: value })
    else if (option === 'minLength')
      add(`${column} has its least length`, 'pattern', { column, pattern: `(?s).{${Number(value)},}` })
    else if (option === 'maxLength')
      add(`${column} has its greatest length`, 'pattern', { column, pattern: `(?s).{0,${Number(value)}}` })
    else notChecked.push(`${column}: logicalTypeOptions.${option}`)
  }
  return [...found, ...listOf(property.quality, 'quality').flatMap((one) => qualityCheck(one, column, tableId, notChecked))]
}

/** Rules of the library, and SQL that has to return a number. */
function qualityCheck(quality: Node, column: string | undefined, tableId: string, notChecked: string[]): readonly ContractTest[] {
  const rule = textOf(quality.rule) ?? textOf(quality.metric) ?? ''
  const place = column === undefined ? '' : `${column} `
  const name = textOf(quality.name) ?? `${place}${rule || textOf(quality.type) || 'quality'}`
  const severity: Severity = /^(warn|warning|info|low)$/i.test(textOf(quality.severity) ?? '') ? 'warn' : 'stop'
  const found = libraryRule(rule, quality, column) ?? sqlRule(quality, tableId)
  if (found) return check(name, severity, found.type, found.parameters, notChecked)
  if (quality.type !== 'text') notChecked.push(`quality ${name}`.slice(0, 200))
  return []
}

interface FoundRule {
  readonly type: OwnTestType
  readonly parameters: Node
}

const mustBeZero = ({ mustBe, mustBeLessThan, mustBeLessOrEqualTo }: Node): boolean =>
  mustBe === 0 || mustBeLessThan === 1 || mustBeLessOrEqualTo === 0

function libraryRule(rule: string, quality: Node, column: string | undefined): FoundRule | undefined {
  const given = nodeOf(quality.arguments) ?? {}
  const columns = column === undefined ? (given.properties ?? quality.columns) : [column]
  if (rule === 'rowCount') return { type: 'rowCount', parameters: bounds(quality) }
  const values = quality.validValues ?? given.validValues
  if (/^(validValues|invalidValues)$/.test(rule) && column !== undefined && values !== undefined)
    return { type: 'acceptedValues', parameters: { column, values } }
  const isZero = mustBeZero(quality)
  if (rule === 'nullCheck' || (isZero && /^(nullValues|missingValues)$/.test(rule)))
    return { type: 'notNull', parameters: { columns } }
  if (rule === 'uniqueCheck' || (isZero && /^(duplicateCount|duplicateValues)$/.test(rule)))
    return { type: 'unique', parameters: { columns } }
  return undefined
}

/** The query returns a number that has to be 0; a test fails by the rows that it returns. */
function sqlRule(quality: Node, tableId: string): FoundRule | undefined {
  if (quality.type !== 'sql' || typeof quality.query !== 'string' || !mustBeZero(quality)) return undefined
  const at = tableId.lastIndexOf('.')
  const table = `"${tableId.slice(0, at)}"."${tableId.slice(at + 1)}"`
  const query = quality.query.replaceAll(/\$\{(table|object)\}|\{(table|object|model)\}/g, table)
  return { type: 'sql', parameters: { sql: `SELECT * FROM (\n${query}\n) q(found) WHERE found <> 0` } }
}

function bounds(quality: Node): Node {
  const between = Array.isArray(quality.mustBeBetween) ? quality.mustBeBetween : []
  const above = typeof quality.mustBeGreaterThan === 'number' ? quality.mustBeGreaterThan + 1 : undefined
  const below = typeof quality.mustBeLessThan === 'number' ? quality.mustBeLessThan - 1 : undefined
  const min = quality.mustBe ?? quality.mustBeGreaterOrEqualTo ?? above ?? between[0]
  const max = quality.mustBe ?? quality.mustBeLessOrEqualTo ?? below ?? between[1]
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
}

const MINUTES: Readonly<Record<string, number>> = { m: 1, min: 1, minute: 1, h: 60, hr: 60, hour: 60, d: 1440, day: 1440 }

/** How old the newest row may be. */
function levelCheck(level: Node, columns: ReadonlySet<string>, notChecked: string[]): readonly ContractTest[] {
  const property = textOf(level.property) ?? ''
  const unit = MINUTES[(textOf(level.unit) ?? '').toLowerCase().replace(/s$/, '')]
  const element = textOf(level.element)?.split('.').at(-1)
  if (!/^(latency|freshness|ly|fy)$/i.test(property) || unit === undefined || typeof level.value !== 'number') {
    notChecked.push(`slaProperties ${property}`)
    return []
  }
  const column = element !== undefined && columns.has(element) ? { column: element } : {}
  return check(
    property,
    'stop',
    'freshness',
    { maxAgeMinutes: Math.max(1, Math.round(level.value * unit)), ...column },
    notChecked,
  )
}

function unique(checks: readonly ContractTest[]): readonly ContractTest[] {
  const seen = new Map<string, number>()
  return checks.map((one) => {
    const times = (seen.get(one.name) ?? 0) + 1
    seen.set(one.name, times)
    return times === 1 ? one : { ...one, name: `${one.name} (${times})` }
  })
}

// ------------------------------------------------------------------------------------------------------------- over a table

/** What a load is tested for. Columns beyond the contract are allowed: a contract states what its readers rely on. */
export function testsOf(contract: Contract, { typed }: Pick<TableSnapshot, 'typed'>): readonly ContractTest[] {
  const columns = contract.columns.map(({ name, type, isRequired }) => ({
    name,
    ...(typed && type !== undefined && { type }),
    ...(typed && isRequired && { nullable: false }),
  }))
  const schema = readRule('schema', {
    columns,
    ...(contract.primaryKey.length > 0 && { primaryKey: contract.primaryKey }),
    allowsOtherColumns: true,
  })
  const looks = typed
    ? []
    : contract.columns.flatMap(({ name, type }) => {
        const pattern = type === undefined ? undefined : LOOKS[type]
        return pattern === undefined
          ? []
          : [{ name: `${name} is ${type}`, severity: 'stop' as const, rule: readRule('pattern', { column: name, pattern }) }]
      })
  return [{ name: 'columns and keys', rule: schema, severity: 'stop' as const }, ...looks, ...contract.checks].map((one) => ({
    ...one,
    name: `contract: ${one.name}`,
  }))
}

/** A contract that the table fulfils, to begin with. */
export function draftOf(tableId: string, snapshot: TableSnapshot): string {
  const key = primaryKeyNames(snapshot)
  return stringify({
    apiVersion: 'v3.0.2',
    kind: 'DataContract',
    id: tableId,
    name: tableId.slice(tableId.lastIndexOf('.') + 1),
    version: '1.0.0',
    status: 'draft',
    schema: [
      {
        name: tableId.slice(tableId.lastIndexOf('.') + 1),
        physicalName: tableId,
        logicalType: 'object',
        physicalType: 'table',
        properties: snapshot.columns.map((column) => propertyFor(column, key.indexOf(column.name), snapshot.typed)),
      },
    ],
  })
}

const LOGICAL: Readonly<Record<string, string>> = {
  STRING: 'string',
  INTEGER: 'integer',
  NUMERIC: 'number',
  FLOAT: 'number',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
}

const propertyFor = ({ name, type, nullable }: Column, position: number, isTyped: boolean) => ({
  name,
  logicalType: LOGICAL[type] ?? 'string',
  physicalType: type,
  ...(isTyped && !nullable && { required: true }),
  ...(position >= 0 && { primaryKey: true, primaryKeyPosition: position + 1 }),
})
