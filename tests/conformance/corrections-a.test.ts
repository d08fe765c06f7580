// What real clients expect of the storage API, by number: part A. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventAnswer, projectClient } from '../support/clients/storage-client.ts'
import { assertDefined } from '../support/event-definitions.ts'
import { type Answer, send, startTestStack } from '../support/test-stack.ts'

test('corrections A', async (t) => {
  const stack = await startTestStack(t)
  const tokens: string[] = []
  const project = async (name: string) => {
    const client = await projectClient(stack, name)
    tokens.push(client.masterToken)
    return client
  }

  await t.test('A1: an event with all nine members, most of them null, is an event of type info', async () => {
    const { ok, events } = await project('A1')
    const members = { configurationId: null, runId: null, description: null, type: null, duration: null }
    const json = { component: 'dummy', message: 'dummy', ...members, params: [], results: [] }
    const made = await ok('POST', 'events', { json })
    assert.equal(made.status, 201)
    assert.deepEqual(Object.keys(made.json()).sort(), ['id', 'uuid'])
    const [event] = await events()
    assert.deepEqual([event?.type, event?.event, event?.params, event?.results], ['info', 'ext.dummy.', {}, {}])
    assert.deepEqual((await ok('POST', 'files/prepare', { json: { name: 'a', tags: null } })).json().tags, [])
  })

  await t.test(
    'A2: triggers belong to admins, to tokens that manage buckets, and to tokens with access to the component',
    async () => {
      const { ok, call, refused, token } = await project('A2')
      await ok('POST', 'buckets', { json: { name: 'a' } })
      await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
      const runner = await token({ description: 'runs, may nothing' })
      const body = {
        runWithTokenId: Number(runner.id),
        component: 'keboola.orchestrator',
        configurationId: '123',
        coolDownPeriodMinutes: 10,
        tableIds: ['in.c-a.t'],
      }
      const privilege = (components: string) =>
        'Your token does not have sufficient privilege. Token is neither admin token nor does it have canManageBucket permission ' +
        `nor does it have access to component(s) "${components}".`
      const made = (await ok('POST', 'triggers', { json: body })).json<{ id: string }>()

      const reading = { bucketPermissions: { 'in.c-a': 'read' } }
      const stranger = (await token({ description: 'reads', ...reading })).token
      const orchestrates = (await token({ description: 'o', componentAccess: ['keboola.orchestrator'], ...reading })).token
      const other = (await token({ description: 'other', componentAccess: ['keboola.unknown'], ...reading })).token
      const manager = (await token({ description: 'manages', canManageBuckets: true })).token
      for (const [method, path, json] of [
        ['POST', 'triggers', body],
        ['PUT', `triggers/${made.id}`, { coolDownPeriodMinutes: 20 }],
        ['DELETE', `triggers/${made.id}`, undefined],
      ] as const) {
        await refused(method, path, { token: stranger, json }, 422, privilege('keboola.orchestrator'))
        await refused(method, path, { token: other, json }, 422, privilege('keboola.orchestrator'))
      }
      const move = { json: { component: 'keboola.unknown' } }
      await refused('PUT', `triggers/${made.id}`, { token: orchestrates, ...move }, 422, privilege('keboola.unknown'))
      await refused(
        'PUT',
        `triggers/${made.id}`,
        { token: stranger, ...move },
        422,
        privilege('keboola.unknown, keboola.orchestrator'),
      )
      await ok('PUT', `triggers/${made.id}`, { token: manager, ...move })

      const own = (await ok('POST', 'triggers', { token: orchestrates, json: body })).json<{ id: string }>()
      await ok('PUT', `triggers/${own.id}`, { token: orchestrates, json: { coolDownPeriodMinutes: 20 } })
      assert.equal((await call('DELETE', `triggers/${own.id}`, { token: orchestrates })).status, 204)
      assert.equal((await call('DELETE', `triggers/${made.id}`, { token: other })).status, 204)

      const verified = (await ok('GET', 'tokens/verify')).json<{ id: string }>()
      const asAdmin = { token: manager, json: { ...body, runWithTokenId: Number(verified.id) } }
      const adminsOnly = "The 'runByToken' cannot be admin's token when your main token is not admin's"
      await refused('POST', 'triggers', asAdmin, 400, adminsOnly)
      const managed = (await ok('POST', 'triggers', { token: manager, json: body })).json<{ id: string }>()
      await refused('PUT', `triggers/${managed.id}`, asAdmin, 400, adminsOnly)
      assert.equal((await call('DELETE', `triggers/${managed.id}`, { token: manager })).status, 204)
    },
  )

  await t.test('A2: what is wrong with a trigger is said in the words that clients compare', async () => {
    const { ok, refused, token } = await project('A2 texts')
    await ok('POST', 'buckets', { json: { name: 'a' } })
    await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
    const runner = await token({ description: 'runs' })
    const expiring = await token({ description: 'expires', expiresIn: 600 })
    const body = {
      runWithTokenId: Number(runner.id),
      component: 'orchestrator',
      configurationId: '123',
      coolDownPeriodMinutes: 1,
      tableIds: ['in.c-a.t'],
    }
    for (const name of ['component', 'configurationId', 'runWithTokenId', 'tableIds']) {
      const text = `Invalid parameters - ${name}: This field is missing.`
      await refused('POST', 'triggers', { json: { ...body, [name]: undefined } }, 400, text)
      await refused('POST', 'triggers', { json: { ...body, [name]: null } }, 400, text)
    }
    const tooShort = 'Minimal cool down period is 1 minute'
    await refused('POST', 'triggers', { json: { ...body, coolDownPeriodMinutes: undefined } }, 400, tooShort)
    await refused('POST', 'triggers', { json: { ...body, coolDownPeriodMinutes: 0 } }, 400, tooShort)
    const withExpiring = { json: { ...body, runWithTokenId: Number(expiring.id) } }
    await refused('POST', 'triggers', withExpiring, 400, "The 'runByToken' has expiration set. Use token without expiration.")
    await ok('POST', 'triggers', { json: body })
    const inUse =
      'Cannot delete token, because it\'s used for event trigger inside component "orchestrator" with configuration id "123"'
    await refused('DELETE', `tokens/${runner.id}`, {}, 400, inUse)
  })

  await t.test('A3: events of configurations say which configuration at which version, and nothing else', async () => {
    const { ok, events } = await project('A3 configurations')
    const configs = 'components/keboola.ex-generic-v2/configs'
    const component = 'keboola.ex-generic-v2'
    const of = (name: string, version: number, configurationId = 'main-1') => ({ component, configurationId, name, version })
    await ok('POST', configs, { json: { configurationId: 'main-1', name: 'Main', changeDescription: 'first' } })
    await ok('PUT', `${configs}/main-1`, { json: { name: 'Renamed', configuration: { a: 1 } } })
    const rolledBack = { json: { changeDescription: 'back' } }
    await ok('POST', `${configs}/main-1/versions/1/rollback`, rolledBack)
    const copy = (await ok('POST', `${configs}/main-1/versions/2/create`, { json: { name: 'Copy' } })).json<{ id: string }>()
    const metadata = [{ key: 'k', value: 'v' }]
    const [item] = (await ok('POST', `branch/default/${configs}/main-1/metadata`, { json: { metadata } })).json<
      { id: string }[]
    >()
    await ok('DELETE', `branch/default/${configs}/main-1/metadata/${item?.id}`)
    await ok('DELETE', `${configs}/main-1`)
    await ok('POST', `${configs}/main-1/restore`)
    await ok('DELETE', `${configs}/main-1`)
    await ok('POST', configs, { json: { configurationId: 'main-1', name: 'Again' } })
    await ok('DELETE', `${configs}/main-1`)
    await ok('DELETE', `${configs}/main-1`)
    const recorded = (await events('sortOrder=asc')).filter(({ event }) => event.startsWith('storage.componentConfiguration'))
    const shown = recorded.map(({ event, objectType, objectId, objectName, message, params, results }) => [
      [event.slice('storage.componentConfiguration'.length), objectType, objectId, objectName, message],
      JSON.stringify(params),
      JSON.stringify(results),
    ])
    const sentence = (what: string, name: string) => `${what} component configuration "${name}" (${component})`
    const expected = (
      kind: string,
      message: string,
      params: { configurationId: string; name: string; [more: string]: unknown },
      results: object = {},
    ) => [
      [kind, 'componentConfiguration', params.configurationId, params.name, message],
      JSON.stringify(params),
      JSON.stringify(results),
    ]
    const change = (kind: string, what: string, name: string, version: number) =>
      expected(kind, sentence(what, name), of(name, version))
    assert.deepEqual(shown, [
      change('Created', 'Created', 'Main', 1),
      change('Changed', 'Changed', 'Renamed', 2),
      expected('RolledBack', sentence('Rolled back', 'Main'), { ...of('Main', 3), sourceConfiguration: of('Main', 1) }),
      expected('Copied', `Copied component configuration "Renamed" to "Copy" (${component})`, {
        ...of('Copy', 1, copy.id),
        sourceConfiguration: of('Renamed', 2),
      }),
      expected('MetadataSet', `Component configuration metadata set "Main" (${component})`, of('Main', 3), { metadata }),
      expected('MetadataDeleted', `Deleted component configuration metadata id "${item?.id}" with key "k"`, {
        ...of('Main', 3),
        metadataId: Number(item?.id),
        key: 'k',
      }),
      change('Deleted', 'Deleted', 'Main', 4),
      change('Restored', 'Restored', 'Main', 5),
      change('Deleted', 'Deleted', 'Main', 6),
      change('Restored', 'Restored', 'Again', 7),
      change('Deleted', 'Deleted', 'Again', 8),
      change('Purged', 'Permanently deleted', 'Again', 8),
    ])
  })

  await t.test('A3: events of rows name the row, its version and its configuration', async () => {
    const { ok, events } = await project('A3 rows')
    const configs = 'components/keboola.ex-generic-v2/configs'
    const component = 'keboola.ex-generic-v2'
    const of = (version: number) => ({ component, configurationId: 'main-1', name: 'Main', version })
    await ok('POST', configs, { json: { configurationId: 'main-1', name: 'Main' } })
    await ok('POST', `${configs}/main-1/rows`, { json: { rowId: 'r1', name: 'Row' } })
    await ok('PUT', `${configs}/main-1/rows/r1`, { json: { name: 'Row 2' } })
    await ok('POST', `${configs}/main-1/rows/r1/versions/1/rollback`)
    const copy = (await ok('POST', `${configs}/main-1/rows/r1/versions/2/create`)).json<{ id: string }>()
    await ok('DELETE', `${configs}/main-1/rows/r1`)
    const recorded = (await events('sortOrder=asc')).filter(({ event }) => event.includes('ConfigurationRow'))
    const shown = recorded.map(({ event, objectType, objectId, objectName, message, params }) => [
      [event.slice('storage.componentConfiguration'.length), objectType, objectId, objectName, message],
      JSON.stringify(params),
    ])
    const expected = (kind: string, what: string, row: { rowId: string; name: string; [more: string]: unknown }) => [
      [
        kind,
        'componentConfigurationRow',
        row.rowId,
        row.name,
        `${what} component configuration row "${row.name}" (${component})`,
      ],
      JSON.stringify(row),
    ]
    const row = (rowId: string, name: string, version: number, configurationVersion: number) => ({
      rowId,
      name,
      version,
      configuration: of(configurationVersion),
    })
    assert.deepEqual(shown, [
      expected('RowCreated', 'Created', row('r1', 'Row', 1, 2)),
      expected('RowChanged', 'Changed', row('r1', 'Row 2', 2, 3)),
      expected('RowRolledBack', 'Rolled back', { ...row('r1', 'Row', 3, 4), sourceRow: row('r1', 'Row', 1, 3) }),
      expected('RowCopied', 'Copied', { ...row(copy.id, 'Row 2', 1, 5), sourceRow: row('r1', 'Row 2', 2, 4) }),
      expected('RowDeleted', 'Deleted', row('r1', 'Row', 3, 6)),
    ])
  })

  await t.test('A3: events of branches', async () => {
    const { ok, events, branch } = await project('A3 branches')
    const dev = await branch('dev')
    await ok('PUT', `dev-branches/${dev}`, { json: { name: 'new name' } })
    const metadata = [{ key: 'k', value: 'v' }]
    const [item] = (await ok('POST', `branch/${dev}/metadata`, { json: { metadata } })).json<{ id: string }[]>()
    await ok('DELETE', `branch/${dev}/metadata/${item?.id}`)
    const [updated] = await events('q=event:storage.devBranchUpdated')
    assert.deepEqual([updated?.objectId, updated?.objectName], [dev, 'dev'])
    assert.deepEqual(updated?.params, { devBranchName: 'new name', devBranchId: dev })
    const [deleted, set] = (await events('', `branch/${dev}/events`)).filter(({ event }) => event.includes('Metadata'))
    assert.deepEqual(
      [set?.event, set?.objectType, set?.message, set?.params],
      ['storage.devBranchMetadataSet', 'devBranch', 'Development branch "new name" metadata set', { metadata }],
    )
    assert.deepEqual(
      [deleted?.event, deleted?.message, deleted?.params],
      [
        'storage.devBranchMetadataDeleted',
        'Development branch "new name" metadata with key "k" deleted',
        { metadataId: Number(item?.id), key: 'k' },
      ],
    )
  })

  await t.test('A4: the search finds what every branch of the project owns, once', async () => {
    const { ok, branch } = await project('A4')
    await ok('POST', 'buckets', { json: { name: 'found-main' } })
    await ok('POST', 'buckets/in.c-found-main/tables', { form: { name: 'found-table', dataString: 'id\n1\n' } })
    const dev = await branch('dev')
    await ok('POST', `branch/${dev}/buckets`, { json: { name: 'found-dev' } })
    const search = async (query: string, prefix = '') =>
      (await ok('GET', `${prefix}global-search?query=found${query}`)).json<{
        items: { id: string; type: string; uri?: string; fullPath: { branch: { id: number } } }[]
      }>().items
    const ids = async (query: string, prefix?: string) => (await search(query, prefix)).map(({ id }) => id).sort()
    const everything = ['in.c-found-dev', 'in.c-found-main', 'in.c-found-main.found-table']
    assert.deepEqual(await ids(''), everything)
    assert.deepEqual(await ids('', `branch/${dev}/`), everything)
    assert.deepEqual(await ids('&branchTypes[]=production'), ['in.c-found-main', 'in.c-found-main.found-table'])
    assert.deepEqual(await ids('&branchTypes[]=development'), ['in.c-found-dev'])
    assert.deepEqual(await ids(`&branchIds[]=${dev}`), ['in.c-found-dev'])
    for (const { type, uri } of await search('')) {
      assert.match(uri ?? '', type === 'bucket' ? /\/buckets\// : /\/tables\//)
      await ok('GET', uri?.split('/v2/storage/')[1] ?? 'nowhere')
    }
  })

  await t.test('A5: two others approve, the merge publishes, and the branch goes', async () => {
    const { ok, refused, token, events, finished, branch, masterToken } = await project('A5')
    const configs = 'components/keboola.ex-generic-v2/configs'
    await ok('POST', configs, { json: { configurationId: 'main-1', name: 'Main', state: { kept: 1 } } })
    const dev = await branch('dev')
    const main = (await ok('GET', 'dev-branches/default')).json<{ id: number }>().id
    const inBranch = `branch/${dev}/${configs}/main-1`
    const changed = (await ok('PUT', inBranch, { json: { configuration: { a: 2 } } })).json<{
      currentVersion: { versionIdentifier: string }
    }>()
    const { versionIdentifier } = changed.currentVersion
    await ok('POST', `${inBranch}/metadata`, { json: { metadata: [{ key: 'k', value: 'v' }] } })
    const reviewers = [
      await token({ description: 'first', canManageDevBranches: true }),
      await token({ description: 'second', canManageDevBranches: true }),
    ] as const
    const body = { branchFromId: dev, branchIntoId: main, title: 'T' }
    const notFound = 'Cannot create merge request. Branch id:"345345" was not found.'
    await refused('POST', 'merge-request', { json: { ...body, branchFromId: 345_345 } }, 404, notFound)
    await refused('POST', 'merge-request', { json: { ...body, branchFromId: 1, branchIntoId: 345_345 } }, 404, notFound)
    const notDefault = 'Cannot create merge request. Target branch is not default.'
    await refused('POST', 'merge-request', { json: { ...body, branchIntoId: dev } }, 400, notDefault)
    const { id } = (await ok('POST', 'merge-request', { json: body })).json<{ id: number }>()
    const another = `There is already a merge request (${id}) created from branch "${dev}"`
    await refused('POST', 'merge-request', { json: body }, 400, another)

    const move = async (step: string, by = masterToken) =>
      (await ok('PUT', `merge-request/${id}/${step}`, { token: by })).json<{ state: string }>().state
    assert.equal(await move('request-review'), 'in_review')
    await refused('PUT', `merge-request/${id}/approve`, {}, 400, /^Operation cannot be performed due: Request creator/)
    assert.equal(await move('approve', reviewers[0].token), 'in_review')
    const twice = 'Operation cannot be performed due: This reviewer has already approved this request.'
    await refused('PUT', `merge-request/${id}/approve`, { token: reviewers[0].token }, 400, twice)
    assert.equal(await move('request-changes', reviewers[1].token), 'development')
    assert.equal(await move('request-review'), 'in_review')
    const changeLog = {
      configurations: [
        {
          componentId: 'keboola.ex-generic-v2',
          configurationId: 'main-1',
          isDeleted: false,
          lastVersionIdentifier: versionIdentifier,
        },
      ],
    }
    assert.deepEqual((await ok('GET', `merge-request/${id}`)).json().changeLog, changeLog)
    assert.equal(await move('approve', reviewers[0].token), 'in_review')
    assert.equal(await move('approve', reviewers[1].token), 'approved')

    const job = await finished(await ok('PUT', `merge-request/${id}/merge`))
    assert.equal(job.status, 'success', JSON.stringify(job.error))
    const detail = (await ok('GET', `merge-request/${id}`)).json()
    assert.deepEqual([detail.state, detail.changeLog], ['published', changeLog])
    assert.deepEqual(job.results, detail)
    assert.equal((await ok('GET', 'dev-branches')).json<unknown[]>().length, 1)
    const merged = (await ok('GET', `${configs}/main-1`)).json<{
      changeDescription: string
      configuration: object
      state: object
      currentVersion: { versionIdentifier: string }
    }>()
    assert.equal(merged.changeDescription, `Configuration merged in merge request #${id} from branch: "dev"`)
    assert.deepEqual([merged.configuration, merged.state], [{ a: 2 }, { kept: 1 }])
    assert.equal(merged.currentVersion.versionIdentifier, versionIdentifier)
    const metadata = (await ok('GET', `branch/default/${configs}/main-1/metadata`)).json<{ key: string; value: string }[]>()
    assert.deepEqual(
      metadata.map(({ key, value }) => [key, value]),
      [['k', 'v']],
    )

    const recorded = (await events('sortOrder=asc')).filter(({ objectType }) => objectType === 'mergeRequest')
    const { admin } = (await ok('GET', 'tokens/verify')).json<{ admin: { id: number } }>()
    assert.deepEqual(recorded[0]?.params, { creatorId: admin.id, mergeRequestId: id })
    for (const { params } of recorded.slice(1))
      assert.deepEqual(Object.keys(params), ['operation', 'stateFrom', 'stateTo', 'mergeRequestId'])
    assert.deepEqual(
      recorded.slice(1).map(({ params }) => [params.operation, params.stateFrom, params.stateTo]),
      [
        ['request_review', 'development', 'in_review'],
        ['approve', 'in_review', 'in_review'],
        ['request_changes', 'in_review', 'development'],
        ['request_review', 'development', 'in_review'],
        ['approve', 'in_review', 'in_review'],
        ['approve', 'in_review', 'in_review'],
        ['finish_review', 'in_review', 'approved'],
        ['merge', 'approved', 'in_merge'],
        ['publish', 'in_merge', 'published'],
      ],
    )
    const [gone] = await events('q=event:storage.devBranchDeleted')
    assert.equal(gone?.objectId, dev)
  })

  await t.test('A5: a request that is not based on the default branch as it is now says so', async () => {
    const { ok, refused, branch } = await project('A5 conflicts')
    const configs = 'components/keboola.ex-generic-v2/configs'
    for (const configurationId of ['main-1', 'main-2', 'main-3'])
      await ok('POST', configs, { json: { configurationId, name: configurationId } })
    const identifiers: Record<string, string> = {}
    for (const one of ['main-1', 'main-2', 'main-3']) {
      const answer = await ok('GET', `${configs}/${one}`)
      identifiers[one] = answer.json<{ currentVersion: { versionIdentifier: string } }>().currentVersion.versionIdentifier
    }
    const dev = await branch('dev')
    for (const one of ['main-1', 'main-2', 'main-3'])
      await ok('PUT', `branch/${dev}/${configs}/${one}`, { json: { configuration: { a: 'dev' } } })
    const inMain = await ok('PUT', `${configs}/main-1`, { json: { configuration: { a: 'main' } } })
    const theirs = inMain.json<{ currentVersion: { versionIdentifier: string } }>().currentVersion.versionIdentifier
    await ok('PUT', `${configs}/main-2`, { json: { configuration: { a: 'main' } } })
    await ok('DELETE', `${configs}/main-2`)
    const main = (await ok('GET', 'dev-branches/default')).json<{ id: number }>().id
    const body = { branchFromId: dev, branchIntoId: main, title: 'T' }
    const { id } = (await ok('POST', 'merge-request', { json: body })).json<{ id: number }>()
    await ok('PUT', `merge-request/${id}/request-review`)
    await ok('PUT', `merge-request/${id}/approve`)
    const refusal = await refused(
      'PUT',
      `merge-request/${id}/merge`,
      {},
      400,
      new RegExp(`^Merge request ${id} cannot be merged`),
    )
    const { error, params } = refusal.json<{ error: string; params: { errors: Record<string, unknown>[] } }>()
    const message =
      'Configuration "main-1" for component "keboola.ex-generic-v2" in the dev branch is not based on the latest version from the default ' +
      `branch. Version identifier in the dev branch: "${identifiers['main-1']}". Version identifier in the default branch: "${theirs}".`
    assert.ok(error.startsWith(`Merge request ${id} cannot be merged. \n Errors: \n - ${message}\n - `), error)
    assert.equal(
      error,
      `Merge request ${id} cannot be merged. \n Errors: \n${params.errors.map((one) => ` - ${one.message}\n`).join('')}`,
    )
    assert.deepEqual(
      params.errors.map(({ configurationId }) => configurationId),
      ['main-1', 'main-2'],
    )
    assert.deepEqual(params.errors[0], {
      message,
      componentId: 'keboola.ex-generic-v2',
      configurationId: 'main-1',
      isDeleted: false,
      devBranchVersionIdentifier: identifiers['main-1'],
      defaultBranchVersionIdentifier: theirs,
    })
    // A configuration that was purged and created again keeps no request from being read.
    await ok('PUT', `branch/${dev}/${configs}/main-3`, { json: { configuration: { a: 'again' } } })
    for (let n = 0; n < 2; n++) await ok('DELETE', `${configs}/main-1`)
    await ok('POST', configs, { json: { configurationId: 'main-1', name: 'anew' } })
    await ok('GET', `merge-request/${id}`)
    await ok('GET', `merge-request/${id}/conflicts`)
  })

  await t.test('A5: how many approvals are needed is a setting of the project', async () => {
    const { ok, refused, token, branch } = await project('A5 settings')
    const approver = await token({ description: 'first', canManageDevBranches: true })
    await token({ description: 'second', canManageDevBranches: true })
    assert.deepEqual((await ok('GET', 'merge-request-settings')).json(), { requiredApprovals: null })
    const one = { json: { requiredApprovals: 1 } }
    await refused('PUT', 'merge-request-settings', { token: approver.token, ...one }, 403, /access/)
    assert.deepEqual((await ok('PUT', 'merge-request-settings', one)).json(), { requiredApprovals: 1 })
    const main = (await ok('GET', 'dev-branches/default')).json<{ id: number }>().id
    const body = { branchFromId: await branch('dev'), branchIntoId: main, title: 'T' }
    const { id } = (await ok('POST', 'merge-request', { json: body })).json<{ id: number }>()
    await ok('PUT', `merge-request/${id}/request-review`)
    const approved = await ok('PUT', `merge-request/${id}/approve`, { token: approver.token })
    assert.equal(approved.json().state, 'approved')
    const cleared = await ok('PUT', 'merge-request-settings', { json: { requiredApprovals: null } })
    assert.deepEqual(cleared.json(), { requiredApprovals: null })
  })

  await t.test('A6: filters and orders that cannot be are refused in the words that clients compare', async () => {
    const { ok, refused } = await project('A6')
    await ok('POST', 'buckets', { json: { name: 'a' } })
    await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id,v\n1,2\n' } })
    const unknown = "Can't filter by column non-existing, column does not exist"
    const notAll = (name: string) =>
      `All items in param "${name}" should be an arrays, but parameter contains:\n{"column":"column"}`
    const noArray = (name: string) => `Parameter "${name}" should be an array, but parameter contains:\n"string"`
    const filter = { column: 'id', values: ['1'] }
    for (const [json, text] of [
      [{ orderBy: [{ column: 'non-existing' }] }, unknown],
      [{ whereFilters: [{ column: 'non-existing', values: ['1'] }] }, unknown],
      [
        { orderBy: [{ column: 'id', order: 'non-existing' }] },
        'Invalid sort order non-existing. Available orders are [DESC|ASC]',
      ],
      [{ orderBy: { column: 'column' } }, notAll('orderBy')],
      [{ whereFilters: { column: 'column' } }, notAll('whereFilters')],
      [{ orderBy: 'string' }, noArray('orderBy')],
      [{ whereFilters: 'string' }, noArray('whereFilters')],
      [{ fulltextSearch: 'x', whereFilters: [filter] }, 'Cannot use fulltextSearch and whereFilters at the same time'],
      [{ whereFilters: [{ column: 'id' }] }, 'Invalid request:\n - whereFilters[0][values]: "This field is missing."'],
    ] as const) {
      const answer = await refused('POST', 'tables/in.c-a.t/export-async', { json }, 400, text)
      assert.equal(answer.json().code, 'storage.tables.validation', text)
    }
    const preview = async (query: string, text: string) => refused('GET', `tables/in.c-a.t/data-preview?${query}`, {}, 400, text)
    for (const name of ['orderBy', 'whereFilters']) {
      await preview(`${name}[column]=column`, notAll(name))
      await preview(`${name}=string`, noArray(name))
      await preview(`${name}[0][column]=non-existing&${name}[0][values][]=1`, unknown)
    }
    const both = 'fulltextSearch=x&whereFilters[0][column]=id&whereFilters[0][values][]=1'
    await preview(both, 'Cannot use fulltextSearch and whereFilters at the same time')
    const rows = 'tables/in.c-a.t/rows'
    await refused('DELETE', rows, { json: { whereFilters: 'string' } }, 400, noArray('whereFilters'))
    await refused('DELETE', rows, { json: { whereFilters: { column: 'column' } } }, 400, notAll('whereFilters'))
    await preview('orderBy[0][column]=id&orderBy[0][order]=up', 'Invalid sort order up. Available orders are [DESC|ASC]')
    const sorted = await ok('GET', 'tables/in.c-a.t/data-preview?orderBy[0][column]=id&orderBy[0][order]=desc')
    assert.equal(sorted.text, '"id","v"\n"1","2"\n')
  })

  await t.test('A7: aliases show what they are told to, and keep what they show', async () => {
    const { ok, refused, finished } = await project('A7')
    await ok('POST', 'buckets', { json: { name: 'a' } })
    await ok('POST', 'buckets', { json: { name: 'b' } })
    for (const name of ['users', 'plain'])
      await ok('POST', 'buckets/in.c-a/tables', { form: { name, dataString: 'id,v,w,x\n1,2,3,4\n' } })
    const alias = (name: string, more: object) =>
      ok('POST', 'buckets/in.c-b/table-aliases', { json: { sourceTable: 'in.c-a.users', name, ...more } })
    await alias('some', { aliasColumns: ['id', 'v'] })
    const columnsOf = async (table: string) => (await ok('GET', `tables/${table}`)).json<{ columns: string[] }>().columns
    const add = await finished(await ok('POST', 'tables/in.c-b.some/columns', { json: { name: 'w' } }))
    assert.equal(add.status, 'success', JSON.stringify(add.error))
    assert.deepEqual(await columnsOf('in.c-b.some'), ['id', 'v', 'w'])
    const remove = await finished(await ok('DELETE', 'tables/in.c-b.some/columns/v'))
    assert.equal(remove.status, 'success', JSON.stringify(remove.error))
    assert.deepEqual(await columnsOf('in.c-b.some'), ['id', 'w'])
    assert.deepEqual(await columnsOf('in.c-a.users'), ['id', 'v', 'w', 'x'])

    // A column that an alias shows: with aliasColumns it stays; an alias that follows its table gives way to force.
    const referenced = /is used by the alias/
    for (const force of ['', '?force=1']) {
      const answer = await refused('DELETE', `tables/in.c-a.users/columns/w${force}`, {}, 400, referenced)
      assert.equal(answer.json().code, 'storage.tables.cannotDeleteReferencedColumn')
    }
    await ok('POST', 'buckets/in.c-b/table-aliases', { json: { sourceTable: 'in.c-a.plain', name: 'synced' } })
    await refused('DELETE', 'tables/in.c-a.plain/columns/x', {}, 400, referenced)
    assert.equal((await finished(await ok('DELETE', 'tables/in.c-a.plain/columns/x?force=1'))).status, 'success')
    assert.deepEqual(await columnsOf('in.c-b.synced'), ['id', 'v', 'w'])

    await alias('filtered', { aliasFilter: { column: 'id', operator: '', values: ['1'] } })
    const filterOf = (answer: Answer) => answer.json<{ aliasFilter: object }>().aliasFilter
    const filter = { column: 'id', operator: 'eq', values: ['1'] }
    assert.deepEqual(filterOf(await ok('GET', 'tables/in.c-b.filtered')), filter)
    assert.deepEqual(filterOf(await ok('POST', 'tables/in.c-b.filtered/alias-filter', { json: {} })), filter)
    await alias('without', { aliasFilter: { column: 'id', values: ['1'] } })
    assert.deepEqual(filterOf(await ok('GET', 'tables/in.c-b.without')), filter, 'an operator that is missing')
    const unfiltered = await ok('POST', 'tables/in.c-b.synced/alias-filter', { json: {} })
    assert.equal(unfiltered.json().id, 'in.c-b.synced', 'nothing to change, and the table all the same')
    await ok('POST', 'buckets/in.c-a/table-aliases', { json: { sourceTable: 'in.c-b.synced', name: 'of-alias' } })
    const two = { json: { column: 'id', values: ['2'] } }
    await refused('POST', 'tables/in.c-b.synced/alias-filter', two, 400, /table has dependent aliases/)
    await refused('DELETE', 'tables/in.c-a.users', {}, 400, /^The table users cannot be deleted because an alias exists/)

    const metadata = { provider: 'system', metadata: [{ key: 'KBC.createdBy.branch.id', value: '1' }] }
    await ok('POST', 'buckets', { json: { name: 'dev' } })
    await ok('POST', 'buckets/in.c-dev/tables', { form: { name: 't', dataString: 'id\n1\n' } })
    await ok('POST', 'buckets/in.c-dev/metadata', { json: metadata })
    const from = 'Creating aliases from Dev/Branch tables is not supported yet.'
    await refused('POST', 'buckets/in.c-b/table-aliases', { json: { sourceTable: 'in.c-dev.t' } }, 400, from)
    const into = 'Creating aliases in Dev/Branch buckets is not supported yet.'
    await refused('POST', 'buckets/in.c-dev/table-aliases', { json: { sourceTable: 'in.c-a.users' } }, 400, into)
  })

  await t.test('A8: events belong to a branch', async () => {
    const { ok, events, branch, token } = await project('A8')
    const dev = await branch('dev')
    const reporter = await token({ description: 'reports', canManageBuckets: true })
    const report = (path: string, message: string) =>
      ok('POST', path, { token: reporter.token, json: { component: 'dummy', message } })
    await report('events', 'in default')
    await report(`branch/${dev}/events`, 'in dev')
    await ok('POST', `branch/${dev}/buckets`, { json: { name: 'only-in-dev' } })
    const messages = async (path: string, query = 'component=dummy') => (await events(query, path)).map(({ message }) => message)
    assert.deepEqual(await messages('events'), ['in default'])
    assert.deepEqual(await messages('branch/default/events'), ['in default'])
    assert.deepEqual(await messages(`branch/${dev}/events`), ['in dev'])
    assert.deepEqual(await messages(`tokens/${reporter.id}/events`), ['in default'])
    assert.deepEqual(await messages('events', `component=dummy&q=idBranch:${dev}`), [])
    assert.deepEqual(await messages(`branch/${dev}/events`, `component=dummy&q=idBranch:${dev}`), ['in dev'])
    const created = 'q=event:storage.bucketCreated'
    assert.deepEqual(await messages('events', created), [])
    assert.deepEqual(await messages(`branch/${dev}/events`, created), ['Created bucket in.c-only-in-dev'])
    assert.deepEqual(
      (await events('q=event:storage.devBranchCreated')).map(({ objectId }) => objectId),
      [dev],
    )
    assert.deepEqual(
      (await events('', `branch/${dev}/buckets/in.c-only-in-dev/events`)).map(({ event }) => event),
      ['storage.bucketCreated'],
    )
  })

  await t.test('A9: reading leaves events', async () => {
    const { ok, events, token, branch, finished, masterToken } = await project('A9')
    await ok('POST', 'buckets', { json: { name: 'a' } })
    await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
    assert.deepEqual(
      (await events('', 'tables/in.c-a.t/events')).map(({ event }) => event),
      ['storage.tableImportDone', 'storage.tableImportStarted', 'storage.tableCreated'],
    )
    const body = new FormData()
    body.set('data', new Blob(['id\n1\n']), 'data.csv')
    const dataFileId = (await stack.request('POST', '/import/upload-file', { token: masterToken, body })).json().id
    await finished(await ok('POST', 'buckets/in.c-a/tables-async', { json: { name: 'later', dataFileId } }))
    assert.deepEqual(
      (await events('', 'tables/in.c-a.later/events')).map(({ event }) => event),
      ['storage.tableImportDone', 'storage.tableImportStarted', 'storage.tableCreated'],
    )
    await ok('GET', 'buckets')
    await ok('GET', 'buckets/in.c-a/tables')
    await ok('GET', 'branch/default/search/component-configurations?idComponent=c&metadataKeys[]=k&include=filteredMetadata')
    const [searched, tables, buckets] = await events('limit=3')
    assert.equal(buckets?.event, 'storage.bucketsListed')
    assert.deepEqual(
      [tables?.event, tables?.message, tables?.objectType, tables?.objectId],
      ['storage.tablesListed', 'Listed tables', 'bucket', 'in.c-a'],
    )
    assert.deepEqual([searched?.event, searched?.message], ['storage.componentsSearched', 'Components were searched'])
    const params = { idComponent: 'c', configurationId: null, metadataKeys: ['k'], include: ['filteredMetadata'] }
    assert.equal(JSON.stringify(searched?.params), JSON.stringify(params))

    const made = await token({ description: 'reads', canManageBuckets: true })
    await ok('GET', 'buckets', { token: made.token })
    assert.deepEqual(
      (await events('', `tokens/${made.id}/events`)).map(({ event }) => event),
      ['storage.bucketsListed', 'storage.tokenCreated'],
    )
    const dev = await branch('dev')
    assert.equal((await finished(await ok('POST', `branch/${dev}/tables/in.c-a.t/pull`))).status, 'success')
    const created = await events('q=event:storage.bucketCreated', `branch/${dev}/events`)
    assert.deepEqual(
      created.map(({ objectId }) => objectId),
      ['in.c-a'],
    )
  })

  await t.test('whatever these tests did, every event is as docs/events.md defines it', async () => {
    assert.ok(tokens.length >= 3)
    for (const token of tokens) {
      const branches = (await send(stack.url, 'GET', '/v2/storage/dev-branches', { token })).json<{ id: number }[]>()
      for (const { id } of branches)
        assertDefined(
          (await send(stack.url, 'GET', `/v2/storage/branch/${id}/events?limit=1000`, { token })).json<EventAnswer[]>(),
        )
    }
  })
})
