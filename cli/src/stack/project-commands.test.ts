// Rows, state, trash, branches, triggers, events and suggestions, on one stack.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

const C = 'keboola.ex-generic-v2'

test('the commands about a project do what they say', async (t) => {
  const stack = await startTestStack(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  after(() => rm(folder, { recursive: true }))
  const run = (args: string, input = '') =>
    runCli(args.split(' '), { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }, { input, cwd: folder })
  const done = async (args: string, input = '') => {
    const { code, out, err } = await run(args, input)
    assert.equal(code, 0, `${args}: ${err}`)
    return out
  }
  const refused = async (args: string) => {
    const { code, err } = await run(args)
    assert.equal(code, 1, args)
    return err
  }
  await writeFile(join(folder, 'orders.json'), '{"parameters":{"big":12345678901234567890}}')
  await done(`config create ${C} --id shop --name Shop`)

  await t.test('rows', async () => {
    assert.match(
      await done(`row create ${C} shop --id orders --name Orders --file orders.json`),
      /^Row orders "Orders" version 1\n$/,
    )
    await done(`row create ${C} shop --id customers --name Customers`)
    assert.match(await done(`row update ${C} shop customers --disable`), /version 2/)
    assert.match(await done(`row list ${C} shop`), /orders .*\ncustomers +Customers +2 +yes\n$/)
    assert.match(await done(`row show ${C} shop orders`), /12345678901234567890/)
    assert.equal(await done(`row order ${C} shop customers`), 'customers\norders\n')
    assert.match(await refused(`row order ${C} shop nothing`), /Row nothing does not exist\. Existing rows: customers, orders\./)
    await done(`row delete ${C} shop customers`)
    const { rows } = (await stack.request('GET', `/v2/storage/components/${C}/configs/shop`)).json<{ rows: { id: string }[] }>()
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['orders'],
    )
  })

  await t.test('state', async () => {
    await done(`state set ${C} shop --row orders`, '{"since": 10000000000000000001}')
    assert.equal(await done(`state get ${C} shop --row orders`), '{\n  "since": 10000000000000000001\n}\n')
    await done(`state reset ${C} shop --row orders`)
    assert.equal(await done(`state get ${C} shop --row orders`), '{}\n')
    assert.match((await run(`state set ${C} shop`, 'nonsense')).err, /cannot be used: .*JSON/)
  })

  await t.test('suggestions for mistyped ids', async () => {
    assert.match(await refused(`config show ${C} shpo`), /Did you mean shop\?$/m)
    assert.match(await refused(`job run ${C} shpo`), /Did you mean shop\?$/m)
    assert.match(await refused('job run keboola.ex-generic shop'), /Did you mean keboola\.ex-generic-v2\?$/m)
    assert.match(await refused('config list keboola.ex-generic'), /Did you mean keboola\.ex-generic-v2\?$/m)
    assert.match(await refused(`row show ${C} shop order`), /Did you mean orders\?$/m)
    assert.match(await refused('table show in.c-main.orders'), /No bucket exists yet\.|No table exists yet\./)
    assert.match(await refused(`config show ${C} completely-different`), /There is: shop\.$/m)
    assert.match(await refused('confg list'), /^error: unknown command 'confg'\n\(Did you mean config\?\)\n+Add --help/)
  })

  await t.test('the trash', async () => {
    await done(`config create ${C} --id gone --name Gone`)
    assert.match(await done(`config delete ${C} gone`), /is in the trash/)
    assert.equal(await done(`config restore ${C}`), 'gone\n')
    assert.match(await refused(`config delete ${C} gone`), /--purge deletes it permanently/)
    await done(`config restore ${C} gone`)
    assert.match(await done(`config delete ${C} gone --purge`), /is gone/)
  })

  await t.test('branches', async () => {
    const { id } = JSON.parse(await done('branch create prices --json')) as { id: number }
    assert.match(await done('branch list'), new RegExp(`${id} +prices`))
    await done(`row delete ${C} shop orders --branch ${id}`)
    assert.match(await done(`row list ${C} shop`), /orders/)
    await done(`branch delete ${id}`)
  })

  await t.test('triggers and events', async () => {
    await writeFile(join(folder, 'x.csv'), 'id\n1\n')
    await done('table import in.c-main.orders x.csv')
    const { id } = JSON.parse(await done(`trigger create ${C} shop --table in.c-main.orders --every-minutes 5 --json`)) as {
      id: string
    }
    assert.match(await done(`trigger update ${id} --every-minutes 60`), /after in\.c-main\.orders, at most every 60 minutes/)
    assert.match(await done(`trigger list --component ${C}`), /shop +60/)
    await done(`trigger delete ${id}`)
    assert.equal(await done('trigger list'), 'no triggers\n')

    const [event] = JSON.parse(await done('event list --limit 1 --json')) as { id: number; message: string }[]
    assert.ok((await done(`event show ${event!.id}`)).includes(event!.message))
  })

  await t.test('components of the stack', async () => {
    assert.match(await done('component list --type extractor'), /keboola\.ex-generic-v2 +extractor/)
    assert.equal((JSON.parse(await done(`component show ${C}`)) as { id: string }).id, C)
  })

  await t.test('a run shows how it goes on, also where nobody watches', async () => {
    const { code, out, err } = await run(`job run ${C} shop`)
    assert.equal(code, 1)
    assert.match(err, /^job \d+ (waiting|processing)/m)
    assert.match(out, /^Job \d+ {2}error/)
  })
})
