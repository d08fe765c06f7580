import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { schemaProblems } from './schema-problems.ts'

const found = (schema: object, value: unknown) =>
  schemaProblems(schema, value).map(({ pointer, message }) => `${pointer} ${message}`)

test('every problem is named once, at its place', () => {
  const schema = {
    type: 'object',
    required: ['a', 'b'],
    additionalProperties: false,
    properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } }, c: { enum: ['x', 'y'] } },
  }
  assert.deepEqual(found(schema, { a: 1, b: [1, 'two', 3, 'four'], c: 'z', 'd/e': 1 }).sort(), [
    '/a must be string',
    '/b/1 must be integer',
    '/b/3 must be integer',
    '/c must be "x" or "y"',
    '/d~1e is not known here',
  ])
  assert.deepEqual(found(schema, {}), ['/a is missing', '/b is missing'])
  assert.deepEqual(found(schema, { a: '', b: [] }), [])
})

test('more than a handful of problems are all named', () => {
  const schema = { type: 'array', items: { type: 'integer' } }
  assert.equal(found(schema, Array(60).fill('x')).length, 60)
  assert.equal(found(schema, Array(500).fill('x')).length, 200)
})

test('of several alternatives the one that was meant is held against the value', () => {
  const schema = {
    type: 'array',
    items: {
      oneOf: [
        {
          type: 'object',
          required: ['method', 'limit'],
          properties: { method: { const: 'offset' }, limit: { type: 'integer' } },
        },
        { type: 'object', required: ['method', 'key'], properties: { method: { const: 'cursor' }, key: { type: 'string' } } },
      ],
    },
  }
  assert.deepEqual(found(schema, [{ method: 'offset' }, { method: 'cursor', key: 7 }, { method: 'nope' }, 'text']), [
    '/0/limit is missing',
    '/1/key must be string',
    '/2/method must be "offset" or "cursor"',
    '/3 must be object',
  ])
  const maybe = { anyOf: [{ type: 'object', properties: { mode: { enum: ['a', 'b'] } } }, { type: 'null' }] }
  assert.deepEqual(found(maybe, { mode: 'c' }), ['/mode must be "a" or "b"'])
  assert.deepEqual(found({ anyOf: [{ anyOf: [maybe, { type: 'array' }] }, { type: 'null' }] }, { mode: 'c' }), [
    '/mode must be "a" or "b"',
  ])
  assert.deepEqual(found({ anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'null' }] }, 7), [' must be string or object'])
})

test('the schema of the extractor names what a person would', () => {
  const file = new URL('../services/configuration/components/builtin/http-extractor.json', import.meta.url)
  const { configurationSchema } = JSON.parse(readFileSync(file, 'utf8')) as { configurationSchema: object } // our own file
  const value = { api: { baseUrl: 7, pagination: { method: 'nope' } }, config: { jobs: [{ endpoint: 1 }, 'x'] } }
  const problems = found(configurationSchema, value)
  assert.deepEqual(
    problems.map((problem) => problem.split(' ')[0]).sort(),
    ['/api/baseUrl', '/api/pagination/method', '/config/jobs/0/endpoint', '/config/jobs/1'],
    problems.join('\n'),
  )
})
