// Every way to log in and every way of paging, written as the forms of the builder write it: the extractor then sends what its guide describes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { extract } from '../../components/http-extractor/tests/harness.ts'
import {
  API,
  apiHeader,
  basicNames,
  CONFIG,
  expiryOf,
  headerLoginOf,
  jobPath,
  LOGIN,
  LOGINS,
  loginOf,
  PAGES,
  pagesPath,
  pictureOf,
  prefixAt,
  tokenHeaderOf,
  withExpiry,
  withLogin,
  withLoginHeader,
  withPages,
  withPrefix,
  withSeveralPages,
  withToken,
  withTokenHeader,
} from '../../console/src/builder/extractor-document.ts'
import { editAll, isRecord, type Path, parsed, setAt, sliceAt, valueIn } from '../../console/src/document/json-text.ts'
import { choiceFor, choicesOf, resolve, type Schema, unknownNames } from '../../console/src/document/schema.ts'

const ROOT = new URL('../../', import.meta.url)
const markdown = readFileSync(new URL('docs/extractor.md', ROOT), 'utf8')
const schema = (
  JSON.parse(readFileSync(new URL('server/src/services/configuration/components/builtin/http-extractor.json', ROOT), 'utf8')) as {
    configurationSchema: Schema
  }
).configurationSchema
const set = { root: schema }

interface Example {
  readonly config: string
  readonly exchanges: string
}

/** The examples below one heading of the guide, each as a configuration of the stack keeps it. */
function examplesBelow(heading: string): readonly Example[] {
  const section = markdown.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^```json config\n([\s\S]*?)^```\n```jsonl exchanges\n([\s\S]*?)^```$/gm)].map(
    ([, config = '', exchanges = '']) => ({
      config: /^ {2}"parameters"/m.test(config) ? config : `{"parameters": ${config}}`,
      exchanges,
    }),
  )
}

/** The configuration of an example without a login. */
const withoutLogin = (config: string, ...attributes: readonly string[]): string =>
  editAll(config, [
    [LOGIN, undefined],
    [[...API, 'http', 'headers'], undefined],
    ...attributes.map((name) => [[...CONFIG, name], undefined] as const),
  ])

async function sendsWhatTheGuideSays(built: string, { config, exchanges }: Example): Promise<void> {
  const [outcome, guide] = [await extract(built, { archive: exchanges }), await extract(config, { archive: exchanges })]
  assert.equal(outcome.error, undefined, `${outcome.error?.message}\n${built}`)
  assert.deepEqual(outcome.tables, guide.tables)
}

const put = (text: string, values: Readonly<Record<string, unknown>>, below: Path = CONFIG): string =>
  editAll(
    text,
    Object.entries(values).map(([name, value]) => [[...below, name], value]),
  )
const login = (text: string, kind: string) => withLogin(text, kind, '{}')
const REQUEST: Path = [...LOGIN, 'loginRequest']

interface Way {
  readonly kind: string
  readonly heading: string
  readonly example?: number
  /** Attributes of the example that the form writes. */
  readonly attributes?: readonly string[]
  readonly type: (text: string) => string
}

