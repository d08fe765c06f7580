// What of a text leads out of the project: hosts of addresses and servers, and mail addresses.

// Each pattern begins with a fixed text, so that a long text is read once: bodies have megabytes.
const AUTHORITY = /:\/\/([^\s"'\\/?#<>)\]]{1,255})/g
const SERVER = /"(?:host|hostname|server|domain)"\s*:\s*"([^"\\]{1,255})"/gi
/** Of an API it is a path, of a store a host: then it has a dot or a port. */
const ENDPOINT = /"endpoint"\s*:\s*"([^"\\/]{1,255})/gi
const IS_HOST = /\.|:\d/
const MAIL_DOMAIN = /@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi
const MAIL_NAME = /[a-z0-9._%+-]{1,64}$/i
const MAX_MAIL_NAME = 64
/** Of texts that could be orders or names: short ones occur by chance. */
const MIN_LENGTH = 8
const MAX_LENGTH = 2_000

/** Hosts without user and port, and mail addresses, in small letters. */
export function outgoingIn(text: string): string[] {
  const plain = text.replaceAll('\\/', '/')
  const endpoints = [...plain.matchAll(ENDPOINT)].filter(([, value = '']) => IS_HOST.test(value))
  const named = [...plain.matchAll(AUTHORITY), ...plain.matchAll(SERVER), ...endpoints]
  const hosts = named.map(([, authority = '']) => hostOf(authority))
  const mails = [...plain.matchAll(MAIL_DOMAIN)].flatMap(({ 0: domain, index }) => {
    const [name] = MAIL_NAME.exec(plain.slice(Math.max(0, index - MAX_MAIL_NAME), index)) ?? []
    return name === undefined ? [] : [(name + domain).toLowerCase()]
  })
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
