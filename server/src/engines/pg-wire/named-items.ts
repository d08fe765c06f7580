// What a client keeps in its connection by names: prepared statements and portals, limited in number and in bytes.

import { WireError } from './wire-session.ts'

const MAX_ITEMS = 10_000

export class NamedItems<T> {
  readonly #items = new Map<string, { readonly item: T; readonly bytes: number }>()
  readonly #maxBytes: number
  readonly #sentence: string
  #bytes = 0

  /** `sentence` is what the client is sent instead of more than `maxBytes`. */
  constructor(maxBytes: number, sentence: string) {
    this.#maxBytes = maxBytes
    this.#sentence = sentence
  }

  /** Throws when there is no room for so many bytes more, in addition to all or in the place of the item that has the name. */
  checkRoom(name: string, bytes: number): void {
    if (this.#items.size >= MAX_ITEMS)
      throw new WireError('53400', `A connection has at most ${MAX_ITEMS} prepared statements and portals.`)
    if (this.#bytes - this.#bytesOf(name) + bytes > this.#maxBytes) throw new WireError('53400', this.#sentence)
  }

  has(name: string): boolean {
    return this.#items.has(name)
  }

  get(name: string): T | undefined {
    return this.#items.get(name)?.item
  }

  set(name: string, item: T, bytes: number): void {
    this.delete(name)
    this.#items.set(name, { item, bytes })
    this.#bytes += bytes
  }

  delete(name: string): boolean {
    this.#bytes -= this.#bytesOf(name)
    return this.#items.delete(name)
  }

  clear(): void {
    this.#items.clear()
    this.#bytes = 0
  }

  names(): string[] {
    return [...this.#items.keys()]
  }

  #bytesOf(name: string): number {
    return this.#items.get(name)?.bytes ?? 0
  }
}
