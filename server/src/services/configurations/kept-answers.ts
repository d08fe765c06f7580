// Answers in memory, bounded by what they weigh; those that were asked for least recently leave first. An answer is only handed out to
// somebody who has just looked whether it still holds.

export interface KeptAnswers<Key, Answer> {
  find(key: Key, holds: (answer: Answer) => boolean): Answer | undefined
  keep(key: Key, answer: Answer, weight: number): void
}

/** An answer heavier than this part of the room would push out too many others. */
const HEAVIEST = 1 / 4

export function createKeptAnswers<Key, Answer>(maxWeight: number): KeptAnswers<Key, Answer> {
  const kept = new Map<Key, { readonly answer: Answer; readonly weight: number }>()
  let weight = 0

  function forget(key: Key): void {
    weight -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }

  return {
    find(key, holds) {
      const found = kept.get(key)
      if (!found || !holds(found.answer)) return undefined
      kept.delete(key) // a map keeps the order of arrival: what was asked for arrives anew
      kept.set(key, found)
      return found.answer
    },
    keep(key, answer, answerWeight) {
      forget(key)
      if (answerWeight > maxWeight * HEAVIEST) return
      kept.set(key, { answer, weight: answerWeight })
      weight += answerWeight
      while (weight > maxWeight) forget(kept.keys().next().value!) // not empty: it weighs something
    },
  }
}
