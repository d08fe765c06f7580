// The search of the documentation site, in the browser: the index is loaded with the first key.

import MiniSearch from 'minisearch'
import { type Part, SEARCH_OPTIONS, shortened } from '../../server/src/services/stack/guides/search-options.ts'

const MAX_PAGES = 10

const field = document.querySelector<HTMLInputElement>('#search')
const list = document.querySelector<HTMLElement>('#found')
const root = document.documentElement.dataset.root ?? ''
let loading: Promise<MiniSearch<Part>> | undefined

const load = (): Promise<MiniSearch<Part>> => {
  loading ??= fetch(`${root}search.json`)
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSON<Part>(text, SEARCH_OPTIONS))
  return loading
}

field?.addEventListener('input', async () => {
  const question = field.value
  const index = await load()
  if (!list || question !== field.value) return // a later key was pressed meanwhile
  const found = question.trim() === '' ? [] : index.search(question)
  const pages = [...Map.groupBy(found, ({ page }) => page).values()].slice(0, MAX_PAGES).map(([best]) => best!)
  list.replaceChildren(
    ...pages.map((best) => {
      const item = document.createElement('li')
      const link = document.createElement('a')
      link.href = `${root}${best.address}`
      link.textContent = best.heading === best.page ? best.page : `${best.page}: ${best.heading}`
      const text = document.createElement('div')
      text.className = 'quiet'
      text.textContent = shortened(String(best.passage))
      item.append(link, text)
      return item
    }),
  )
  list.hidden = question.trim() === ''
  if (pages.length === 0) list.textContent = 'No matching pages.'
})
