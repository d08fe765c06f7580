// Wrong configurations: each ends before the first request, with the message of spec extractor 20 or one that names the path.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApplicationError, UserError } from '../src/errors.ts'
import { extract } from './harness.ts'

const api = { baseUrl: 'http://unreachable.invalid/' }
const jobs = [{ endpoint: 'x' }]
const withApi = (more: object) => ({ api: { ...api, ...more }, config: { jobs } })
const withAuth = (authentication: unknown, config: object = {}) => ({
  api: { ...api, authentication },
  config: { jobs, ...config },
})
const withPages = (pagination: unknown, job: object = {}) => ({
  api: { ...api, pagination },
  config: { jobs: [{ endpoint: 'x', ...job }] },
})
const withJob = (job: unknown) => ({ api, config: { jobs: [job] } })
const withConfig = (config: object) => ({ api, config: { jobs, ...config } })
const login = (more: object) => withAuth({ type: 'login', loginRequest: { endpoint: 'l' }, ...more })
const credentials = { '#data': '{"oauth_token":"a","oauth_token_secret":"b"}', appKey: 'k', '#appSecret': 's' }
const withOauth = (type: string, given: object | undefined, more: object = {}) => ({
  authorization: given && { oauth_api: { credentials: given } },
  ...withAuth({ type, loginRequest: { endpoint: 'l' }, ...more }),
})

