import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobNumberIn, readAsked } from './palette-words.ts'

test('a verb, a letter before a space and a number of a job are understood', () => {
  assert.deepEqual(readAsked('run Shop'), { verb: 'run', kinds: undefined, text: 'Shop' })
  assert.deepEqual(readAsked('new'), { verb: 'new', kinds: undefined, text: '' })
  assert.deepEqual(readAsked('t orders'), { verb: undefined, kinds: ['table', 'column'], text: 'orders' })
  assert.deepEqual(readAsked('running'), { verb: undefined, kinds: undefined, text: 'running' })
  assert.deepEqual(['job 2', '#17', 'j 3', 'jobs', 'job'].map(jobNumberIn), ['2', '17', '3', undefined, undefined])
})
