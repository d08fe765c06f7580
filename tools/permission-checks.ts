// The permission checks of a source file, found by how they are written. tools/mutants.ts turns them off one at a time, and
// tests/permission-checks.test.ts compares how many each file has with tests/permission-checks.json.

import { ERRORS } from '../contract/error-codes.ts'

export interface PermissionCheck {
  readonly index: number
  /** As it is written. */
  readonly text: string
  /** The same, passed by every caller while `off` is true. */
  withSwitch(off: string): string
}

const isForbidden = (code: string): boolean =>
  Object.entries(ERRORS).some(([name, { kind }]) => name === code && kind === 'forbidden')

/** Functions that answer whether a caller may do something. */
const PREDICATES =
  /(?<![\w.]|function )(?:\w+\.)?(?:canUseComponent|seesWholeProject|mayChangeEverything|maySee\w*|mayUse\w*|mayRead\w*|mayWrite\w*|mayChange|mayManage\w*|mayDecide|hasBucket|hasComponent|isOwn|isAdmin)\(/g
/** Functions that answer how much of a bucket or table a caller may use. */
const PERMISSIONS = /(?<![\w.]|function )(?:bucketPermissionOf|tablePermissionOf)\(/g
const FLAGS = /(?<!\w: )\b(?:\w+\.)*(?:actor|caller|person)\.(?:isMasterToken|isStackAdmin|can[A-Z]\w+)\b(?!\s*[:?(])/g
const REFUSALS = /\bif \(/g

export function permissionChecks(text: string): PermissionCheck[] {
  const refusals = [...text.matchAll(REFUSALS)].flatMap(({ index }) => {
    const end = endOfCall(text, index)
    const code = /^\s*\{?\s*(?:throw|return) new PlatformError\(\s*(?:[\w.]+ \?\? )?'([\w.]+)'/.exec(
      text.slice(end, end + 200),
    )?.[1]
    const isViewer = /^\s*return viewerRefused\(\)/.test(text.slice(end, end + 60))
    if (!isViewer && (code === undefined || !isForbidden(code))) return []
    const condition = text.slice(index + 'if ('.length, end - 1)
    return [{ index, text: text.slice(index, end), withSwitch: (off: string) => `if (!${off} && (${condition}))` }]
  })
  const calls = (pattern: RegExp, withSwitch: (call: string, off: string) => string) =>
    [...text.matchAll(pattern)].flatMap(({ index }) => {
      const end = endOfCall(text, index)
      const call = text.slice(index, end)
      if (!/\b(?:actor|caller|scope)\b/.test(call)) return []
      // A declaration, or the type of one.
      if (/^\s*(?::[^=?]*=>|\{)/.test(text.slice(end, end + 80)) || /(?:const|readonly|async) $/.test(text.slice(0, index)))
        return []
      return [{ index, text: call, withSwitch: (off: string) => withSwitch(call, off) }]
    })
  const found = [
    ...refusals,
    ...calls(PREDICATES, (call, off) => `(${off} || ${call})`),
    ...calls(PERMISSIONS, (call, off) => `(${off} ? 'manage' : ${call})`),
    ...[...text.matchAll(FLAGS)].map(({ 0: flag, index }) => ({
      index,
      text: flag,
      withSwitch: (off: string) => `(${off} || ${flag})`,
    })),
  ].sort((a, b) => a.index - b.index)
  // What a condition consists of is not a check of its own: the whole condition is.
  return found.filter(
    (one, at) =>
      !isInComment(text, one.index) && !found.slice(0, at).some((outer) => outer.index + outer.text.length > one.index),
  )
}

function isInComment(text: string, index: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', index) + 1, index)
  return /^\s*(?:\*|\/\*)|\/\//.test(line)
}

/** Behind the closing bracket of the call that begins here; quotes are respected. */
function endOfCall(text: string, start: number): number {
  let depth = 0
  let quote = ''
  for (let at = text.indexOf('(', start); at < text.length; at++) {
    const character = text[at]!
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if ('\'"`'.includes(character)) quote = character
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && --depth === 0) return at + 1
  }
  return text.length
}
