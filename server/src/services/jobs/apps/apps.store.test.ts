import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { type AppRow, createAppsStore } from './apps.store.ts'
import { createRepositoriesStore, type RepositoryRow } from './repositories.store.ts'

const NOW = 1_800_000_000_000

await onBothDatabases('apps store', ({ db, inTransaction }) => {
  const store = createAppsStore(db)

  const appOf = (projectId: number, configurationId: string): Omit<AppRow, 'id'> => ({
    project_id: projectId,
    branch_id: 1,
    component_id: 'keboola.data-apps',
    configuration_id: configurationId,
    desired_state: 'stopped',
    generation: 1,
    config_version: null,
    token_id: null,
    auto_suspend_seconds: 900,
    auto_restart: 1,
    created_at: NOW,
    updated_at: NOW,
    last_request_at: null,
    last_start_at: null,
    password_cipher: null,
    password_token_id: null,
  })
  const stored = async (projectId: number, name = 'a'): Promise<AppRow> =>
    (await inTransaction((trx) => store.insert(trx, appOf(projectId, name))))!
  const runOf = (app: AppRow, startedAt: number) => ({
    project_id: app.project_id,
    app_id: app.id,
    node: 'n',
    state: 'starting' as const,
    config_version: 1,
    token_id: null,
    started_at: startedAt,
    seen_at: startedAt,
    ended_at: null,
    reason: null,
  })

  test('a configuration has one app, seen by its project only, changed by who knows its newest state', async () => {
    const [projectId, other] = [await newProjectRow(db), await newProjectRow(db)]
    const app = await stored(projectId)
    assert.equal(await inTransaction((trx) => store.insert(trx, appOf(projectId, 'a'))), undefined)
    assert.deepEqual(await store.findOf(app), app)
    assert.equal(await store.find(other, app.id), undefined)
    const changed = await inTransaction((trx) => store.update(trx, app, { desired_state: 'running', generation: 2 }))
    assert.equal(changed?.desired_state, 'running')
    assert.equal(await inTransaction((trx) => store.update(trx, app, { generation: 3 })), undefined, 'somebody was faster')
    assert.equal(await store.count(projectId), 1)
    const filter = { componentId: undefined, branchId: undefined, offset: 0, limit: 10 }
    assert.deepEqual(await store.list(projectId, filter), [changed])
    assert.deepEqual(await store.list(projectId, { ...filter, componentId: 'other' }), [])
  })

  test('nothing of an app is found or changed by way of another project', async () => {
    const [app, other] = [await stored(await newProjectRow(db)), await newProjectRow(db)]
    const stranger = { ...app, project_id: other }
    await inTransaction(async (trx) => {
      await store.insertRun(trx, runOf(app, NOW))
      await store.addLines(trx, app.id, [{ project_id: app.project_id, app_id: app.id, at: NOW, level: 'info', text: 'secret' }])
      assert.equal(await store.update(trx, stranger, { generation: 2 }), undefined)
      assert.equal(await store.setPassword(trx, stranger, 'cipher', 1), undefined)
      await store.remove(trx, stranger)
    })
    assert.equal(await store.findOf(stranger), undefined)
    assert.equal(await store.count(other), 0)
    assert.deepEqual([await store.listRuns(stranger, 10), await store.tail(stranger, 10, undefined)], [[], []])
    assert.deepEqual(await store.listOpenRuns(other, [app.id]), [])
    assert.deepEqual({ ...(await store.find(app.project_id, app.id)) }, { ...app, last_start_at: NOW })
  })

  test('lines and runs are bounded, and go with their app', async () => {
    const app = await stored(await newProjectRow(db))
    const line = (n: number) => ({ project_id: app.project_id, app_id: app.id, at: NOW + n, level: 'info', text: `line ${n}` })
    for (let batch = 0; batch < 5; batch++)
      await inTransaction((trx) =>
        store.addLines(
          trx,
          app.id,
          Array.from({ length: 250 }, (_, n) => line(batch * 250 + n)),
        ),
      )
    const all = await store.tail(app, 5_000, undefined)
    assert.deepEqual([all.length, all[0]?.text, all.at(-1)?.text], [1_000, 'line 250', 'line 1249'])
    assert.deepEqual(
      (await store.tail(app, 2, undefined)).map(({ text }) => text),
      ['line 1248', 'line 1249'],
    )
    assert.equal((await store.tail(app, 5_000, NOW + 1_240)).length, 10)
    for (let n = 0; n < 103; n++) await inTransaction((trx) => store.insertRun(trx, runOf(app, NOW + n)))
    assert.equal((await store.listRuns(app, 1_000)).length, 100)
    assert.equal((await store.find(app.project_id, app.id))?.last_start_at, NOW + 102)
    await inTransaction((trx) => store.remove(trx, app))
    assert.deepEqual([await store.listRuns(app, 10), await store.tail(app, 10, undefined)], [[], []])
  })

  test('a run that has ended stays as it ended, and one whose node is silent is found', async () => {
    const app = await stored(await newProjectRow(db))
    const id = await inTransaction((trx) => store.insertRun(trx, runOf(app, NOW)))
    assert.ok((await store.listLost(NOW + 1)).some((run) => run.id === id))
    assert.equal((await store.listOpenRuns(app.project_id, [app.id])).length, 1)
    await inTransaction((trx) => store.updateRun(trx, id, { state: 'failed', ended_at: NOW + 5, reason: 'x' }))
    await inTransaction((trx) => store.updateRun(trx, id, { state: 'running' }))
    assert.deepEqual(
      (await store.listRuns(app, 1)).map(({ state, reason }) => [state, reason]),
      [['failed', 'x']],
    )
    assert.deepEqual(await store.listOpenRuns(app.project_id, [app.id]), [])
    assert.ok(!(await store.listLost(NOW + 1)).some((run) => run.id === id))
  })

  test('links that have ended are removed when another is made', async () => {
    const app = await stored(await newProjectRow(db))
    const link = (hash: string, end: number) => ({
      hash,
      project_id: app.project_id,
      app_id: app.id,
      token_id: 1,
      expires_at: end,
    })
    await inTransaction((trx) => store.insertLink(trx, link(`old-${app.id}`, NOW), NOW - 1))
    await inTransaction((trx) => store.insertLink(trx, link(`new-${app.id}`, NOW + 10), NOW))
    assert.equal(await store.findLink(`old-${app.id}`), undefined)
    assert.equal((await store.findLink(`new-${app.id}`))?.expires_at, NOW + 10)
  })

  test('a repository is changed by who knows its newest state, and seen by its project only', async () => {
    const repositories = createRepositoriesStore(db)
    const app = await stored(await newProjectRow(db))
    const stranger = { project_id: app.project_id + 1, id: app.id }
    for (let i = 0; i < 2; i++) await inTransaction((trx) => repositories.insert(trx, app))
    const row = (await repositories.find(app))!
    assert.equal(await repositories.find(stranger), undefined)
    const change = { refs: '{"refs/heads/main":"x"}', pack_key: `k${app.id}`, pushed_at: NOW }
    const update = (from: RepositoryRow) => inTransaction((trx) => repositories.update(trx, from, change))
    assert.equal(await update({ ...row, project_id: stranger.project_id }), false)
    assert.equal(await update(row), true)
    assert.equal(await update(row), false, 'somebody was faster')
    assert.deepEqual({ ...(await repositories.find(app)) }, { ...row, ...change, version: 2 })
    assert.ok((await repositories.listPackKeys()).has(`k${app.id}`))

    const credential = (hash: string, end: number) => ({
      project_id: app.project_id,
      app_id: app.id,
      hash: `${hash}-${app.id}`,
      name: '',
      permissions: 'readOnly' as const,
      token_id: 1,
      created_at: NOW,
      expires_at: end,
    })
    await inTransaction((trx) => repositories.insertCredential(trx, credential('old', NOW)))
    const { id } = await inTransaction((trx) => repositories.insertCredential(trx, credential('new', NOW + 1)))
    assert.equal((await repositories.findCredential(app.id, `new-${app.id}`))?.id, id)
    assert.equal(await repositories.findCredential(app.id + 1, `new-${app.id}`), undefined)
    await inTransaction((trx) => repositories.removeExpired(trx, stranger, NOW))
    assert.equal(await inTransaction((trx) => repositories.countCredentials(trx, app)), 2)
    assert.equal(await inTransaction((trx) => repositories.countCredentials(trx, stranger)), 0)
    await inTransaction((trx) => repositories.removeExpired(trx, app, NOW))
    assert.deepEqual(
      (await repositories.listCredentials(app)).map((one) => one.id),
      [id],
    )
    assert.deepEqual(await repositories.listCredentials(stranger), [])
    assert.equal(await inTransaction((trx) => repositories.removeCredential(trx, stranger, id)), false)
    assert.equal(await inTransaction((trx) => repositories.removeCredential(trx, app, id)), true)
    await inTransaction((trx) => store.remove(trx, app))
    assert.equal(await repositories.find(app), undefined, 'it goes with its app')
  })
})
