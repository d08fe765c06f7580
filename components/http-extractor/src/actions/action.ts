// What every synchronous action gets.

import type { Configuration } from '../configuration/configuration.ts'
import type { JsonObject } from '../json/json.ts'
import type { RunDeps } from '../run.ts'

export interface ActionDeps extends RunDeps {
  /** The whole of config.json: an action need not have `api` and `config`. */
  readonly file: JsonObject
  readonly configuration: () => Configuration
}
