import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressText, parseAddress } from '../http/address.ts'
import { buildRequest, type RequestSettings } from '../http/request.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { createPagination } from './pagination.ts'

const BASE = parseAddress('http://h/')!
let clock = 1_000_000

/** The targets a job requests when the API answers with these responses; the last entry is the reason to stop. */
function targets(
  pagination: JsonValue,
  job: Partial<RequestSettings>,
  responses: readonly string[],
  scrollerName?: string,
): string[] {
  const settings: RequestSettings = { endpoint: 'x', method: 'GET', params: {}, headers: [], ...job }
  const scroller = createPagination(pagination, { now: () => clock })(scrollerName)
  const asked: string[] = []
  const note = (request: RequestSettings) => {
    const { address, body } = buildRequest(BASE, request)
    asked.push(`${addressText(address).slice('http://h/'.length)}${body === undefined ? '' : ` ${body}`}`)
  }
  note(scroller.first(settings))
  for (const text of responses) {
    const response = parseJson(text)
    const items = Array.isArray(response) ? response : ((response as JsonObject & { items?: JsonValue[] }).items ?? [])
    const next = scroller.next(settings, { headers: {}, response, items })
    if ('stop' in next) return [...asked, `stop: ${next.stop}`]
    note(next.request)
  }
  return asked
}

const params = (json: string) => parseJson(json) as JsonObject
const two = '[{"id":1},{"id":2}]'
const one = '[{"id":3}]'

test('without a method there is one request', () => {
  assert.deepEqual(targets({}, {}, [two]), ['x', 'stop: '])
})

test('cursor: largest, smallest, increment, body', () => {
  const cursor = { method: 'cursor', idKey: 'id', param: 'after' }
  assert.deepEqual(targets(cursor, {}, [two, one, '[]']), ['x', 'x?after=2', 'x?after=3', 'stop: the response holds no items'])
  assert.deepEqual(targets({ ...cursor, reverse: true, increment: -1 }, {}, [two]), ['x', 'x?after=0'])
  assert.deepEqual(targets({ ...cursor, reverse: 'false' }, {}, [two]), ['x', 'x?after=2'])
  assert.throws(
    () => targets({ ...cursor, reverse: 'no' }, {}, [two]),
    /^UserError: Invalid configuration: 'api.pagination.reverse' must be true or false, given "no"\.$/,
  )
  assert.deepEqual(targets({ ...cursor, increment: '5' }, {}, ['[{"id":"7.9"},{"id":" 3"}]']), ['x', 'x?after=12.9'])
  assert.deepEqual(targets(cursor, { params: params('{"z":1,"after":"start","a":2}') }, [two]), [
    'x?z=1&after=start&a=2',
    'x?z=1&after=2&a=2',
  ])
  assert.deepEqual(targets(cursor, { endpoint: 'x?after=0&b=1' }, [two]), ['x?after=0&b=1', 'x?after=2&b=1'])
  assert.deepEqual(targets(cursor, { method: 'POST', params: params('{"after":0}') }, [two]), ['x {"after":0}', 'x {"after":2}'])
  assert.deepEqual(targets(cursor, {}, ['[{"id":-5},{"id":18446744073709551615},{"id":1}]']), [
    'x',
    'x?after=18446744073709551615',
  ])
})

test('offset: page size of the job, first page without params, start from the job', () => {
  const offset = { method: 'offset', limit: '2' }
  assert.deepEqual(targets(offset, {}, [two, one]), [
    'x?limit=2&offset=0',
    'x?limit=2&offset=2',
    'stop: the response holds 1 item, fewer than the limit of 2',
  ])
  assert.deepEqual(targets(offset, { params: params('{"a":1,"limit":1}') }, [one]), [
    'x?a=1&limit=1&offset=0',
    'x?a=1&limit=1&offset=1',
  ])
  assert.deepEqual(targets({ ...offset, firstPageParams: false }, {}, [two]), ['x', 'x?limit=2&offset=2'])
  assert.deepEqual(targets({ ...offset, offsetFromJob: true }, { params: params('{"offset":10}') }, [two]), [
    'x?offset=10&limit=2',
    'x?offset=12&limit=2',
  ])
  assert.deepEqual(targets({ ...offset, limitParam: 'count', offsetParam: 'start' }, {}, [two]), [
    'x?count=2&start=0',
    'x?count=2&start=2',
  ])
})

