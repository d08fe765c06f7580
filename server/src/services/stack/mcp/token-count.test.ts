import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitAnswer, MAX_ANSWER_TOKENS } from './answer.ts'
import { tokensOf } from './token-count.ts'

/** The highest count of three tokenizers (o200k and cl100k of gpt-tokenizer 3, @anthropic-ai/tokenizer 0.0.4) for the text 100 times. */
const COUNTED: readonly (readonly [string, number])[] = [
  ['["4711","Brno","842.17","2026-05-01 12:00:00"],', 2400],
  ['182640551,', 400],
  ['["7","3"],', 500],
  ['"f3a91c0d77b24e5a9c1e0b6d42ff1837",', 2601],
  ['Rows of a table are replaced by their key, others are added. ', 1500],
  ['SELECT city, sum(total) FROM orders GROUP BY 1; ', 1301],
  ['Objednávka byla doručena ve středu. ', 1701],
  ['Die Übergabe war größer als nötig. ', 1301],
  ['Заказ доставлен клиенту. ', 1201],
  ['Η παραγγελία παραδόθηκε. ', 2901],
  ['تم تسليم الطلب إلى العميل. ', 2300],
  ['आदेश ग्राहक को दिया गया। ', 2901],
  ['คำสั่งซื้อถูกจัดส่งแล้ว ', 4301],
  ['注文はお客様に配送されました。', 1400],
  ['주문이 배송되었습니다. ', 1201],
  ['😀', 200],
  ['{"type":"object","properties":{"id":{"type":"string"}}},', 1301],
]

test('tokens are estimated between 0.85 and 2 times what the most expensive of three tokenizers counts', () => {
  for (const [text, counted] of COUNTED) {
    const ratio = tokensOf(text.repeat(100)) / counted
    assert.ok(ratio >= 0.85 && ratio < 2, `${text}: ${ratio}`)
  }
})

test('an answer is cut by its tokens, whatever its characters are', () => {
  for (const [text] of COUNTED) {
    const items = Array.from({ length: 200 }, (_, n) => [n, text.repeat(8)])
    const answer = fitAnswer({ items }, true)
    const tokens = tokensOf(JSON.stringify(answer))
    assert.ok(tokens <= MAX_ANSWER_TOKENS, `${text}: ${tokens}`)
    assert.ok(tokens > MAX_ANSWER_TOKENS / 3, `${text}: ${tokens}, too little`)
    assert.equal(answer.next, String((answer.items as unknown[]).length))
  }
})
