// config.json: where the nodes are (spec extractor 2). `api` and `config` stand at the top level or below
// `parameters` (what the platform writes); the latter is looked at first.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApplicationError, UserError } from '../errors.ts'
import { entriesOf, isArray, isEmpty, isObject, type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import { JsonSyntaxError, parseJson } from '../json/parse.ts'
import type { Redactor } from '../redaction.ts'
import { at, listAt, objectAt, textAt } from './read.ts'

export interface Configuration {
  readonly api: JsonObject
  /** The `config` node of each run: one, or one per entry of `iterations`. */
  readonly runs: readonly JsonObject[]
  readonly sshProxy: JsonObject | undefined
  readonly awsCredentials: JsonObject | undefined
  readonly cache: JsonObject | undefined
  readonly oauthCredentials: JsonObject | undefined
  readonly allowedHosts: readonly JsonValue[]
  /** `run`, or the name of a synchronous action. */
  readonly action: string
  /** The node the above were found in: actions read their own keys from it. */
  readonly parameters: JsonObject
  /** What stands below `parameters`, when the file has it. */
  readonly below: JsonObject | undefined
}

export function loadConfiguration(dataDir: string): JsonObject {
  const file = join(dataDir, 'config.json')
  let text: Buffer
  try {
    text = readFileSync(file)
  } catch (cause) {
    throw new ApplicationError(`Configuration file '${file}' not found.`, {}, cause)
  }
  let parsed: JsonValue
  try {
    parsed = parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new ApplicationError(`Configuration file is not a valid JSON: ${cause.message}`, {}, cause)
  }
  if (!isObject(parsed)) throw new ApplicationError('Configuration file is not a valid JSON: it must hold an object')
  return parsed
}

const orUndefined = (value: JsonValue | undefined, path: string) => (isEmpty(value) ? undefined : objectAt(value, path))

export function readConfiguration(file: JsonObject): Configuration {
  const parameters = parametersOf(file)
  const below = at(file, 'parameters')
  const authorization = at(at(file, 'authorization'), 'oauth_api')
  return {
    api: sectionAt(parameters, 'api', "The 'api' section is required in configuration."),
    runs: readRuns(parameters),
    sshProxy: orUndefined(at(parameters, 'sshProxy'), 'parameters.sshProxy'),
    awsCredentials: orUndefined(
      at(at(at(parameters, 'aws'), 'signature'), 'credentials'),
      'parameters.aws.signature.credentials',
    ),
    cache: orUndefined(at(parameters, 'cache'), 'parameters.cache'),
    oauthCredentials: orUndefined(at(authorization, 'credentials'), 'authorization.oauth_api.credentials'),
    allowedHosts: listAt(at(at(file, 'image_parameters'), 'allowed_hosts'), 'image_parameters.allowed_hosts'),
    action: actionOf(file),
    parameters,
    below: isObject(below) ? below : undefined,
  }
}

/** Each node is looked for below `parameters` first, then at the top level. */
export function parametersOf(file: JsonObject): JsonObject {
  const below = at(file, 'parameters')
  return isObject(below) ? objectOf([...entriesOf(file), ...entriesOf(below)]) : file
}

export const actionOf = (file: JsonObject) => textAt(at(file, 'action'), 'action', 'run') || 'run'

function sectionAt(parameters: JsonObject, key: string, message: string): JsonObject {
  const section = at(parameters, key)
  if (isEmpty(section) || (isObject(section) && entriesOf(section).length === 0)) throw new UserError(message)
  return objectAt(section, key)
}

/** Each iteration replaces top-level keys of `config` as a whole; the plain config is not run in addition (spec extractor 17). */
function readRuns(parameters: JsonObject): JsonObject[] {
  const config = sectionAt(parameters, 'config', "The 'config' section is required in the configuration.")
  const iterations = at(parameters, 'iterations')
  if (isEmpty(iterations)) return [config]
  const list = isArray(iterations) ? iterations : entriesOf(objectAt(iterations, 'iterations')).map(([, value]) => value)
  return list.map((entry, i) => objectOf([...entriesOf(config), ...entriesOf(objectAt(entry, `iterations.${i}`))]))
}

/** Every value below a key that starts with `#` is a secret, wherever it stands. */
export function hideSecrets(value: JsonValue, redactor: Redactor): void {
  if (isArray(value)) for (const element of value) hideSecrets(element, redactor)
  if (!isObject(value)) return
  for (const [key, member] of entriesOf(value)) {
    if (!key.startsWith('#')) hideSecrets(member, redactor)
    else {
      redactor.add(member)
      redactor.add(parsedSecret(member))
    }
  }
}

/** OAuth data is an object written as text: its tokens are used one by one. */
function parsedSecret(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return null
  try {
    return parseJson(value)
  } catch {
    return null // a secret that only looks like JSON
  }
}
