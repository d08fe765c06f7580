// Tools of tokens that only propose.

import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import type { Api } from '../api.ts'
import {
  Anything,
  asData,
  ComponentId,
  ConfigurationId,
  Data,
  defineTool,
  Items,
  Next,
  optionalText,
  type Tool,
  text,
} from '../tool.ts'
import { page } from './look.ts'

interface Proposal {
  readonly id: number
  readonly state: string
  readonly refusal: unknown
  readonly [member: string]: unknown
}

interface Rehearsal {
  readonly state: string
  readonly isCurrent: boolean
}

const MAX_WAIT_MS = 25_000
const POLL_MS = 500

export const proposeTools: readonly Tool[] = [
  defineTool('build', 'my_proposal', {
    description: 'What your changes so far would change and touch, whether a person accepted them, and why they were refused.',
    input: { next: Next },
    output: { proposal: Anything, items: Type.Optional(Items) },
    kind: 'reads',
    run: async ({ next }, api) => {
      const [newest] = await api.get<readonly Proposal[]>('/v2/storage/proposals')
      if (!newest) return { proposal: { state: 'none', note: 'Your first change begins a proposal.' } }
      const { changes, storageChanges, ...proposal } = await api.get<
        Proposal & { changes: readonly unknown[]; storageChanges: readonly unknown[] }
      >(path`/v2/storage/proposals/${String(newest.id)}`)
      return { proposal, ...page([...changes, ...storageChanges], next) }
    },
  }),

  defineTool('build', 'rehearse_proposal', {
    description:
      'Run your changes in your branch against recorded answers, offline, and compare the rows of every table behind them with production. Waits up to 25 s; call again for the result.',
    input: { isNew: Type.Optional(Type.Boolean({ description: 'Start another one, although one exists.' })) },
    output: { rehearsal: Data },
    kind: 'writes',
    run: async ({ isNew = false }, api) => {
      const place = path`/v2/storage/proposals/${await openProposal(api)}/rehearsal`
      const known = isNew ? undefined : await api.find<Rehearsal>(place)
      let rehearsal = known?.isCurrent ? known : await api.send<Rehearsal>('POST', place)
      for (let waited = 0; rehearsal.state === 'running' && waited < MAX_WAIT_MS; waited += POLL_MS) {
        await delay(POLL_MS)
        rehearsal = await api.get<Rehearsal>(place)
      }
      return { rehearsal: asData(rehearsal) }
    },
  }),

  defineTool('build', 'submit_proposal', {
    description: 'Ask a person to decide about all your changes as one. Nothing in production changes before they accept.',
    input: {
      title: text('Title.'),
      description: optionalText('Why, and how it was tested.'),
      run: Type.Optional(
        Type.Array(Type.Object({ component: ComponentId, configuration: ConfigurationId }, { additionalProperties: false }), {
          description: 'What to run once it is accepted.',
        }),
      ),
    },
    output: { proposal: Anything },
    kind: 'writes',
    run: async ({ title, description = '', run = [] }, api) => {
      const id = await openProposal(api)
      const body = { title, description, run: run.map(({ component, configuration: config }) => ({ component, config })) }
      return { proposal: await api.send('POST', path`/v2/storage/proposals/${id}/submit`, body) }
    },
  }),
]

/** The newest; the stack refuses one that is submitted or has ended. */
async function openProposal(api: Api): Promise<string> {
  const [newest] = await api.get<readonly Proposal[]>('/v2/storage/proposals')
  return String(newest?.id ?? 0)
}
