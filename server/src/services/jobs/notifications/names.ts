// Adds names for people to a payload of ids.

import { valueAt } from './filters.ts'
import type { Payload } from './payloads.ts'

export interface Names {
  projectName(): Promise<string | undefined>
  componentName(id: string): string | undefined
  configurationName(componentId: string, configurationId: string): Promise<string | undefined>
}

/** What has gone meanwhile has no name any more. */
export async function addNames(names: Names, payload: Payload): Promise<Payload> {
  const project = { ...objectAt(payload, 'project'), name: (await names.projectName()) ?? '' }
  const componentId = valueAt(payload, 'job.component.id')
  const configurationId = valueAt(payload, 'job.configuration.id')
  if (typeof componentId !== 'string' || componentId === '') return { ...payload, project }
  const configurationName =
    typeof configurationId === 'string' ? await names.configurationName(componentId, configurationId) : undefined
  const job = {
    ...objectAt(payload, 'job'),
    component: { id: componentId, name: names.componentName(componentId) ?? componentId },
    configuration: { id: configurationId, name: configurationName ?? '' },
  }
  return { ...payload, job, project }
}

const objectAt = (payload: Payload, name: string): object => {
  const value = payload[name]
  return typeof value === 'object' && value !== null ? value : {}
}
