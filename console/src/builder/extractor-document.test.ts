import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { editAll, leavesOf, parsed, pathText, sliceAt, valueIn } from '../document/json-text.ts'
import {
  API,
  CONFIG,
  columnOf,
  expiryOf,
  jobPath,
  keptPaths,
  LOGIN,
  LOGINS,
  loginOf,
  PAGES,
  pictureOf,
  sinceOf,
  tokenHeaderOf,
  withColumn,
  withColumns,
  withExpiry,
  withLogin,
  withPages,
  withSeveralPages,
  withSince,
  withToken,
  withTokenHeader,
} from './extractor-document.ts'

/** Members that no step has, in every object; their spelling would not survive JavaScript. */
const SAVED = `{
  "mystery": 12345678901234567890,
  "parameters": {
    "mystery": 1.10,
    "api": {
      "mystery": [1.0, {"x": 2.50}],
      "baseUrl": "https://shop.example/",
      "authentication": {
        "mystery": 10.0,
        "type": "login",
        "loginRequest": {"mystery": 1e3, "endpoint": "login", "method": "POST", "params": {"user": "ada", "mystery": 7.70}},
        "apiRequest": {
          "mystery": 0.0,
          "headers": {
            "Accept": "text/x-mystery",
            "X-Session": {"function": "concat", "args": ["Bearer ", {"response": "token"}], "mystery": 3.30}
          }
        },
        "expires": {"response": "expiresIn", "relative": true, "mystery": 4.40}
      },
      "pagination": {"method": "offset", "limit": 100, "forceStop": {"pages": 5, "mystery": 6.60}, "mystery": 5.50}
    },
    "config": {
      "mystery": {"deep": 12345678901234567891},
      "jobs": [{"mystery": 8.80, "endpoint": "orders", "params": {"limit": 50, "mystery": 9.90}}],
      "mappings": {"orders": {"id": {"mystery": 2.20, "forceType": true, "mapping": {"mystery": 3.0, "destination": "id"}}, "at": "at"}}
    }
  }
}`
const isMystery = ({ path }: { path: readonly (string | number)[] }) => path.includes('mystery')
const MYSTERIES = leavesOf(SAVED)
  .filter(isMystery)
  .map(({ path }) => [path, sliceAt(SAVED, path)] as const)

const knownTo = (method: string) =>
  [
    'method',
    'forceStop',
    ...(method === 'offset' ? ['limit', 'offsetParam'] : method === 'pagenum' ? ['firstPage'] : []),
  ] as const
const name = fc.constantFrom('', 'limit', 'since', 'X-Session', 'Accept', 'mystery', 'at')
const MAPPING = [...CONFIG, 'mappings', 'orders']

/** What the steps do to the text, in any order. */
const action: fc.Arbitrary<(text: string) => string> = fc.oneof(
  name.map((one) => (text: string) => withToken(text, one)),
  name.map((one) => (text: string) => withTokenHeader(text, one)),
  fc.constantFrom('until', 'expires').map((one) => (text: string) => withExpiry(text, one)),
  fc.record({ destination: name, isKey: fc.boolean() }).map((one) => (text: string) => withColumn(text, [...MAPPING, 'id'], one)),
  fc.constant((text: string) => withColumns(text, MAPPING, { id: 'other', new: 'new' })),
  fc
    .constantFrom(...PAGES.map(({ id }) => id).filter((id) => id !== 'none'))
    .map((method) => (text: string) => withPages(text, [...API, 'pagination'], method, { saved: '{}', knownTo })),
  fc.record({ name, format: fc.constantFrom('date', 'unix') }).map((since) => (text: string) => withSince(text, 0, since)),
  name.map((one) => (text: string) => editAll(text, [[[...jobPath(0), 'endpoint'], one || undefined]])),
)

test('whatever the steps change, members that no step knows stay, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 8 }), (actions) => {
      const text = actions.reduce((current, act) => act(current), SAVED)
      const slices = leavesOf(text)
        .filter(isMystery)
        .map(({ offset, length }) => text.slice(offset, offset + length))
      for (const [path, slice] of MYSTERIES) assert.ok(slices.includes(slice!), `${pathText(path)} ${slice}\n${text}`)
      assert.equal(sliceAt(text, [...LOGIN, 'apiRequest', 'headers', 'Accept']), '"text/x-mystery"')
      assert.equal(valueIn(parsed(text), [...jobPath(0), 'params', 'limit']), 50)
    }),
  )
})

