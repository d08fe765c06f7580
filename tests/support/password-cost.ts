/** What passwords of tests cost; the real cost is tens of milliseconds of a processor each. */
export const TEST_PASSWORD_COST = { N: 2 ** 10, r: 8, p: 1 }
