/** The body does not match its format. */
export class DecodeError extends Error {}
