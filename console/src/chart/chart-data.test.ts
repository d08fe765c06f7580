import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartData, guessedSettings, numericColumns, pivotOf, ticksOf } from './chart-data.ts'

const columns = ['day', 'city', 'n'].map((name) => ({ name }))
const rows = [
  ['Mon', 'Praha', 2],
  ['Mon', 'Brno', '1'],
  ['Tue', 'Praha', null],
  ['Tue', 'Praha', 4],
]

test('columns of numbers are found, also where they are kept as text, and a chart is guessed', () => {
  assert.deepEqual(numericColumns({ columns, rows }), ['n'])
  assert.deepEqual(guessedSettings({ columns, rows }), { type: 'bar', x: 'day', y: ['n'], series: undefined })
  assert.deepEqual(guessedSettings({ columns, rows: [] }).y, [])
})

test('a column makes one series for each of its values, and values of the same place are added', () => {
  const { labels, series } = chartData({ columns, rows }, { type: 'line', x: 'day', y: ['n'], series: 'city' })
  assert.deepEqual(labels, ['Mon', 'Tue'])
  assert.deepEqual(series, [
    { name: 'Praha', values: [2, 4] },
    { name: 'Brno', values: [1, null] },
  ])
  assert.deepEqual(chartData({ columns, rows }, { type: 'bar', x: 'day', y: ['n'] }).series[0]?.values, [3, 4])
})

test('what does not fit is left out and named', () => {
  const many = Array.from({ length: 1000 }, (_, i) => [`d${i}`, 'x', i])
  const { labels, hidden } = chartData({ columns, rows: many }, { type: 'bar', x: 'day', y: ['n'] })
  assert.deepEqual([labels.length, hidden], [400, '600 more values of day'])
})

test('a pivot has sums by two columns', () => {
  assert.deepEqual(pivotOf({ columns, rows }, { type: 'pivot', x: 'city', y: ['n'], series: 'day' }), {
    columns: ['Mon', 'Tue'],
    rows: [
      { name: 'Praha', values: [2, 4] },
      { name: 'Brno', values: [1, null] },
    ],
  })
})

test('an axis has round numbers, begins at zero and covers everything', () => {
  assert.deepEqual(ticksOf(3, 17), [0, 5, 10, 15, 20])
  assert.deepEqual(ticksOf(-3, 0.5), [-3, -2, -1, 0, 1])
  assert.deepEqual(ticksOf(0, 0), [0, 1])
})
