// Small answers that real clients compare, by number of the second list of corrections.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { newMember, newStackAdmin } from '../support/clients/person-client.ts'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

interface Token {
  readonly id: string
  readonly isMasterToken: boolean
  readonly token?: string
  readonly admin: { readonly role: string }
  readonly bucketPermissions: Record<string, string>
  readonly owner: { readonly features: readonly string[] }
}

interface Metadata {
  readonly key: string
}

test('corrections of small answers', async (t) => {
  const stack = await startTestStack(t)
  const root = await newStackAdmin(stack)
  const project = (name: string) => newProjectClient(stack, name)

  await t.test('A8: tokens of people are master tokens with the public names of roles', async () => {
    const { projectId, bucket, ok } = await project('A8')
    await bucket('a')
    await bucket('b')
    for (const [role, shown, permission] of [
      ['viewer', 'readOnly', 'read'],
      ['editor', 'guest', 'manage'],
      ['admin', 'admin', 'manage'],
    ] as const) {
      const person = (await newMember(stack, root, { projectId, role })).in(projectId)
      const token = await person.ok<Token>('GET', '/v2/storage/tokens/verify')
      assert.deepEqual([token.isMasterToken, token.admin.role], [true, shown])
      assert.deepEqual(token.bucketPermissions, { 'in.c-a': permission, 'in.c-b': permission })
    }
    const weak = await ok<Token>('POST', 'tokens', { description: 'weak' })
    assert.deepEqual([weak.isMasterToken, weak.admin], [false, undefined])
  })

  await t.test('A35: the value of a token is not shown again, as the feature says', async () => {
    const { ok } = await project('A35')
    const verified = await ok<Token>('GET', 'tokens/verify')
    assert.ok(verified.owner.features.includes('hide-decrypted-token'))
    assert.equal('token' in verified, false)
  })

  await t.test('A10: an alias of an alias has the column metadata of its source in lists', async () => {
    const { ok, bucket, table } = await project('A10')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    const alias = (sourceTable: string, name: string) => ok('POST', 'buckets/in.c-a/table-aliases', { sourceTable, name })
    await alias(id, 'first')
    await alias('in.c-a.first', 'second')
    await ok('POST', 'columns/in.c-a.first.id/metadata', { provider: 'p', metadata: [{ key: 'k', value: 'v' }] })
    const listed = await ok<{ id: string; sourceTable?: { columnMetadata?: Record<string, Metadata[]> } }[]>(
      'GET',
      'tables?include=columnMetadata',
    )
    const second = listed.find((one) => one.id === 'in.c-a.second')
    assert.deepEqual(
      second?.sourceTable?.columnMetadata?.id?.map(({ key }) => key),
      ['k'],
    )
  })

  await t.test(
    'A3: with branchStorage=own a branch shows its own storage only, and runs in it still read the default branch',
    async () => {
      const { ok, call, succeed, bucket, table, upload, projectId } = await project('A3')
      await bucket()
      const id = await table('in.c-a', 't', 'id\n1\n')
      const file = await upload('id\n1\n')
      const { id: branch } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
      const inBranch = `branch/${branch}`
      const seen = async () => [
        (await ok<unknown[]>('GET', `${inBranch}/buckets`)).length,
        (await ok<unknown[]>('GET', `${inBranch}/tables`)).length,
        (await call('GET', `${inBranch}/buckets/in.c-a`)).status,
        (await call('GET', `${inBranch}/tables/${id}`)).status,
        (await call('POST', `${inBranch}/tables/${id}/export-async`, { json: {} })).status,
        (await call('GET', `${inBranch}/files/${file}`)).status,
      ]
      assert.deepEqual(await seen(), [1, 1, 200, 200, 202, 200])
      await stack.platform.tokens.setProject(projectId, { branchStorage: 'own' })
      assert.deepEqual(await seen(), [0, 0, 404, 404, 404, 404])
      await ok('POST', `${inBranch}/buckets`, { name: 'a' })
      assert.deepEqual(await ok<unknown[]>('GET', `${inBranch}/buckets/in.c-a/tables`), [])
      assert.equal((await ok<unknown[]>('GET', 'buckets/in.c-a/tables')).length, 1)
      await succeed('POST', `${inBranch}/tables/${id}/pull`)
      assert.equal((await call('GET', `${inBranch}/tables/${id}`)).status, 200)

      await ok('DELETE', `${inBranch}/tables/${id}?force=1`)
      await ok('DELETE', `${inBranch}/buckets/in.c-a`)
      const sql = 'keboola.duckdb-transformation'
      const { id: config } = await ok<{ id: string }>('POST', `${inBranch}/components/${sql}/configs`, {
        name: 'Copy',
        configuration: {
          parameters: { blocks: [{ codes: [{ script: ['CREATE TABLE copy AS SELECT * FROM t'] }] }] },
          storage: {
            input: { tables: [{ source: id, destination: 't' }] },
            output: { tables: [{ source: 'copy', destination: 'out.c-b.copy' }] },
          },
        },
      })
      const json = { component: sql, config, mode: 'run', branchId: String(branch) }
      const started = await ok<{ id: string }>('POST', '/queue/jobs', json)
      const job = await until('the job ends', async () => {
        const found = await ok<{ isFinished: boolean; status: string; result: object }>('GET', `/queue/jobs/${started.id}`)
        return found.isFinished && found
      })
      assert.equal(job.status, 'success', JSON.stringify(job.result))
      assert.equal((await call('GET', `${inBranch}/tables/out.c-b.copy`)).status, 200)
    },
  )

  await t.test('A16: a bucket that metadata assigns to a branch is found in the branch and deleted with it', async () => {
    const { ok, call, succeed, bucket, table, projectId } = await project('A16')
    for (const name of ['assigned', 'marked', 'shared']) await bucket(name)
    await table('in.c-assigned', 'assigned', 'id\n1\n')
    await table('in.c-marked', 't', 'id\n1\n')
    const { id: branch } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
    const metadata = [{ key: 'KBC.createdBy.branch.id', value: String(branch) }]
    await ok('POST', 'buckets/in.c-assigned/metadata', { provider: 'system', metadata })
    await ok('POST', 'buckets/in.c-marked/metadata', { provider: 'user', metadata })
    await ok('POST', 'tables/in.c-marked.t/metadata', { provider: 'system', metadata })
    await ok('POST', 'columns/in.c-marked.t.id/metadata', { provider: 'system', metadata })
    await succeed('POST', 'buckets/in.c-shared/share-organization')
    const other = await project('A16 taker')
    await other.ok('POST', 'buckets', { name: 'link', stage: 'in', sourceProjectId: projectId, sourceBucketId: 'in.c-shared' })
    await ok('POST', 'buckets/in.c-shared/metadata', { provider: 'system', metadata })

    const find = async (filter: string) =>
      (
        await ok<{ items: { id: string; fullPath: { branch: { id: number; isNative: boolean } }; uri: string }[] }>(
          'GET',
          `global-search?query=assigned&${filter}`,
        )
      ).items.map(({ id, fullPath, uri }) => [id, fullPath.branch.id, fullPath.branch.isNative, /branch/.test(uri)])
    const found = [
      ['in.c-assigned', branch, false, false],
      ['in.c-assigned.assigned', branch, false, false],
    ]
    assert.deepEqual(await find('branchTypes[]=development'), found)
    assert.deepEqual(await find(`branchIds[]=${branch}`), found)
    assert.deepEqual(await find('branchTypes[]=production'), [])

    await succeed('DELETE', `dev-branches/${branch}`)
    assert.equal((await call('GET', 'buckets/in.c-assigned')).status, 404)
    assert.equal((await call('GET', 'tables/in.c-marked.t')).status, 200)
    assert.equal((await call('GET', 'buckets/in.c-shared')).status, 200, 'other projects link it')
    const events = await ok<{ event: string; objectId: string }[]>('GET', 'events?limit=20')
    for (const [event, objectId] of [
      ['storage.bucketDeleted', 'in.c-assigned'],
      ['storage.tableDeleted', 'in.c-assigned.assigned'],
    ])
      assert.ok(
        events.some((one) => one.event === event && one.objectId === objectId),
        event,
      )
  })

  await t.test('A11: the id of metadata is missing or no number', async () => {
    const { bucket, refused, table } = await project('A11')
    await bucket()
    await table('in.c-a', 't', 'id\n1\n')
    for (const place of ['tables/in.c-a.t', 'columns/in.c-a.t.id']) {
      await refused(['DELETE', `${place}/metadata/`], 400, {
        code: 'APPLICATION_ERROR',
        error: 'exceptions.storage.metadata.invalidDelete',
      })
      await refused(['DELETE', `${place}/metadata/notNumber`], 400, {
        error: 'Argument "subResource" is expected to be type "int", value "notNumber" given.',
      })
      await refused(['DELETE', `${place}/metadata/123456`], 404, { code: 'storage.metadata.notFound' })
    }
  })

  await t.test('A12: events of a branch are found in the branch only', async () => {
    const { ok, succeed, bucket } = await project('A12')
    await bucket()
    const { id: branch } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
    await ok('POST', `branch/${branch}/buckets`, { name: 'of-branch' })
    const list = (path: string) => ok<{ uuid: string; objectId: string }[]>('GET', path)
    const own = (await list(`branch/${branch}/events`)).find(({ objectId }) => objectId === 'in.c-of-branch')
    assert.ok(own)
    assert.deepEqual(await list(`events?q=idBranch:${branch}`), [])
    const [ofDefault] = await list('events')
    const { status } = await (await project('A12 other')).call('GET', `events/${ofDefault?.uuid}`)
    assert.equal(status, 404)
    const { call } = await project('A12 third')
    assert.equal((await call('GET', `events/${own.uuid}`)).status, 404)
    const hidden = await ok('GET', `branch/${branch}/events/${ofDefault?.uuid}`).catch((error: Error) => error.message)
    assert.match(String(hidden), /404/)
    await ok('GET', `branch/${branch}/events/${own.uuid}`)
  })

  await t.test('A13: what is not built is "Not implemented"', async () => {
    const { ok, refused } = await project('A13')
    const { id } = await ok<{ id: string }>('POST', 'tokens', { description: 'x' })
    await refused(['POST', `tokens/${id}/share`, { recipientEmail: 'a@b.example', message: 'm' }], 501, {
      error: /^Not implemented/,
    })
    for (const [path, reason] of [
      ['branch/default/search/tables?metadataKey=a', 'This resource does not exist in a branch. Remove the branch prefix.'],
      ['search/component-configurations', 'This resource exists in a branch only. Use /v2/storage/branch/default/.'],
    ] as const) {
      const answer = await stack.request('GET', `/v2/storage/${path}`)
      assert.equal(answer.status, 501)
      const { error, params } = answer.json<{ error: string; params: { reason: string } }>()
      assert.deepEqual([error, params.reason], ['Not implemented', reason])
    }
  })

  await t.test('A15: names of columns and buckets', async () => {
    const { ok, succeed, bucket, refused, table } = await project('A15')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    for (const name of ['abc-def----ghi', 'žluťoučký    kůň', '10 €', 'đak', 'łoś', 'Straße', 'a__b'])
      await succeed('POST', `tables/${id}/columns`, { name })
    const { columns } = await ok<{ columns: string[] }>('GET', `tables/${id}`)
    assert.deepEqual(columns, ['id', 'abc_def_ghi', 'zlutoucky_kun', '10_EUR', 'dak', 'los', 'Strasse', 'a__b'])
    await refused(['POST', `tables/${id}/columns`, { name: null }], 400, {
      code: 'validation.failed',
      error: /This value should not be blank\./,
    })
    await refused(['POST', 'buckets', { name: '_MůjBucketíček', stage: 'in' }], 400, {
      error: /contains not allowed characters\. Only alphanumeric characters dash and underscores are allowed\./,
    })
    await refused(['POST', 'buckets', { name: '_mine', stage: 'in' }], 400, { error: /Cannot start with underscore\./ })
  })

  await t.test('A17, A31: the event of an export has its file as an upload of a user, and parquet is packed', async () => {
    const { ok, succeed, bucket, table, finished } = await project('A17')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    await succeed('POST', `tables/${id}/export-async`, {})
    const events = await ok<{ event: string; attachments: Record<string, unknown>[] }[]>('GET', `tables/${id}/events`)
    const [file] = events.find(({ event }) => event === 'storage.tableExported')?.attachments ?? []
    assert.deepEqual(
      [file?.uploadType, file?.isExpired, typeof file?.isSliced, typeof file?.name],
      ['userUpload', false, 'boolean', 'string'],
    )
    const started = await ok<{ id: number; operationParams: { export: { gzipOutput: boolean } } }>(
      'POST',
      `tables/${id}/export-async`,
      { fileType: 'parquet' },
    )
    assert.equal(started.operationParams.export.gzipOutput, true)
    assert.equal((await finished(started)).status, 'success')
  })

  await t.test('A30: every object of an export is encrypted at rest', async () => {
    const { ok, succeed, bucket, table } = await project('A30')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    const { file } = await succeed<{ file: { id: number } }>('POST', `tables/${id}/export-async`, {})
    const { region, s3Path, credentials } = await ok<{
      region: string
      s3Path: { bucket: string; key: string }
      credentials: { AccessKeyId: string; SecretAccessKey: string; SessionToken: string }
    }>('GET', `files/${file.id}?federationToken=1`)
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = credentials
    const s3 = new S3Client({
      endpoint: stack.platform.objects.url(),
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey, sessionToken },
    })
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: s3Path.bucket, Prefix: s3Path.key }))
    const heads = await Promise.all(Contents.map(({ Key }) => s3.send(new HeadObjectCommand({ Bucket: s3Path.bucket, Key }))))
    s3.destroy()
    assert.deepEqual(
      heads.map((head) => head.ServerSideEncryption),
      ['AES256', 'AES256'],
      'a slice and the manifest',
    )
  })

  await t.test('A18: the event of a command line needs its project', async () => {
    const { refused } = await project('A18')
    await refused(['POST', 'events', { component: 'keboola.keboola-as-code', message: 'm', results: { command: 'x' } }], 400, {
      code: 'storage.event.schemaValidationFailed',
      error: /The property projectId is required/,
    })
  })

  await t.test('A19: a table of a bucket that does not exist', async () => {
    const { refused } = await project('A19')
    await refused(['DELETE', 'tables/in.c-none.t'], 404, { code: 'storage.buckets.notFound' })
    await refused(['GET', 'tables/in.c-none.t'], 404, { code: 'storage.tables.notFound' })
  })

  await t.test('A20: an unknown workspace fails the job', async () => {
    const { bucket, fail, table } = await project('A20')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    const source = { dataWorkspaceId: 987_654, dataTableName: 'x' }
    const expected = { error: 'Workspace "987654" not found.', code: 'workspace.workspaceNotFound' }
    await fail(['POST', `tables/${id}/import-async`, source], expected)
    await fail(['POST', 'buckets/in.c-a/tables-async', { name: 'n', ...source }], expected)
  })

  await t.test('A22: a bucket has the backend that its project reports', async () => {
    const { ok, bucket, projectId } = await project('A22')
    const id = await bucket()
    const backend = async () => (await ok<{ backend: string }>('GET', `buckets/${id}`)).backend
    assert.equal(await backend(), 'duckdb')
    await stack.platform.tokens.setProject(projectId, { backend: 'snowflake' })
    assert.equal(await backend(), 'snowflake')
    assert.deepEqual(
      (await ok<{ backend: string }[]>('GET', 'buckets')).map((one) => one.backend),
      ['snowflake'],
    )
  })

  await t.test('A23: a flag of a list of files that is none', async () => {
    const { ok, refused } = await project('A23')
    await refused(['GET', 'files?isPublic=999987'], 400, {
      code: 'storage.validation',
      error: /is not boolean\. Possible values are/,
    })
    await ok('GET', 'files?isPublic=0')
  })

  await t.test('A24: a primary key is a text, and is read before the file', async () => {
    const { bucket, refused } = await project('A24')
    await bucket()
    await refused(['POST', 'buckets/in.c-a/tables-async', { name: 't', primaryKey: ['id'], dataFileId: 987_654 }], 400, {
      code: 'storage.validation.primaryKey',
    })
  })

  await t.test('A5, A25: a pulled table has the metadata of the default branch, and the event names both buckets', async () => {
    const { ok, succeed, bucket, table } = await project('A5')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    const { id: branch } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
    const { id: main } = await ok<{ id: number }>('GET', 'dev-branches/default')
    const copy = `branch/${branch}/tables/${id}`
    const set = (path: string, key: string) => ok('POST', `${path}/metadata`, { provider: 'p', metadata: [{ key, value: 'v' }] })
    const keys = async (path: string) => (await ok<Metadata[]>('GET', `${path}/metadata`)).map(({ key }) => key)
    await succeed('POST', `${copy}/pull`)
    await set(copy, 'of-branch')
    await set(`branch/${branch}/columns/${id}.id`, 'of-branch')
    await succeed('POST', `${copy}/pull`)
    assert.deepEqual([await keys(copy), await keys(`branch/${branch}/columns/${id}.id`)], [[], []])
    await set(`tables/${id}`, 'of-main')
    await set(`columns/${id}.id`, 'of-main')
    await succeed('POST', `${copy}/pull`)
    assert.deepEqual([await keys(copy), await keys(`branch/${branch}/columns/${id}.id`)], [['of-main'], ['of-main']])
    const events = await ok<{ event: string; params: object }[]>('GET', `branch/${branch}/events`)
    assert.deepEqual(events.find(({ event }) => event === 'storage.tableCopyToBucket')?.params, {
      sourceBucketId: 'in.c-a',
      sourceBucketBranch: main,
      destinationBucketId: 'in.c-a',
      destinationBucketBranch: branch,
    })
    await ok('GET', copy)
    const [read] = await ok<{ event: string; objectId: string; idBranch: number }[]>('GET', `${copy}/events`)
    assert.deepEqual([read?.event, read?.objectId, read?.idBranch], ['storage.tableDetail', id, branch])
  })

  await t.test('A28: a typed table takes the times of the file, with and without a header', async () => {
    const { succeed, bucket, upload, rows } = await project('A28')
    await bucket()
    const columns = [
      { name: 'id', definition: { type: 'INTEGER' } },
      { name: 'name', definition: { type: 'STRING' } },
    ]
    await succeed('POST', 'buckets/in.c-a/tables-definition', { name: 't', columns })
    const load = async (csv: string, fields: object) =>
      succeed('POST', 'tables/in.c-a.t/import-async', { dataFileId: await upload(csv), incremental: false, ...fields })
    const timed = { columns: ['id', 'name', '_timestamp'], useTimestampFromDataFile: true }
    await load('id,name,_timestamp\n1,a,2020-01-02 03:04:05\n', { ...timed, ignoredLinesCount: 1 })
    assert.equal(await rows('in.c-a.t'), '"id","name"\n"1","a"\n')
    await load('2,b,2020-01-02 03:04:05\n', timed)
    assert.equal(await rows('in.c-a.t'), '"id","name"\n"2","b"\n')
    await load('id,name\n3,c\n', { columns: ['id', 'name'], ignoredLinesCount: 1 })
    assert.equal(await rows('in.c-a.t'), '"id","name"\n"3","c"\n')
  })

  await t.test('A32: with a list of null values an empty field is null without quotes and empty with them', async () => {
    const { call, succeed, bucket, upload } = await project('A32')
    await bucket()
    const columns = ['id', 'a', 'b', 'c'].map((name) => ({ name, definition: { type: name === 'id' ? 'INTEGER' : 'STRING' } }))
    await succeed('POST', 'buckets/in.c-a/tables-definition', { name: 't', columns })
    const values = async (fields: object, csv = 'id,a,b,c\n"30","a",,"b"\n"31","b","","c"\n') => {
      await succeed('POST', 'tables/in.c-a.t/import-async', { dataFileId: await upload(csv), ...fields })
      const shown = await call('GET', 'tables/in.c-a.t/data-preview?format=json')
      const found = shown.json<{ rows: { value: string | null }[][] }>().rows.map((row) => row.map(({ value }) => value))
      return found.toSorted((a, b) => Number(a[0]) - Number(b[0])).map((row) => row.slice(1))
    }
    assert.deepEqual(await values({}), [
      ['a', null, 'b'],
      ['b', null, 'c'],
    ])
    const told = [
      ['a', null, 'b'],
      ['b', '', 'c'],
    ]
    assert.deepEqual(await values({ treatValuesAsNull: [] }), told)
    assert.deepEqual(await values({ treatValuesAsNull: ['b'] }), [
      ['a', null, null],
      [null, '', 'c'],
    ])
    // A file that is read again, because its lines end in two ways.
    assert.deepEqual(await values({ treatValuesAsNull: [] }, 'id,a,b,c\n"30","a",,"b"\r\n"31","b","","c"\n'), told)
  })

  await t.test(
    'M2, M5: a cancelled request has no branch, and a conflict names the version that the branch is based on',
    async () => {
      const { ok, refused, succeed } = await project('M2')
      const configs = 'components/keboola.ex-generic-v2/configs'
      await ok('POST', configs, { configurationId: 'c', name: 'c' })
      const identifierOf = async () =>
        (await ok<{ currentVersion: { versionIdentifier: string } }>('GET', `${configs}/c`)).currentVersion.versionIdentifier
      const base = await identifierOf()
      const { id: branchFromId } = await succeed<{ id: number }>('POST', 'dev-branches', { name: 'work' })
      const { id: branchIntoId } = await ok<{ id: number }>('GET', 'dev-branches/default')
      for (const a of ['one', 'two']) await ok('PUT', `branch/${branchFromId}/${configs}/c`, { configuration: { a } })
      await ok('PUT', `${configs}/c`, { configuration: { a: 'main' } })
      const { id } = await ok<{ id: number }>('POST', 'merge-request', { branchFromId, branchIntoId, title: 'T' })
      await ok('PUT', `merge-request/${id}/request-review`)
      await ok('PUT', `merge-request/${id}/approve`)
      await refused(['PUT', `merge-request/${id}/merge`], 400, {
        error: new RegExp(
          `Version identifier in the dev branch: "${base}". Version identifier in the default branch: "${await identifierOf()}"`,
        ),
      })
      await succeed('DELETE', `dev-branches/${branchFromId}`)
      const request = await ok<{ state: string; branches: object }>('GET', `merge-request/${id}`)
      assert.deepEqual([request.state, request.branches], ['canceled', { branchFromId: null, branchIntoId }])
    },
  )

  await t.test('G5: a flow with an unfinished task is saved, and refused when it runs', async () => {
    const { ok, refused } = await project('G5')
    const task = { componentId: 'ex-generic-v2', configId: '', mode: 'run' }
    const unfinished = (enabled: boolean) => ({
      phases: [{ id: '456', name: 'one', dependsOn: [] }],
      tasks: [{ id: '1003', name: 't', enabled, phase: '456', task, continueOnFailure: true }],
    })
    const configs = 'components/keboola.orchestrator/configs'
    for (const enabled of [false, true])
      await ok('POST', configs, { configurationId: `f-${enabled}`, name: 'f', configuration: unfinished(enabled) })
    const job = { component: 'keboola.orchestrator', config: 'f-true', mode: 'run' }
    await refused(['POST', '/queue/jobs', job], 400, { error: /A task needs "configId"/ })
  })

  await t.test('G21: the project has the feature of data streams', async () => {
    const { ok } = await project('G21')
    assert.ok((await ok<Token>('GET', 'tokens/verify')).owner.features.includes('data-streams'))
  })

  await t.test('A26: rows are not deleted by a column without values', async () => {
    const { bucket, table, refused } = await project('A26')
    await bucket()
    const id = await table('in.c-a', 't', 'id\n1\n')
    await refused(['DELETE', `tables/${id}/rows?whereColumn=id`], 400, {
      error: 'Invalid request:\n - whereColumn: "To use "whereColumn" specify "whereValues"."',
    })
  })
})
