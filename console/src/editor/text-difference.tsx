// Two texts side by side, unchanged stretches folded.

import { json } from '@codemirror/lang-json'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'

/** Large documents are compared less exactly rather than late. */
const QUICK = { scanLimit: 500, timeout: 200 }

const masked = (text: string): string => text.replace(/("#(?:[^"\\]|\\.)*": )"(?:[^"\\]|\\.)*"/g, '$1"••••••"')

export default function TextDifference({ before, after }: { before: string; after: string }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const view = new EditorView({
      root,
      parent: root,
      doc: masked(after),
      extensions: [
        lineNumbers(),
        json(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': 'Difference as text' }),
        unifiedMergeView({ original: masked(before), mergeControls: false, collapseUnchanged: { margin: 3 }, diffConfig: QUICK }),
        EditorView.theme({
          '&': { fontSize: '12.5px', color: 'var(--ink)' },
          '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px' },
          '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-3)', border: 'none' },
          '.cm-changedLine': { backgroundColor: 'var(--add-soft) !important' },
          '.cm-deletedChunk': { backgroundColor: 'var(--del-soft) !important' },
          '.cm-collapsedLines': { background: 'var(--surface-sunken)', color: 'var(--ink-3)' },
        }),
      ],
    })
    return () => view.destroy()
  }, [before, after])
  return <div ref={host} className="code-host" />
}
