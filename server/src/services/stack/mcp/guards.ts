// What this module needs of the guards of agents.

import type { Actor } from '../../../model/actor.ts'

export interface AgentRequest {
  readonly id: string
  readonly token_id: number
  readonly token_description: string
  readonly kind: 'allow' | 'call' | 'secret'
  readonly subject: string
  /** JSON. */
  readonly detail: string
  readonly state: string
  readonly decided_by: string | null
  readonly created_at: number
}

export interface GuardsOfAgents {
  /** Values that a tool returned from data. */
  remember(actor: Actor, values: readonly string[]): Promise<void>
  /** True once for each leave. */
  useLeave(actor: Actor, tool: string, args: unknown): Promise<boolean>
  /** Asks a person, and returns the id of the request. */
  request(actor: Actor, kind: AgentRequest['kind'], subject: string, detail: object, args: unknown): Promise<string>
  list(actor: Actor): Promise<readonly AgentRequest[]>
  /** A request of the caller itself; of any other it does not exist. */
  ownRequest(actor: Actor, id: string): Promise<AgentRequest>
  /** The request, if it waits. Rejects when the caller is the agent itself. */
  toDecide(actor: Actor, isSession: boolean, id: string): Promise<AgentRequest>
  decide(actor: Actor, isSession: boolean, id: string, isAllowed: boolean): Promise<AgentRequest>
}
