// HTTP for proposals (spec storage 2.3a).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId, optionalFlag } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import type { Needs } from '../../../http/rights.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { expiryOf, type KnownProposal, type Proposals, refusalOf } from './proposals.ts'
import type { Difference } from './review.ts'

export interface Review {
  readonly changes: readonly {
    readonly componentId: string
    readonly configurationId: string
    readonly name: string
    readonly kind: string
    readonly isConflict: boolean
    readonly differences: readonly Difference[]
  }[]
  readonly storageChanges: readonly {
    readonly kind: string
    readonly tableId: string
    readonly name: string
    readonly change: string
    readonly isConflict: boolean
    readonly differences: readonly Difference[]
  }[]
  readonly runs: readonly {
    readonly componentId: string
    readonly configurationId: string
    readonly jobId: string | null
    readonly problem: string | null
  }[]
  readonly tables: readonly string[]
  readonly schedules: readonly { readonly configurationId: string; readonly cronTab: string }[]
  readonly hosts: readonly { readonly host: string; readonly isNew: boolean }[]
  readonly runBy: readonly { readonly componentId: string; readonly configurationId: string; readonly name: string }[]
  readonly destinations: readonly { readonly componentId: string; readonly configurationId: string; readonly name: string }[]
  readonly costs: readonly {
    readonly componentId: string
    readonly configurationId: string
    readonly runs: number
    readonly usualMs: number | null
  }[]
}

export interface ProposalsRoutesDeps {
  readonly proposals: Proposals
  readonly review: (actor: Actor, found: KnownProposal) => Promise<Review>
}

const MAX_RUNS = 20
const PLACE = '/v2/storage/proposals'
const ById = Type.Object({ id: numberedId('proposal') })
const Reason = Type.String({ minLength: 1, maxLength: 1000, description: 'Reason, shown to the agent.' })
const PLACE_OF = { componentId: Type.String(), configurationId: Type.String() }
const VIEW = {
  id: Type.Integer(),
  state: Type.String({
    description: '`open`, `submitted`, `refused` (and open again), `accepted`, `undone`, `expired` or `discarded`.',
  }),
  title: Nullable(Type.String()),
  description: Nullable(Type.String()),
  token: Type.Object({ id: Type.Integer(), description: Type.String() }),
  branchId: Type.Integer(),
  mergeRequestId: Nullable(Type.Integer()),
  created: Timestamp,
  expires: Nullable(Type.String({ format: 'date-time', description: 'Expiry if there is no further step.' })),
  link: Type.String({ description: 'Page of the console where a person decides.' }),
  refusal: Nullable(Type.Object({ reason: Type.String(), by: Type.String() })),
}
const View = Type.Object(VIEW, { title: 'Proposal' })
const Differences = Type.Array(
  Type.Object({
    pointer: Type.String(),
    before: Nullable(Type.String()),
    after: Nullable(Type.String()),
    copiedFrom: Nullable(Type.String({ description: 'Value that the token has read in data and that this change contains.' })),
  }),
  { description: 'Values as JSON text, secrets hidden; at most 200.' },
)
const ReviewView = Type.Object(
  {
    ...VIEW,
    changes: Type.Array(
      Type.Object({
        componentId: Type.String(),
        configurationId: Type.String(),
        name: Type.String(),
        kind: Type.String({ description: '`created`, `changed` or `deleted`.' }),
        isConflict: Type.Boolean({ description: 'True: changed in the default branch, too; accepting is refused.' }),
        differences: Differences,
      }),
    ),
    storageChanges: Type.Array(
      Type.Object({
        kind: Type.String({ description: '`dataTest`, `dataContract`, `table` or `tableMetadata`.' }),
        tableId: Type.String(),
        name: Type.String(),
        change: Type.String({ description: '`created` or `changed`.' }),
        isConflict: Type.Boolean({ description: 'True: the default branch has changed, and accepting is refused.' }),
        differences: Differences,
      }),
      { description: 'What is changed besides configurations.' },
    ),
    runs: Type.Array(
      Type.Object({
        ...PLACE_OF,
        jobId: Nullable(Type.String({ description: 'Null before it is started.' })),
        problem: Nullable(Type.String({ description: 'Why it was not started.' })),
      }),
      { description: 'Configurations that run once the proposal is accepted.' },
    ),
    tables: Type.Array(Type.String(), { description: 'Tables that the changes read, write or are about.' }),
    schedules: Type.Array(Type.Object({ configurationId: Type.String(), cronTab: Type.String() })),
    hosts: Type.Array(
      Type.Object({
        host: Type.String(),
        isNew: Type.Boolean({ description: 'True: no configuration of the default branch contains it.' }),
      }),
    ),
    runBy: Type.Array(Type.Object({ ...PLACE_OF, name: Type.String() }), {
      description: 'Flows and schedules that run changed configurations.',
    }),
    destinations: Type.Array(Type.Object({ ...PLACE_OF, name: Type.String() }), {
      description: 'Configurations that send tables to other systems: changed ones, and readers of changed tables.',
    }),
    costs: Type.Array(
      Type.Object({
        ...PLACE_OF,
        runs: Type.Integer({ description: 'Number of successful production runs considered.' }),
        usualMs: Nullable(Type.Integer({ description: 'Their median duration.' })),
      }),
      { description: 'Durations of earlier runs of the changed configurations.' },
    ),
  },
  { title: 'ProposalReview' },
)

