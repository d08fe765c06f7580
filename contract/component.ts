// A component description, as the index publishes it and as a file in the components folder states it (spec platform 1.1, spec storage 2.1).

import { type Static, Type } from 'typebox'

const Json = Type.Record(Type.String(), Type.Unknown())
const Text = Type.String()
const Nullable = Type.Union([Type.String(), Type.Null()])

const ComponentData = Type.Object({
  definition: Type.Object({
    /** `builtin`: shipped with Millrace, `sql`: a script for its SQL engine, `spark`: a script for the registered Spark cluster, `python`: a script for the Python of the node, `program`: shipped with Millrace, and starts programs that users name, `sandboxes`: a task for its sandboxes, `command`: a program on this machine; the others are images. */
    type: Type.Union([
      Type.Literal('builtin'),
      Type.Literal('sql'),
      Type.Literal('spark'),
      Type.Literal('python'),
      Type.Literal('program'),
      Type.Literal('sandboxes'),
      Type.Literal('command'),
      Type.Literal('dockerhub'),
      Type.Literal('quayio'),
      Type.Literal('aws-ecr'),
    ]),
    /** Image without its tag; for `builtin` the program's file below components/; for `command` the folder it starts in. */
    uri: Type.String(),
    tag: Type.String(),
    digest: Type.Optional(Type.String()),
    name: Type.Optional(Nullable),
    /** `command` only: the program and its arguments. */
    command: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    repository: Type.Object({
      region: Type.String(),
      username: Type.Optional(Type.String()),
      '#password': Type.Optional(Type.String()),
      server: Type.Optional(Type.String()),
    }),
  }),
  vendor: Type.Object({ name: Type.Optional(Type.String()), contact: Type.Array(Type.String()), licenseUrl: Type.String() }),
  configuration_format: Type.Union([Type.Literal('json'), Type.Literal('yaml')]),
  network: Type.Union([Type.Literal('none'), Type.Literal('bridge'), Type.Literal('no-internet')]),
  memory: Type.String({ pattern: '^[1-9][0-9]{0,6}[mg]$' }),
  process_timeout: Type.Integer({ minimum: 1, maximum: 86400 }),
  forward_token: Type.Boolean(),
  forward_token_details: Type.Boolean(),
  default_bucket: Type.Boolean(),
  default_bucket_stage: Type.Union([Type.Literal('in'), Type.Literal('out')]),
  staging_storage: Type.Object({ input: Type.String(), output: Type.String() }),
  image_parameters: Json,
  synchronous_actions: Type.Array(Type.String()),
  /** What the node that runs it must have (`MILLRACE_NODE_LABELS`). */
  node_labels: Type.Array(Type.String({ pattern: '^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$' })),
  /** A run that was lost before anything was published may be run again: it changes nothing outside of the project. */
  repeatable: Type.Boolean(),
  logging: Type.Object({
    type: Type.Union([Type.Literal('standard'), Type.Literal('gelf')]),
    gelf_server_type: Type.Union([Type.Literal('tcp'), Type.Literal('udp'), Type.Literal('http')]),
    verbosity: Json,
    no_application_errors: Type.Boolean(),
  }),
})
export type ComponentData = Static<typeof ComponentData>

export const ComponentDescription = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }),
  /** Other ids of the same component; a configuration made under one is found under all. */
  aliases: Type.Array(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' })),
  type: Type.Union([
    Type.Literal('extractor'),
    Type.Literal('writer'),
    Type.Literal('application'),
    Type.Literal('transformation'),
    Type.Literal('processor'),
    Type.Literal('code-pattern'),
    Type.Literal('data-app'),
    Type.Literal('other'),
  ]),
  name: Type.String({ minLength: 1 }),
  description: Text,
  longDescription: Text,
  version: Type.Integer({ minimum: 1 }),
  hasUI: Type.Boolean(),
  hasRun: Type.Boolean(),
  ico32: Nullable,
  ico64: Nullable,
  ico128: Nullable,
  data: ComponentData,
  flags: Type.Array(Type.String()),
  features: Type.Array(Type.String()),
  categories: Type.Array(Type.String()),
  configurationSchema: Json,
  configurationRowSchema: Json,
  createConfigurationRowSchema: Json,
  emptyConfiguration: Json,
  emptyConfigurationRow: Json,
  uiOptions: Json,
  configurationDescription: Nullable,
  documentationUrl: Text,
  /** Where the component runs; filled in when it is published. */
  uri: Text,
  complexity: Nullable,
  expiredOn: Nullable,
  dataTypesConfiguration: Json,
  processorConfiguration: Json,
})
export type ComponentDescription = Static<typeof ComponentDescription>
