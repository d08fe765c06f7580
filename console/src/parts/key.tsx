import { shownKey, useKeyChoice } from '../use-key.ts'

/** The key that does what a button does, as the person has it; nothing when single keys are off. */
export function Key({ name }: { name: string }) {
  const shown = shownKey(name, useKeyChoice())
  return shown === undefined ? null : <kbd>{shown.toUpperCase()}</kbd>
}
