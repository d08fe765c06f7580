// Recordings of platform.ex-manifest and credentials of the OAuth broker, in a whole stack: an API with a login counts its requests.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { until } from '../../../tests/support/until.ts'
import { placesOf, withRenewed } from '../src/platform/authorization.ts'
import { createReplay } from '../src/platform/recording.ts'

const COMPONENT = 'platform.ex-manifest'
const SECRET = 'canary-client-secret-0815'
const REFRESH = 'canary-refresh-token-0815'
const requests: string[] = []
/** Each login gives another token; the API takes the last one only. */
let token = 'none yet'
let logins = 0
/** Requests of data that are answered with 401 although the token is right, as if it had expired. */
let expires = 0

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '', 'http://api')
  const answer = (status: number, body: object) => {
    requests.push(`${request.method} ${url.pathname} ${status}`)
    response.writeHead(status, { 'content-type': 'application/json', 'X-Next': url.searchParams.has('page') ? '' : '2' })
    response.end(JSON.stringify(body))
  }
  let body = ''
  for await (const chunk of request) body += chunk
  if (url.pathname === '/token') {
    const form = new URLSearchParams(body)
    if (form.get('client_secret') !== SECRET || form.get('refresh_token') !== REFRESH)
      return answer(400, { error: 'invalid_grant' })
    token = `canary-access-token-${++logins}`
    return answer(200, { access_token: token, expires_in: 3600, id_token: 'canary-id-token-4711' })
  }
  if (request.headers.authorization !== `Bearer ${token}`) return answer(401, {})
  if (url.searchParams.has('page') && expires > 0) {
    expires--
    return answer(401, {})
  }
  const first = url.searchParams.has('page') ? 3 : 1
  answer(200, { items: [first, first + 1].map((id) => ({ id, price: id * 10, until: url.searchParams.get('until') })) })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
test.after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has an address with a port
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, jobs: 2, egressAllow: [new URL(url).host] } })

/** The end of the window is the time of the run, to the microsecond. */
const manifest = (path = 'items', price = "{{ record['price'] }}") => `
version: 6.1.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [items]}
streams:
  - type: DeclarativeStream
    name: items
    primary_key: id
    schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {id: {type: integer}, price: {type: number}, until: {type: string}}}}
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: ${url}
        path: ${path}
        request_parameters: {until: "{{ now_utc().strftime('%Y-%m-%dT%H:%M:%S.%f') }}"}
        authenticator:
          type: OAuthAuthenticator
          token_refresh_endpoint: ${url}/token
          client_id: "{{ config['credentials']['client_id'] }}"
          client_secret: "{{ config['credentials']['client_secret'] }}"
          refresh_token: "{{ config['credentials']['refresh_token'] }}"
        error_handler:
          type: DefaultErrorHandler
          response_filters: [{type: HttpResponseFilter, http_codes: [401], action: REFRESH_TOKEN_THEN_RETRY}]
          backoff_strategies: [{type: ConstantBackoffStrategy, backoff_time_in_seconds: 0.01}]
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [items]}}
      paginator:
        type: DefaultPaginator
        page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
        pagination_strategy: {type: CursorPagination, cursor_value: "{{ headers['X-Next'] }}"}
    transformations: [{type: AddFields, fields: [{path: [price], value: "${price}"}]}]
spec:
  type: Spec
  connection_specification:
    type: object
    properties:
      credentials: {type: object, properties: {client_id: {type: string}, client_secret: {type: string, airbyte_secret: true}, refresh_token: {type: string, airbyte_secret: true}}}
  advanced_auth:
    auth_flow_type: oauth2.0
    oauth_config_specification:
      complete_oauth_output_specification: {type: object, properties: {refresh_token: {type: string, path_in_connector_config: [credentials, refresh_token]}}}
      complete_oauth_server_output_specification: {type: object, properties: {client_id: {type: string, path_in_connector_config: [credentials, client_id]}, client_secret: {type: string, path_in_connector_config: [credentials, client_secret]}}}
`
const credentials = { client_id: 'shop', '#client_secret': SECRET, '#refresh_token': REFRESH }
const configuration = (text: string, more: object = {}) => ({ parameters: { manifest: text, config: { credentials }, ...more } })

async function run(stack: ShellStack, config: string): Promise<Job> {
  const job = await stack.request('POST', `/queue/${COMPONENT}/run`, { json: { config } })
  return stack.wait(job.json<Job>())
}

interface Rehearsal {
  readonly state: string
  readonly summary: string
  readonly steps: readonly { readonly error: string | null }[]
}

