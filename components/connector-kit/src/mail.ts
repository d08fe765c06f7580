// Mail through a server of the user's own. The socket to it keeps to the egress policy; each mail has a connection of its own.

import type { EgressGuard } from '../../../contract/egress-guard.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { openSocket } from './database/connect.ts'
import { choiceAt, type Fields, listAt, portAt, textAt } from './settings.ts'

export interface MailServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly tls: 'starttls' | 'tls' | 'none'
  readonly from: string
}

/** A server, and who gets the mail. */
export interface MailSettings extends MailServer {
  readonly to: readonly string[]
}

/** `place`: the member of the parameters that has these fields. */
export function readMail(fields: Fields, place: string): MailSettings {
  const text = (name: string): string => textAt(fields, name, `${place}.${name}`)
  const needed = (name: string): string => {
    if (text(name) === '') throw new UserError(`${place}.${name} is missing.`)
    return text(name)
  }
  const tls = choiceAt(fields, 'security', ['starttls', 'tls', 'none'], `${place}.security`)
  const to = listAt(fields, 'to', `${place}.to`) ?? []
  if (to.length === 0) throw new UserError(`${place}.to is missing: the addresses that get the mail.`)
  const port = portAt(fields, 'port', `${place}.port`) ?? (tls === 'tls' ? 465 : 587)
  return { host: needed('host'), port, user: text('user'), password: text('#password'), tls, from: needed('from'), to }
}

export interface OutgoingMail {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html?: string
  readonly attachments?: readonly {
    readonly filename: string
    readonly path?: string
    readonly content?: Uint8Array
    /** Name by which the HTML shows it. */
    readonly cid?: string
  }[]
}

const MAIL_PORTS = [25, 465, 587, 2525]
const QUIET_MS = 60_000

export async function openMail({ host, port, user, password, tls, from }: MailServer, guard: EgressGuard) {
  async function withTransport<T>(work: (transport: Transport) => Promise<T>): Promise<T> {
    const connection = await openSocket(host, port, guard, MAIL_PORTS)
    try {
      return await work(await transportOver(connection))
    } catch (error) {
      if (error instanceof UserError) throw error
      throw new UserError(`The mail server ${host}:${port} refused: ${(error as Error).message}`, {}, error)
    } finally {
      connection.destroy()
    }
  }
  type Transport = Awaited<ReturnType<typeof transportOver>>
  const transportOver = async (connection: Awaited<ReturnType<typeof openSocket>>) =>
    (await import('nodemailer')).default.createTransport({
      ...{ host, port, connection, secure: tls === 'tls', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...{ greetingTimeout: QUIET_MS, socketTimeout: QUIET_MS, disableUrlAccess: true },
      ...(user !== '' && { auth: { user, pass: password } }),
    })
  return {
    check: () => withTransport(async (transport) => void (await transport.verify())),
    send: (mail: OutgoingMail) =>
      withTransport(async (transport) => {
        const { to, subject, text, html, attachments = [] } = mail
        const { rejected } = await transport.sendMail({
          ...{ from, to: [...to], subject, text, ...(html !== undefined && { html }) },
          attachments: attachments.map(({ content, ...one }) => ({ ...one, ...(content && { content: Buffer.from(content) }) })),
        })
        if (rejected.length > 0)
          throw new UserError(`The mail server ${host} does not take mail for ${rejected.map(String).join(', ')}.`)
      }),
    close() {},
  }
}