/** What somebody types into the form of each way. */
const WAYS: readonly Way[] = [
  {
    kind: 'basic',
    heading: 'basic',
    attributes: ['#username', '#password'],
    type: (text) => {
      assert.deepEqual(basicNames(parsed(text)), { user: 'username', password: '#password' })
      return put(text, { username: 'ada', '#password': 'secret' })
    },
  },
  {
    kind: 'header',
    heading: 'Bearer token and API key',
    attributes: ['#token'],
    type: (text) => put(text, { [headerLoginOf(parsed(text))!.attribute!]: 't0ken-123' }),
  },
  {
    kind: 'query',
    heading: 'query',
    attributes: ['#key'],
    type: (text) => {
      const joined = { function: 'concat', args: [{ attr: '#key' }, { request: 'path' }] }
      const query = { key: { attr: '#key' }, sig: { function: 'md5', args: [joined] } }
      return put(put(text, { '#key': 'k-1' }), query, [...LOGIN, 'query'])
    },
  },
  {
    kind: 'login',
    heading: 'login',
    attributes: ['#login', '#password'],
    type: (text) => {
      const sent = put(text, { user: { attr: '#user' }, password: { attr: '#password' } }, [...REQUEST, 'params'])
      const named = put(put(sent, { endpoint: 'auth/token', headers: { 'X-Client': 'docs' } }, REQUEST), {
        '#user': 'ada',
        '#password': 'pass word',
      })
      const token = withToken(withTokenHeader(named, 'X-Team'), 'team.0.id')
      const query = { token: { response: 'token' }, tenant: { response: 'tenant' } }
      return put(token, query, [...LOGIN, 'apiRequest', 'query'])
    },
  },
  {
    kind: 'login',
    heading: 'login',
    example: 1,
    type: (text) => {
      const sent = put(put(text, { user: 'ada' }, [...REQUEST, 'params']), { endpoint: 'session', method: 'FORM' }, REQUEST)
      return put(withExpiry(withToken(withTokenHeader(sent, 'X-Session'), 'data'), '0'), { format: 'text' }, LOGIN)
    },
  },
  {
    kind: 'oauth20',
    heading: 'OAuth',
    type: (text) => put(text, { client: { authorization: 'clientId' } }, [...LOGIN, 'query']),
  },
  {
    kind: 'oauth20.login',
    heading: 'OAuth',
    example: 1,
    type: (text) => put(put(text, { endpoint: 'oauth/refresh' }, REQUEST), { grant_type: undefined }, [...REQUEST, 'params']),
  },
]

for (const { kind, heading, example = 0, attributes = [], type } of WAYS)
  test(`the form of the login ${kind} (${heading} ${example + 1}) makes what the guide says`, async () => {
    const guide = examplesBelow(heading)[example]!
    const built = type(login(withoutLogin(guide.config, ...attributes), kind))
    assert.equal(loginOf(parsed(built)), kind)
    await sendsWhatTheGuideSays(built, guide)
  })

test('client credentials are a login that is sent as a form', async () => {
  const guide = examplesBelow('login')[2]!
  const typed = put(login(withoutLogin(guide.config, 'clientId', '#clientSecret'), 'client'), {
    clientId: 'app',
    '#clientSecret': 's3cret',
  })
  const built = put(put(typed, { endpoint: 'https://login.example.com/oauth/token' }, REQUEST), { scope: 'read' }, [
    ...REQUEST,
    'params',
  ])
  assert.equal(expiryOf(parsed(built)), 'expires_in')
  const exchanges = guide.exchanges
    .replace('"headers":{"Authorization":"Basic YXBwOnMzY3JldA=="},', '')
    .replace('"grant_type=client_credentials"', '"grant_type=client_credentials&client_id=app&client_secret=s3cret&scope=read"')
  assert.equal((await extract(built, { archive: exchanges })).error, undefined)
  assert.equal(loginOf(parsed(guide.config)), 'client') // the other way to send them is shown by the same form
})

test('a key may be sent in a header of any name, with or without a word before it', async () => {
  const guide = examplesBelow('Bearer token and API key')[0]!
  const start = put(login(withoutLogin(guide.config), 'header'), { '#token': 't0ken-123' })
  const named = withLoginHeader(start, 'X-Api-Key')
  const path = headerLoginOf(parsed(named))!.path
  assert.equal(loginOf(parsed(named)), 'header')
  assert.equal(prefixAt(parsed(named), path), 'Bearer ')
  for (const prefix of ['', 'Token ']) {
    const exchanges = guide.exchanges.replace('"Authorization":"Bearer t0ken-123"', `"X-Api-Key":"${prefix}t0ken-123"`)
    assert.equal((await extract(withPrefix(named, path, prefix), { archive: exchanges })).error, undefined, prefix)
  }
  assert.equal(headerLoginOf(parsed(login(named, 'none'))), undefined)
  assert.equal(sliceAt(withLogin(login(named, 'basic'), 'header', named), path), sliceAt(named, path))
})

