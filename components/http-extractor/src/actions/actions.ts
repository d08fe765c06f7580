// Synchronous actions for builders: config.json names one in `action`; the answer is one JSON document on standard output.
// They end within the 30 seconds the platform gives them, so they try a request once and wait less.

import { UserError } from '../errors.ts'
import type { JsonValue } from '../json/json.ts'
import type { ActionDeps } from './action.ts'
import { curlToConfig } from './curl-to-config.ts'
import { evaluateAction } from './evaluate.ts'
import { harToConfig } from './har-to-config.ts'
import { openapiToConfig } from './openapi-to-config.ts'
import { previewPage } from './preview-page.ts'
import { suggest } from './suggest.ts'
import { testConnection } from './test-connection.ts'
import { walkPages } from './walk-pages.ts'
import { walkPlan } from './walk-plan.ts'

const ACTIONS: Readonly<Record<string, (deps: ActionDeps) => Promise<JsonValue>>> = {
  testConnection,
  previewPage,
  walkPages,
  walkPlan,
  suggest,
  curlToConfig,
  openapiToConfig,
  harToConfig,
  evaluate: evaluateAction,
}

export const ACTION_NAMES: readonly string[] = Object.keys(ACTIONS)

export async function runAction(name: string, deps: ActionDeps): Promise<JsonValue> {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  if (!action) throw new UserError(`Unknown action '${name}'. Known actions: run, ${ACTION_NAMES.join(', ')}.`)
  return action(deps)
}
