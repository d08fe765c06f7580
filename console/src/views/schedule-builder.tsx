// When a schedule runs, chosen instead of written: every choice is a cron expression, which stays the text beside it.

import { type Choice, choiceOf, cronOf } from '../schedule/cron-words.ts'
import './views.css'

const KINDS: readonly (readonly [Choice['kind'], string, Choice])[] = [
  ['minutes', 'every few minutes', { kind: 'minutes', every: 15 }],
  ['hours', 'every few hours', { kind: 'hours', every: 1, minute: 0 }],
  ['days', 'every day', { kind: 'days', time: '06:00' }],
  ['weeks', 'on days of the week', { kind: 'weeks', time: '06:00', weekdays: [1] }],
  ['months', 'once a month', { kind: 'months', time: '06:00', day: 1 }],
]
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

export function ScheduleBuilder({ cron, onChange }: { cron: string; onChange: (cron: string) => void }) {
  const choice = choiceOf(cron)
  const set = (next: Choice) => onChange(cronOf(next))
  const number = (label: string, value: number, most: number, next: (value: number) => Choice, least = 1) => (
    <label className="flex-row nowrap">
      {label}
      <input
        className="input small short"
        type="number"
        min={least}
        max={most}
        aria-label={label}
        value={value}
        onChange={(event) => {
          const typed = Number(event.target.value)
          if (typed >= least && typed <= most) set(next(typed))
        }}
      />
    </label>
  )
  return (
    <div className="flex-row wrap gap-3">
      <select
        className="input small"
        aria-label="How often"
        value={choice?.kind ?? ''}
        onChange={(event) => set(KINDS.find(([kind]) => kind === event.target.value)![2])}
      >
        {choice ? null : <option value="">as written</option>}
        {KINDS.map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
      {choice?.kind === 'minutes' ? number('minutes', choice.every, 59, (every) => ({ ...choice, every })) : null}
      {choice?.kind === 'hours' ? (
        <>
          {number('hours', choice.every, 23, (every) => ({ ...choice, every }))}
          {number('at minute', choice.minute, 59, (minute) => ({ ...choice, minute }), 0)}
        </>
      ) : null}
      {choice?.kind === 'months' ? number('on day', choice.day, 31, (day) => ({ ...choice, day })) : null}
      {choice?.kind === 'weeks'
        ? WEEKDAYS.map((name, day) => (
            <label key={name} className="flex-row gap-1">
              <input
                type="checkbox"
                checked={choice.weekdays.includes(day)}
                onChange={() => {
                  const others = choice.weekdays.filter((one) => one !== day)
                  set({ ...choice, weekdays: others.length === choice.weekdays.length ? [...others, day] : others })
                }}
              />
              {name}
            </label>
          ))
        : null}
      {choice && 'time' in choice ? (
        <label className="flex-row nowrap">
          at
          <input
            className="input small"
            type="time"
            aria-label="Time of day"
            value={choice.time}
            onChange={(event) => (event.target.value ? set({ ...choice, time: event.target.value }) : undefined)}
          />
        </label>
      ) : null}
    </div>
  )
}
