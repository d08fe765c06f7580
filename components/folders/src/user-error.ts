/** Something the person who wrote the configuration can change. Ends the program with exit code 1 and this text. */
export class UserError extends Error {}
