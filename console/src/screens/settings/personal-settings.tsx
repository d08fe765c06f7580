// What is one's own: how the console looks, in which zone it shows times, its keys; and the account.

import { useState } from 'react'
import { browserZone, chooseZone, zone } from '../../format.ts'
import { Field } from '../../parts/field.tsx'
import { usePerson } from '../../session.ts'
import { chooseTheme, type Theme, useTheme } from '../../theme.ts'
import { chooseKeys, useKeyChoice } from '../../use-key.ts'
import { AccountCards } from './account.tsx'
import './settings.css'

export function PersonalSettings() {
  const person = usePerson()
  return (
    <div className="columns even">
      <div className="stack-4">
        <Appearance />
        <Keys />
      </div>
      <div className="stack-4">
        {person ? (
          <AccountCards account={person.account} />
        ) : (
          <section className="card inset" aria-label="Account">
            <p className="body-text">Tokens have no account. The list of tokens shows what this one may do.</p>
          </section>
        )}
      </div>
    </div>
  )
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
]
const ZONES = Intl.supportedValuesOf('timeZone')

function Appearance() {
  const theme = useTheme()
  return (
    <section className="card" aria-labelledby="appearance">
      <header>
        <h2 id="appearance">Appearance</h2>
        <span className="push fine mute">kept in this browser</span>
      </header>
      <div className="inset form">
        <fieldset className="plain stack-2">
          <legend className="label">Theme</legend>
          <div className="stack-2">
            {THEMES.map(([value, name]) => (
              <div key={value}>
                <label className="check-line">
                  <input type="radio" name="theme" checked={theme === value} onChange={() => chooseTheme(value)} />
                  {name}
                </label>
              </div>
            ))}
          </div>
        </fieldset>
        <Field label="Time zone" hint="Of every time on the screen. Schedules keep their own zone.">
          {(id) => (
            <select
              className="input"
              id={id}
              value={zone === browserZone ? '' : zone}
              onChange={({ target }) => chooseZone(target.value)}
            >
              <option value="">{`as the browser (${browserZone})`}</option>
              {[...new Set(['UTC', ...ZONES])].map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
    </section>
  )
}

const KEYS: readonly (readonly [string, string])[] = [
  ['?', 'all keys of the screen'],
  ['/', 'filter'],
  ['n', 'new'],
  ['r', 'run, or run again'],
  ['c', 'this page as curl'],
  ['[', 'earlier run'],
  [']', 'later run'],
  ['g', 'go to a place, by a second key'],
]

function Keys() {
  const choice = useKeyChoice()
  const [problem, setProblem] = useState<string>()
  const change = (ours: string, typed: string) => {
    const key = typed.trim().toLowerCase().slice(-1)
    const { [ours]: _, ...others } = choice.changed
    const changed = key === '' || key === ours ? others : { ...others, [ours]: key }
    const pressed = KEYS.map(([name]) => changed[name] ?? name)
    const double = pressed.find((name, index) => pressed.indexOf(name) !== index)
    setProblem(double === undefined ? undefined : `${double} does something else already.`)
    if (double === undefined) chooseKeys({ ...choice, changed })
  }
  return (
    <section className="card" aria-labelledby="keys">
      <header>
        <h2 id="keys">Keyboard shortcuts</h2>
        <span className="push fine mute">kept in this browser</span>
      </header>
      <div className="inset form">
        <label className="check-line">
          <input
            type="checkbox"
            checked={!choice.isOff}
            onChange={({ target }) => chooseKeys({ ...choice, isOff: !target.checked })}
          />
          Single keys do what buttons do
        </label>
        <ul className="stack-2">
          {KEYS.map(([ours, does]) => (
            <li key={ours} className="flex-row">
              <input
                className="input small mono own-key"
                aria-label={`Key: ${does}`}
                disabled={choice.isOff}
                value={choice.changed[ours] ?? ours}
                onFocus={({ target }) => target.select()}
                onChange={({ target }) => change(ours, target.value)}
              />
              <span>{does}</span>
            </li>
          ))}
        </ul>
        {problem ? (
          <p className="field-problem" role="alert">
            {problem}
          </p>
        ) : null}
        <div className="flex-row">
          <button
            type="button"
            className="button small"
            disabled={!choice.isOff && Object.keys(choice.changed).length === 0}
            onClick={() => {
              setProblem(undefined)
              chooseKeys({ isOff: false, changed: {} })
            }}
          >
            Back to the usual keys
          </button>
        </div>
        <p className="hint">Ctrl K searches, Ctrl S saves, Ctrl Enter runs: these are always on.</p>
      </div>
    </section>
  )
}
