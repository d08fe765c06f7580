// What real clients expect of the storage API, by number: part B. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { projectClient } from '../support/clients/storage-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const CONFIGS = 'components/platform.ex-http/configs'

interface Row {
  readonly id: string
  readonly version: number
  readonly versionIdentifier: string
  readonly changeDescription: string
  readonly state: object
}

interface Configuration {
  readonly id: string
  readonly version: number
  readonly created: string
  readonly changeDescription: string
  readonly currentVersion: { readonly versionIdentifier: string }
  readonly rows: readonly Row[]
}

test('corrections B', async (t) => {
  const stack = await startTestStack(t)
  /** A project with a bucket, and what tables need. */
  async function project(name: string) {
    const client = await projectClient(stack, name)
    const { ok, finished } = client
    await ok('POST', 'buckets', { json: { name: 'a' } })
    /** Uploads a plain CSV; answers its id. */
    const upload = async (content: string): Promise<number> => {
      const body = new FormData()
      body.set('data', new Blob([content]), 'data.csv')
      const answer = await stack.request('POST', '/import/upload-file', { token: client.masterToken, body })
      assert.ok(answer.status < 300, answer.text)
      return answer.json<{ id: number }>().id
    }
    const succeed = async (path: string, json: object) => {
      const job = await finished(await ok('POST', path, { json }))
      assert.equal(job.status, 'success', JSON.stringify(job.error))
      return job
    }
    const rows = async (table: string) => (await ok('GET', `tables/${table}/data-preview`)).text
    const configuration = async (path: string) => (await ok('GET', path)).json<Configuration>()
    return { ...client, upload, succeed, rows, configuration }
  }

  await t.test('B10: columns of an import without headers say the order of the file', async () => {
    const { ok, upload, succeed, rows } = await project('B10')
    await ok('POST', 'buckets/in.c-a/tables', { form: { name: 't', dataString: 'id,name\n1,one\n' } })
    const swapped = { dataFileId: await upload('two,2\n'), withoutHeaders: 1, columns: ['name', 'id'], incremental: 1 }
    await succeed('tables/in.c-a.t/import-async', swapped)
    assert.equal(await rows('in.c-a.t'), '"id","name"\n"1","one"\n"2","two"\n')
    const wider = { dataFileId: await upload('3,three,x\n'), withoutHeaders: 1, columns: ['id', 'name', 'more'] }
    await succeed('tables/in.c-a.t/import-async', wider)
    assert.equal(await rows('in.c-a.t'), '"id","name","more"\n"3","three","x"\n')
  })

  await t.test('B11: the header of a plain file is no row, also when the request names the columns', async () => {
    const { upload, succeed, rows } = await project('B11')
    const dataFileId = await upload('id,name\n1,one\n')
    await succeed('buckets/in.c-a/tables-async', { name: 't', dataFileId, columns: ['id', 'name'] })
    assert.equal(await rows('in.c-a.t'), '"id","name"\n"1","one"\n')
    const noHeader = await upload('1,one\n2,two\n')
    await succeed('buckets/in.c-a/tables-async', { name: 'rows', dataFileId: noHeader, columns: ['id', 'name'] })
    assert.equal(await rows('in.c-a.rows'), '"id","name"\n"1","one"\n"2","two"\n', 'a first line that is no header stays a row')
    await succeed('buckets/in.c-a/tables-async', { name: 'bare', dataFileId, columns: ['a', 'b'], withoutHeaders: 1 })
    assert.equal(await rows('in.c-a.bare'), '"a","b"\n"id","name"\n"1","one"\n')
  })

  await t.test(
    'B17, corrections-2 A6, A7, A14: copies say what they are copies of, and rolling back gives every row a version',
    async () => {
      const { ok, configuration } = await project('B17')
      await ok('POST', CONFIGS, { json: { configurationId: 'main-1', name: 'name' } })
      await ok('POST', `${CONFIGS}/main-1/rows`, { json: { rowId: '456', name: 'row', state: { seen: 1 } } })
      await ok('PUT', `${CONFIGS}/main-1/rows/456/state`, { json: { state: { seen: 2 } } })
      const copied = (await ok('POST', `${CONFIGS}/main-1/versions/2/create`, { json: { name: 'Copy' } })).json<{ id: string }>()
      const copy = await configuration(`${CONFIGS}/${copied.id}`)
      const rowOfCopy = [{ seen: 2 }, 'Copied from configuration "name" (main-1) version 2']
      assert.deepEqual(
        copy.rows.map(({ state, changeDescription }) => [state, changeDescription]),
        [rowOfCopy],
      )
      await ok('DELETE', `${CONFIGS}/main-1/rows/456`)
      const own = { name: 'Own', changeDescription: 'mine' }
      const described = (await ok('POST', `${CONFIGS}/main-1/versions/2/create`, { json: own })).json<{ id: string }>()
      const ownCopy = await configuration(`${CONFIGS}/${described.id}`)
      assert.equal(ownCopy.changeDescription, 'mine')
      assert.deepEqual(
        ownCopy.rows.map(({ state, changeDescription }) => [state, changeDescription]),
        [rowOfCopy],
        'corrections-2 A6 and A14: rows keep their own text, and the state they had when they were deleted',
      )
      await ok('POST', `${CONFIGS}/main-1/versions/2/rollback`)
      const generated = (await ok('POST', `${CONFIGS}/main-1/rows`, { json: { name: 'generated' } })).json<Row>()
      assert.match(generated.id, /^\d+$/, 'corrections-2 A7')
      await ok('DELETE', `${CONFIGS}/main-1/rows/${generated.id}`)
      const row = (await ok('POST', `${CONFIGS}/main-1/rows/456/versions/1/create`)).json<Row>()
      assert.equal(row.changeDescription, 'Copied from configuration "name" (main-1) row 456 version 1')
      const owner = await configuration(`${CONFIGS}/main-1`)
      assert.equal(owner.changeDescription, `Row ${row.id} copied from configuration "name" (main-1) row 456 version 1`)
      const again = (await ok('PUT', `${CONFIGS}/main-1/rows/456`, { json: { name: 'row' } })).json<Row>()
      assert.equal(again.version, 3)
      assert.match(row.id, /^\d+$/, 'corrections-2 A7')
      await ok('POST', `${CONFIGS}/main-1/versions/2/rollback`)
      const after = await configuration(`${CONFIGS}/main-1`)
      assert.deepEqual(
        after.rows.map(({ id, version }) => [id, version]),
        [['456', 4]],
      )
    },
  )

  await t.test(
    'B18, corrections-2 A1, A2: a branch shows the identifier of its original, a roll back has a new one',
    async () => {
      const { ok, refused, configuration, branch } = await project('B18')
      const identifier = async (path: string) => (await configuration(path)).currentVersion.versionIdentifier
      await ok('POST', CONFIGS, { json: { configurationId: 'main-1', name: 'name' } })
      await ok('POST', `${CONFIGS}/main-1/rows`, { json: { rowId: 'r', name: 'row' } })
      const second = await identifier(`${CONFIGS}/main-1`)
      const firstRow = (await ok('GET', `${CONFIGS}/main-1/rows/r`)).json<Row>()
      await ok('PUT', `${CONFIGS}/main-1/rows/r`, { json: { name: 'other' } })
      assert.notEqual(await identifier(`${CONFIGS}/main-1`), second)
      await ok('POST', `${CONFIGS}/main-1/versions/2/rollback`)
      const first = await identifier(`${CONFIGS}/main-1`)
      await ok('POST', `${CONFIGS}/main-1/versions/2/rollback`)
      const back = await configuration(`${CONFIGS}/main-1`)
      assert.equal(back.version, 5)
      assert.equal(new Set([first, second, back.currentVersion.versionIdentifier]).size, 3)
      assert.equal(back.rows[0]?.version, 4)
      assert.notEqual(back.rows[0]?.versionIdentifier, firstRow.versionIdentifier)
      const dev = await branch('dev')
      const inBranch = `branch/${dev}/${CONFIGS}/main-1`
      const text = 'Copied from default branch configuration "name" (main-1) version 5'
      const checkCopy = async () => {
        const { currentVersion, changeDescription } = await configuration(inBranch)
        assert.deepEqual(currentVersion, { ...back.currentVersion, changeDescription: text })
        assert.equal(changeDescription, text)
      }
      await checkCopy()
      const version = (await ok('GET', `${inBranch}/versions/1`)).json<{ changeDescription: string }>()
      assert.equal(
        version.changeDescription,
        'Copied from default branch configuration version "name" (configuration id: main-1) version 5',
      )
      await ok('PUT', inBranch, { json: { description: 'changed' } })
      await ok('POST', `${inBranch}/reset-to-default`)
      await checkCopy()
      for (const _trashThenPurge of [1, 2]) await ok('DELETE', `${CONFIGS}/main-1`)
      await ok('POST', `${inBranch}/reset-to-default`)
      await refused('GET', inBranch, {}, 404, /main-1/)
    },
  )

  await t.test('corrections-2 A1: the configuration of a row may be a list, which a run refuses', async () => {
    const { ok, refused, branch } = await project('A1')
    await ok('POST', CONFIGS, { json: { configurationId: 'main-1', name: 'name' } })
    await ok('POST', `${CONFIGS}/main-1/rows`, { json: { rowId: 'r', name: 'row' } })
    const row = `branch/${await branch('dev')}/${CONFIGS}/main-1/rows/r`
    const read = async (path: string) => (await ok('GET', path)).json<{ configuration: unknown }>().configuration
    for (const given of [['{"id":"10","stuff":"true"}'], [{ a: 1 }]]) {
      await ok('PUT', row, { json: { configuration: given } })
      assert.deepEqual(await read(row), given)
      assert.deepEqual(await read(`${row}/versions/${given.length === 1 && typeof given[0] === 'string' ? 2 : 3}`), given)
    }
    await ok('PUT', row, { json: { configuration: '["text"]' } })
    assert.deepEqual(await read(row), ['text'])
    await ok('PUT', row, { json: { configuration: [] } })
    assert.deepEqual(await read(row), {})
    await refused('PUT', row, { json: { configuration: 'text' } }, 400, /Invalid configuration body format/)
    await refused('PUT', `${CONFIGS}/main-1`, { json: { configuration: ['a'] } }, 400, /should be a JSON object, not array/)
  })

  await t.test('B19: ids of configurations take more than letters, digits, dots, dashes and underscores', async () => {
    const { ok, refused, configuration } = await project('B19')
    for (const id of ['main\\1', 'a b:c', 'žluťoučký'] as const) {
      await ok('POST', CONFIGS, { json: { configurationId: id, name: 'n' } })
      assert.equal((await configuration(`${CONFIGS}/${encodeURIComponent(id)}`)).id, id)
      await ok('DELETE', `${CONFIGS}/${encodeURIComponent(id)}`)
    }
    for (const id of ['a/b', '..', 'a\u0000b', '\ud800'])
      await refused(
        'POST',
        CONFIGS,
        { json: { configurationId: id, name: 'n' } },
        400,
        /^Invalid parameters - configurationId: an id is/,
      )
  })
})
