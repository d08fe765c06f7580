// Who connects: a token, which reads the tables of a branch or works in a workspace, or a workspace with its own password.

import { type Startup, WireError } from '../../../engines/pg-wire/wire-session.ts'
import { mayUse } from '../../../http/rights.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'

/** A workspace as far as the port is concerned. */
export interface PortWorkspace {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly creator: { readonly tokenId: number }
  /** Whose rights its password has once the token of its creator is gone. */
  readonly actingTokenId?: number | undefined
}

export interface PortLoginDeps<W extends PortWorkspace> {
  readonly authenticate: (token: string) => Actor | undefined | Promise<Actor | undefined>
  readonly findActor: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly findBranch: (projectId: number, name: string | undefined) => Promise<Scope['branch'] | undefined>
  readonly findWorkspace: (id: number) => Promise<W | undefined>
  /** `at`: when it was given. */
  readonly isPassword: (workspace: W, password: string, at: Date) => Promise<boolean>
  readonly now: () => Date
  readonly mayUse: (actor: Actor, workspace: W) => boolean
  readonly limits: {
    address(address: string): { readonly seconds: number } | undefined
    token(address: string, tokenId: number | undefined): { readonly seconds: number } | undefined
  }
}

export interface PortLogin<W extends PortWorkspace> {
  readonly scope: Scope
  /** Undefined: tables of the branch are read. */
  readonly workspace: W | undefined
  /** Whether the same password is still right. */
  isValid(): Promise<boolean>
}

/** `workspace_12` */
const WORKSPACE_USER = /^workspace_(\d{1,15})$/

export function createPortLogin<W extends PortWorkspace>(deps: PortLoginDeps<W>) {
  return async ({ user, database, address }: Startup, password: string): Promise<PortLogin<W>> => {
    refuseTooMany(deps.limits.address(address))
    const id = WORKSPACE_USER.exec(user)?.[1]
    const workspace = id === undefined ? undefined : await deps.findWorkspace(Number(id))
    const actor = password === '' ? undefined : await deps.authenticate(password)
    const at = deps.now()
    const byPassword = workspace && !actor && (await deps.isPassword(workspace, password, at)) ? workspace : undefined
    // A workspace counts as a token of its own: numbers below zero are no tokens.
    refuseTooMany(deps.limits.token(address, actor?.tokenId ?? (byPassword && -byPassword.id)))
    if (byPassword) return ofWorkspace(byPassword, password, at)
    if (!actor) throw wrongPassword()
    const isValid = async () => (await deps.authenticate(password)) !== undefined
    if (id === undefined && !mayUse(actor, 'bucketRead'))
      throw new WireError('42501', 'The token has no access to any bucket. Use a token that may read the tables.')
    if (id === undefined)
      return { scope: { actor, branch: await branchOf(actor, user, database) }, workspace: undefined, isValid }
    if (!workspace || workspace.projectId !== actor.projectId || !deps.mayUse(actor, workspace))
      throw new WireError('28000', `The project has no workspace ${id}, or the token may not use it.`)
    return { scope: { actor, branch: await branchOfWorkspace(workspace) }, workspace, isValid }
  }

  /** With its own password a workspace reads what the token that made it may read. */
  async function ofWorkspace(workspace: W, password: string, at: Date): Promise<PortLogin<W>> {
    const { projectId, creator, actingTokenId } = workspace
    const acting = async () => (actingTokenId === undefined ? undefined : deps.findActor(projectId, actingTokenId))
    const actor = (await deps.findActor(projectId, creator.tokenId)) ?? (await acting())
    if (!actor)
      throw new WireError(
        '28000',
        `The token that made workspace ${workspace.id} is gone. Reset the password of the workspace, or use another token as the password.`,
      )
    return {
      scope: { actor, branch: await branchOfWorkspace(workspace) },
      workspace,
      isValid: async () => {
        const found = await deps.findWorkspace(workspace.id)
        return found !== undefined && deps.isPassword(found, password, at)
      },
    }
  }

  async function branchOfWorkspace({ projectId, branchId }: W): Promise<Scope['branch']> {
    const branch = await deps.findBranch(projectId, String(branchId))
    if (!branch) throw new WireError('3D000', 'The branch of the workspace is gone.')
    return branch
  }

  /** The database names a branch. Clients that are not given one send the user's name, which means nothing here. */
  async function branchOf({ projectId }: Actor, user: string, database: string): Promise<Scope['branch']> {
    const isBranch = /^\d{1,15}$/.test(database) && Number(database) !== projectId
    const branch = await deps.findBranch(projectId, isBranch ? database : undefined)
    if (branch && (isBranch || [user, 'default', 'millrace', String(projectId)].includes(database))) return branch
    throw new WireError('3D000', `Database "${database.slice(0, 60)}" does not exist. Use "default", or the id of a branch.`)
  }
}

/** The same for every reason, so that it reveals nothing. */
const wrongPassword = () =>
  new WireError(
    '28P01',
    'The password is not a valid token of this stack, and not the password of the workspace that the user names.',
  )

function refuseTooMany(tooMany: { readonly seconds: number } | undefined): void {
  if (tooMany) throw new WireError('28000', `Too many attempts from this address. Try again in ${tooMany.seconds} seconds.`)
}
