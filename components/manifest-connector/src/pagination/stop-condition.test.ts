import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeStopCondition, readsPageSize } from './stop-condition.ts'

// As airbyte-cdk 7.39.1 judges them.
const CASES: readonly (readonly [string, 'safe' | 'truncates' | 'unknown', number?])[] = [
  ['{{ last_page_size < page_size }}', 'safe'],
  ['{{ page_size|int > last_page_size }}', 'safe'],
  ['{{ last_page_size == 0 or not response.next }}', 'safe'],
  ['{{ last_page_size >= 100 }}', 'safe'],
  ['{{ not response.next }}', 'safe'],
  ['{{ last_page_size < 5 }}', 'safe', 5],
  ['{{ last_page_size < 100 }}', 'truncates'],
  ["{{ last_page_size < config['page_size'] }}", 'truncates'],
  ['{{ 100 > last_page_size and response.more }}', 'truncates'],
  ['{% if last_page_size < 100 %}true{% endif %}', 'truncates'],
  ['{% if last_page_size < 100 %}{% else %}true{% endif %}', 'unknown'],
  ['{{ not (last_page_size >= 100) }}', 'unknown'],
  ['{{ last_page_size - 100 < 0 }}', 'unknown'],
  ['{{ last_page_size < page_size + 50 }}', 'unknown'],
  ["{{ response['data']|length < 100 }}", 'unknown'],
  ["{{ response['data']|length > 100 }}", 'safe'],
  ['{{ last_page_size', 'unknown'],
]

for (const [condition, wanted, minimum = 1] of CASES)
  test(`a stop condition beside smaller pages is ${wanted}: ${condition}`, () =>
    assert.equal(judgeStopCondition(condition, minimum).kind, wanted))

test('page_size is a variable, and no member of the configuration', () => {
  assert.equal(readsPageSize('{{ last_page_size < page_size }}'), true)
  assert.equal(readsPageSize("{{ last_page_size < config['page_size'] }}"), false)
})
