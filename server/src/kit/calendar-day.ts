/** The start of a day in UTC; undefined when the calendar has no such day: dates would make 2 March of 30 February. */
export function calendarDay(year: number, month: number, day: number): Date | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined
}
