import type { Clock } from '../../../kit/clock.ts'
import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import { repeat } from '../../../kit/repeat.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventSource, eventOf, type NewEvent, type Origin } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { AgentGuardsModule } from '../../access/agent-guards/agent-guards.module.ts'
import type { AgentSignInModule } from '../../access/agent-sign-in/agent-sign-in.module.ts'
import type { GuidesModule } from '../guides/guides.module.ts'
import { agentRequestsRoutes } from './agent-requests.routes.ts'
import { maskedArguments } from './masked.ts'
import { mcpRoutes } from './mcp.routes.ts'
import { createRefusedCalls } from './refused-calls.ts'
import { adminTools } from './tools/admin.ts'
import { buildTools } from './tools/build.ts'
import { connectTools } from './tools/connect.ts'
import { dataTools } from './tools/data.ts'
import { lookTools } from './tools/look.ts'
import { proposeTools } from './tools/propose.ts'
import { queryTools } from './tools/query.ts'
import { runTools } from './tools/run.ts'

const FLUSH_MS = 10_000

interface Caller {
  readonly actor: Actor
  readonly origin: Origin
}

export interface McpDeps {
  readonly clock: Clock
  readonly guides: GuidesModule
  readonly guards: AgentGuardsModule
  readonly agentSignIn: AgentSignInModule
  /** Keeps an event without waiting for it. */
  readonly recordLater: (source: EventSource, event: NewEvent, origin: Origin) => void
  readonly version: string
  readonly callsPerDay: number | undefined
  /** Addresses of the stack, and origins that may call it. */
  readonly origins: readonly string[]
}

export function createMcpModule(deps: McpDeps) {
  const { clock, guides, guards, agentSignIn, recordLater, version, callsPerDay = DEFAULT_LIMITS.agentCallsPerDay } = deps
  const tools = [
    ...lookTools(guides.findPassages),
    ...queryTools,
    ...runTools,
    ...buildTools,
    ...connectTools(guides.findPassages),
    ...dataTools,
    ...adminTools,
  ]
  function recordCall(
    { actor, origin }: Caller,
    tool: string,
    masked: string,
    more: { readonly outcome: 'success' | 'refused'; readonly repetitions?: number },
  ): void {
    const params = { tool: tool.slice(0, 100), arguments: masked, ...more }
    const object = { objectId: String(actor.tokenId), objectName: actor.tokenDescription }
    recordLater(actor, eventOf('storage.agentToolCalled', params, object), origin)
  }
  const refusedCalls = createRefusedCalls<Caller>({
    clock,
    knownTools: new Set([...tools, ...proposeTools].map(({ name }) => name)),
    record: (caller, tool, masked, repetitions) =>
      recordCall(caller, tool, masked, { outcome: 'refused', ...(repetitions > 0 && { repetitions }) }),
  })
  const routes = mcpRoutes({
    ...{ version, tools, proposeTools, guards, challengeOf: agentSignIn.challengeOf },
    publicHosts: new Set(deps.origins.filter((origin) => URL.canParse(origin)).map((origin) => new URL(origin).hostname)),
    spend: guards.budget('calls', callsPerDay),
    onCalled: ({ actor, origin }, tool, args, outcome) => {
      const caller = { actor, origin }
      const masked = maskedArguments(args)
      if (outcome === 'refused') refusedCalls.note(actor.tokenId, caller, tool, masked)
      else recordCall(caller, tool, masked, { outcome })
    },
  })
  const flushing = repeat({ everyMs: FLUSH_MS, work: async () => refusedCalls.flush(), onError: () => {} })
  return defineModule({
    name: 'mcp',
    routes: [routes, agentRequestsRoutes(guards)],
    background: [
      {
        start: flushing.start,
        stop: async () => {
          await flushing.stop()
          refusedCalls.flush(true)
        },
      },
    ],
  })
}
