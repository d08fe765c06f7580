/** Levels of checks as the states that the console shows everywhere. */
export const LEVEL_STATES: Readonly<Record<string, string>> = { ok: 'success', warning: 'warning', problem: 'error' }