/** The change runs in a branch, against the newest recording. */
async function rehearsed(stack: ShellStack, config: string, changed: object): Promise<Rehearsal> {
  const { token: agent } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'agent', canManageBuckets: true, onlyProposes: true },
    })
  ).json<{ token: string }>()
  const asAgent = { token: agent }
  const saved = await stack.request('PUT', `/v2/storage/components/${COMPONENT}/configs/${config}`, {
    ...asAgent,
    json: { configuration: changed },
  })
  assert.equal(saved.status, 200, saved.text)
  const [proposal] = (await stack.request('GET', '/v2/storage/proposals', asAgent)).json<{ id: number }[]>()
  const place = `/v2/storage/proposals/${proposal!.id}/rehearsal`
  assert.equal((await stack.request('POST', place, asAgent)).status, 202)
  return until('the rehearsal has ended', async () => {
    const found = (await stack.request('GET', place, asAgent)).json<Rehearsal>()
    return found.state === 'finished' && found
  })
}

test('a run is recorded without secrets, and a changed manifest is rehearsed on the recording', async () => {
  const stack = await startProject()
  const config = await stack.configure(COMPONENT, configuration(manifest(), { record: true }))
  requests.length = 0
  expires = 1
  const job = await run(stack, config)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  assert.deepEqual(
    requests,
    ['POST /token 200', 'GET /items 200', 'GET /items 401', 'POST /token 200', 'GET /items 200'],
    'a token that expires between two pages is renewed, and the page is read again',
  )
  const files = (await stack.request('GET', '/v2/storage/files?tags[]=http-exchanges')).json<{ url: string }[]>()
  assert.equal(files.length, 1)
  const recording = await (await fetch(files[0]!.url)).text()
  assert.equal(recording.trim().split('\n').length, 5)
  assert.doesNotMatch(recording, /canary/)
  assert.match(recording, /"X-Next":"2"/)

  const count = requests.length
  const same = await rehearsed(stack, config, configuration(manifest('items', "{{ record['price'] * 2 }}"), { record: true }))
  assert.deepEqual(
    same.steps.map(({ error }) => error),
    [null],
  )
  assert.equal(same.summary, '4 rows differ in 1 table.')
  const other = await rehearsed(stack, config, configuration(manifest('others')))
  assert.match(other.steps[0]!.error ?? '', /The recording holds no \(further\) answer for GET .*\/others\?until=/)
  assert.equal(requests.length, count, 'no request to the outside')
})

test('credentials of the OAuth broker are put where the specification of the manifest expects them', async () => {
  const stack = await startProject()
  const data = JSON.stringify({ access_token: 'canary-old-token-1', refresh_token: REFRESH, expires_in: 3600 })
  const added = await stack.request('POST', `/oauth/credentials/${COMPONENT}`, {
    json: { id: 'shop', authorizedFor: 'The shop', '#data': data, appKey: 'shop', '#appSecret': SECRET },
  })
  assert.equal(added.status, 201, added.text)
  const authorization = { oauth_api: { id: 'shop', version: 3 } }
  const config = await stack.configure(COMPONENT, { authorization, parameters: { manifest: manifest() } })
  const job = await run(stack, config)
  assert.equal(job.status, 'success', JSON.stringify(job.result))
  const tested = await stack.request('POST', '/sync-actions/actions', {
    json: {
      componentId: COMPONENT,
      action: 'testConnection',
      configData: { authorization, parameters: { manifest: manifest() } },
    },
  })
  assert.equal(tested.status, 200, tested.text)

  const without = manifest().slice(0, manifest().indexOf('spec:'))
  const refused = await run(stack, await stack.configure(COMPONENT, { authorization, parameters: { manifest: without } }))
  assert.equal(refused.status, 'error')
  assert.match(JSON.stringify(refused.result), /does not say where OAuth credentials belong/)
})

test('credentials have usual places where a specification has no advanced_auth', () => {
  const text = { type: 'string' }
  const specification = (properties: object) => ({ connection_specification: { type: 'object', properties } })
  assert.deepEqual(
    [...placesOf(specification({ refresh_token: text, credentials: { type: 'object', properties: { client_id: text } } }))],
    [
      ['client_id', ['credentials', 'client_id']],
      ['refresh_token', ['refresh_token']],
    ],
  )
})

test('what a connector has renewed holds until its user changes the same value', () => {
  const base = { credentials: { refresh_token: 'first', client_id: 'a' }, start: '2026-01-01' }
  const config = { credentials: { refresh_token: 'second', client_id: 'a', access_token: 't' }, start: '2026-01-01' }
  assert.deepEqual(withRenewed(base, { base, config }), config)
  assert.deepEqual(withRenewed({ ...base, start: '2025-01-01' }, { base, config }), { ...config, start: '2025-01-01' })
  const again = { ...base, credentials: { refresh_token: 'third', client_id: 'a' } }
  assert.equal((withRenewed(again, { base, config }).credentials as { refresh_token: string }).refresh_token, 'third')
})

test('a file that is no recording is named with its line', () => {
  const redactor = { add() {}, addPassing() {}, redact: (text: string) => text }
  assert.throws(
    () => createReplay('{"request":{"url":"x","headers":{}},"response":{"status":200,"headers":{}}}\nno', redactor),
    /line 2/,
  )
  assert.throws(() => createReplay('{"request":{"url":"x"},"response":{"status":200}}', redactor), /line 1/)
})
