import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIso } from '../time/formats.ts'
import { createInterpolator } from './interpolate.ts'

const expressions = createInterpolator(() => parseIso('2026-03-15T12:00:00Z'))
const config = {
  k: 'text',
  l: [1, 2],
  tree: [
    { n: 'a', c: [{ n: 'b', c: [] }] },
    { n: 'c', c: [] },
  ],
}

/** What airbyte-cdk 7.39.1 gives. A TypeError of Python leaves the template as it is. */
const SAME = Symbol('the template itself')
const CASES: readonly (readonly [string, unknown])[] = [
  [
    "{% macro part(name, level=2) %}{{ name }}:{{ level }};{% endmacro %}{{ part('a') }}{{ part('b', level=3) }}{{ part(*config.l) }}",
    'a:2;b:3;1:2;',
  ],
  ['{% macro all() %}{{ varargs }} {{ kwargs }}{% endmacro %}{{ all(1, x=2) }}', "(1,) {'x': 2}"],
  ['{% macro one(a) %}{{ a }}{% endmacro %}{{ one(1, 2) }}', SAME],
  ['{% macro one(a) %}{{ a }}{% endmacro %}{{ one(b=2) }}', SAME],
  ['{% macro box() %}[{{ caller(5) }}]{% endmacro %}{% call(n) box() %}{{ n + 1 }}{% endcall %}', [6]],
  ['{% macro down(n) %}{{ n }}{% if n > 0 %}{{ down(n - 1) }}{% endif %}{% endmacro %}x{{ down(3) }}', 'x3210'],
  ['{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}', 3],
  ["{% filter upper | replace('X', 'y') %}x {{ config.k }}{% endfilter %}", 'y TEyT'],
  ['{% set joined | upper %}{% for each in config.l %}i{{ each }}{% endfor %}{% endset %}{{ joined }}', 'I1I2'],
  ['{% for node in config.tree recursive %}{{ loop.depth }}{{ node.n }}{{ loop(node.c) }}{% endfor %}', '1a2b1c'],
  [
    "{% for i in config.l %}{{ loop.cycle('odd', 'even') }}{{ loop.nextitem }}{{ loop.changed(i) }} {% endfor %}",
    'odd2True evenTrue ',
  ],
  ['{% for a, (b, c) in [[1, [2, 3]]] %}{{ a + b + c }}{% endfor %}', 6],
  ['{% print config.k, 1 %}', 'text1'],
  ['{% block head %}{{ config.k }}{% endblock %}', 'text'],
  ["{% include 'other' %}", SAME],
  ['{% filter length %}abc{% endfilter %}', SAME],
]

for (const [template, wanted] of CASES)
  test(`statements give what the reference gives: ${template}`, () =>
    assert.deepEqual(expressions.value(template, { config }), wanted === SAME ? template : wanted))

test('a name that only one branch sets is a variable that does not exist', () => {
  const template = '{% if config.k %}{% set y = 1 %}{% endif %}{{ y }}'
  assert.throws(() => expressions.value(template, { config }), /uses the variable 'y', which does not exist here/)
})

test('statements that the reference does not have are refused by name', () => {
  for (const word of ['break', 'do', 'autoescape', 'constructor'])
    assert.throws(() => expressions.value(`{% ${word} x %}`, { config }), new RegExp(`'${word}' is not supported`))
})

test('macros and loops that call themselves end', () => {
  const endless = '{% macro again(x) %}{{ again(x) }}{% endmacro %}{{ again(1) }}'
  assert.throws(() => expressions.value(endless, { config }), /nested deeper than 200 levels/)
  const loop = '{% for x in config.l recursive %}{{ loop(config.l) }}{% endfor %}'
  assert.throws(() => expressions.value(loop, { config }), /nested deeper than 200 levels/)
  const twice = `{% macro m0() %}${'x'.repeat(64)}{% endmacro %}${Array.from({ length: 30 }, (_, i) => `{% macro m${i + 1}() %}{{ m${i}() }}{{ m${i}() }}{% endmacro %}`).join('')}{{ m30() }}`
  assert.throws(() => expressions.value(twice, { config }), /built more than \d+ characters|took more than \d+ steps/)
})
