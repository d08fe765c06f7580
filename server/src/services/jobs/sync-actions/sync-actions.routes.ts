// HTTP for sync actions (spec platform 6.3, 2.10): the component's own JSON is the answer.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { ComponentId, Nullable, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { membersOf } from '../../../kit/text/json-text.ts'
import { type Actor, canUseComponent } from '../../../model/actor.ts'
import { isOfflineAction } from './offline-actions.ts'

export interface Caller {
  readonly actor: Actor
  readonly branch: { readonly id: number; readonly isDefault: boolean }
  readonly baseUrl: string
}

export interface SyncActionsDeps {
  /** The component's answer as JSON text. Aborting ends the component. */
  readonly run: (
    caller: Caller,
    action: {
      readonly componentId: string
      readonly action: string
      readonly configData: string
      readonly tag: string | undefined
    },
    signal: AbortSignal,
  ) => Promise<string>
  /** A SQL transformation over a sample of its inputs; nothing is kept. */
  readonly tryScript: (
    caller: Caller,
    trial: {
      readonly componentId: string
      readonly configData: string
      readonly sampleRows: number | undefined
      readonly shownRows: number
    },
    signal: AbortSignal,
  ) => Promise<Tried>
  /** Translates the ids of clients to ours. */
  readonly canonicalId: (componentId: string) => string
  /** Undefined when there is no such component. */
  readonly actionsOf: (componentId: string) => readonly string[] | undefined
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  /** A configuration with shared code and variables put in, as JSON text, secrets as ciphers. */
  readonly resolve: (caller: Caller, request: Static<typeof ResolveBody>) => Promise<string>
}

const ConfigData = Type.Optional(
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Never()), Type.String()], {
    description: 'The configuration to act on: an object, or its JSON as a string.',
  }),
)
const Branch = Type.Optional(Type.String({ maxLength: 64, description: 'Branch by id; the default branch if omitted.' }))
const Tag = Type.Optional(Type.String({ maxLength: 255, description: 'Version of the component; its own by default.' }))
const Component = Type.String({ minLength: 1, description: 'Id of the component.' })
const ActionBody = Type.Object({
  componentId: Component,
  action: Type.String({ minLength: 1, description: 'Name of the action, from the list of the component.' }),
  configData: ConfigData,
  tag: Tag,
  branchId: Branch,
})
const LegacyBody = Type.Object({ configData: ConfigData, tag: Tag, branchId: Branch })
const ResolveBody = Type.Object({
  componentId: Component,
  configId: Type.String({ minLength: 1, description: 'Id of the configuration.' }),
  configRowId: optionalText('Row of the configuration.'),
  configVersion: optionalText('Version of the configuration; the current one by default.'),
  variableValuesId: optionalText('Row of values for the variables.'),
  variableValuesData: Type.Optional(
    Type.Union(
      [
        Type.Object({ values: Type.Optional(Type.Array(Type.Object({ name: Type.String(), value: Type.Unknown() }))) }),
        Type.Array(Type.Never()),
      ],
      { description: 'Values for the variables, instead of stored ones.' },
    ),
  ),
  branchId: Branch,
})

const MAX_SAMPLE_ROWS = 1_000_000
const DEFAULT_SAMPLE_ROWS = 1_000
const MAX_SHOWN_ROWS = 100
const DEFAULT_SHOWN_ROWS = 20
const TryBody = Type.Object({
  componentId: Component,
  configData: ConfigData,
  sampleRows: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MAX_SAMPLE_ROWS }), Type.Null()], {
      description: `Number of rows to read from each table; ${DEFAULT_SAMPLE_ROWS} by default, null: all rows.`,
    }),
  ),
  shownRows: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_SHOWN_ROWS,
      description: `Maximum number of rows of each result; ${DEFAULT_SHOWN_ROWS} by default.`,
    }),
  ),
  branchId: Branch,
})
const Count = Nullable(Type.Integer())
const Tried = Type.Object(
  {
    inputs: Type.Array(Type.Object({ name: Type.String(), tableId: Type.String(), rows: Type.Integer() })),
    steps: Type.Array(
      Type.Object({
        block: Type.String(),
        code: Type.String(),
        statement: Type.Integer({ description: 'Number of the statement in its code, from 1.' }),
        pointer: Type.String({ description: 'JSON pointer to its text in the configuration.' }),
        sql: Type.String({ description: 'The first 2,000 characters.' }),
        table: Nullable(Type.String({ description: 'Table or view that the statement creates or changes.' })),
        ms: Type.Number({ description: 'Duration of the statement.' }),
        rows: Nullable(
          Type.Integer({ description: 'Number of rows of its result, or of the table after it; null if not counted.' }),
        ),
        changedRows: Count,
        columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
        sample: Type.Array(Type.Array(Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))), {
          description: 'First rows. Strings are truncated after 500 characters.',
        }),
        isCut: Type.Boolean({ description: 'True: there are more rows or longer values than in `sample`.' }),
        problem: Nullable(Type.String({ description: 'Reason why the rows of its table or view cannot be read.' })),
      }),
    ),
    outputs: Type.Array(Type.Object({ source: Type.String(), destination: Nullable(Type.String()), rows: Count }), {
      description: 'Tables that a run would write; `rows` is null if the statements did not create it.',
    }),
    failure: Nullable(
      Type.Object(
        {
          message: Type.String(),
          kind: Nullable(Type.String()),
          pointer: Nullable(Type.String()),
          block: Nullable(Type.String()),
          code: Nullable(Type.String()),
          statement: Count,
          line: Nullable(Type.Integer({ description: 'In the text of the statement, from 1.' })),
          character: Count,
        },
        { description: 'The failed statement; later ones did not run.' },
      ),
    ),
    ms: Type.Integer(),
  },
  { title: 'TriedScript' },
)
type Tried = DeepReadonly<Static<typeof Tried>>
type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T

