// The engine inside the process of the test, as the command `read` runs it: a frozen clock, waits written down, no egress policy.

import { createEgress } from '../../http-extractor/src/http/egress.ts'
import { OPEN } from '../../http-extractor/src/http/egress-policy.ts'
import type { Clock } from '../src/clock.ts'
import { read } from '../src/commands.ts'
import { messageOf } from '../src/errors.ts'
import { createTransport } from '../src/http/transport.ts'
import { loadManifest } from '../src/manifest/load.ts'
import type { Messages } from '../src/messages.ts'
import { jsonText } from '../src/python/json.ts'
import { createSource } from '../src/source.ts'
import { readStates } from '../src/state.ts'
import type { PyDatetime } from '../src/time/datetime.ts'
import { parseIso } from '../src/time/formats.ts'
import type { Engine } from './case.ts'

/** `instant` is a clock of its own for what expires. */
export const engine = async (given: Parameters<Engine>[0], instant?: () => PyDatetime): ReturnType<Engine> => {
  const records: Record<string, unknown[]> = {}
  const states: Record<string, unknown> = {}
  const waits: number[] = []
  const problems: string[] = []
  const messages: Messages = {
    record: (stream, data) => {
      records[stream] ??= []
      records[stream].push(JSON.parse(jsonText(data)))
    },
    write: (message) => {
      const { state, trace } = JSON.parse(jsonText(message)) as { state?: StateMessage; trace?: { error: { message: string } } } // by commands.ts
      if (state) states[state.stream.stream_descriptor.name] = state.stream.stream_state
      if (trace) problems.push(trace.error.message)
    },
    flush: async () => {},
  }
  const now = parseIso(given.now).inUtc()
  const clock: Clock = {
    now: () => now,
    instant: instant ?? (() => now),
    elapsed: () => 0,
    wait: async (seconds, kind) => {
      if (kind === 'backoff') waits.push(seconds)
    },
  }
  const transport = createTransport(createEgress(OPEN))
  let good = false
  try {
    const manifest = loadManifest(given.manifestText ?? JSON.stringify(given.manifest))
    const source = createSource(manifest, given.config, {
      clock,
      send: transport.send,
      hide: () => {},
      warn: () => {},
      saveConfig: () => {},
    })
    good = await read(
      source,
      { streams: given.streams.map(({ name }) => ({ stream: { name } })) },
      readStates(given.state),
      messages,
    )
  } catch (error) {
    problems.push(messageOf(error))
  } finally {
    await transport.close()
  }
  return { failed: !good, why: problems.join('; '), records, states, waits }
}

interface StateMessage {
  readonly stream: { readonly stream_descriptor: { readonly name: string }; readonly stream_state: unknown }
}
