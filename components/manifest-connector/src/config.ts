// The configuration as the manifest's rules change it before anything is read.

import { contextOf, type Deps, listOf } from './component.ts'
import { ConnectorError } from './errors.ts'
import { schemaProblem } from './json-schema.ts'
import * as dpath from './python/dpath.ts'
import { copied, parseJson } from './python/json.ts'
import { type Dict, getKey, isDict, pyStr, setKey, truthy } from './python/values.ts'

type Expressions = Pick<Deps, 'expressions'>

export function normalizedConfig(config: Dict, spec: unknown, deps: Expressions): Dict {
  const rules = isDict(spec) && isDict(spec.config_normalization_rules) ? spec.config_normalization_rules : undefined
  if (!rules) return config
  const next = copied(config)
  const migrations = listOf(rules.config_migrations).filter(isDict)
  for (const transformation of [...migrations.flatMap((each) => listOf(each.transformations)), ...listOf(rules.transformations)])
    if (isDict(transformation)) apply(transformation, next, deps)
  for (const validation of listOf(rules.validations)) if (isDict(validation)) validate(validation, next, deps)
  return next
}

/** A path that the configuration does not have is not checked. */
function validate(definition: Dict, config: Dict, { expressions }: Expressions): void {
  const strategy = isDict(definition.validation_strategy) ? definition.validation_strategy : {}
  if (strategy.type !== 'ValidateAdheresToSchema')
    throw new ConnectorError(`The validation strategy '${pyStr(strategy.type)}' is not supported.`)
  const context = contextOf(definition, { config })
  const base = typeof strategy.base_schema === 'string' ? expressions.value(strategy.base_schema, context) : strategy.base_schema
  const schema = typeof base === 'string' ? parsed(base) : base
  const path = listOf(definition.field_path).map((part) => pyStr(expressions.value(part, context)))
  const values =
    definition.type === 'PredicateValidator'
      ? [typeof definition.value === 'string' ? expressions.value(definition.value, context) : definition.value]
      : [...dpath.values(config, path)]
  for (const value of values) {
    const problem = schemaProblem(typeof value === 'string' ? parsed(value) : value, schema)
    if (problem !== undefined)
      throw new ConnectorError(`The configuration is not valid${path.length > 0 ? ` at '${path.join('.')}'` : ''}: ${problem}.`)
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new ConnectorError(`The configuration is not valid: a value that the manifest checks is not JSON.`)
  }
}

function apply(definition: Dict, config: Dict, { expressions }: Expressions): void {
  const context = contextOf(definition, { config })
  const holds = (condition: unknown) => !truthy(condition) || expressions.truth(condition, context)
  switch (definition.type) {
    case 'ConfigAddFields':
      for (const field of listOf(definition.fields).filter(isDict)) {
        const types = { string: 'str', number: 'float', integer: 'int', boolean: 'bool' } as const
        const valid = types[field.value_type as keyof typeof types]
        if (!holds(definition.condition)) continue
        dpath.put(
          config,
          listOf(field.path).map(pyStr),
          expressions.value(field.value, { ...context, ...contextOf(field, { config }) }, valid && [valid]),
        )
      }
      return
    case 'ConfigRemapField':
      remap(
        config,
        listOf(definition.field_path).map((part) => pyStr(expressions.value(part, context))),
        mapOf(definition.map, context, expressions),
      )
      return
    case 'ConfigRemoveFields':
      if (holds(definition.condition))
        for (const pointer of listOf(definition.field_pointers)) dpath.remove(config, listOf(pointer).map(pyStr))
      return
  }
}

const mapOf = (map: unknown, context: Dict, expressions: Deps['expressions']): Dict => {
  const value = typeof map === 'string' ? expressions.value(map, context) : map
  return isDict(value) ? value : {}
}

function remap(config: Dict, path: readonly string[], map: Dict): void {
  const parent = dpath.get(config, path.slice(0, -1))
  const name = path.at(-1)
  if (!isDict(parent) || name === undefined || !Object.hasOwn(parent, name)) return
  const value = getKey(parent, name)
  if (typeof value === 'string' && Object.hasOwn(map, value)) setKey(parent, name, map[value])
}