test('another login and back leaves the saved one as it was written', () => {
  for (const { id } of LOGINS) {
    const other = withLogin(SAVED, id, SAVED)
    assert.equal(loginOf(parsed(other)), id)
    assert.equal(sliceAt(withLogin(other, 'login', SAVED), LOGIN), sliceAt(SAVED, LOGIN), id)
    const path = [...API, 'pagination']
    for (const { id: method } of PAGES) {
      const paged = withPages(SAVED, path, method, { saved: SAVED, knownTo })
      assert.equal(sliceAt(withPages(paged, path, 'offset', { saved: SAVED, knownTo }), path), sliceAt(SAVED, path), method)
    }
  }
})

test('a way of paging keeps what every way has and loses what only the old one had', () => {
  const path = [...API, 'pagination']
  const paged = withPages(SAVED, path, 'pagenum', { saved: '{}', knownTo })
  assert.deepEqual(valueIn(parsed(paged), path), { method: 'pagenum', forceStop: { pages: 5, mystery: 6.6 }, mystery: 5.5 })
  const several = withSeveralPages(SAVED)
  assert.equal(sliceAt(several, [...path, 'scrollers', 'first']), sliceAt(SAVED, path))
})

test('every way of paging has a picture of three requests', () => {
  for (const { id, name: of } of PAGES.filter(({ id: method }) => method !== 'none')) {
    const picture = pictureOf({ method: id })
    assert.equal(picture?.values.length, 3, of)
    assert.ok(picture?.sent && picture.between && picture.end, of)
  }
  assert.deepEqual(pictureOf({ method: 'pagenum', firstPage: 0 })?.values, ['0', '1', '2'])
  assert.deepEqual(pictureOf({ method: 'offset', limit: 30 })?.values, ['0', '30', '60'])
})

test('a token inside a function is shown and changed there, and no name is taken twice', () => {
  assert.deepEqual(
    [tokenHeaderOf(parsed(SAVED)).header, tokenHeaderOf(parsed(SAVED)).answer, expiryOf(parsed(SAVED))],
    ['X-Session', 'token', 'expiresIn'],
  )
  const changed = withToken(SAVED, 'session.key')
  assert.equal(sliceAt(changed, [...LOGIN, 'apiRequest', 'headers', 'X-Session', 'args', 0]), '"Bearer "')
  assert.equal(tokenHeaderOf(parsed(changed)).answer, 'session.key')
  assert.equal(withTokenHeader(SAVED, 'Accept'), SAVED)
  assert.equal(tokenHeaderOf(parsed(withTokenHeader(SAVED, 'X-Key'))).header, 'X-Key')
  assert.equal(withSince(SAVED, 0, { name: 'limit', format: 'date' }), SAVED)
  const since = withSince(SAVED, 0, { name: 'since', format: 'unix' })
  assert.deepEqual(sinceOf(parsed(since), 0), { name: 'since', format: 'unix' })
  assert.deepEqual(sinceOf(parsed(withSince(since, 0, { name: 'from', format: 'date' })), 0), { name: 'from', format: 'date' })
  assert.equal(expiryOf(parsed(withExpiry(SAVED, '600'))), '600')
})

test('a column is written the short way until it needs more, and a table is not a column', () => {
  const path = [...MAPPING, 'at']
  assert.equal(sliceAt(withColumn(SAVED, path, { destination: 'time', isKey: false }), path), '"time"')
  const key = withColumn(SAVED, path, { destination: 'time', isKey: true })
  assert.deepEqual(columnOf(valueIn(parsed(key), path)), { destination: 'time', isKey: true })
  assert.equal(columnOf({ type: 'table', destination: 'x' }), undefined)
  assert.deepEqual(
    keptPaths(parsed(SAVED)).map((one) => pathText(one)),
    ['parameters.api.mystery', 'parameters.config.mystery', 'parameters.mystery'],
  )
})
