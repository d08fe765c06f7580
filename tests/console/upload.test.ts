// Files in a browser that are not good CSV: sheets of a workbook, lines that cannot be read, formats that cannot be loaded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import avro from 'avsc'
import writeWorkbook from 'write-excel-file/node'
import { checkScreen, signedIn, startBrowser } from '../support/browser.ts'
import { startTestStack } from '../support/test-stack.ts'

test('uploads in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const opened = await signedIn(browser, stack, '/upload')
  const { page, go, nothingWrong } = opened
  const choose = async (name: string, buffer: Buffer) => {
    await go('/upload')
    await page.setInputFiles('input[type=file]', { name, mimeType: '', buffer })
  }
  const cell = (value: string | number | Date) =>
    value instanceof Date ? { value, type: Date, format: 'yyyy-mm-dd' } : { value }

  await t.test('a sheet of a workbook is chosen and loaded, numbers and days as they are', async () => {
    const goods = [['id', 'name', 'since'].map(cell), [1.25, 'Tea, black', new Date('2026-01-31')].map(cell)]
    const book = writeWorkbook([
      { sheet: 'Goods', data: goods },
      { sheet: 'Notes', data: [['about'].map(cell)] },
    ])
    await choose('shop.xlsx', await book.toBuffer())
    await page.getByRole('heading', { name: 'Sheets of shop.xlsx' }).waitFor()
    await page.getByText('2 rows', { exact: true }).waitFor()
    await checkScreen(opened, '/upload-workbook')
    await page.getByRole('button', { name: 'Look at this sheet: Goods' }).click()
    await page.getByRole('heading', { name: '1 row can be read.' }).waitFor()
    assert.equal(await page.getByLabel('Table', { exact: true }).inputValue(), 'shop_Goods')
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^1 row, last loaded/ }).waitFor()
    const rows = await stack.request('GET', '/v2/storage/tables/in.c-main.shop_Goods/rows')
    assert.deepEqual(rows.json<{ rows: string[][] }>().rows, [['1.25', 'Tea, black', '2026-01-31']])
    nothingWrong()
  })

  await t.test('bad lines are kept aside as a file, the others are loaded', async () => {
    await choose('mixed.csv', Buffer.from('id,name\n1,Tea\n2,Milk,too many\n3,Bread\n4\n'))
    await page.getByRole('heading', { name: '2 rows can be read. 2 lines cannot.' }).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Create the table' }).isDisabled())
    await page.getByRole('button', { name: 'Keep 2 lines aside' }).click()
    await page.getByRole('heading', { name: '2 rows can be read. 2 lines are kept aside.' }).waitFor()
    await page.getByRole('button', { name: 'Put back' }).click()
    await page.getByRole('heading', { name: '2 rows can be read. 2 lines cannot.' }).waitFor()
    await page.getByRole('button', { name: 'Keep 2 lines aside' }).click()
    await page.getByRole('heading', { name: '2 rows can be read. 2 lines are kept aside.' }).waitFor()
    await checkScreen(opened, '/upload-aside')
    await page.getByRole('button', { name: 'Create the table' }).click()
    await page.getByRole('heading', { name: /^2 rows, last loaded/ }).waitFor()
    const [file] = (await stack.request('GET', '/v2/storage/files?tags[]=bad-lines')).json<{ id: number; name: string }[]>()
    assert.equal(file?.name, 'mixed.bad-lines.csv')
    assert.equal((await stack.request('GET', `/v2/storage/files/${file?.id}/head`)).text, '2,Milk,too many\n4\n')
    nothingWrong()
  })

  await t.test(
    'a large file is read to its end: an unclosed quote is named, bad lines are kept aside, and another encoding is converted',
    async () => {
      const lines = Array.from({ length: 40_000 }, (_, i) => `${i},name of ${i}`)
      lines[30_000] = '30000,"never closed'
      lines[39_000] = 'too,many,values'
      lines[39_999] = '39999,caf\xe9'
      const content = Buffer.from(`id,name\n${lines.join('\n')}\n`, 'latin1')
      await choose('large.csv.gz', gzipSync(content))
      await page.getByRole('button', { name: 'Unpack it here to look for bad lines' }).click()
      const rest = page.getByRole('region', { name: 'The rest of the file' })
      await rest.getByText(/^The preview shows the first .* of \d/).waitFor()
      await rest.getByRole('button', { name: 'Look for bad lines in the whole file' }).click()
      await rest.getByText('39,997 rows can be read, 3 lines cannot.').waitFor()
      await rest.getByText('Line 30,002 has a quote that is never closed.').waitFor()
      await rest.getByText('Line 39,002 has 3 values instead of 2.').waitFor()
      await rest.getByText('Line 40,001 is not UTF-8.').waitFor()
      await rest.getByRole('button', { name: 'Choose the encoding' }).click()
      await page.getByLabel('The file is written in').selectOption('windows-1252')
      await page.getByRole('button', { name: 'Convert to UTF-8' }).click()
      await rest.getByRole('button', { name: 'Look for bad lines in the whole file' }).click()
      await rest.getByRole('button', { name: 'Keep 2 lines aside' }).click()
      await page.getByText('2 lines are not loaded.').waitFor()
      await rest.getByRole('button', { name: 'Look for bad lines in the whole file' }).click()
      await rest.getByText('All 39,998 rows can be read.').waitFor()
      await checkScreen(opened, '/upload-whole')
      await page.getByRole('button', { name: 'Create the table' }).click()
      await page.getByRole('heading', { name: /^39,998 rows, last loaded/ }).waitFor()
      const sql = `select name from "in.c-main"."large" where id = '39999'`
      const last = await stack.request('POST', '/v2/storage/query', { json: { sql } })
      assert.match(last.text, /café/)
      const [file] = (await stack.request('GET', '/v2/storage/files?tags[]=bad-lines')).json<{ id: number }[]>()
      const aside = (await stack.request('GET', `/v2/storage/files/${file?.id}/head`)).text
      assert.equal(aside, '30000,"never closed\ntoo,many,values\n')
      nothingWrong()
    },
  )

  await t.test('an Avro file and a packed workbook are recognised and loaded by the stack', async () => {
    const encoder = new avro.streams.BlockEncoder({ type: 'record', name: 'Order', fields: [{ name: 'id', type: 'long' }] })
    encoder.write({ id: 7 })
    encoder.end()
    const book = await writeWorkbook([{ sheet: 'Goods', data: [[cell('id')], [cell(7)]] }]).toBuffer()
    for (const [name, bytes, says] of [
      ['avro_orders.avro', Buffer.concat(await encoder.toArray()), 'An Avro file: its columns are read when it is loaded.'],
      ['packed_orders.xlsx.gz', gzipSync(book), 'A workbook: its first sheet is read when it is loaded.'],
    ] as const) {
      await choose(name, bytes)
      await page.getByRole('heading', { name: says }).waitFor()
      await page.getByRole('button', { name: 'Create the table' }).click()
      await page.getByRole('heading', { name: /^1 row, last loaded/ }).waitFor()
      const rows = await stack.request('GET', `/v2/storage/tables/in.c-main.${name.split('.')[0]}/rows`)
      assert.deepEqual(rows.json<{ rows: string[][] }>().rows, [['7']])
    }
    nothingWrong()
  })

  await t.test('what cannot be loaded is named, with what to do instead', async () => {
    await choose('broken.xlsx', Buffer.from('PK\u0003\u0004 no workbook at all'))
    await page.getByText(/^broken\.xlsx is no workbook that can be read/).waitFor()
    nothingWrong()
  })
})
