// Steps back and forth through the changes of a text. What is typed in one place is one step.

import { useState } from 'react'

const MAX_STEPS = 100

interface Past {
  /** Texts before each step, oldest first. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Where the last step was typed; undefined for one that is not continued. */
  readonly typedAt: string | undefined
}

const NEW: Past = { before: [], after: [], typedAt: undefined }

export function useEditHistory(text: string, edit: (text: string) => void) {
  const [past, setPast] = useState(NEW)
  const { before, after, typedAt } = past
  return {
    /** `at`: where it is typed; further typing there belongs to the same step. */
    edit: (next: string, at?: string) => {
      const isSameStep = at !== undefined && at === typedAt
      setPast({ before: isSameStep ? before : [...before, text].slice(-MAX_STEPS), after: [], typedAt: at })
      edit(next)
    },
    undo:
      before.length === 0
        ? undefined
        : () => {
            setPast({ before: before.slice(0, -1), after: [...after, text], typedAt: undefined })
            edit(before.at(-1)!)
          },
    redo:
      after.length === 0
        ? undefined
        : () => {
            setPast({ before: [...before, text], after: after.slice(0, -1), typedAt: undefined })
            edit(after.at(-1)!)
          },
  }
}

export type EditHistory = ReturnType<typeof useEditHistory>