test('the token of a login may have a word before it', () => {
  const token = withToken(withTokenHeader(login('{}', 'login'), 'Authorization'), 'key')
  const path = apiHeader('Authorization')
  assert.equal(prefixAt(parsed(token), path), '')
  const prefixed = withPrefix(token, path, 'Bearer ')
  assert.deepEqual(valueIn(parsed(prefixed), path), { function: 'concat', args: ['Bearer ', { response: 'key' }] })
  assert.equal(tokenHeaderOf(parsed(prefixed)).answer, 'key')
  assert.equal(prefixAt(parsed(setAt(token, path, { function: 'md5', args: [{ response: 'key' }] })), path), undefined)
})

test('user and password are found whether they are encrypted or not', () => {
  const config = (values: object) => ({ parameters: { config: values } })
  assert.deepEqual(basicNames(config({ '#username': 'a', password: 'b' })), { user: '#username', password: 'password' })
  assert.deepEqual(basicNames(config({ username: 'a', '#password': 'b' })), { user: 'username', password: '#password' })
})

const kinds = (definition: string) => choicesOf(resolve(schema.$defs![definition]!, set), set)

/** Members of a value that no field of the schema's form shows. */
function hiddenIn(value: unknown, choices: readonly Schema[]): readonly string[] {
  const chosen = choiceFor(value, choices)
  return chosen ? unknownNames(value, chosen, set) : ['its kind']
}

test('every login and every scroller of the contract has a form that shows all of its settings in the guide', () => {
  const logins = kinds('authentication').map((kind) => valueIn(kind, ['properties', 'type', 'const']) as string)
  for (const type of logins.filter((one) => one !== undefined)) {
    assert.ok(
      LOGINS.some(({ id }) => id === loginOf({ parameters: { api: { authentication: { type } } } })),
      type,
    )
  }
  const methods = kinds('pagination').map((kind) => valueIn(kind, ['properties', 'method', 'const']) as string)
  assert.deepEqual(methods.toSorted(), [...PAGES.map(({ id }) => id).filter((id) => id !== 'none'), 'multiple'].toSorted())
  for (const [, config = ''] of markdown.matchAll(/^```json config\n([\s\S]*?)^```$/gm)) {
    const whole = JSON.parse(config) as Record<string, unknown>
    const api = valueIn(whole.parameters ?? whole, ['api'])
    const { authentication, pagination } = (isRecord(api) ? api : {}) as Record<string, unknown>
    if (authentication !== undefined) assert.deepEqual(hiddenIn(authentication, kinds('authentication')), [], config)
    if (pagination !== undefined) assert.deepEqual(hiddenIn(pagination, kinds('pagination')), [], config)
  }
})

const PAGE_HEADINGS = ['cursor', 'offset', 'pagenum', 'response.url', 'response.param', 'response.link', 'Stopping conditions']

for (const heading of PAGE_HEADINGS)
  test(`the form of the pages ${heading} makes what the guide says`, async () => {
    const path: Path = [...API, 'pagination']
    for (const guide of examplesBelow(heading)) {
      const wanted = valueIn(parsed(guide.config), path) as Readonly<Record<string, unknown>>
      const { method, ...settings } = wanted
      const knownTo = (kind: string) => Object.keys(choiceFor({ method: kind }, kinds('pagination'))?.properties ?? {})
      const chosen = withPages(setAt(guide.config, path, undefined), path, String(method), { saved: '{}', knownTo })
      const built = put(chosen, { includeParams: undefined, ...settings }, path) // a new token repeats the parameters unless configured otherwise
      assert.deepEqual(valueIn(parsed(built), path), wanted)
      assert.equal(pictureOf(wanted)?.values.length, 3)
      await sendsWhatTheGuideSays(built, guide)
    }
  })

test('several ways of paging are named, and each request picks one', async () => {
  const guide = examplesBelow('multiple')[0]!
  const path: Path = [...API, 'pagination']
  const one = setAt(guide.config, path, { method: 'response.url', urlKey: 'next' })
  const several = put(withSeveralPages(one), { pages: { method: 'pagenum' } }, [...path, 'scrollers'])
  const built = setAt(several, [...jobPath(0), 'scroller'], 'pages')
  assert.deepEqual(pagesPath(parsed(built), 0), [...path, 'scrollers', 'pages'])
  assert.deepEqual(pagesPath(parsed(built), 1), [...path, 'scrollers', 'first'])
  await sendsWhatTheGuideSays(built, guide)
})
