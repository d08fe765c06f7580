// Recorded events, compared with their definitions: whatever a test did, what it left is as docs/events.md describes.

import assert from 'node:assert/strict'
import { EVENTS, type EventDefinition } from '../../server/src/model/event-definitions.ts'

export interface RecordedEvent {
  readonly event: string
  readonly type: string
  readonly message: string
  readonly objectType: string | null
  readonly params: Readonly<Record<string, unknown>>
}

export function assertDefined(events: readonly RecordedEvent[]): void {
  for (const { event, type, message, objectType, params } of events) {
    if (event.startsWith('ext.')) continue
    const definition = (EVENTS as Readonly<Record<string, EventDefinition>>)[event]
    assert.ok(definition, `${event} is not defined`)
    assert.equal(objectType, definition.objectType, event)
    assert.equal(type, definition.type ?? 'info', event)
    const expected = definition.params.filter((name) => !name.endsWith('?') || Object.hasOwn(params, name.slice(0, -1)))
    assert.deepEqual(
      Object.keys(params),
      expected.map((name) => name.replace('?', '')),
      `params of ${event}`,
    )
    assert.match(message, patternOf(definition.message), event)
  }
}

const patternOf = (message: string): RegExp =>
  new RegExp(
    `^${message
      .split(/\{[\w. ]+\}/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*')}$`,
  )
