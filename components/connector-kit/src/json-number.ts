// Numbers of tables as numbers of JSON, digit by digit.

/** A text that is a number of JSON as it stands. */
export const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Node 24 has it; the library of types does not. */
export const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
