// The mail that brings an invitation, where the stack has a mail server. The link is in the answer as well: a mail that cannot be sent
// takes nothing away.

import { randomUUID } from 'node:crypto'
import type { LinkRecord } from './people.store.ts'

export interface InvitationMailDeps {
  /** Undefined: the stack sends no mail. */
  readonly send: ((mail: { to: string; subject: string; text: string; messageId: string }) => Promise<unknown>) | undefined
  readonly projectName: (projectId: number) => Promise<string>
  readonly onError: (error: unknown) => void
}

export const createInvitationMail =
  ({ send, projectName, onError }: InvitationMailDeps) =>
  async ({ email, role, projectId, creator, expiresAt }: LinkRecord, url: string): Promise<boolean> => {
    if (!send || !email || !projectId) return false
    const name = await projectName(projectId)
    const text = [
      `${creator} invites you to the project "${name}" as ${role}.`,
      '',
      `Open this link to choose a name and a password: ${url}`,
      '',
      `It works once, until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. If you do not expect it, ignore this mail.`,
    ].join('\n')
    try {
      await send({ to: email, subject: `Invitation to ${name.replaceAll(/\s+/g, ' ')}`, text, messageId: randomUUID() })
      return true
    } catch (error) {
      onError(error)
      return false
    }
  }
