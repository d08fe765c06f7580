// Where a message goes: an e-mail address or the address of a webhook.

import type { NotificationRecipient } from '../../../model/notification-port.ts'
import { invalid } from './filters.ts'

export const MAIL_NOT_SET_UP = 'Mail is not set up on this stack. An administrator sets MILLRACE_SMTP_URL.'

/** Of a webhook either member may carry the address. */
export const addressOf = ({ channel, address, url }: NotificationRecipient): string =>
  (channel === 'webhook' ? (url ?? address) : address) ?? ''

/** Throws when nothing could ever arrive there. */
export function checkRecipient(recipient: NotificationRecipient, checkAddress: (url: URL) => void): void {
  const address = addressOf(recipient)
  if (recipient.channel === 'webhook') checkAddress(webhookUrl(address))
  else if (!/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/.test(address))
    throw invalid('recipient.address', `"${address.slice(0, 100)}" is not an e-mail address.`)
}

export function webhookUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw invalid('recipient.url', `"${address.slice(0, 100)}" is not an http or https address.`)
  if (url.username !== '' || url.password !== '')
    throw invalid('recipient.url', 'The address holds a user name or a password. Leave them out; messages are signed instead.')
  return url
}
