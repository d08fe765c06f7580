// Rules that depend on the database, on both of them.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { freshSqlite, migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { placeMigratedSqlite } from '../../../../../tests/support/migrated-sqlite.ts'
import { TEST_PASSWORD_COST } from '../../../../../tests/support/password-cost.ts'
import { createLog } from '../../../kit/log.ts'
import { createSecrets } from '../../../kit/secrets.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { type OpenCore, openCore } from '../../../wiring/core.ts'
import { METADATA_FILE } from '../../../wiring/data-files.ts'
import { personOf } from './people.ts'

const PASSWORD = 'correct horse battery staple'

for (const [title, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', migratedPostgres],
] as const)
  describe(`people on ${title}`, () => {
    const open = async (t: { after(end: () => unknown): unknown }): Promise<OpenCore> => {
      const { location, remove } = await fresh()
      const dataDir = await mkdtemp(join(tmpdir(), 'millrace-people-'))
      const log = createLog({ level: 'silent', secrets: createSecrets() })
      if ('path' in location) await placeMigratedSqlite(join(dataDir, METADATA_FILE))
      const core = await openCore({
        dataDir,
        log,
        passwordCost: TEST_PASSWORD_COST,
        ...('url' in location && { databaseUrl: location.url }),
      })
      t.after(async () => {
        await core.metadata.close()
        await remove()
        await rm(dataDir, { recursive: true, force: true })
      })
      return core
    }
    const newAdmin = async ({ people }: OpenCore, email: string) => {
      const link = await people.makeSignInLink()
      return (await people.signIn.byLink({ link, name: 'Ann', email, password: PASSWORD }, NO_ORIGIN)).person
    }
    const outcomes = async (work: readonly Promise<unknown>[]) =>
      (await Promise.allSettled(work))
        .map((one) => (one.status === 'fulfilled' ? 'done' : (one.reason as { code?: string }).code))
        .sort()

    test('of many who use one link, one code or one invitation at once, one does', async (t) => {
      const core = await open(t)
      const { people, tokens } = core
      const { project } = await tokens.createProject('P')
      const admin = await newAdmin(core, 'ann@example.com')
      const link = await people.makeSignInLink()
      const uses = [1, 2, 3].map((n) =>
        people.signIn.byLink({ link, name: 'X', email: `x${n}@example.com`, password: PASSWORD }, NO_ORIGIN),
      )
      assert.deepEqual(await outcomes(uses), ['done', 'people.linkInvalid', 'people.linkInvalid'])

      const { secret } = people.account.proposeAuthenticator(admin)
      const totp = new TOTP({ secret: Secret.fromBase32(secret) })
      const codes = await people.account.turnOnAuthenticator(
        personOf(admin),
        { secret, code: totp.generate(), password: PASSWORD },
        NO_ORIGIN,
      )
      const signIn = () => people.signIn.byPassword({ email: admin.email, password: PASSWORD, code: codes[0] }, NO_ORIGIN)
      assert.deepEqual(await outcomes([signIn(), signIn(), signIn()]), ['done', 'people.codeWrong', 'people.codeWrong'])

      const invited = { email: 'bob@example.com', role: 'viewer' } as const
      const { value } = await people.inProject.invite(personOf(admin), project.id, invited, NO_ORIGIN)
      const accept = () => people.signIn.byLink({ link: value, name: 'Bob', password: PASSWORD }, NO_ORIGIN)
      assert.equal((await outcomes([accept(), accept()])).filter((one) => one === 'done').length, 1)
      const roles = (await tokens.people.inProject(project.id)).map(({ name, role }) => [name, role])
      assert.deepEqual(roles.sort(), [
        ['Ann', 'admin'],
        ['Bob', 'viewer'],
      ])
    })

    test('a stack admin who comes by twice at once joins once; the last one stays', async (t) => {
      const core = await open(t)
      const { people, tokens } = core
      const { project } = await tokens.createProject('P')
      const ann = await newAdmin(core, 'ann@example.com')
      const bob = await newAdmin(core, 'bob@example.com')
      await Promise.all([1, 2, 3].map(() => people.finder.actorOf(personOf(ann), project.id)))
      assert.equal((await tokens.people.inProject(project.id)).length, 1)
      const left = await outcomes([people.remove(ann.id, NO_ORIGIN), people.setStackAdmin(bob.id, false, NO_ORIGIN)])
      assert.deepEqual(left, ['done', 'people.lastAdmin'])
      assert.equal((await people.list()).filter(({ isStackAdmin }) => isStackAdmin).length, 1)
    })

    test('a person is found again by name, e-mail and token; removing one leaves nothing that opens', async (t) => {
      const core = await open(t)
      const { people, tokens } = core
      const { project, master } = await tokens.createProject('P')
      await newAdmin(core, 'root@example.com')
      const ann = await newAdmin(core, 'Ann@Example.com')
      assert.equal(ann.email, 'ann@example.com')
      const actor = await people.finder.actorOf(personOf(ann), project.id)
      assert.deepEqual([actor.tokenDescription, actor.role, actor.isMasterToken], ['Ann', 'admin', true])
      await people.account.rename(personOf(ann), 'Ann Lee', NO_ORIGIN)
      assert.equal((await tokens.findActor(project.id, actor.tokenId))?.tokenDescription, 'Ann Lee')
      const { value } = await people.account.createManageToken(personOf(ann), { description: 'x' }, NO_ORIGIN)
      const script = await tokens.create(actor, { description: 'script', canManageTokens: true }, NO_ORIGIN)
      const ofScript = await tokens.create((await tokens.authenticate(script.value))!, { description: 'of script' }, NO_ORIGIN)
      const scheduleToken = await core.metadata.inTransaction((trx) => tokens.issueInternal(trx, actor, 'schedule'))
      const others = await tokens.create((await tokens.authenticate(master.value))!, { description: 'other' }, NO_ORIGIN)
      await people.remove(ann.id, NO_ORIGIN)
      for (const { value } of [script, ofScript]) assert.equal(await tokens.authenticate(value), undefined, 'her scripts')
      assert.ok(await tokens.authenticate(others.value), 'scripts of others')
      assert.ok(await tokens.findActor(project.id, scheduleToken), 'her schedules')
      assert.equal(await people.finder.ofManageToken(value), undefined)
      assert.equal(await tokens.findActor(project.id, actor.tokenId), undefined)
      await assert.rejects(people.finder.actorOf(personOf({ ...ann, isStackAdmin: false }), project.id), /are not a member/)
    })
  })
