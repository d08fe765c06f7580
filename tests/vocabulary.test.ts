// Plain API English: words that a newcomer would not search for, with the usual ones. CONTRIBUTING.md gives the reasons and examples.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ERRORS } from '../contract/error-codes.ts'
import { CAUSES } from '../contract/failure-causes.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Word {
  readonly pattern: RegExp
  readonly instead: string
}

/** Refused everywhere: in comments, texts and names. */
const WORDS: readonly Word[] = [
  { pattern: /\b(whoever|whosoever)\b/i, instead: 'the caller, the user, the operator' },
  { pattern: /\b(nobody|somebody|everybody|anybody)\b/i, instead: 'unknown, another user, all users, any user' },
  { pattern: /\bmend(s|ed|ing)?\b/i, instead: 'fix, fixed' },
  { pattern: /\b(is|are) there already\b|\bis already there\b/i, instead: 'already exists' },
  { pattern: /\bknows no\b/i, instead: 'does not support' },
  { pattern: /\bstands twice\b/i, instead: 'is duplicated' },
  { pattern: /\bMOST_|\bmost(Bytes|Ms|Rows|Files|Objects|Waiting|PerProject)\b/, instead: 'MAX_, max...' },
]

/** Refused in texts that a user or a client reads: programs do not know, say, tell or ask. */
const TEXT_WORDS: readonly Word[] = [
  ...WORDS,
  { pattern: /\baddress knows\b/i, instead: 'is supported here, allowed methods: ...' },
  { pattern: /\bopens? .{1,40} no more\b/i, instead: 'is revoked, has expired' },
  { pattern: /\b(is|are|was|were) asked for\b/i, instead: 'is requested' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bgo(es)? on\b/i, instead: 'continue, resume' },
  { pattern: /\bwhich is the most\b/i, instead: 'the maximum' },
  { pattern: /\bmade by\b/i, instead: 'created by' },
]

/** Refused in comments: verbs of people for programs, and particles that hide the usual verb. */
const COMMENT_WORDS: readonly Word[] = [
  { pattern: /\b(says?|said)\b/i, instead: 'reports, returns, contains, describes' },
  { pattern: /\b(tells?|told)\b/i, instead: 'reports, shows, distinguishes' },
  { pattern: /\bask(s|ed)? for\b/i, instead: 'requests' },
  { pattern: /\bknows (no|nothing|of|that|what|which|whether)\b/i, instead: 'does not support, has, can check' },
  { pattern: /\bhears? (of|what|that|when)\b/i, instead: 'is notified, gets' },
  { pattern: /\banew\b/i, instead: 'again, rebuilt' },
  { pattern: /\b(go(es)?|went) on\b/i, instead: 'continue, resume' },
  { pattern: /\bput together\b/i, instead: 'built, composed' },
  { pattern: /\bhand(s|ed) over\b/i, instead: 'passed, provided' },
  { pattern: /\b(takes?|taken) back\b/i, instead: 'reverted, rolled back, revoked' },
  { pattern: /\b(takes?|taken) over\b/i, instead: 'adopted' },
]

/** Fixed word by word by clients. */
const FIXED: readonly string[] = [ERRORS['devBranch.duplicateName'].text]

const wrongIn = (text: string, words: readonly Word[]): string[] =>
  words.flatMap(({ pattern, instead }) => {
    const [found] = text.match(pattern) ?? []
    return found === undefined ? [] : [`"${found}": write ${instead}`]
  })

const sourcesOf = (...places: string[]): string[] => {
  const found = globSync(
    places.map((place) => `${place}/**/*.{ts,mjs}`),
    { cwd: ROOT, exclude: (path) => ['node_modules', 'dist', 'migrations', 'tests'].includes(basename(path)) },
  ).filter((path) => !/\.(test|fixture|contract)\.ts$/.test(path))
  assert.ok(found.length > 5, `no sources found in ${places.join(', ')}`)
  return found
}

const COMMENT_OR_TEXT = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g

