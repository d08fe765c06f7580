import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { sampleApiRoutes } from './sample-api.routes.ts'
import { createSampleApi } from './sample-api.ts'

export interface SampleApiModuleDeps {
  readonly core: Core
  readonly isServed: boolean
}

export function createSampleApiModule({ core, isServed }: SampleApiModuleDeps) {
  const sample = createSampleApi({ clock: core.clock, isServed })
  return defineModule({
    name: 'sample-api',
    // What a worker reads at the public address of the stack may be itself, as in containers that all listen on one port.
    routesOfEveryNode: [sampleApiRoutes(sample)],
    places: sample.places,
  })
}