export function syncActionsRoutes(deps: SyncActionsDeps): FastifyPluginAsyncTypebox {
  async function callerOf(req: FastifyRequest, branchId: string | null | undefined): Promise<Caller> {
    const branch = branchId ? await deps.findBranch(req.actor.projectId, branchId) : req.branch
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${String(branchId).slice(0, 60)}"` })
    return { actor: req.actor, branch, baseUrl: req.baseUrl }
  }

  function refuseStrangers(req: FastifyRequest, componentId: string): void {
    if (!canUseComponent(req.actor, componentId, deps.canonicalId)) throw new PlatformError('accessDenied')
  }

  const configDataOf = (req: FastifyRequest, { configData }: Pick<Static<typeof ActionBody>, 'configData'>): string =>
    textOf(configData, membersOf(req.rawBody).get('configData'))

  function isOffline(req: FastifyRequest): boolean {
    const body = req.body as Static<typeof ActionBody> // by the schema of the route
    return isOfflineAction(deps.canonicalId(body.componentId), body.action, configDataOf(req, body))
  }

  async function run(req: FastifyRequest, reply: FastifyReply, body: Static<typeof ActionBody>): Promise<FastifyReply> {
    refuseStrangers(req, body.componentId)
    const caller = await callerOf(req, body.branchId)
    const configData = configDataOf(req, body)
    if (req.actor.onlyProposes && !isOfflineAction(deps.canonicalId(body.componentId), body.action, configData))
      throw new PlatformError('proposals.notPossible', { operation: `syncActions.run (${body.action.slice(0, 60)})` })
    const action = { componentId: body.componentId, action: body.action, configData, tag: body.tag ?? undefined }
    return reply.type('application/json').send(await deps.run(caller, action, callerGone(reply, 'killed')))
  }

  return async (app) => {
    app.post(
      '/sync-actions/actions',
      {
        config: {
          operation: 'syncActions.run',
          summary: 'Run an action of a component and return its result',
          needs: 'component',
          proposable: 'own', // see isOfflineAction: it changes nothing
          reachesNothing: isOffline,
          validationCode: 'validation.failed',
        },
        schema: { body: ActionBody, response: { 200: Type.Unknown() } },
      },
      (req, reply) => run(req, reply, req.body),
    )

    app.get(
      '/sync-actions/actions',
      {
        config: { operation: 'syncActions.list', summary: 'List actions of a component', needs: 'token' },
        schema: {
          querystring: Type.Object({ componentId: Component }),
          response: { 200: Type.Object({ actions: Type.Array(Type.String()) }) },
        },
      },
      async (req) => {
        const actions = deps.actionsOf(req.query.componentId)
        if (!actions) throw new PlatformError('queue.unknownComponent', { component: req.query.componentId })
        return { actions: [...actions] }
      },
    )

    app.post(
      '/sync-actions/sql/try',
      {
        config: {
          operation: 'syncActions.trySql',
          summary: 'Run a SQL transformation over a sample of its inputs and return rows and times; stores nothing',
          needs: 'component',
          validationCode: 'validation.failed',
        },
        schema: { body: TryBody, response: { 200: Tried } },
      },
      async (req, reply) => {
        const { componentId, sampleRows = DEFAULT_SAMPLE_ROWS, shownRows = DEFAULT_SHOWN_ROWS, branchId } = req.body
        refuseStrangers(req, componentId)
        const caller = await callerOf(req, branchId)
        const configData = configDataOf(req, req.body)
        const trial = { componentId, configData, sampleRows: sampleRows ?? undefined, shownRows }
        const tried = await deps.tryScript(caller, trial, callerGone(reply, 'killed'))
        return tried as Static<typeof Tried> // lists are read-only inside
      },
    )

    app.post(
      '/docker-runner/docker/:component/action/:action',
      {
        config: {
          operation: 'dockerRunner.action',
          summary: 'Run an action of a component (older form)',
          needs: 'component',
          validationCode: 'validation.failed',
        },
        schema: {
          params: Type.Object({ component: ComponentId, action: Type.String({ description: 'Name of the action.' }) }),
          body: LegacyBody,
          response: { 200: Type.Unknown() },
        },
      },
      (req, reply) => run(req, reply, { ...req.body, componentId: req.params.component, action: req.params.action }),
    )

    for (const path of [
      '/sync-actions/configuration/resolve',
      '/syrup/docker/configuration/resolve',
      '/docker-runner/docker/configuration/resolve',
    ]) {
      app.post(
        path,
        {
          config: {
            operation: `${path.split('/')[1]?.replace(/-(\w)/, (_, letter: string) => letter.toUpperCase())}.resolve`,
            summary: 'A configuration with resolved shared code and variables',
            needs: 'component',
            validationCode: 'validation.failed',
          },
          schema: { body: ResolveBody, response: { 200: Type.Unknown() } },
        },
        async (req, reply) => {
          refuseStrangers(req, req.body.componentId)
          return reply.type('application/json').send(await deps.resolve(await callerOf(req, req.body.branchId), req.body))
        },
      )
    }
  }
}

/** As the client wrote it; a form has it as a text, and an empty PHP object arrives as a list. */
function textOf(parsed: unknown, written: string | undefined): string {
  if (parsed === undefined) return '{}' // not given, or null
  const text = typeof parsed === 'string' ? parsed : (written ?? JSON.stringify(parsed))
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value) && value.length === 0) return '{}'
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text
  } catch {
    // reported below
  }
  const reason = 'This value should be an object.'
  throw new PlatformError(
    'validation.failed',
    { field: 'configData', reason },
    { errors: [{ key: 'configData', message: reason }] },
  )
}
