import assert from 'node:assert/strict'
import test from 'node:test'
import { parseJobSearch, searchQuery } from './job-search.ts'

test('a search is read in the spellings clients use', () => {
  const asBoth = { status: ['error', 'success'] }
  assert.deepEqual(searchQuery({ status: 'success' }, '/queue/search/jobs?status=error&status=success'), asBoth)
  assert.deepEqual(searchQuery({ status: ['error', 'success'] }, '/queue/search/jobs?status[]=error&status[]=success'), asBoth)
  assert.deepEqual(searchQuery({ filters: asBoth, limit: '5' }, '/?filters[status][]=error'), { ...asBoth, limit: '5' })
  assert.deepEqual(searchQuery({}, '/queue/search/jobs'), {})
})

test('a job is found by the duration it shows, which is rounded', () => {
  const { durationMsFrom, durationMsTo } = parseJobSearch(
    { durationSecondsFrom: '1', durationSecondsTo: '1' },
    new Date(),
    String,
  )
  assert.deepEqual([durationMsFrom, durationMsTo], [500, 1499])
})
