// The schema is made from the strategies, published in the component's description, and accepts what the documentation shows.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Compile } from 'typebox/schema'
import { AUTHENTICATION_TYPES } from '../src/auth/authentication.ts'
import { configurationSchema } from '../src/configuration/schema.ts'
import { PAGINATION_METHODS } from '../src/pagination/pagination.ts'

const schema = configurationSchema() as {
  readonly $defs: Record<string, { oneOf: { properties: Record<string, { const?: string; enum?: string[] }> }[] }>
}
const validator = Compile(schema)

test('the published description holds the current schema', () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../../tools/extractor-schema.ts', import.meta.url)), '--check'])
})

test('every strategy is in the schema', () => {
  const named = (definition: string, key: string) =>
    schema.$defs[definition]!.oneOf.flatMap((one) => one.properties[key]!.const ?? one.properties[key]!.enum ?? [])
  assert.deepEqual(
    named('authentication', 'type').filter((type) => type !== 'url.query'),
    [...AUTHENTICATION_TYPES],
  )
  assert.deepEqual(named('pagination', 'method'), [...PAGINATION_METHODS])
})

test('the schema accepts every configuration of the documentation', () => {
  const markdown = readFileSync(new URL('../../../docs/extractor.md', import.meta.url), 'utf8')
  const configs = [...markdown.matchAll(/^```json config\n([\s\S]*?)^```$/gm)].map((match) => JSON.parse(match[1]!))
  assert.ok(configs.length >= 30)
  for (const config of configs)
    assert.ok(
      validator.Check(config.parameters ?? config),
      JSON.stringify([config, validator.Errors(config.parameters ?? config)]),
    )
})

test('the schema refuses what the extractor refuses', () => {
  const api = { baseUrl: 'https://api.example.com/' }
  const config = { jobs: [{ endpoint: 'x' }] }
  assert.ok(validator.Check({ api, config }))
  for (const wrong of [
    { api },
    { config },
    { api: {}, config },
    { api, config: { jobs: [] } },
    { api, config: { jobs: [{}] } },
    { api, config: { jobs: [{ endpoint: 'x', method: 'PUT' }] } },
    { api: { ...api, pagination: { method: 'cursor' } }, config },
    { api: { ...api, pagination: { method: 'magic' } }, config },
    { api: { ...api, authentication: { type: 'login' } }, config },
    { api: { ...api, authentication: { type: 'magic' } }, config },
  ]) {
    assert.ok(!validator.Check(wrong), JSON.stringify(wrong))
  }
})

test('G4: the published schemas accept a configuration with rows, and describe a row', () => {
  const description = JSON.parse(
    readFileSync(
      new URL('../../../server/src/services/configuration/components/builtin/http-extractor.json', import.meta.url),
      'utf8',
    ),
  )
  assert.ok(description.flags.includes('genericDockerUI-rows'))
  const saved = Compile(description.configurationSchema)
  const row = Compile(description.configurationRowSchema)
  const api = { baseUrl: 'https://api.example.com/' }
  const config = { jobs: [{ endpoint: 'x' }] }
  // corrections-2 G4: a configuration is built in steps, and clients refuse to send what does not match.
  for (const good of [{}, { config }, { api }, { api, config: { '#token': 'x' } }, { api, config }])
    assert.ok(saved.Check(good), JSON.stringify(good))
  for (const bad of [{ api: {} }, { api, config: { jobs: [{}] } }]) assert.ok(!saved.Check(bad), JSON.stringify(bad))
  for (const good of [{}, { config }, { config, api: { pagination: { method: 'pagenum' } } }])
    assert.ok(row.Check(good), JSON.stringify(good))
  for (const bad of [{ config: {} }, { config: { jobs: [{ endpoint: '' }] } }]) assert.ok(!row.Check(bad), JSON.stringify(bad))
})
