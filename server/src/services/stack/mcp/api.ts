// What tools call: routes of this stack with the credentials of their caller, and people.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createInnerApi, type InnerApi, path } from '../../../http/inner/inner-api.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'

export interface Api extends InnerApi {
  /** Branch that the client named for the whole connection; undefined: the default branch. */
  readonly branch: string | undefined
  /** The token only proposes: what it changes is in a branch of its own. */
  readonly onlyProposes: boolean
  /** Requests a secret of a configuration or row. */
  askForSecret(target: SecretPlace): Promise<AskedPerson>
}

interface Proposal {
  readonly state: string
  readonly branchId: number
}

export interface SecretPlace {
  readonly component: string
  readonly configuration: string
  readonly row?: string | undefined
  /** JSON pointer. */
  readonly pointer: string
}

export interface AskedPerson {
  readonly id: string
  /** The page where a person decides or enters it. */
  readonly link: string
}

export function createApi(
  app: FastifyInstance,
  request: FastifyRequest,
  branch: string | undefined,
  ask?: (subject: string, detail: object) => Promise<AskedPerson>,
): Api {
  const inner = createInnerApi(app, request, branch)
  const onlyProposes = request.actor.onlyProposes === true

  /** The branch of the proposal, which an earlier step of this call may have begun; undefined: the default branch. */
  async function branchNow({ component, configuration, row }: SecretPlace): Promise<string | undefined> {
    if (branch !== undefined || !onlyProposes) return branch
    const newest = async () => (await inner.get<readonly Proposal[]>('/v2/storage/proposals'))[0]
    const open = await newest()
    if (open?.state === 'open' || open?.state === 'refused') return String(open.branchId)
    // A change that changes nothing begins a proposal; it is refused where one waits for its decision.
    const change = { changeDescription: 'An agent requests a secret from a person' }
    await inner.send('PUT', configurationPath(component, configuration, row), change)
    return String((await newest())?.branchId)
  }

  return {
    ...inner,
    ...{ branch, onlyProposes },
    askForSecret: async (target) => {
      if (!ask) throw new PlatformError('mcp.invalidCall', { reason: 'Secrets are requested by tools only.' })
      const { component, configuration, row, pointer } = target
      const place = await branchNow(target)
      const detail = { component, configuration, pointer, ...defined({ row, branch: place }) }
      return ask(`${pointer} of ${component} ${configuration}${row === undefined ? '' : `, row ${row}`}`, detail)
    },
  }
}

export const configurationPath = (component: string, configuration: string, row?: string): string =>
  `${path`/v2/storage/components/${component}/configs/${configuration}`}${row === undefined ? '' : path`/rows/${row}`}`
