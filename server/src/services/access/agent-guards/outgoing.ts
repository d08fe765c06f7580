// What of a text leads out of the project: hosts of addresses and servers, and mail addresses.

const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/([^\s"'\\/?#<>)\]]{1,255})/gi
const SERVER = /"(?:host|hostname|server|endpoint|domain)"\s*:\s*"([^"\\]{1,255})"/gi
const MAIL = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi
/** Of texts that could be orders or names: short ones occur by chance. */
const MIN_LENGTH = 8
const MAX_LENGTH = 2_000
const MAX_TEXT = 1 << 20

/** Hosts without user and port, and mail addresses, in small letters. */
export function outgoingIn(text: string): string[] {
  const plain = text.slice(0, MAX_TEXT).replaceAll('\\/', '/')
  const hosts = [...plain.matchAll(ADDRESS), ...plain.matchAll(SERVER)].map(([, authority = '']) => hostOf(authority))
  const mails = [...plain.matchAll(MAIL)].map(([mail]) => mail.toLowerCase())
  const ofAddresses = new Set(hosts)
  return [
    ...new Set([...hosts.filter((host) => host !== ''), ...mails.filter((mail) => !ofAddresses.has(mail.split('@')[1] ?? ''))]),
  ]
}

const hostOf = (authority: string): string =>
  authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d+$/, '')
    .toLowerCase()

/** The value itself, if it is long enough to be recognised, and what of it leads out. */
export function partsOf(value: string): string[] {
  const text = value.trim()
  const whole = text.length >= MIN_LENGTH && text.length <= MAX_LENGTH ? [text] : []
  return [...outgoingIn(text), ...whole]
}
