// Dashboards over HTTP: what they keep, who sees results, and what a link gives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { onBothStacks } from '../../../../../tests/support/on-both-stacks.ts'
import type { TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const PATH = '/v2/storage/dashboards'
const QUERY = 'SELECT city, count(*) AS n FROM "in.c-main"."orders" WHERE city <> $without GROUP BY city ORDER BY city'

await onBothStacks('dashboards', (startProject) => {
  async function withDashboard(stack: TestStack) {
    const tables = tableClient(stack)
    await tables.bucket()
    await tables.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n3,Praha\n')
    const query = await stack.request('POST', '/v2/storage/saved-queries', {
      json: { name: 'by city', sql: QUERY, parameters: [{ name: 'without', type: 'text', default: '' }] },
    })
    const queryId = query.json<{ id: string }>().id
    const json = {
      name: 'Shop',
      tiles: [{ id: 'cities', queryId, title: 'Cities', type: 'bar', width: 2, x: 'city', y: ['n'] }],
      filters: [{ name: 'without', type: 'text', label: 'Without' }],
    }
    const made = await stack.request('POST', PATH, { json })
    assert.equal(made.status, 201, made.text)
    const { id } = made.json<{ id: string }>()
    return { id, queryId, tables, json }
  }

  const rowsOf = (answer: { json: <T>() => T }) => answer.json<{ rows?: unknown[][] }>().rows

  test('a dashboard shows rows of its tiles by filters, is changed by its version, and is deleted', async () => {
    const stack = await startProject()
    const { id, queryId, json } = await withDashboard(stack)
    const result = `${PATH}/${id}/tiles/cities/result`
    assert.deepEqual(rowsOf(await stack.request('GET', result)), [
      ['Brno', 1],
      ['Praha', 2],
    ])
    const filtered = await stack.request('GET', `${result}?filters=${encodeURIComponent('{"without":"Brno"}')}`)
    assert.deepEqual(rowsOf(filtered), [['Praha', 2]])
    assert.equal((await stack.request('GET', `${result}?filters=[`)).status, 400)
    assert.equal((await stack.request('GET', `${result}?filters=${encodeURIComponent('{"other":1}')}`)).status, 400)
    assert.equal((await stack.request('GET', `${PATH}/${id}/tiles/none/result`)).status, 404)
    const changed = await stack.request('PUT', `${PATH}/${id}`, { json: { name: 'Sales', version: 1 } })
    assert.equal(changed.json<{ version: number }>().version, 2)
    const late = await stack.request('PUT', `${PATH}/${id}`, { json: { name: 'Late', version: 1 } })
    assert.equal(late.json().code, 'dashboards.changedSince')
    assert.equal((await stack.request('POST', PATH, { json: { ...json, name: 'Sales' } })).status, 409)
    for (const tiles of [
      [{ ...json.tiles[0], queryId: '999999' }],
      [json.tiles[0], json.tiles[0]],
      [{ ...json.tiles[0], alert: { operator: 'above', value: 1 } }],
      [{ ...json.tiles[0], type: 'pie' }],
    ]) {
      const refused = await stack.request('POST', PATH, { json: { name: 'Other', tiles } })
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text)
    }
    const inUse = await stack.request('DELETE', `/v2/storage/saved-queries/${queryId}`)
    assert.equal(inUse.json().code, 'sql.savedQueries.inUse')
    assert.equal((await stack.request('DELETE', `${PATH}/${id}`)).status, 204)
    assert.equal((await stack.request('GET', `${PATH}/${id}`)).status, 404)
    assert.equal((await stack.request('DELETE', `/v2/storage/saved-queries/${queryId}`)).status, 204)
  })

  test('results take the rights of the caller, and other projects see nothing of it', async () => {
    const stack = await startProject()
    const { id, tables } = await withDashboard(stack)
    await tables.bucket('other')
    const json = { description: 't', bucketPermissions: { 'in.c-other': 'read' }, expiresIn: 3600 }
    const { token } = (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>()
    assert.equal((await stack.request('GET', `${PATH}/${id}/tiles/cities/result`, { token })).status, 403)
    assert.equal((await stack.request('POST', `${PATH}/${id}/links`, { token, json: { expiresIn: 60 } })).status, 403)
    const other = await stack.newProject()
    for (const path of [`${PATH}/${id}`, `${PATH}/${id}/tiles/cities/result`, `${PATH}/${id}/links`])
      assert.equal((await stack.request('GET', path, { token: other.masterToken })).status, 404)
    assert.deepEqual((await stack.request('GET', PATH, { token: other.masterToken })).json(), [])
  })

  test('a link shows the results of its dashboard without a token, and nothing else, until it is revoked', async () => {
    const stack = await startProject()
    const { id, tables } = await withDashboard(stack)
    const made = await stack.request('POST', `${PATH}/${id}/links`, { json: { expiresIn: 3600 } })
    assert.equal(made.status, 201, made.text)
    const link = made.json<{ id: string; value: string }>()
    const as = (value: string) => ({ token: null, headers: { 'x-dashboard-link': value } })
    const page = await stack.request('GET', '/shared/dashboard', as(link.value))
    assert.deepEqual(
      [page.json<{ name: string }>().name, page.text.includes('queryId'), page.text.includes('SELECT')],
      ['Shop', false, false],
    )
    const result = '/shared/dashboard/tiles/cities/result'
    assert.equal(rowsOf(await stack.request('GET', result, as(link.value)))?.length, 2)
    assert.equal((await stack.request('GET', result, as(link.value))).headers.get('x-millrace-cache'), 'hit')
    await tables.load('in.c-main.orders', 'id,city\n1,Praha\n')
    assert.deepEqual(
      rowsOf(await stack.request('GET', result, as(link.value))),
      [['Praha', 1]],
      'after a load it shows the new rows',
    )
    for (let i = 0; i < 8; i++) {
      const left = new AbortController()
      const headers = { 'x-dashboard-link': link.value }
      const asked = fetch(`${stack.url}${result}?filters=${encodeURIComponent(`{"without":"x${i}"}`)}`, {
        headers,
        signal: left.signal,
      })
      setTimeout(() => left.abort(), 40 * i)
      await asked.then(
        (answer) => answer.body?.cancel(),
        () => {},
      )
    }
    await until('visitors that left do not count', async () => {
      const { status } = await stack.request(
        'GET',
        `${result}?filters=${encodeURIComponent('{"without":"Brno"}')}`,
        as(link.value),
      )
      return status === 200
    })
    for (const path of ['/v2/storage/tables', PATH, `${PATH}/${id}`])
      assert.equal((await stack.request('GET', path, as(link.value))).status, 401, path)
    assert.equal((await stack.request('GET', '/v2/storage/tables', { token: link.value })).status, 401)
    for (const value of ['x', 'x'.repeat(44), `${link.value.slice(0, -1)}${link.value.endsWith('A') ? 'B' : 'A'}`])
      assert.equal((await stack.request('GET', '/shared/dashboard', as(value))).json().code, 'dashboards.linkInvalid')
    const listed = await stack.request('GET', `${PATH}/${id}/links`)
    assert.equal(listed.json<unknown[]>().length, 1)
    assert.ok(!listed.text.includes(link.value))
    assert.equal((await stack.request('DELETE', `${PATH}/${id}/links/${link.id}`)).status, 204)
    assert.equal((await stack.request('GET', result, as(link.value))).status, 401)
    assert.equal((await stack.request('POST', `${PATH}/${id}/links`, { json: { expiresIn: 5 } })).status, 400)
  })
})
