import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertCurl } from './curl-to-config.ts'
import { splitCommand } from './shell-words.ts'

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

test('a command line is split as a shell splits it', () => {
  assert.deepEqual(splitCommand(`curl 'a b' "c \\"d\\" $e" f\\ g \\\n  h''i $'j\\n\\u0041'`), [
    'curl',
    'a b',
    'c "d" $e',
    'f g',
    'hi',
    'j\nA',
  ])
  assert.throws(() => splitCommand("curl 'a"), /not closed/)
})

test('address, params and headers become api and job', () => {
  assert.deepEqual(
    plain(
      convertCurl('curl "https://api.example.com/v1/users?limit=10&tag=a&tag=b" -H "Accept: application/json" --compressed -sL'),
    ),
    {
      api: { baseUrl: 'https://api.example.com/v1/', http: { headers: { Accept: 'application/json' } } },
      config: { jobs: [{ endpoint: 'users', params: { limit: '10', tag: ['a', 'b'] } }] },
    },
  )
})

test('data becomes a POST or a FORM, with -G a query', () => {
  const job = (command: string) => plain(convertCurl(command)).config.jobs[0]
  assert.deepEqual(job(`curl https://h/a -d '{"q":[1]}' -H 'Content-Type: application/json'`), {
    endpoint: 'a',
    method: 'POST',
    params: { q: [1] },
  })
  assert.deepEqual(job(`curl https://h/a --json '{"q":1}'`), { endpoint: 'a', method: 'POST', params: { q: 1 } })
  assert.deepEqual(job(`curl https://h/a -d x=1 -d 'y=a%20b'`), { endpoint: 'a', method: 'FORM', params: { x: '1', y: 'a b' } })
  assert.deepEqual(job(`curl -G https://h/a --data-urlencode 'q=a b&c'`), { endpoint: 'a', params: { q: 'a b&c' } })
  assert.deepEqual(job('curl -XPOST https://h/'), { endpoint: './', method: 'POST' })
})

test('credentials become encrypted attributes', () => {
  const converted = plain(convertCurl(`curl -u ada:secret https://h/a -H 'X-Api-Key: k' -b 'sid=1' --oauth2-bearer tok`))
  assert.deepEqual(converted.api.authentication, { type: 'basic' })
  assert.deepEqual(converted.api.http.headers, {
    'X-Api-Key': { attr: '#x-api-key' },
    Cookie: { attr: '#cookie' },
    Authorization: { attr: '#authorization' },
  })
  const { jobs: _jobs, ...attributes } = converted.config
  assert.deepEqual(attributes, {
    '#x-api-key': 'k',
    '#cookie': 'sid=1',
    '#authorization': 'Bearer tok',
    username: 'ada',
    '#password': 'secret',
  })
})

test('keys in the query, in the data and in the address become encrypted attributes too', () => {
  const query = plain(convertCurl(`curl 'https://h/a?api_key=k-1&page=2&access_token=t-1'`)).config
  assert.deepEqual(query, {
    '#api_key': 'k-1',
    '#access_token': 't-1',
    jobs: [{ endpoint: 'a', params: { api_key: { attr: '#api_key' }, page: '2', access_token: { attr: '#access_token' } } }],
  })
  const form = plain(convertCurl('curl https://h/token -d client_id=app -d client_secret=s -d monkey=1')).config
  assert.deepEqual(form, {
    '#client_secret': 's',
    jobs: [
      {
        endpoint: 'token',
        method: 'FORM',
        params: { client_id: 'app', client_secret: { attr: '#client_secret' }, monkey: '1' },
      },
    ],
  })
  const address = plain(convertCurl('curl https://ada:p%40ss@h:8080/a'))
  assert.equal(address.api.baseUrl, 'https://h:8080/')
  assert.deepEqual([address.config.username, address.config['#password']], ['ada', 'p@ss'])
})

test('what cannot be converted is named', () => {
  assert.throws(() => convertCurl('wget https://h/'), /must start with 'curl'/)
  assert.throws(() => convertCurl('curl'), /has no address/)
  assert.throws(() => convertCurl('curl -X DELETE https://h/a'), /The method DELETE is not supported/)
  assert.throws(() => convertCurl('curl -F file=@x https://h/a'), /The option '-F' of curl is not supported/)
  assert.throws(() => convertCurl('curl -d @body.json https://h/a'), /reads its data from the file 'body.json'/)
  assert.throws(() => convertCurl('curl ftp://h/a'), /not a valid http or https address/)
  assert.throws(() => convertCurl('curl https://h/a -H'), /needs a value/)
})
