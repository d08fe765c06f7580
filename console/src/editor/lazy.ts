// CodeMirror is large and loaded when the first editor is opened.

import { lazy } from 'react'

export const LazyJsonEditor = lazy(() => import('./json-editor.tsx'))
export const LazySqlEditor = lazy(() => import('./sql-editor.tsx'))
export const LazyTextDifference = lazy(() => import('./text-difference.tsx'))
