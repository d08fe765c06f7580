import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import { type EventSource, eventOf, type NewEvent, type Origin } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { AgentGuardsModule } from '../../access/agent-guards/agent-guards.module.ts'
import type { AgentSignInModule } from '../../access/agent-sign-in/agent-sign-in.module.ts'
import type { GuidesModule } from '../guides/guides.module.ts'
import { agentRequestsRoutes } from './agent-requests.routes.ts'
import { maskedArguments } from './masked.ts'
import { mcpRoutes } from './mcp.routes.ts'
import { adminTools } from './tools/admin.ts'
import { buildTools } from './tools/build.ts'
import { connectTools } from './tools/connect.ts'
import { dataTools } from './tools/data.ts'
import { lookTools } from './tools/look.ts'
import { proposeTools } from './tools/propose.ts'
import { queryTools } from './tools/query.ts'
import { runTools } from './tools/run.ts'

export interface McpDeps {
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
  const { guides, guards, agentSignIn, recordLater, version, callsPerDay = DEFAULT_LIMITS.agentCallsPerDay } = deps
  const tools = [
    ...lookTools(guides.findPassages),
    ...queryTools,
    ...runTools,
    ...buildTools,
    ...connectTools(guides.findPassages),
    ...dataTools,
    ...adminTools,
  ]
  const routes = mcpRoutes({
    ...{ version, tools, proposeTools, guards, challengeOf: agentSignIn.challengeOf },
    publicHosts: new Set(deps.origins.filter((origin) => URL.canParse(origin)).map((origin) => new URL(origin).hostname)),
    spend: guards.budget('calls', callsPerDay),
    onCalled: ({ actor, origin }, tool, args, outcome) => {
      const params = { tool: tool.slice(0, 100), outcome, arguments: maskedArguments(args) }
      const object = { objectId: String(actor.tokenId), objectName: actor.tokenDescription }
      recordLater(actor, eventOf('storage.agentToolCalled', params, object), origin)
    },
  })
  return defineModule({ name: 'mcp', routes: [routes, agentRequestsRoutes(guards)] })
}
