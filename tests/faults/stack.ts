// The stack of a fault test: it may be killed, and nothing that the test does to it may hold its event loop.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { assertNotHeld } from '../support/event-loop.ts'
import { type Stack, type StackOptions, startStackProcess } from '../support/stack-process.ts'

export type { Stack } from '../support/stack-process.ts'

const PROBE = new URL('../support/event-loop-probe.mjs', import.meta.url).href

export async function startStack(t: Pick<TestContext, 'after'>, options: StackOptions = {}): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-event-loop-'))
  const file = join(folder, 'held')
  const readyAt: number[] = []
  const stack = await startStackProcess(t, {
    ...options,
    env: { NODE_OPTIONS: `--import ${PROBE}`, MILLRACE_TEST_EVENT_LOOP_FILE: file, ...options.env },
    onReady: () => readyAt.push(Date.now()),
  })
  t.after(async () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    await rm(folder, { recursive: true })
    assertNotHeld(heldWhileServing(lines, readyAt))
  })
  return stack
}

/** The longest hold. What a start itself takes does not count. */
function heldWhileServing(lines: readonly string[], readyAt: readonly number[]): number {
  let starts = 0
  let held = 0
  for (const line of lines) {
    const [time, ms] = line.split(' ')
    if (time === 'start') starts++
    else if (Number(time) > (readyAt[starts - 1] ?? Number.POSITIVE_INFINITY)) held = Math.max(held, Number(ms))
  }
  return held
}

/**
 * A stack that was killed starts about as fast as a new one: nothing is replayed or searched that grows with its work. Other programs
 * slow single starts down, so the quickest restart is compared, with the slower of two first starts: before the kills and now.
 */
export async function assertQuickRestarts(t: TestContext, stack: Stack, restarts: readonly number[]): Promise<void> {
  const { firstReadyMs } = await startStack(t)
  const usual = Math.max(stack.firstReadyMs, firstReadyMs)
  assert.ok(
    Math.min(...restarts) < 3 * usual,
    `ready again after ${restarts.map(Math.round).join(', ')} ms; a new stack takes ${Math.round(usual)} ms`,
  )
}
