// Single keys do what buttons do, and are off while a person types. `?` shows those of the screen.

import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Drawer } from '../parts/drawer.tsx'
import { bindings, findBinding, isTyping, useKey } from '../use-key.ts'

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
      const name = `${withControl ? 'Ctrl ' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
      if (event.altKey || (!withControl && (isTyping(event.composedPath()[0] ?? null) || document.querySelector('dialog[open]'))))
        return
      const place = isAfterG.current ? PLACES.find(([key]) => key === name) : undefined
      isAfterG.current = name === 'g'
      if (place) return void navigate({ to: place[2] })
      const found = findBinding(name)
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
  const here = [...new Map([...bindings].map((binding) => [binding.keys, binding])).values()]
  return (
    <Drawer title="Keys" onClose={onClose}>
      <KeyList title="On this screen" rows={here.map(({ keys, does }) => [keys, does])} />
      <KeyList title="Everywhere" rows={[['Escape', 'Close the top layer']]} />
      <KeyList title="Go to" rows={PLACES.map(([key, name]) => [`g ${key}`, name])} />
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
