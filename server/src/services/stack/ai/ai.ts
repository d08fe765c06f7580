// Which components fit a purpose, by the words of their descriptions.

export interface Described {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly description: string
  readonly longDescription: string
}

export interface Suggested {
  readonly componentId: string
  readonly score: number
  readonly source: string
}

const MAX_SUGGESTED = 10
const MAX_WORDS = 50
/** Words that do not distinguish components. */
const STOP = new Set(
  'a an and are can do for from get how i in into is it my of on or that the this to want what with'.split(' '),
)

/** The best first; a word in the id or name counts more than one in the description. */
export function suggestComponents(components: readonly Described[], prompt: string): Suggested[] {
  const words = [...new Set(wordsOf(prompt))].filter((word) => word.length > 1 && !STOP.has(word)).slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const scored = components.map(({ id, name, type, description, longDescription }) => {
    const [title, short, long] = [wordsOf(`${id} ${name} ${type}`), wordsOf(description), wordsOf(longDescription)].map(
      (all) => new Set(all),
    )
    const points = words.map((word) => (has(title!, word) ? 3 : has(short!, word) ? 2 : has(long!, word) ? 1 : 0))
    return {
      componentId: id,
      score: points.reduce<number>((sum, one) => sum + one, 0) / (3 * words.length),
      source: 'description',
    }
  })
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.componentId.localeCompare(b.componentId))
    .slice(0, MAX_SUGGESTED)
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** `extractors` is about `extractor`, and the other way round. */
const has = (words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || words.has(`${word}s`) || (word.endsWith('s') && words.has(word.slice(0, -1)))
