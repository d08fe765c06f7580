// What the sample shop sells, to whom, and what was ordered. Every record follows from its number, so nothing is stored and every stack shows the same.

const FIRST_NAMES = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Katherine', 'Dennis', 'Frances', 'Niklaus']
const LAST_NAMES = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Johnson', 'Ritchie', 'Allen', 'Wirth', 'Żuse']
const CITIES = ['London', 'New York', 'Praha', 'Zürich', 'Oslo', 'Lisboa', 'Kraków']
const PRODUCTS = [
  { sku: 'LAMP-1', name: 'Desk lamp', price: 39.9 },
  { sku: 'CHAIR-2', name: 'Chair, "Oak"', price: 129 },
  { sku: 'PEN-3', name: 'Pen', price: 2.5 },
  { sku: 'BOOK-4', name: 'Notebook', price: 7.2 },
  { sku: 'MUG-5', name: 'Mug', price: 11 },
  { sku: 'BAG-6', name: 'Bag', price: 84.5 },
] as const

export const CUSTOMER_COUNT = 57
export const ORDER_COUNT = 250
export const ORDER_EVERY_MS = 60_000

export interface Customer {
  readonly id: number
  readonly name: string
  readonly email: string
  readonly address: { readonly city: string; readonly zip: string }
}

export interface Item {
  readonly sku: string
  readonly name: string
  readonly quantity: number
  readonly price: number
}

export interface Order {
  readonly id: number
  readonly created: string
  readonly customerId: number
  readonly status: 'new' | 'paid' | 'sent'
  readonly total: number
  readonly items: Item[]
}

export function customer(id: number): Customer {
  const first = pick(FIRST_NAMES, id)
  const last = pick(LAST_NAMES, id * 3)
  return {
    id,
    name: `${first} ${last}`,
    email: `${first.toLowerCase()}.${id}@example.com`,
    address: { city: pick(CITIES, id * 5), zip: String(10_000 + ((id * 7_919) % 90_000)) },
  }
}

/** The order of a minute; its number is that minute since 1970. */
export function order(id: number): Order {
  const items = Array.from({ length: 1 + (scattered(id) % 3) }, (_, index): Item => {
    const product = pick(PRODUCTS, scattered(id) + index)
    return { ...product, quantity: 1 + (scattered(id + index) % 4) }
  })
  return {
    id,
    created: new Date(id * ORDER_EVERY_MS).toISOString(),
    customerId: 1 + (scattered(id) % CUSTOMER_COUNT),
    status: pick(['new', 'paid', 'sent'] as const, scattered(id) >> 4),
    total: Math.round(items.reduce((sum, { price, quantity }) => sum + price * quantity, 0) * 100) / 100,
    items,
  }
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length]!

/** Numbers that look unordered and are the same everywhere (Knuth's multiplicative hash). */
const scattered = (n: number): number => Math.imul(n, 2_654_435_761) >>> 8