const CASES: readonly (readonly [unknown, string])[] = [
  [{ api }, "The 'config' section is required in the configuration."],
  [{ api, config: {} }, "The 'config' section is required in the configuration."],
  [{ config: { jobs } }, "The 'api' section is required in configuration."],
  [{ api, config: { a: 1 } }, "The 'jobs' section is required in the configuration."],
  [{ api, config: { jobs: [] } }, "The 'jobs' section is required in the configuration."],
  [{ api, config: { jobs: 'x' } }, "The 'jobs' section is required in the configuration."],
  [withJob('x'), 'Job configuration must be an array: "x"'],
  [withJob(null), 'Job configuration must be an array: null'],
  [withJob({}), "The 'endpoint' property must be set in job."],
  [withJob({ endpoint: '' }), "The 'endpoint' property must be set in job."],
  [withJob({ endpoint: ['x'] }), "Invalid configuration: 'config.jobs.0.endpoint' must be a text, given array."],
  [withJob({ endpoint: 'x', params: 'a=1' }), "The 'params' property must be an array."],
  [withJob({ endpoint: 'x', params: ['a'] }), "The 'params' property must be an array."],
  [withJob({ endpoint: 'x', children: { endpoint: 'y' } }), "The 'children' property must an array of jobs."],
  [withJob({ endpoint: 'x', children: [{}] }), "The 'endpoint' property must be set in job. (config.jobs.0.children.0)"],
  [withJob({ endpoint: 'x', method: 'PUT' }), 'The "method" property must be on of "GET", "POST", "FORM".'],
  [withJob({ endpoint: 'x', method: 7 }), 'The "method" property must be on of "GET", "POST", "FORM".'],
  [withJob({ endpoint: 'x', dataField: { delimiter: '/' } }), "'dataField.path' must be set!"],
  [withJob({ endpoint: 'x', dataField: ['a'] }), "Invalid configuration: 'config.jobs.0.dataField' must be a text, given array."],
  [
    withJob({ endpoint: 'x', headers: { A: { b: 1 } } }),
    'Invalid configuration: invalid type "object" in headers at path: config.jobs.0.headers.A',
  ],
  [
    withJob({ endpoint: 'x', responseFilter: [{}] }),
    "Invalid configuration: 'config.jobs.0.responseFilter.0' must be a text, given object.",
  ],
  [
    withJob({ endpoint: 'x', children: [{ endpoint: 'y', placeholders: { a: 1 } }] }),
    "The path for placeholder 'a' must be a string value or an object containing 'path' and 'function'.",
  ],
  [
    withJob({ endpoint: 'x', children: [{ endpoint: 'y', placeholders: { a: { function: 'md5' } } }] }),
    "The path for placeholder 'a' must be a string value",
  ],
  [
    withJob({ endpoint: 'x', children: [{ endpoint: 'y', recursionFilter: 'id' }] }),
    "Error creating a filter from id: Operator couldn't be determined. Please use one of [",
  ],
  [{ api: { name: 'x' }, config: { jobs } }, "The 'baseUrl' attribute must be set in API configuration"],
  [{ api: { baseUrl: 'nope' }, config: { jobs } }, "The 'baseUrl' attribute in API configuration is not a valid URL"],
  [{ api: { baseUrl: 'ftp://x/' }, config: { jobs } }, "The 'baseUrl' attribute in API configuration is not a valid URL"],
  [
    { api: { baseUrl: { function: 'concat', args: ['no', 'pe'] } }, config: { jobs } },
    'The "baseUrl" attribute in API configuration resulted in an invalid URL (nope)',
  ],
  [{ api: 'http://x/', config: { jobs } }, "Invalid configuration: 'api' must be an object, given string."],
  [withApi({ http: [1] }), "Invalid configuration: 'api.http' must be an object, given array."],
  [
    withApi({ http: { headers: { A: ['b'] } } }),
    'Invalid configuration: invalid type "array" in headers at path: http.headers.A',
  ],
  [withApi({ http: { requiredHeaders: ['X-App'] } }), "Missing required header X-App in 'config.http.headers'."],
  [withApi({ http: { ignoreErrors: 404 } }), "Invalid configuration: 'api.http.ignoreErrors' must be a list, given integer."],
  [
    withApi({ http: { ignoreErrors: ['all'] } }),
    "Invalid configuration: 'api.http.ignoreErrors.0' must be an integer, given string.",
  ],
  [
    withApi({ retryConfig: { maxRetries: 'many' } }),
    "Invalid configuration: 'api.retryConfig.maxRetries' must be an integer, given string.",
  ],
  [withApi({ caCertificate: { a: 1 } }), "Invalid configuration: 'api.caCertificate' must be a text in PEM format."],
  [withAuth({ type: 'magic' }), "Unknown authorization type 'magic'."],
  [withAuth({ type: ['login'] }), 'Unknown authorization type \'["login"]\'.'],
  [withAuth('login'), "Invalid configuration: 'api.authentication' must be an object."],
  [withAuth({ type: 'basic' }), "Missing the required '#username' (or 'username') attribute in config."],
  [withAuth({ type: 'basic' }, { username: 'a' }), "Missing the required '#password' attribute in config."],
  [withAuth({ type: 'query' }), "The query authentication method requires 'query' configuration in 'authentication' section."],
  [withAuth({ type: 'login' }), "'loginRequest' is not configured for Login authentication"],
  [
    withAuth({ type: 'login', loginRequest: { params: {} } }),
    'Request endpoint must be set for the Login authentication method.',
  ],
  [login({ format: 'xml' }), "'format' must be either 'json' or 'text'."],
  [
    login({ expires: 'soon' }),
    "The 'expires' attribute must be either an integer or an array with 'response' key containing a path in the response",
  ],
  [login({ expires: {} }), "The 'expires' attribute must be either an integer or an array with 'response' key"],
  [login({ expires: { response: 1 } }), "The 'expires' attribute must be either an integer or an array with 'response' key"],
  [login({ loginRequest: { endpoint: 'l', method: 'PATCH' } }), 'The "method" property must be on of "GET", "POST", "FORM".'],
  [
    login({ apiRequest: { headers: 'x' } }),
    "Invalid configuration: 'api.authentication.apiRequest.headers' must be an object, given string.",
  ],
  [withOauth('oauth10', undefined), 'OAuth API credentials not supplied in configuration.'],
  [withOauth('oauth10', { ...credentials, appKey: '' }), "Missing 'appKey' for OAuth 1.0 authorization."],
  [withOauth('oauth20', { ...credentials, '#appSecret': null }), "Missing '#appSecret' for OAuth 2.0 authorization."],
  [withOauth('oauth20.login', { appKey: 'k', '#appSecret': 's' }), "Missing '#data' for OAuth 2.0 authorization."],
  [withOauth('oauth20', credentials, { format: 'yaml' }), "Unknown OAuth data format 'yaml'."],
  [withOauth('oauth10', { ...credentials, '#data': 'plain' }), "The OAuth credentials '#data' are not a JSON object."],
  [withPages({ method: 'magic' }), "Unknown pagination method 'magic'"],
  [withPages({ method: 'cursor', param: 'p' }), "Missing 'pagination.idKey' attribute required for cursor pagination"],
  [withPages({ method: 'cursor', idKey: 'id' }), "Missing 'pagination.param' attribute required for cursor pagination"],
  [
    withPages({ method: 'cursor', idKey: 'id', param: 'p', increment: 'one' }),
    "Invalid configuration: 'api.pagination.increment' must be a number, given string.",
  ],
  [withPages({ method: 'offset' }), "Missing 'pagination.limit' attribute required for offset pagination"],
  [withPages({ method: 'offset', limit: 0 }), "Missing 'pagination.limit' attribute required for offset pagination"],
  [withPages({ method: 'offset', limit: -5 }), "Parameter 'pagination.limit' must be above 0. Value '-5'."],
  [
    withPages({ method: 'offset', limit: 5 }, { params: { limit: -1 } }),
    "Parameter 'pagination.limit' must be above 0. Value '-1'.",
  ],
  [withPages({ method: 'pagenum', limit: '-2' }), "Parameter 'pagination.limit' must be above 0. Value '\"-2\"'."],
  [withPages({ method: 'offset', limit: 'ten' }), "Parameter 'pagination.limit' is not numeric. Value '\"ten\"'."],
  [withPages({ method: 'response.param', queryParam: 'a' }), "Missing required 'pagination.responseParam' parameter."],
  [withPages({ method: 'response.param', responseParam: 'a' }), "Missing required 'pagination.queryParam' parameter."],
  [
    withPages({ method: 'multiple', scrollers: { a: { method: 'pagenum' } } }, { scroller: 'b' }),
    "Scroller 'b' not set in API definitions. Scrollers defined: a",
  ],
  [
    withPages({ method: 'multiple', scrollers: { a: { method: 'pagenum' } }, default: 'b' }),
    "Default scroller 'b' does not exist",
  ],
  [withPages({ method: 'multiple', scrollers: {} }), "At least one scroller must be configured for 'multiple' pagination"],
  [withPages({ method: 'pagenum', pages: 'all' }), "Parameter 'pagination.pages' is not an integer."],
  [withPages({ method: 'pagenum', nextPageFlag: { stopOn: true } }), "'field' has to be specified for 'nextPageFlag'"],
  [
    withPages({ method: 'pagenum', nextPageFlag: { field: 'a' } }),
    "'stopOn' value must be set to a boolean value for 'nextPageFlag'",
  ],
  [
    withPages({ method: 'pagenum', limitStop: { a: 1 } }),
    "One of 'limitStop.field' or 'limitStop.count' attributes is required.",
  ],
  [
    withPages({ method: 'pagenum', limitStop: { count: 1, field: 'a' } }),
    "Specify only one of 'limitStop.field' or 'limitStop.count'.",
  ],
  [
    withPages({ method: 'pagenum', forceStop: { time: 'whenever' } }),
    "'api.pagination.forceStop.time' is neither seconds nor a time",
  ],
  [withConfig({ mappings: { x: {} } }), "Empty mapping for 'x' data type in 'mappings' config."],
  [
    withConfig({ mappings: { x: { id: 'id' }, y: { a: { type: 'table', destination: 'x', tableMapping: { b: 'b' } } } } }),
    "Multiple results for 'x' table have different columns!",
  ],
  [withConfig({ mappings: { x: { id: { type: 'magic', mapping: { destination: 'a' } } } } }), 'Invalid mapping type "magic".'],
  [
    withConfig({ incrementalOutput: {} }),
    "Invalid configuration: 'config.incrementalOutput' must be true or false, given object.",
  ],
  [withConfig({ compatLevel: 'new' }), "Invalid configuration: 'config.compatLevel' must be an integer, given string."],
  [
    { parameters: { ...withJob({ endpoint: 'x' }), sshProxy: { host: 'h', port: 22 } } },
    "Missing parameters 'user, #privateKey' in SSH config.",
  ],
  [
    {
      parameters: {
        ...withJob({ endpoint: 'x' }),
        aws: { signature: { credentials: { accessKeyId: 'a', serviceName: 's', regionName: 'r' } } },
      },
    },
    'Option "#secretKey" under "parameters.aws.signature.credentials" cannot be empty.',
  ],
  [
    { parameters: { ...withJob({ endpoint: 'x' }), iterations: ['a'] } },
    "Invalid configuration: 'iterations.0' must be an object, given string.",
  ],
  [
    { image_parameters: { allowed_hosts: [{ host: 'api.example.com' }] }, ...withJob({ endpoint: 'x' }) },
    "The address 'http://unreachable.invalid/x' is not in the list of allowed hosts",
  ],
]

