// The JSON Schema of the whole configuration, composed of the schemas beside each strategy. It is published in
// the component's description, where the console builds its form from it.

import type { AuthenticationType } from '../auth/authentication.ts'
import { basicSchema } from '../auth/basic.ts'
import { loginSchema } from '../auth/login.ts'
import { oauth10Schema } from '../auth/oauth10.ts'
import { oauth20Schema } from '../auth/oauth20.ts'
import { oauth20LoginSchema } from '../auth/oauth20-login.ts'
import { querySchema } from '../auth/query.ts'
import { responseTypeSchema } from '../decode/decode.ts'
import { PLACEHOLDER_FUNCTIONS } from '../functions/functions.ts'
import { awsSchema } from '../http/aws-signature.ts'
import { cacheSchema } from '../http/response-cache.ts'
import { sshSchema } from '../http/ssh-tunnel.ts'
import { cursorSchema } from '../pagination/cursor.ts'
import { multipleSchema } from '../pagination/multiple.ts'
import { offsetSchema } from '../pagination/offset.ts'
import { pagenumSchema } from '../pagination/pagenum.ts'
import type { PaginationMethod } from '../pagination/pagination.ts'
import { responseLinkSchema } from '../pagination/response-link.ts'
import { responseParamSchema } from '../pagination/response-param.ts'
import { responseUrlSchema } from '../pagination/response-url.ts'
import { stoppingSchema } from '../pagination/stopping.ts'
import { zendeskSchema } from '../pagination/zendesk.ts'

type Schema = Readonly<Record<string, unknown>>

const AUTHENTICATION = {
  basic: basicSchema,
  query: querySchema,
  login: loginSchema,
  oauth10: oauth10Schema,
  oauth20: oauth20Schema,
  'oauth20.login': oauth20LoginSchema,
} satisfies Record<AuthenticationType, Schema>

const PAGINATION = {
  cursor: cursorSchema,
  offset: offsetSchema,
  pagenum: pagenumSchema,
  'response.url': responseUrlSchema,
  'response.param': responseParamSchema,
  'response.link': responseLinkSchema,
  multiple: multipleSchema,
  'zendesk.response.url': zendeskSchema,
} satisfies Record<PaginationMethod, { readonly properties: object }>

const seconds = { type: ['number', 'string'] }
const flag = { type: 'boolean', default: false }
const codes = { type: 'array', items: { type: ['integer', 'string'] } }