/** Literals with a blank in them are sentences, or parts of one; others are names and keys. */
const textsOf = (source: string): string[] =>
  Array.from(source.matchAll(COMMENT_OR_TEXT), ([found]) => found).filter(
    (found) =>
      !found.startsWith('/') && found.includes(' ') && !/^.(select|update|insert|delete|with|create|begin)\b/i.test(found),
  )

test('error texts and causes use the usual words', () => {
  const texts = [...Object.values(ERRORS), ...Object.values(CAUSES)].map(({ text }) => text)
  assert.ok(texts.length > 300)
  const wrong = texts
    .filter((text) => !FIXED.includes(text))
    .flatMap((text) => wrongIn(text, TEXT_WORDS).map((why) => `${text}: ${why}`))
  assert.deepEqual(wrong, [])
})

test('texts of the command line, of log lines and of the API use the usual words', () => {
  const wrong = sourcesOf('cli', 'server/src').flatMap((path) =>
    textsOf(readFileSync(join(ROOT, path), 'utf8')).flatMap((text) =>
      wrongIn(text, TEXT_WORDS).map((why) => `${path}: ${text.slice(0, 120)}: ${why}`),
    ),
  )
  assert.deepEqual(wrong, [])
})

test('comments and names in sources use the usual words', () => {
  const wrong = sourcesOf('cli', 'server/src', 'contract', 'components', 'tools', 'bench').flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        FIXED.some((text) => line.includes(text)) ? [] : wrongIn(line, WORDS).map((why) => `${path}:${index + 1}: ${why}`),
      ),
  )
  assert.deepEqual(wrong, [])
})

