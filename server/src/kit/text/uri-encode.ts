/** Everything but the unreserved characters of RFC 3986, which `encodeURIComponent` leaves a few short of. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