test('pagenum: with and without a limit', () => {
  assert.deepEqual(targets({ method: 'pagenum' }, {}, [one, one, '[]']), [
    'x?page=1',
    'x?page=2',
    'x?page=3',
    'stop: the page is empty',
  ])
  assert.deepEqual(targets({ method: 'pagenum', limit: 2, limitParam: 'size' }, {}, [two, one]), [
    'x?page=1&size=2',
    'x?page=2&size=2',
    'stop: the page holds 1 item, fewer than the limit of 2',
  ])
  assert.deepEqual(targets({ method: 'pagenum', firstPage: 0, firstPageParams: false }, {}, [one]), ['x', 'x?page=1'])
  assert.deepEqual(
    targets({ method: 'pagenum' }, { params: params('{"limit":2}') }, [two, one]).at(-1),
    'stop: the page holds 1 item, fewer than the limit of 2',
  )
})

test('response.url: params are dropped, included, or come as a query', () => {
  const job = { params: params('{"a":1,"b":2}') }
  const next = (value: string) => [`{"items":[],"next_page":${value}}`]
  assert.deepEqual(targets({ method: 'response.url' }, job, next('"/y?b=9&c=3"')), ['x?a=1&b=2', 'y?b=9&c=3'])
  assert.deepEqual(targets({ method: 'response.url', includeParams: true }, job, next('"/y?b=9&c=3"')), [
    'x?a=1&b=2',
    'y?b=2&c=3&a=1',
  ])
  assert.deepEqual(targets({ method: 'response.url', paramIsQuery: true }, job, next('"?b=9&c=3"')), ['x?a=1&b=2', 'x?b=9&c=3'])
  assert.deepEqual(targets({ method: 'response.url', paramIsQuery: true, includeParams: true }, job, next('"b=9&c=3"')), [
    'x?a=1&b=2',
    'x?a=1&b=9&c=3',
  ])
  assert.deepEqual(targets({ method: 'response.url', urlKey: 'a/b', delimiter: '/' }, {}, ['{"a":{"b":"y"}}']), ['x', 'y'])
  for (const empty of ['null', '""', '0', 'false', '"0"', '[]'])
    assert.match(targets({ method: 'response.url' }, {}, next(empty)).at(-1)!, /^stop: the response has no more pages/)
})

test('zendesk.response.url ends when the next start_time is fresh', () => {
  clock = 2_000_000_000
  const at = (seconds: number) => [`{"next_page":"/y?start_time=${seconds}"}`]
  const now = clock / 1000
  assert.deepEqual(targets({ method: 'zendesk.response.url' }, {}, at(now - 1000)), ['x', `y?start_time=${now - 1000}`])
  assert.match(targets({ method: 'zendesk.response.url' }, {}, at(now - 100)).at(-1)!, /^stop: the next start_time/)
})

test('response.param: scrollRequest goes over the job', () => {
  const job = { params: params('{"a":1}') }
  const settings = { method: 'response.param', responseParam: 'meta.next', queryParam: 'token' }
  const response = ['{"items":[],"meta":{"next":"t1"}}']
  assert.deepEqual(targets(settings, job, response), ['x?a=1', 'x?token=t1'])
  assert.deepEqual(targets({ ...settings, includeParams: true }, job, response), ['x?a=1', 'x?a=1&token=t1'])
  assert.deepEqual(
    targets(
      { ...settings, includeParams: true, scrollRequest: { endpoint: 's', method: 'post', params: { a: 2, b: 3 } } },
      job,
      response,
    ),
    ['x?a=1', 's {"a":2,"b":3,"token":"t1"}'],
  )
  assert.match(targets(settings, job, ['{"items":[],"meta":{}}']).at(-1)!, /^stop: /)
})

