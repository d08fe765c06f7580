/** Structures of earlier runs, as the state file keeps them in `json_parser.struct` (spec extractor 16). */
import { entriesOf, isNumber, isObject, type JsonValue, memberOf, objectOf } from '../json/json.ts'
import type { AutomaticType } from './automatic.ts'
import { fromLegacyState } from './legacy.ts'
import type { TablesLog } from './page.ts'
import type { Aliases } from './structure.ts'

export type Remembered = {
  /** Old configurations, and those whose state an old converter wrote, stay with it. */
  readonly isLegacy: boolean
  readonly stateOf: (type: string) => JsonValue | undefined
  /** Added columns that had to be renamed. */
  readonly aliases: Aliases
  /** What the next run is to remember: the types of this run over those of earlier ones, and over what another bucket left. */
  readonly next: (types: readonly AutomaticType[], aliases: Aliases, sofar: JsonValue | undefined) => JsonValue
}

type Options = {
  readonly parserState?: JsonValue | undefined
  readonly compatLevel?: 1 | 2 | 3 | undefined
  readonly log: TablesLog
}

export function rememberedStructures({ parserState, compatLevel, log }: Options): Remembered {
  const struct = isObject(parserState) ? memberOf(parserState, 'struct') : undefined
  const version = isObject(parserState) ? versionOf(memberOf(parserState, 'structVersion')) : undefined
  if (compatLevel === 1 && version === 3) {
    log.warning('compatLevel 1 is ignored, because the state was written by the current table converter.')
  }
  if (version === 2 || (compatLevel === 1 && version !== 3)) {
    log.warning(
      'Tables are made by the old converter (compatLevel 1). Columns with equal names lose data there; remove compatLevel and the state to leave it.',
    )
    return legacy(version === 2 ? struct : undefined)
  }
  const known = new Map(version === undefined || version === 3 ? membersOf(struct, 'data') : [])
  return {
    isLegacy: false,
    stateOf: (type) => known.get(`_${type}`),
    aliases: new Map(membersOf(struct, 'parent_aliases').map(([asked, name]) => [asked, String(name)])),
    next: (types, aliases, sofar) => {
      const other = structOf(sofar, 3)
      return {
        struct: {
          data: objectOf([...known, ...membersOf(other, 'data'), ...types.flatMap((type) => type.toState())]),
          parent_aliases: objectOf([...membersOf(other, 'parent_aliases'), ...aliases]),
        },
        structVersion: 3,
      }
    },
  }
}

function structOf(parserState: JsonValue | undefined, version: number): JsonValue | undefined {
  if (!isObject(parserState) || versionOf(memberOf(parserState, 'structVersion')) !== version) return undefined
  return memberOf(parserState, 'struct')
}

function membersOf(value: JsonValue | undefined, key: string): [string, JsonValue][] {
  const member = isObject(value) ? memberOf(value, key) : undefined
  return isObject(member) ? entriesOf(member) : []
}

function legacy(struct: JsonValue | undefined): Remembered {
  const known = isObject(struct) ? struct : objectOf([])
  return {
    isLegacy: true,
    stateOf: (type) => fromLegacyState(known, type),
    aliases: new Map(),
    next: (types, _aliases, sofar) => {
      const other = structOf(sofar, 2)
      const fields = [known, isObject(other) ? other : objectOf([])].flatMap(entriesOf)
      return { struct: objectOf([...fields, ...types.flatMap((type) => type.toState())]), structVersion: 2 }
    },
  }
}

function versionOf(value: JsonValue | undefined): number | undefined {
  return isNumber(value) || typeof value === 'string' ? Math.trunc(Number(String(value))) : undefined
}