for (const [config, message] of CASES) {
  test(message, async () => {
    const { error, tables, state, leftovers } = await extract(config, { archive: '' })
    assert.ok(error instanceof UserError, error?.stack)
    assert.ok(error.message.startsWith(message), error.message)
    assert.deepEqual([tables, state, leftovers], [{}, undefined, []])
  })
}

test('a configuration that is not JSON is not the fault of the user of the platform', async () => {
  for (const text of ['{', '', '[]', '"x"', '\ufeff{}']) {
    const { error } = await extract(text)
    assert.ok(error instanceof ApplicationError, error?.stack)
    assert.match(error.message, /^Configuration file is not a valid JSON: /)
  }
})

test('whatever value stands anywhere in the configuration, the run ends with a message, not with a crash', async () => {
  const whole = {
    api: {
      baseUrl: 'http://unreachable.invalid/',
      name: 'n',
      http: {
        headers: { a: 'b' },
        requiredHeaders: ['a'],
        defaultOptions: { params: { p: 1 }, headers: { h: 'v' } },
        ignoreErrors: [404],
        connectTimeout: 1,
        requestTimeout: 1,
      },
      pagination: {
        method: 'multiple',
        scrollers: {
          c: {
            method: 'cursor',
            idKey: 'id',
            param: 'p',
            increment: 1,
            reverse: true,
            forceStop: { pages: 1, time: 1, volume: 1 },
            limitStop: { count: 1 },
            nextPageFlag: { field: 'f', stopOn: true },
          },
        },
        default: 'c',
      },
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'l', method: 'GET', params: { a: 1 }, headers: { b: 2 } },
        apiRequest: { headers: { c: 'd' }, query: { e: 'f' } },
        expires: 5,
        format: 'json',
      },
      retryConfig: { maxRetries: 0, http: { codes: [500], retryHeader: 'x' }, curl: { codes: [6] } },
      caCertificate: '',
    },
    config: {
      jobs: [
        {
          endpoint: 'x',
          method: 'GET',
          params: { a: 1 },
          headers: { b: 'c' },
          dataType: 't',
          dataField: { path: 'a', delimiter: '.' },
          responseFilter: ['a'],
          responseFilterDelimiter: '.',
          scroller: 'c',
          userData: { u: 1 },
          children: [{ endpoint: 'y', placeholders: { id: 'id' }, recursionFilter: 'a==b' }],
        },
      ],
      outputBucket: 'b',
      incrementalOutput: true,
      mappings: { t: { a: 'b', c: { type: 'table', destination: 'd', tableMapping: { e: 'f' } } } },
      userData: { a: 1 },
      http: { headers: { a: 'b' } },
      compatLevel: 3,
    },
  }
  const odd = [null, true, 0, -1, 1e300, '', 'x', [], [[]], {}, { a: { b: [1] } }, { function: 'nope' }, { attr: 'nope' }]
  const spots: (string | number)[][] = []
  const walk = (value: unknown, path: (string | number)[]) => {
    spots.push(path)
    if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value))
        walk((value as Record<string, unknown>)[key], [...path, Array.isArray(value) ? Number(key) : key])
  }
  walk(whole, [])
  const every = process.env.MILLRACE_LONG ? 1 : 4
  let runs = 0
  for (const [spot, path] of spots.filter((p) => p.length > 0).entries()) {
    for (const value of odd.filter((_, i) => (spot + i) % every === 0)) {
      const config = structuredClone(whole) as unknown as Record<string | number, never>
      let at: Record<string | number, never> = config
      for (const key of path.slice(0, -1)) at = at[key]!
      at[path.at(-1)!] = value as never
      const { error, tables } = await extract(config, { archive: '' })
      assert.ok(error instanceof UserError, `${path.join('.')} = ${JSON.stringify(value)}: ${error?.stack}`)
      assert.deepEqual(tables, {})
      runs++
    }
  }
  assert.ok(runs > 800 / every, `${runs}`)
})
