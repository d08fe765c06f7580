import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { openCore } from '../../../wiring/core.ts'
import { createEncryptionModule } from '../../access/encryption/encryption.module.ts'
import { createBranchesModule } from '../branches/branches.module.ts'
import { createComponentsModule } from '../components/components.module.ts'
import { createConfigurationsModule } from './configurations.module.ts'

const C = '/v2/storage/components/platform.ex-http/configs'

test('a run reads a configuration by either id of its component, with its rows in order, and saves state without a version', async (t) => {
  const { request, dataDir, projectId, platform } = await startTestStack(t)
  // A second process on the same data: what it writes must be seen by the first one, whatever that has in memory.
  const log = pino({ level: 'silent' })
  const { core, keyRing, tokens } = await openCore({ dataDir, log })
  t.after(() => core.metadata.close())
  const { objects } = platform
  const components = await createComponentsModule({ core, objects, keyRing, unknownComponents: undefined, worker: undefined })
  const encryption = createEncryptionModule({ keyRing, components })
  const branches = createBranchesModule({ core })
  const { runAccess } = createConfigurationsModule({ core, components, encryption, branches, tokens })
  const { inTransaction } = core
  await request('POST', C, { json: { name: 'n', configurationId: 'c', configuration: { '#s': 'clear' } } })
  for (const rowId of ['a', 'b']) await request('POST', `${C}/c/rows`, { json: { rowId, configuration: { rowId } } })
  await request('PUT', `${C}/c`, { json: { rowsSortOrder: ['b', 'a'] } })
  const branchId = (await request('GET', '/v2/storage/dev-branches/default')).json<{ id: number }>().id
  const address = { projectId, branchId, componentId: 'keboola.ex-generic-v2', configurationId: 'c' }

  await request('GET', `${C}/c`)
  const found = await runAccess.find(address)
  assert.deepEqual(
    [found?.componentId, found?.version, found?.rows.map((row) => row.id)],
    ['keboola.ex-generic-v2', 4, ['b', 'a']],
  )
  const secrets = await encryption.secretsOf(projectId)
  const clear = secrets.decrypt(found!.configuration, { componentId: address.componentId, configurationId: 'c' })
  assert.deepEqual([clear.text, clear.values], ['{"#s":"clear"}', ['clear']])

  await runAccess.prepare(projectId)
  const saved = await inTransaction(async (trx) => [
    await runAccess.saveState(trx, address, undefined, '{"component":{"n":12345678901234567890}}'),
    await runAccess.saveState(trx, address, 'a', '{"#token":"canary-state"}'),
    await runAccess.saveState(trx, address, 'none', '{}'),
    await runAccess.saveState(trx, { ...address, configurationId: 'none' }, undefined, '{}'),
  ])
  assert.equal(saved[0], '{"component":{"n":12345678901234567890}}')
  assert.match(String(saved[1]), /^{"#token":"KBC::ProjectSecure::/)
  assert.deepEqual(saved.slice(2), [undefined, undefined])
  const { text } = await request('GET', `${C}/c`)
  assert.ok(text.includes('"version":4,') && text.includes('"state":{"component":{"n":12345678901234567890}}'))
  assert.ok(text.includes('"state":{"#token":"KBC::ProjectSecure::') && !text.includes('canary-state'))

  assert.equal(await runAccess.exists(address), true)
  await request('DELETE', `${C}/c`)
  assert.deepEqual([await runAccess.exists(address), await runAccess.find(address)], [false, undefined])
})
