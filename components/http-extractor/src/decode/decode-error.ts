/** The body is not what its format says. */
export class DecodeError extends Error {}
