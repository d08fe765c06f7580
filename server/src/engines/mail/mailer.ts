// Mail through one SMTP server. Its client is loaded with the first mail, since most stacks send none.

import { PlatformError } from '../../kit/errors.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for every attempt to send one message, so that mail programs show it once. */
  readonly messageId: string
}

export interface Mailer {
  /** Returns the response of the server; fails with a PlatformError. */
  send(mail: Mail): Promise<string>
}

const TIMEOUT_MS = 10_000

/** `smtp://user:password@host:587?from=millrace@example.com`, `smtps://` for TLS from the first byte. */
export function createMailer(address: string): Mailer {
  const url = new URL(address)
  const from = url.searchParams.get('from') ?? `millrace@${url.hostname}`
  url.searchParams.delete('from')
  const settings = {
    url: url.href,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  const connect = async () => (await import('nodemailer')).default.createTransport(settings)
  let transport: ReturnType<typeof connect> | undefined
  return {
    async send({ to, subject, text, messageId }) {
      try {
        transport ??= connect()
        const sent = await (await transport).sendMail({ from, to, subject, text, messageId: `<${messageId}@${url.hostname}>` })
        return sent.response
      } catch (error) {
        throw new PlatformError('mail.failed', { reason: (error as Error).message }, { cause: error }) // of nodemailer
      }
    },
  }
}
