// What is typed into an editor comes back as its text, late when a person types fast. It must not be taken for a change from elsewhere,
// which would replace what was typed since.

export interface TypedTexts {
  add(text: string): void
  /** Whether the text was typed here; then it and what was typed before it have come back. */
  isOwn(text: string): boolean
  clear(): void
}

export function createTypedTexts(isSame: (one: string, other: string) => boolean = (one, other) => one === other): TypedTexts {
  let waiting: readonly string[] = []
  return {
    add: (text) => {
      waiting = [...waiting, text]
    },
    isOwn: (text) => {
      const own = waiting.findIndex((one) => isSame(one, text))
      waiting = waiting.slice(own + 1)
      return own !== -1
    },
    clear: () => {
      waiting = []
    },
  }
}
