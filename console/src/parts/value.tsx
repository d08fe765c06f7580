/** A value of a table: null and the empty text are labelled, never a blank. */
export function Value({ value }: { value: unknown }) {
  if (value === null) return <i className="null">null</i>
  if (value === '') return <i className="null">empty</i>
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
