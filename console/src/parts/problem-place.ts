import { createContext } from 'react'

/** Where problems of the actions in a page's head are shown; undefined outside of one. */
export const ProblemPlace = createContext<HTMLElement | null | undefined>(undefined)
