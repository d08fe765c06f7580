import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../../../tests/support/cpu-time.ts'
import { lanesOf, loadOf, type TimedJob } from './job-lanes.ts'

const job = (id: string, config: string, created: number, started?: number, ended?: number): TimedJob => ({
  ...{ id, component: 'c', config, status: 'success', by: 'Ada', created, started, ended },
})

test('a configuration has a lane, and jobs of it that overlap stand on lines of their own', () => {
  const lanes = lanesOf([job('3', 'b', 6, 7, 8), job('1', 'a', 0, 1, 5), job('2', 'a', 4, 5, 9), job('4', 'a', 5, 6)], 10)
  assert.deepEqual(
    lanes.map(({ config, lines }) => [config, lines.map((line) => line.map(({ id }) => id).join())]),
    [
      ['a', ['1,4', '2']],
      ['b', ['3']],
    ],
  )
})

test('how many jobs wait and run is known at each moment', () => {
  const jobs = [job('1', 'a', 0, 2, 6), job('2', 'b', 1, 2, 4), job('3', 'c', 3)]
  assert.deepEqual(loadOf(jobs, 10), [
    { at: 0, running: 0, waiting: 1 },
    { at: 1, running: 0, waiting: 2 },
    { at: 2, running: 2, waiting: 0 },
    { at: 3, running: 2, waiting: 1 },
    { at: 4, running: 1, waiting: 1 },
    { at: 6, running: 0, waiting: 1 },
    { at: 10, running: 0, waiting: 0 },
  ])
})

test('many jobs take a time that grows with their number', () => {
  const jobs = (count: number) => Array.from({ length: count }, (_, i) => job(String(i), String(i % 50), i, i + 1, i + 2))
  const of = (count: number) => {
    const some = jobs(count)
    return cpuMs(() => {
      lanesOf(some, count)
      loadOf(some, count)
    })
  }
  of(2000)
  assert.ok(of(40_000) < 60 * Math.max(1, of(4000)))
})
