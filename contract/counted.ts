// A number with its noun, for people: `1 row`, `2 rows`.

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** The verb after it: `1 row was read`, `2 rows were read`. */
export const wasOrWere = (count: number): 'was' | 'were' => (count === 1 ? 'was' : 'were')