test('multiple: the job picks, or the default, or one request', () => {
  const scrollers = { a: { method: 'pagenum', forceStop: { pages: 1 } }, b: { method: 'cursor', idKey: 'id', param: 'p' } }
  assert.match(targets({ method: 'multiple', scrollers }, {}, [one], 'a').at(-1)!, /^stop: force stop, page limit/)
  assert.deepEqual(targets({ method: 'multiple', scrollers, default: 'b' }, {}, [one]), ['x', 'x?p=3'])
  assert.deepEqual(targets({ method: 'multiple', scrollers }, {}, [one]), ['x', 'stop: '])
  assert.match(
    targets({ method: 'multiple', scrollers, default: 'b', forceStop: { pages: 1 } }, {}, [one]).at(-1)!,
    /force stop/,
    'conditions of multiple wrap the picked one',
  )
})

test('nextPageFlag: true, false, missing, and what counts as which', () => {
  const stops = (flag: JsonValue, response: string) =>
    targets({ method: 'pagenum', nextPageFlag: flag }, {}, [response]).at(-1)!.startsWith("stop: the value of 'f' is")
  const page = (more: string) => `{"items":[{"id":1}]${more}}`
  for (const [more, truth] of [
    [',"f":true', true],
    [',"f":1', true],
    [',"f":"no"', true],
    [',"f":{}', true],
    [',"f":false', false],
    [',"f":0', false],
    [',"f":0.0', false],
    [',"f":"0"', false],
    [',"f":""', false],
    [',"f":[]', false],
  ] as const) {
    assert.equal(stops({ field: 'f', stopOn: false }, page(more)), !truth, more)
    assert.equal(stops({ field: 'f', stopOn: true }, page(more)), truth, more)
  }
  for (const more of ['', ',"f":null']) {
    assert.equal(stops({ field: 'f', stopOn: false }, page(more)), true, 'without ifNotSet a missing flag stops')
    assert.equal(stops({ field: 'f', stopOn: false, ifNotSet: true }, page(more)), false)
    assert.equal(stops({ field: 'f', stopOn: true, ifNotSet: false }, page(more)), false)
  }
})

test('forceStop by pages, time and volume; limitStop by count and field', () => {
  const stop = (settings: object, responses: readonly string[]) =>
    targets({ method: 'pagenum', ...settings } as JsonValue, {}, responses).at(-1)!
  assert.match(stop({ forceStop: { pages: 2 } }, [one, one]), /page limit reached \(2 pages\)/)
  assert.equal(stop({ forceStop: { pages: '3' } }, [one, one]), 'x?page=3')
  assert.match(stop({ forceStop: { time: 0.0001 } }, [one]), /^x\?page=2$|time limit/)
  assert.match(stop({ forceStop: { volume: 5 } }, [one]), /volume limit reached \(10 of 5 bytes\)/)
  assert.equal(stop({ forceStop: { volume: 10 } }, [one]), 'x?page=2', 'reaching the volume is not exceeding it')
  assert.match(
    stop({ forceStop: { volume: 20 } }, ['[{"a":"é/"}]']),
    /^x\?page=2$/,
    'counted as written: \\u00e9\\/ is eight bytes, 17 in all',
  )
  assert.match(stop({ limitStop: { count: 2 } }, [two]), /current count: 2, limit: 2/)
  assert.match(
    stop({ limitStop: { field: 'meta.total' } }, [
      '{"items":[{"id":1}],"meta":{"total":2}}',
      '{"items":[{"id":2}],"meta":{"total":2}}',
    ]),
    /current count: 2, limit: 2/,
  )
  assert.match(stop({ limitStop: { field: 'nope' } }, ['{"items":[{"id":1}]}']), /limit: 0/)
})

test('forceStop.time counts from the first request, in seconds or in words', () => {
  clock = 5_000_000
  const scroller = createPagination({ method: 'pagenum', forceStop: { time: '1 hour' } }, { now: () => clock })()
  const job: RequestSettings = { endpoint: 'x', method: 'GET', params: {}, headers: [] }
  scroller.first(job)
  clock += 3_599_000
  assert.ok('request' in scroller.next(job, { headers: {}, response: [1], items: [1] }))
  clock += 1000
  assert.deepEqual(scroller.next(job, { headers: {}, response: [1], items: [1] }), {
    stop: 'force stop, time limit reached (3600 seconds)',
  })
})
