import assert from 'node:assert/strict'
import test from 'node:test'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import type { StoredConfiguration } from '../../../model/run-ports.ts'
import { configFile, processorConfigFile } from './config-file.ts'
import { withOauthCredentials } from './oauth-credentials.ts'
import { chooseRows, type PlanRequest, planRow } from './run-configuration.ts'
import { replaceSharedCode } from './shared-code.ts'
import { readState, writeState } from './state.ts'
import { replaceVariables } from './variables.ts'

const stored = (configuration: object, rows: StoredConfiguration['rows'] = []): StoredConfiguration => ({
  version: 1,
  isDisabled: false,
  configuration: JSON.stringify(configuration),
  state: '{"component":{"root":true}}',
  rows,
})
const row = (id: string, configuration: object = {}, isDisabled = false) => ({
  id,
  name: id,
  isDisabled,
  configuration: JSON.stringify(configuration),
  state: `{"component":{"of":"${id}"}}`,
})

const VARIABLES = stored({ variables: [{ name: 'who' }] }, [row('v1', { values: [{ name: 'who', value: 'wor"ld' }] })])
const SHARED = stored({}, [row('code', { code_content: ['one', 'two'] })])

const deps = {
  vaultValues: async () => new Map<string, string>(),
  configurations: {
    find: async ({ componentId, configurationId }: { componentId: string; configurationId: string }) =>
      configurationId !== '1'
        ? undefined
        : componentId === 'keboola.variables'
          ? VARIABLES
          : componentId === 'keboola.shared-code'
            ? SHARED
            : undefined,
    saveState: async () => '{}',
  },
  secrets: {
    decrypt: async (_: unknown, text: string) => ({ text, values: [] }),
    encrypterOf: async () => (text: string) => text,
  },
}
const plan = (configuration: StoredConfiguration, more: Partial<PlanRequest> = {}) =>
  planRow(deps, {
    place: { projectId: 1, branchId: 1, componentId: 'c', configurationId: '9', isDefaultBranch: true },
    stored: configuration,
    row: undefined,
    variableValuesId: null,
    variableValues: [],
    ...more,
  })

test('rows run in order without the disabled ones, which run when they are named', () => {
  const configuration = stored({}, [row('a'), row('b', {}, true), row('c')])
  const ids = (wanted: readonly string[] | null) => chooseRows(configuration, wanted).rows.map((one) => one?.id)
  assert.deepEqual(ids(null), ['a', 'c'])
  assert.deepEqual(ids(['b', 'a']), ['a', 'b'])
  assert.deepEqual(chooseRows(stored({}), null).rows, [undefined])
  assert.throws(() => ids(['z']), /none of its rows z exists/)
  assert.match(chooseRows(configuration, ['a', 'z']).skipped[0]!, /row z does not exist/)
})

test('corrections-2 A1: a row whose configuration is a list is stored, and not run', async () => {
  const list = { ...row('a'), configuration: '["x"]' }
  await assert.rejects(plan(stored({}), { row: list }), /the configuration of its row "a" is a list; a run needs an object/)
})

test('the state of a row is its own; the root state belongs to configurations without rows', async () => {
  assert.equal((await plan(stored({}), { row: row('a') })).state, '{"component":{"of":"a"}}')
  assert.equal((await plan(stored({}))).state, '{"component":{"root":true}}')
})

test('processors come from the root or from the row, never from both, and never reach the configuration', async () => {
  const processors = { after: [{ definition: { component: 'p' }, parameters: { n: 1 } }] }
  const fromRoot = await plan(stored({ processors, parameters: {} }), { row: row('a', {}) })
  assert.deepEqual(fromRoot.after, [{ component: 'p', tag: undefined, parameters: '{"n":1}' }])
  assert.ok(!fromRoot.configuration.includes('processors'))
  assert.deepEqual((await plan(stored({}), { row: row('a', { processors }) })).after.length, 1)
  await assert.rejects(
    plan(stored({ processors }), { row: row('a', { processors }) }),
    /both in the configuration and in its row/,
  )
})

test('variables are put in as JSON text, in processors too', async () => {
  const configuration = stored({
    variables_id: '1',
    variables_values_id: 'v1',
    parameters: { hello: 'dear {{ who }}' },
    processors: { before: [{ definition: { component: 'p' }, parameters: { x: '{{who}}' } }] },
  })
  const made = await plan(configuration)
  assert.equal(JSON.parse(made.configuration).parameters.hello, 'dear wor"ld')
  assert.equal(made.before[0]!.parameters, '{"x":"wor\\"ld"}')
  assert.deepEqual(made.variables, { who: 'wor"ld' })
  const given = await plan(configuration, { variableValues: [{ name: 'who', value: 'you' }] })
  assert.equal(JSON.parse(given.configuration).parameters.hello, 'dear you')
})

test('a variable without a value is named', async () => {
  await assert.rejects(plan(stored({ variables_id: '1' })), /names their values/)
  await assert.rejects(plan(stored({ variables_id: '1' }), { variableValues: [{ name: 'other', value: '' }] }), /variables: who/)
  await assert.rejects(
    plan(stored({ variables_id: '1', variables_values_id: 'v1', parameters: '{{ nobody }}' })),
    /variables: nobody/,
  )
  await assert.rejects(plan(stored({ variables_id: '7' })), /variables "7" do not exist/)
})

test('without variables_id nothing is replaced', async () => {
  assert.ok((await plan(stored({ parameters: { t: '{{ who }}' } }))).configuration.includes('{{ who }}'))
})

