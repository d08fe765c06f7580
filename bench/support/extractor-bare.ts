// What the extractor is held against: Node's own fetch and JSON.parse over the same pages, and nothing else.

const [, , url, start] = process.argv
for (let since = Number(start); ; ) {
  const response = await fetch(`${url}?since=${since}`)
  const { items } = JSON.parse(await response.text()) as { items: { id: number }[] } // the API of extractor-api.ts
  if (items.length === 0) break
  since = items.at(-1)!.id
}