/** From `//` or inside of a block comment; what stands in backticks is a name. Texts have no blank before `//`. */
const COMMENT = /(?:^|[\s({,;])\/\/ .*$|\/\*.*$|^\s*\*(?: .*)?$/
const commentOf = (line: string): string => line.match(COMMENT)?.[0].replace(/`[^`]*`/g, '') ?? ''

test('comments of programs and tests use the verbs of the trade', () => {
  const places = ['cli', 'server', 'contract', 'client', 'components', 'console', 'tests', 'tools', 'bench']
  const paths = globSync(
    places.map((place) => `${place}/**/*.{ts,tsx,mjs}`),
    { cwd: ROOT, exclude: (path) => ['node_modules', 'dist', 'migrations', 'fixtures'].includes(basename(path)) },
  ).filter((path) => path !== join('tests', 'vocabulary.test.ts'))
  const comments = paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .map((line, index) => ({ place: `${path}:${index + 1}`, comment: commentOf(line) })),
  )
  assert.ok(comments.filter(({ comment }) => comment !== '').length > 10_000, 'the search for comments is broken')
  assert.deepEqual(
    comments.flatMap(({ place, comment }) => wrongIn(comment, COMMENT_WORDS).map((why) => `${place}: ${why}: ${comment.trim()}`)),
    [],
  )
})

/** In the console beyond the words above; its names of limits are not renamed yet. */
const CONSOLE_WORDS: readonly Word[] = [
  ...WORDS.filter(({ instead }) => !instead.startsWith('MAX_')),
  { pattern: /\bno more\b/i, instead: 'is revoked, is closed, at most' },
  { pattern: /\bput together\b/i, instead: 'merged, built' },
  { pattern: /\b(bring|brings|brought|take|takes|taken)( it| them)? back\b/i, instead: 'restore, revert, revoke' },
]
/** A line that is the text of a button, with a verb that does not say what happens. */
const VAGUE_BUTTON = /^\s*(?:<span>)?(End|Make|Take|Bring)\b[^.{}<]*(?:<\/span>)?$/

test('texts and comments of the console use the usual words, and its buttons say what happens: Revoke, Terminate, Create', () => {
  const paths = globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT })
  assert.ok(paths.length > 100)
  const wrong = paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...wrongIn(line, CONSOLE_WORDS), ...(VAGUE_BUTTON.test(line) ? [`${line.trim()}: write another verb`] : [])].map(
          (why) => `${path}:${index + 1}: ${why}`,
        ),
      ),
  )
  assert.deepEqual(wrong, [])
})

/** In the API reference (`/docs`, openapi.json), which users of every client read. */
const API_WORDS: readonly Word[] = [
  ...TEXT_WORDS,
  { pattern: /\b(?:asks?|asked)\b/i, instead: 'request, query' },
  { pattern: /\bat once\b/i, instead: 'immediately, in parallel' },
  { pattern: /\bleft out\b/i, instead: 'omitted' },
  { pattern: /\bin place of\b/i, instead: 'instead of' },
  { pattern: /\bpeople\b/i, instead: 'users' },
  { pattern: /\baddress (?:of|to|at|that)\b/i, instead: 'URL' },
  { pattern: /\b(?:make|makes|made)\b/i, instead: 'create, created' },
  { pattern: /\bbring\b.*\bback\b|\btake\b.*\b(?:back|away)\b/i, instead: 'restore, revert, revoke, remove' },
  { pattern: /\b(?:tells?|says?|said)\b/i, instead: 'reports, contains' },
  { pattern: /\banswer(?:s|ed)? (?!of\b|written\b)/i, instead: 'return, respond' },
]
/** Without those of examples, which are values. */
const textsOfApi = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === 'example' || key === 'examples') return []
    const isText = (key === 'description' || key === 'summary') && typeof member === 'string'
    return isText ? [member] : textsOfApi(member)
  })
}

test('summaries and descriptions of the API use the usual words', () => {
  const texts = [...new Set(textsOfApi(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))))]
  assert.ok(texts.length > 1000, `only ${texts.length} texts found`)
  assert.deepEqual(
    texts.flatMap((text) => wrongIn(text, API_WORDS).map((why) => `${text}: ${why}`)),
    [],
  )
})

/** In the guides beyond the words of texts: what readers search for, and never find by these. */
const GUIDE_WORDS: readonly Word[] = [
  ...WORDS.filter(({ instead }) => !instead.startsWith('MAX_')),
  { pattern: /\bdrills?\b/i, instead: 'restore test' },
  { pattern: /\bopens nothing\b/i, instead: 'has no effect' },
  { pattern: /\b(?:redirect|webhook) address\b/i, instead: 'URL' },
  { pattern: /\bis answered [2-5]\d\d\b/i, instead: 'returns ...' },
  { pattern: /\bside by side\b/i, instead: 'in parallel' },
  { pattern: /\bsays so\b/i, instead: 'reports it, has a warning' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bgo(es)? on\b/i, instead: 'continue, resume' },
  { pattern: /\b(?:a|one) sentence\b/i, instead: 'a message' },
  { pattern: /\baddress of (?:the|your|a) stack\b/i, instead: 'URL' },
  { pattern: /\b(?:is|are|was) asked\b/i, instead: 'is requested, is queried' },
  { pattern: /\btak(?:es?|en) back\b/i, instead: 'reverted, rolled back' },
  { pattern: /\bat once\b/i, instead: 'immediately, in parallel, together' },
  { pattern: /\b(?:tells|told)\b/i, instead: 'shows, reports, distinguishes' },
  { pattern: /\bsays (?:why|where|which|whether|what|how|that)\b/i, instead: 'reports, gives, names, contains' },
  { pattern: /\bhand(?:s|ed) over\b/i, instead: 'passed, forwarded' },
  { pattern: /\b(?:is|are) already there\b/i, instead: 'already exists' },
]

test('the guides use the usual words', () => {
  const paths = [...globSync('docs/{*,agents/*,specification/*}.md', { cwd: ROOT }), 'README.md']
  assert.ok(paths.length > 80)
  const wrong = paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => wrongIn(line, GUIDE_WORDS).map((why) => `${path}:${index + 1}: ${why}`)),
  )
  assert.deepEqual(wrong, [])
})