test('shared code takes the place of the item that names it', async () => {
  const configuration = stored({
    shared_code_id: '1',
    shared_code_row_ids: ['code'],
    parameters: { script: ['first', '{{ code }}', 'last'], other: [{ a: '{{code}}' }] },
  })
  const { parameters } = JSON.parse((await plan(configuration)).configuration)
  assert.deepEqual(parameters.script, ['first', 'one', 'two', 'last'])
  assert.deepEqual(parameters.other, [{ a: '{{code}}' }])
  assert.equal(replaceSharedCode('{"n":1.10}', new Map([['x', []]])), '{"n":1.10}')
})

test('mustache tags: sections, comments, other delimiters, and brackets that are no tags', () => {
  const values = new Map([
    ['a', 'A'],
    ['no', ''],
  ])
  const text = (given: string) => JSON.parse(replaceVariables(JSON.stringify(given), values).text)
  assert.equal(text('{{a}} {{{a}}} {{& a}}'), 'A A A')
  assert.equal(text('x{{! nothing }}y'), 'xy')
  assert.equal(text('{{#a}}yes {{a}}{{/a}}{{^a}}no{{/a}}{{#no}}never{{/no}}'), 'yes A')
  assert.equal(text('{{=<% %>=}}<% a %>{{a}}'), 'A{{a}}')
  assert.equal(text('{{ date | format }}'), '{{ date | format }}')
  assert.throws(() => text('{{#a}} never closed'), /placeholders/)
  assert.throws(() => text('never opened {{/a}}'), /placeholders/)
})

test('sections of one name may be nested, and deep nesting takes linear time', () => {
  const render = (given: string, value: string) =>
    JSON.parse(
      replaceVariables(
        JSON.stringify(given),
        new Map([
          ['a', value],
          ['b', 'B'],
        ]),
      ).text,
    )
  const nested = '{{#a}}1{{#a}}2{{/a}}3{{/a}}'
  assert.equal(render(nested, ''), '')
  assert.equal(render(nested, '1'), '123')
  assert.equal(render('{{^a}}1{{#b}}2{{#a}}3{{/a}}{{/b}}4{{/a}}', ''), '124')
  assert.equal(render('{{#a}}{{ missing }}{{#missing}}{{/missing}}{{/a}}x', ''), 'x') // what is not shown needs no values
  assert.throws(() => render('{{#a}}{{#b}}{{/a}}{{/b}}', '1'), /placeholders/)
  const deep = 50_000
  assert.equal(render(`${'{{#a}}'.repeat(deep)}x${'{{/a}}'.repeat(deep)}`, '1'), 'x')
})

test('config.json has parameters, what else was written, image_parameters and action; nothing that is only for us', () => {
  const configuration =
    '{"storage":{},"parameters":[],"runtime":{"tag":"1"},"api":{"id":12345678901234567890},"authorization":[]}'
  const text = configFile({ configuration, imageParameters: '{"i":1}', action: 'run' })
  assert.equal(text, '{"parameters":{},"api":{"id":12345678901234567890},"image_parameters":{"i":1},"action":"run"}')
  assert.equal(processorConfigFile('{"lines":1}', '{}'), '{"parameters":{"lines":1},"image_parameters":{},"action":"run"}')
})

test('authorization.oauth_api.id becomes what the broker keeps; credentials of the configuration stay as they are', async () => {
  const asked: unknown[] = []
  const oauth = {
    credentialsFor: async (...request: unknown[]) => {
      asked.push(request.slice(1))
      return { text: '{"#data":"{}"}', values: ['secret'] }
    },
  }
  const fill = (text: string, features: string[] = []) =>
    withOauthCredentials({ oauth }, masterActor(1), { id: 'c', features }, text)
  assert.deepEqual(
    await fill('{"big":12345678901234567890,"authorization":{"context":"x","oauth_api":{"id":"1","version":3}}}'),
    {
      text: '{"big":12345678901234567890,"authorization":{"context":"x","oauth_api":{"id":"1","version":3,"credentials":{"#data":"{}"}}}}',
      values: ['secret'],
    },
  )
  await fill('{"authorization":{"oauth_api":{"id":7}}}', ['oauth-refresh'])
  await fill('{"authorization":{"oauth_api":{"id":7,"refresh":false}}}', ['oauth-refresh'])
  assert.deepEqual(asked, [
    [{ componentId: 'c', credentialsId: '1' }, false],
    [{ componentId: 'c', credentialsId: '7' }, true],
    [{ componentId: 'c', credentialsId: '7' }, false],
  ])
  for (const text of ['{}', '{"authorization":[]}', '{"authorization":{"oauth_api":{"id":"1","credentials":{}}}}'])
    assert.deepEqual(await fill(text), { text, values: [] })
})

test('state keeps the component part as written and other members as they are', () => {
  const before = readState(
    '{"component":{"a":1},"data_app":{"x":1},"storage":{"input":{"tables":[{"source":"t","lastImportDate":"d"},7]}}}',
  )
  assert.equal(before.component, '{"a":1}')
  assert.deepEqual(before.tables, [{ source: 't', lastImportDate: 'd' }])
  assert.equal(
    writeState(before, ' {"n":12345678901234567890} ', [], []),
    '{"component":{"n":12345678901234567890},"storage":{"input":{"tables":[],"files":[]}},"data_app":{"x":1}}',
  )
  assert.equal(readState('{"cursor":5}').component, '{"cursor":5}')
  assert.equal(readState('{}').component, '{}')
  assert.equal(readState(writeState(before, undefined, [], [])).component, '{}')
})
