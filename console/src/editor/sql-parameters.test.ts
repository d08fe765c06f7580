import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parametersIn } from './sql-parameters.ts'

test('parameters are found once each, and not in texts, names and comments', () => {
  assert.deepEqual(parametersIn(`select $city, '$no', "$no" -- $no\n/* $no */ where x = $city and y > $since and z = $1`), [
    'city',
    'since',
  ])
})
