// A description as the runner and the queue read it.

import type { ComponentDescription } from '../../../../../contract/component.ts'
import type { RunnableComponent } from '../../../model/run-ports.ts'

export function runnableComponent(component: ComponentDescription | undefined): RunnableComponent | undefined {
  if (!component) return undefined
  const { data } = component
  const { name, command, digest, ...definition } = data.definition
  return {
    id: component.id,
    aliases: component.aliases,
    type: component.type,
    features: component.features,
    definition: { ...definition, ...(name ? { name } : {}), ...(command ? { command } : {}), ...(digest ? { digest } : {}) },
    configurationFormat: data.configuration_format,
    network: data.network,
    memory: data.memory,
    processTimeoutSeconds: data.process_timeout,
    forwardToken: data.forward_token,
    forwardTokenDetails: data.forward_token_details,
    defaultBucket: data.default_bucket,
    defaultBucketStage: data.default_bucket_stage,
    stagingInput: data.staging_storage.input,
    stagingOutput: data.staging_storage.output,
    imageParameters: data.image_parameters,
    isRepeatable: data.repeatable,
    synchronousActions: data.synchronous_actions,
    logging: {
      type: data.logging.type,
      gelfServerType: data.logging.gelf_server_type,
      verbosity: data.logging.verbosity as RunnableComponent['logging']['verbosity'], // other words count as the default
      noApplicationErrors: data.logging.no_application_errors,
    },
    dataTypesSupport: oneOf(component.dataTypesConfiguration.dataTypesSupport, ['hints', 'authoritative'], 'none'),
    processorPosition: oneOf(component.processorConfiguration.allowedProcessorPosition, ['before', 'after'], 'any'),
  }
}

const oneOf = <const T extends string, const F extends string>(value: unknown, choices: readonly T[], fallback: F): T | F =>
  choices.find((choice) => choice === value) ?? fallback

/** The properties of a component that the queue needs. */
export const queueComponent = (component: ComponentDescription | undefined, flowFormatOf: (id: string) => string | undefined) =>
  component && {
    id: component.id,
    tag: component.data.definition.tag,
    features: component.features,
    labels: component.data.node_labels,
    problem: problemOf(component),
    isFlow: flowFormatOf(component.id) !== undefined,
    isWriter: component.type === 'writer',
  }

/** Why a component cannot run; undefined when it can. */
const problemOf = ({ data, hasRun, id }: ComponentDescription): string | undefined => {
  if (!hasRun && data.definition.uri === '' && !data.definition.command)
    return `${id} has no program here; the stack only keeps its configurations.`
  return data.definition.type === 'command' && !data.definition.command
    ? 'its description names no command: set data.definition.command to the program and its arguments.'
    : undefined
}