const DEFS = {
  expression: {
    title: 'Value',
    description: 'A literal, a reference such as {"attr": "#token"}, or a function call.',
    anyOf: [
      { type: ['string', 'number', 'boolean', 'null'] },
      { $ref: '#/$defs/call' },
      {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        description: 'A reference.',
        additionalProperties: { type: ['string', 'number'] },
      },
    ],
  },
  call: {
    type: 'object',
    title: 'Function',
    properties: {
      function: { enum: Object.keys(PLACEHOLDER_FUNCTIONS) },
      args: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/expression' }, { type: 'array' }] } },
    },
    required: ['function'],
  },
  expressions: { type: 'object', additionalProperties: { $ref: '#/$defs/expression' } },
  params: {
    type: 'object',
    description: 'Names and values; values may be expressions, lists and objects.',
    additionalProperties: true,
  },
  headers: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } },
  dataField: {
    description: 'Path of the items in the response.',
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        properties: { path: { type: 'string' }, delimiter: { type: 'string', default: '.' } },
        required: ['path'],
      },
    ],
  },
  userData: { description: 'Extra columns: a value, or an object of names and expressions.' },
  placeholders: {
    type: 'object',
    description: 'Name in the endpoint to the path in the parent item.',
    additionalProperties: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          properties: { path: { type: 'string' }, function: { type: 'string' }, args: { type: 'array' } },
          required: ['path'],
        },
      ],
    },
  },
  job: {
    type: 'object',
    title: 'Job',
    properties: {
      endpoint: {
        type: 'string',
        minLength: 1,
        description: 'Relative to the base address, an absolute path or a full address.',
      },
      method: { type: 'string', enum: ['GET', 'POST', 'FORM'], default: 'GET' },
      params: { $ref: '#/$defs/params' },
      headers: { $ref: '#/$defs/headers' },
      dataType: { type: 'string', description: 'Name of the table; the endpoint without it.' },
      dataField: { $ref: '#/$defs/dataField' },
      responseFilter: {
        description: 'Paths kept as JSON text.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      },
      responseType: responseTypeSchema,
      responseFilterDelimiter: { type: 'string', default: '.' },
      children: { type: 'array', items: { $ref: '#/$defs/job' } },
      placeholders: { $ref: '#/$defs/placeholders' },
      recursionFilter: { type: 'string', description: 'For which items of the parent a child runs, e.g. type==order&total>10.' },
      scroller: { type: 'string', description: 'Name of a scroller of pagination method multiple.' },
      userData: { $ref: '#/$defs/userData' },
      id: { type: 'string', description: 'Shown in messages.' },
    },
    required: ['endpoint'],
  },
  mapping: {
    type: 'object',
    description: 'Path in an item to what becomes of the value there.',
    additionalProperties: { $ref: '#/$defs/mappingEntry' },
  },
  mappingEntry: {
    anyOf: [
      { type: 'string', description: 'The name of a column.' },
      {
        type: 'object',
        title: 'Column',
        properties: {
          type: { const: 'column' },
          mapping: { $ref: '#/$defs/mappedColumn' },
          forceType: { type: 'boolean', default: false, description: 'true: lists and objects are stored as JSON text.' },
          delimiter: { type: 'string', default: '.', description: 'Separates the segments of the path.' },
        },
        required: ['mapping'],
      },
      {
        type: 'object',
        title: 'Column of user data or of a parent',
        properties: { type: { const: 'user' }, mapping: { $ref: '#/$defs/mappedColumn' }, delimiter: { type: 'string' } },
        required: ['type', 'mapping'],
      },
      {
        type: 'object',
        title: 'Table',
        properties: {
          type: { const: 'table' },
          destination: { type: 'string', description: 'The name of the table.' },
          tableMapping: { $ref: '#/$defs/mapping' },
          parentKey: {
            type: 'object',
            description: 'The column that refers to the parent.',
            properties: {
              destination: { type: 'string', description: 'Its name; <parent>_pk without it.' },
              primaryKey: { type: 'boolean', default: false, description: 'true: it is part of the primary key.' },
              disable: { type: 'boolean', default: false, description: 'true: there is none.' },
            },
          },
          delimiter: { type: 'string', default: '.', description: 'Separates the segments of the path.' },
        },
        required: ['type', 'destination'],
      },
    ],
  },
  mappedColumn: {
    type: 'object',
    properties: {
      destination: { type: 'string', description: 'The name of the column.' },
      primaryKey: { type: 'boolean', default: false, description: 'true: it is part of the primary key.' },
    },
    required: ['destination'],
  },
  pagination: {
    type: 'object',
    title: 'Pagination',
    oneOf: Object.values(PAGINATION).map((schema) => ({
      ...schema,
      properties: { ...schema.properties, ...stoppingSchema, pages: { deprecated: true, description: 'Has no effect.' } },
    })),
  },
  authentication: { type: 'object', title: 'Authentication', oneOf: Object.values(AUTHENTICATION) },
} as const