const config = (operation: string, summary: string, needs: Needs) =>
  ({ operation: `proposals.${operation}`, summary, needs, branch: 'refused', proposable: 'own' }) as const

export function proposalsRoutes({ proposals, review }: ProposalsRoutesDeps): FastifyPluginAsyncTypebox {
  const idOf = (text: string) => idFrom(text, () => new PlatformError('proposals.notFound', { id: text.slice(0, 40) }))
  return async (app) => {
    app.get(
      PLACE,
      {
        config: config('list', 'List proposals, newest first: all for callers who can decide, otherwise their own', 'token'),
        schema: { response: { 200: Type.Array(View) } },
      },
      async (req) => (await proposals.list(req.actor)).map((found) => viewOf(req, found)),
    )

    app.post(
      PLACE,
      {
        config: {
          ...config(
            'begin',
            'Propose the changes of a development branch, for users and ordinary tokens',
            'canManageDevBranches',
          ),
          proposable: undefined,
        },
        schema: {
          body: Type.Object({ branchId: Type.Integer({ minimum: 1, description: 'Development branch with the changes.' }) }),
          response: { 201: View },
        },
      },
      async (req, reply) => reply.code(201).send(viewOf(req, await proposals.begin(req.actor, req.body.branchId))),
    )

    app.get(
      `${PLACE}/:id`,
      {
        config: config('get', 'A proposal with its changes and effects', 'proposal'),
        schema: { params: ById, response: { 200: ReviewView } },
      },
      async (req) => {
        const read = async () => {
          const found = await proposals.get(req.actor, idOf(req.params.id))
          return { ...viewOf(req, found), ...(await review(req.actor, found)) } as Type.Static<typeof ReviewView> // lists are read-only inside
        }
        return read().catch((error: unknown) => {
          if (!(error instanceof PlatformError && error.kind === 'not-found')) throw error
          return read() // its branch may have been merged in between
        })
      },
    )

    app.post(
      `${PLACE}/:id/submit`,
      {
        config: config('submit', 'Submit your proposal for a decision', 'ownProposal'),
        schema: {
          params: ById,
          body: Type.Object({
            title: Type.String({ minLength: 1, maxLength: 255, description: 'Title.' }),
            description: Type.Optional(Type.String({ maxLength: 65_536, description: 'Why.' })),
            run: Type.Optional(
              Type.Array(
                Type.Object({
                  component: Type.String({ minLength: 1, maxLength: 255, description: 'Id of the component.' }),
                  config: Type.String({ minLength: 1, maxLength: 255, description: 'Id of the configuration.' }),
                }),
                {
                  maxItems: MAX_RUNS,
                  description:
                    'Configurations to run once the proposal is accepted, with the rights of who accepts it. They start together; use a flow for an order.',
                },
              ),
            ),
          }),
          response: { 200: View },
        },
      },
      async (req) => {
        const { title, description = '', run = [] } = req.body
        const runs = run.map(({ component, config: id }) => ({ componentId: component, configurationId: id }))
        return viewOf(req, await proposals.submit(req.actor, idOf(req.params.id), { title, description, runs }, req.origin))
      },
    )

    app.post(
      `${PLACE}/:id/accept`,
      {
        config: {
          ...config('accept', 'Approve a submitted proposal; it is applied as a whole', 'canManageDevBranches'),
          proposable: undefined,
        },
        schema: {
          params: ById,
          body: Type.Optional(
            Type.Object({
              reason: Type.Optional(Reason),
              runJobs: optionalFlag('False: the jobs of the proposal are not started. Default: true.'),
            }),
          ),
          response: { 200: View },
        },
      },
      async (req) => viewOf(req, await proposals.accept(req, idOf(req.params.id), req.body ?? {})),
    )

    app.post(
      `${PLACE}/:id/refuse`,
      {
        config: {
          ...config('refuse', 'Refuse a submitted proposal, with a reason', 'canManageDevBranches'),
          proposable: undefined,
        },
        schema: { params: ById, body: Type.Object({ reason: Reason }), response: { 200: View } },
      },
      async (req) => viewOf(req, await proposals.refuse(req, idOf(req.params.id), req.body.reason)),
    )

    app.post(
      `${PLACE}/:id/undo`,
      {
        config: {
          ...config('undo', 'Undo an accepted proposal as a whole', 'canManageDevBranches'),
          proposable: undefined,
        },
        schema: { params: ById, response: { 200: View } },
      },
      async (req) => viewOf(req, await proposals.undo(req, idOf(req.params.id))),
    )

    app.delete(
      `${PLACE}/:id`,
      {
        config: config('discard', 'Delete a proposal that was not accepted, with its branch', 'proposal'),
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await proposals.discard(req, idOf(req.params.id))
        return reply.code(204).send(null)
      },
    )
  }
}

const viewOf = ({ baseUrl }: { readonly baseUrl: string }, found: KnownProposal) => {
  const { proposal, state, request } = found
  return {
    id: proposal.id,
    state,
    title: request?.title ?? null,
    description: request?.description ?? null,
    token: proposal.token,
    branchId: proposal.branchId,
    mergeRequestId: proposal.mergeRequestId ?? null,
    created: formatTimestamp(proposal.createdAt),
    expires: ['open', 'submitted', 'refused', 'expired'].includes(state) ? formatTimestamp(expiryOf(proposal, request)) : null,
    link: `${baseUrl}/console/proposals/${proposal.id}`,
    refusal: refusalOf(found),
  }
}
