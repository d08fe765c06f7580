// in/state.json and out/state.json (spec extractor 16).

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { at } from './configuration/read.ts'
import { entriesOf, isArray, isEmpty, isObject, type JsonObject, type JsonValue, objectOf } from './json/json.ts'
import { toInteger } from './json/numbers.ts'
import { parseJson } from './json/parse.ts'
import { exactJson } from './json/text.ts'
import type { Log } from './log.ts'

export interface State {
  readonly content: JsonObject
  /** Unix time of the start of the last successful run; 0 on the first. */
  readonly previousStart: number
  /** What the table converter remembers: {struct, structVersion}. */
  readonly parserState: JsonValue | undefined
}

/** The original extractor writes two names with a dot; states that we wrote before hold an object instead, which is still read. */
const STRUCT = 'json_parser.struct'
const STRUCT_VERSION = 'json_parser.structVersion'
const OLD_PARSER = 'json_parser'

export function readState(dataDir: string, log: Log): State {
  const file = join(dataDir, 'in', 'state.json')
  const found = readObject(file)
  if (found === undefined) log.warning(`State file not found or not readable: '${file}'. Starting with an empty state.`)
  const content = found ?? objectOf([])
  const previous = at(at(content, 'time'), 'previousStart')
  return {
    content,
    previousStart: isEmpty(previous) ? 0 : Number(toInteger(previous) ?? 0n),
    parserState: parserStateOf(content),
  }
}

function parserStateOf(content: JsonObject): JsonValue | undefined {
  const struct = at(content, STRUCT)
  if (struct === undefined) return at(content, OLD_PARSER)
  return objectOf([
    ['struct', struct],
    ['structVersion', at(content, STRUCT_VERSION) ?? null],
  ])
}

function readObject(file: string): JsonObject | undefined {
  try {
    const content = parseJson(readFileSync(file))
    if (isArray(content) && content.length === 0) return objectOf([]) // how PHP writes an empty state
    return isObject(content) ? content : undefined
  } catch {
    return undefined
  }
}

/** What the next run finds: the old state, the start of this run, and what the parser learned. */
export function nextState(
  { content }: Pick<State, 'content'>,
  currentStart: number,
  parserState: JsonValue | undefined,
): JsonObject {
  const time = entriesOf(timeOf(content)).filter(([key]) => key !== 'currentStart')
  const kept = entriesOf(content).filter(([key]) => key !== OLD_PARSER || parserState === undefined)
  const parser: [string, JsonValue][] =
    parserState === undefined
      ? []
      : [
          [STRUCT, at(parserState, 'struct') ?? null],
          [STRUCT_VERSION, at(parserState, 'structVersion') ?? null],
        ]
  return objectOf([...kept, ['time', objectOf([...time, ['previousStart', currentStart]])], ...parser])
}

const timeOf = (content: JsonObject) => {
  const time = at(content, 'time')
  return isObject(time) ? time : objectOf([])
}

/** The last file of a run, and never half of it. */
export function writeState(dataDir: string, state: JsonObject): void {
  const file = join(dataDir, 'out', 'state.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.tmp`, exactJson(state))
  renameSync(`${file}.tmp`, file)
}