const API = {
  type: 'object',
  title: 'API',
  properties: {
    baseUrl: {
      title: 'Base address',
      description: 'Usually ends with a slash. May be an expression.',
      anyOf: [{ type: 'string', format: 'uri' }, { $ref: '#/$defs/call' }],
    },
    name: { type: 'string', default: 'generic' },
    authentication: { $ref: '#/$defs/authentication' },
    pagination: { $ref: '#/$defs/pagination' },
    http: {
      type: 'object',
      title: 'HTTP',
      properties: {
        headers: { $ref: '#/$defs/expressions', description: 'Sent with every request.' },
        requiredHeaders: { type: 'array', items: { type: 'string' }, description: 'Must be set in config.http.headers.' },
        defaultOptions: {
          type: 'object',
          description: 'Merged below every job; not used for the login.',
          properties: {
            method: { type: 'string', enum: ['GET', 'POST', 'FORM'], default: 'GET' },
            headers: { $ref: '#/$defs/expressions' },
            params: { $ref: '#/$defs/params' },
          },
        },
        ignoreErrors: { ...codes, description: 'Statuses that do not fail the run.' },
        connectTimeout: { ...seconds, default: 30 },
        requestTimeout: { ...seconds, default: 300 },
        maxResponseBytes: { type: 'integer', default: 268_435_456, description: 'Largest answer that is accepted.' },
      },
    },
    retryConfig: {
      type: 'object',
      title: 'Retries',
      properties: {
        maxRetries: { type: ['integer', 'string'], default: 10 },
        http: { type: 'object', properties: { retryHeader: { type: 'string', default: 'Retry-After' }, codes } },
        curl: { type: 'object', properties: { codes } },
        headerName: { type: 'string', deprecated: true, description: 'Old name of http.retryHeader.' },
        httpCodes: { ...codes, deprecated: true, description: 'Old name of http.codes.' },
        curlCodes: { ...codes, deprecated: true, description: 'Old name of curl.codes.' },
      },
    },
    query: { type: 'object', deprecated: true, description: 'Old place of authentication.query.' },
    caCertificate: { type: 'string', description: 'PEM; replaces the authorities of the system.' },
    '#clientCertificate': { type: 'string', description: 'PEM: certificate, then private key.' },
  },
  required: ['baseUrl'],
} as const

const CONFIG = {
  type: 'object',
  title: 'Configuration',
  description: 'Further keys are attributes, readable through {"attr": "name"}; keys that start with # are encrypted.',
  properties: {
    jobs: { type: 'array', minItems: 1, items: { $ref: '#/$defs/job' } },
    outputBucket: { type: 'string' },
    id: { type: 'string' },
    debug: flag,
    incrementalOutput: flag,
    record: { ...flag, description: 'Keep every exchange, without secrets, in a file.' },
    mappings: {
      type: 'object',
      description: 'Columns and tables by data type.',
      additionalProperties: { $ref: '#/$defs/mapping' },
    },
    primaryKey: {
      type: 'object',
      description: 'Columns of the primary key by data type, for tables without a mapping.',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    },
    concurrency: {
      type: ['integer', 'string'],
      default: 1,
      description: 'Requests at once, for jobs and children that do not depend on each other. The tables stay the same.',
    },
    resume: {
      ...flag,
      description:
        'A run that was ended early, or failed, is continued by the next one: what it had received is not requested again.',
    },
    maxRequestsPerSecond: { type: ['number', 'string'], description: 'Most requests per second to one host.' },
    strict: { ...flag, description: 'Keys without a meaning end the run instead of giving a warning.' },
    userData: { $ref: '#/$defs/userData' },
    http: { type: 'object', properties: { headers: { $ref: '#/$defs/expressions' } } },
    compatLevel: { type: 'integer', enum: [1, 2, 3], default: 3 },
  },
  required: ['jobs'],
  additionalProperties: true,
} as const

const ITERATIONS = {
  type: 'array',
  items: { type: 'object' },
  description: 'One run per entry, each with keys of config replaced.',
} as const

const SETTINGS = {
  api: API,
  config: CONFIG,
  iterations: ITERATIONS,
  sshProxy: sshSchema,
  aws: { type: 'object', properties: { signature: { type: 'object', properties: { credentials: awsSchema } } } },
  cache: cacheSchema,
} as const

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** What stands below `parameters` in the file of a run: everything that is needed. */
export function configurationSchema(): Schema {
  return {
    $schema: DIALECT,
    title: 'HTTP extractor',
    type: 'object',
    properties: SETTINGS,
    required: ['api', 'config'],
    $defs: DEFS,
  }
}

/** Of a configuration as it is saved: its jobs may stand in rows, each of which is run with the settings here. */
export function savedConfigurationSchema(): Schema {
  const { required: _jobs, ...config } = CONFIG
  const { required: _both, ...whole } = configurationSchema()
  return { ...whole, properties: { ...SETTINGS, config } }
}

/** Of a row: its jobs, and whatever it overrides in the configuration. */
export function rowSchema(): Schema {
  const { required: _baseUrl, ...api } = API
  return {
    $schema: DIALECT,
    title: 'Jobs of the HTTP extractor',
    description: 'Merged over the configuration: a row usually has nothing but its jobs.',
    type: 'object',
    properties: { config: CONFIG, api, iterations: ITERATIONS },
    $defs: DEFS,
  }
}
