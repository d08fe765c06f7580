// Percent-encoding, in the two styles that addresses and forms are written in.

const encodeCharacter = (c: string) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`

/** RFC 3986: everything but unreserved characters is encoded. A lone surrogate, which no address can carry, becomes U+FFFD. */
export function rawEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, encodeCharacter)
}

/** application/x-www-form-urlencoded: letters, digits, `-`, `_` and `.` stay, a space is `+`. */
export function formEncode(text: string): string {
  return rawEncode(text).replaceAll('~', '%7E').replaceAll('%20', '+')
}

export function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a stray % is kept as it stands
  }
}
