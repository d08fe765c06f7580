// Files of components that work with YAML (spec platform 1.1, configuration_format). All other code sees JSON:
//  (1) JSON is YAML, so what such a component is given is JSON, every text in it written in the one way that all parsers agree on;
//  (2) what it wrote is converted to JSON before it is read.

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { named } from '../../kit/errors.ts'
import { rawJson, stringifyWithRaw } from '../../kit/text/json-text.ts'
import { type DataFolder, listOutputs, readOutput } from './data-folder.ts'

const LARGEST_BYTES = 16 * 2 ** 20
const STRING = /"(?:[^"\\]|\\.)*"/g
/** Printable in JSON, line ends or forbidden in older YAML. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\ufeff]/g

export const yamlOf = (json: string): string =>
  json.replace(STRING, (text) => JSON.stringify(JSON.parse(text)).replace(UNSAFE, (character) => escapeOf(character)))

const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Turns manifests, state, usage and result below `out` into the JSON files they would be of another component. */
export async function turnYamlToJson(folder: DataFolder): Promise<void> {
  const listed = [...(await listOutputs(folder, 'out/tables')), ...(await listOutputs(folder, 'out/files'))]
  const manifests = listed.filter(({ name, isFolder }) => name.endsWith('.manifest') && !isFolder)
  const paths = manifests.map(({ path }) => path.slice(folder.data.length + 1))
  for (const path of [...paths, 'out/state.yml', 'out/usage.yml', 'out/result.yml']) await turn(folder, path)
}

async function turn(folder: DataFolder, path: string): Promise<void> {
  const text = await readOutput(folder, path, LARGEST_BYTES)
  if (text === undefined) return
  const target = join(folder.data, path.replace(/\.yml$/, '.json'))
  const json = jsonOf(text, path)
  await rm(join(folder.data, path))
  await rm(target, { recursive: true, force: true }) // whatever it is: nothing is written through a link
  await writeFile(target, json, { flag: 'wx', mode: 0o600 })
}

function jsonOf(text: string, path: string): string {
  try {
    const value: unknown = parse(text, exactIntegers, { intAsBigInt: true, maxAliasCount: 100, stringKeys: true })
    return value === null ? '' : stringifyWithRaw(value)
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : ''
    throw named('runner.invalidYaml', { path, reason }, cause)
  }
}

const exactIntegers = (_: unknown, value: unknown): unknown => (typeof value === 'bigint' ? rawJson(String(value)) : value)
