// Single keys do what buttons do, and are off while a person types. `?` shows those of the screen.

import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Drawer } from '../parts/drawer.tsx'
import { bindings, findBinding, isTyping, meantKey, shownKey, useKey, useKeyChoice } from '../use-key.ts'

const PLACES: readonly (readonly [string, string, string])[] = [
  ['h', 'Home', '/'],
  ['s', 'Storage', '/storage'],
  ['f', 'Files', '/files'],
  ['q', 'SQL', '/sql'],
  ['c', 'Components', '/components'],
  ['l', 'Flows', '/flows'],
  ['e', 'Schedules', '/schedules'],
  ['j', 'Jobs', '/jobs'],
  ['t', 'Tokens', '/tokens'],
  ['o', 'Operations', '/operations'],
  [',', 'Settings', '/settings'],
]

/** Listens once for the whole console. */
export function Keyboard() {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const isAfterG = useRef(false)
  useKey('?', 'These keys', () => setOpen(true))
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return // an editor has done it
      const withControl = event.ctrlKey || event.metaKey
      const pressed = `${withControl ? 'Ctrl ' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
      if (event.altKey || (!withControl && (isTyping(event.composedPath()[0] ?? null) || document.querySelector('dialog[open]'))))
        return
      const name = meantKey(pressed)
      const place = isAfterG.current ? PLACES.find(([key]) => key === pressed) : undefined
      isAfterG.current = name === 'g'
      if (place) return void navigate({ to: place[2] })
      const found = name === undefined ? undefined : findBinding(name)
      if (!found) return
      event.preventDefault()
      found.run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [navigate])
  return isOpen ? <KeysSheet onClose={() => setOpen(false)} /> : null
}

function KeysSheet({ onClose }: { onClose: () => void }) {
  const choice = useKeyChoice()
  const here = [...new Map([...bindings].map((binding) => [binding.keys, binding])).values()]
  const shown = (keys: string) => shownKey(keys, choice)
  return (
    <Drawer title="Keys" onClose={onClose}>
      <KeyList
        title="On this screen"
        rows={here.flatMap(({ keys, does }) => (shown(keys) ? [[shown(keys)!, does] as const] : []))}
      />
      <KeyList title="Everywhere" rows={[['Escape', 'Close the top layer']]} />
      {shown('g') ? <KeyList title="Go to" rows={PLACES.map(([key, name]) => [`${shown('g')} ${key}`, name])} /> : null}
      <p className="fine mute">
        Change single keys or switch them off in{' '}
        <Link to="/settings" search={{ tab: 'you' }} onClick={onClose}>
          your settings
        </Link>
        .
      </p>
    </Drawer>
  )
}

const KeyList = ({ title, rows }: { title: string; rows: readonly (readonly [string, string])[] }) => (
  <section className="stack-2">
    <h3 className="heading">{title}</h3>
    <dl className="pairs">
      {rows.map(([keys, does]) => (
        <div key={keys} className="contents">
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </section>
)
