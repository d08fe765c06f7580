import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { createEgress } from '../../../engines/egress/egress.ts'
import type { Core } from '../../../model/core.ts'
import { type EventSource, eventOf, type NewEvent, type Origin } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { AgentGuardsModule } from '../../access/agent-guards/agent-guards.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { TemplatesModule } from '../../configuration/templates/templates.module.ts'
import type { GuidesModule } from '../guides/guides.module.ts'
import { aiRoutes } from './ai.routes.ts'
import { type AskModel, createAskModel } from './ask-model.ts'
import { modelRoutes } from './model.routes.ts'
import { addressOf, createModel, type ModelSettings } from './model.ts'

export interface AiModuleDeps {
  readonly core: Pick<Core, 'clock'>
  readonly guides: GuidesModule
  readonly components: ComponentsModule
  readonly templates: TemplatesModule
  /** Undefined: the operator named no model. */
  readonly settings: ModelSettings | undefined
  readonly budget: AgentGuardsModule['budget']
  /** Keeps an event without waiting for it. */
  readonly recordLater: (source: EventSource, event: NewEvent, origin: Origin) => void
}

export function createAiModule(deps: AiModuleDeps) {
  const { guides, components, templates, settings } = deps
  const asked = settings && askModelOf(deps, settings)
  return defineModule({
    name: 'ai',
    routes: [
      aiRoutes({
        findPassages: guides.findPassages,
        findComponent: (id) => components.find(id),
        listComponents: () => components.list(),
        examplesOf: (id) => templates.examplesOf((other) => components.find(other)?.id === id),
        asked,
      }),
      modelRoutes({ findPassages: guides.findPassages, asked }),
    ],
  })
}

/** The operator named this address, which may be private: it is the only one that is reached, and redirects are not followed. */
function askModelOf({ core, budget, recordLater }: AiModuleDeps, settings: ModelSettings): AskModel {
  const egress = createEgress({ policy: egressPolicyFrom([addressOf(settings)]) })
  return createAskModel({
    model: createModel(settings, egress.send),
    clock: core.clock,
    spend: budget('model_calls', settings.callsPerDay),
    onAsked: ({ actor, origin }, call) => {
      const object = { objectId: String(actor.tokenId), objectName: actor.tokenDescription }
      recordLater(actor, eventOf('storage.modelCalled', { ...call }, object), origin)
    },
  })
}

export type { ModelSettings }
