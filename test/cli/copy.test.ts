import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { command as backup } from '../../src/cli/commands/backup.ts'
import { command as copy } from '../../src/cli/commands/copy.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { createResponse, retrieveResponse } from '../support/responses.ts'
import { silence } from '../support/script.ts'
import { execute, hasPostgres, sharedPostgres } from '../support/postgres/server.ts'
import { listCompletionIds, storeCompletion } from '../support/stored-completions.ts'
import { fillGateway, postgresPlace, readGateway, serveAt, sqlitePlace } from './support/moved-gateway.ts'
import { storageFixture } from './support/storage-fixture.ts'

const stores = [
  ['SQLite', async () => sqlitePlace(), postgresPlace],
  ['PostgreSQL', postgresPlace, async () => sqlitePlace()],
] as const

/** What a copy prints beside its progress, which is shown from the first second on. */
const problemsIn = (err: string) =>
  err.split('\n').filter((line) => line !== '' && !/^(Checking|Counting|Copying)\b/.test(line))

describe.skipIf(!hasPostgres)('what a gateway has stored', () => {
  test.each(stores)('in %s is the same after a copy to the other store, and back', async (_, one, other) => {
    const [first, second, third] = [await one(), await other(), await one()]
    const scenario = await serveAt(first)
    const ids = await fillGateway(scenario.app, first)
    const before = await readGateway(scenario.app, first, ids)
    await scenario[Symbol.asyncDispose]()

    const there = await first.say(copy, '--to', second.name)
    expect([there.code, problemsIn(there.err)]).toEqual([0, []])
    expect(there.out).toContain('Verified')
    let after: object
    {
      await using moved = await serveAt(second)
      expect(await readGateway(moved.app, second, ids)).toEqual(before)
      const added = await storeCompletion(moved.app)
      expect(await listCompletionIds(moved.app, 'order=desc&limit=2')).toEqual([
        added.id,
        ids.completions[4] ?? '',
      ])
      const last = ids.responses[1] ?? ''
      const followed = await createResponse(moved.app, { previous_response_id: last, input: 'And how deep?' })
      expect(followed.status).toBe('completed')
      // The input of the deleted response is still part of the conversation.
      expect(JSON.stringify(moved.acme.requests.at(-1)?.body)).toContain('How high is it?')
      after = await readGateway(moved.app, second, ids)
    }

    const back = await third.say(copy, '--from', second.name, '--json')
    expect([back.code, back.err]).toEqual([0, ''])
    expect(JSON.parse(back.out)).toMatchObject({ rows: { organizations: 2, api_keys: 3, completions: 7 } })
    await using returned = await serveAt(third)
    expect(await readGateway(returned.app, third, ids)).toEqual(after)
  })

  test('that was unfinished when a server died is settled by the next one, at the new place', async () => {
    const [running, saved, moved] = [sqlitePlace(), sqlitePlace(), await postgresPlace()]
    await using scenario = await serveAt(running, silence)
    await running.say(orgs, 'credit', 'default', '5')
    await running.say(orgs, 'set', 'default', '--billing', 'prepaid')
    const run = await createResponse(scenario.app, { background: true })
    await scenario.acme.request(0)
    // The copy of the file is what a killed server leaves.
    mkdirSync(saved.data)
    expect((await running.say(backup, join(saved.data, 'weir.db'))).code).toBe(0)
    const { code, out } = await saved.say(copy, '--to', moved.name, '--json')
    expect([code, JSON.parse(out).rows]).toEqual([0, expect.objectContaining({ reservations: 1 })])
    expect(JSON.parse(out).reserved).not.toBe('0.00')
    await using next = await serveAt(moved)
    expect(await retrieveResponse(next.app, run.id)).toMatchObject({ status: 'failed' })
    const [account] = JSON.parse((await moved.say(orgs, 'list', '--json')).out)
    expect(account).toMatchObject({ name: 'default', reserved_usd: '0.00' })
  })
})

describe.skipIf(!hasPostgres)('weir copy', () => {
  test('refuses a PostgreSQL database that has data, and does not change it', async () => {
    const [source, target] = [sqlitePlace(), await postgresPlace()]
    await source.say(orgs, 'create', 'acme')
    await target.say(orgs, 'create', 'globex')
    const { code, err } = await source.say(copy, '--to', target.name)
    expect([code, err]).toEqual([1, expect.stringContaining('is not empty')])
    expect(await execute(target.name, 'SELECT name FROM organizations')).toEqual([{ name: 'globex' }])
    expect((await target.say(orgs, 'list')).code).toBe(0)
  })

  test('refuses a folder that has a database, or the log of one', async () => {
    const [source, target] = [await postgresPlace(), sqlitePlace()]
    await source.say(orgs, 'create', 'acme')
    await target.say(orgs, 'create', 'globex')
    const { code, err } = await source.say(copy, '--to', target.name)
    expect([code, err]).toEqual([1, expect.stringContaining('weir.db already exists')])
    expect((await target.say(orgs, 'list')).out).toContain('globex')
    const other = sqlitePlace()
    await Bun.write(join(other.data, 'weir.db-wal'), 'a log')
    expect(await source.say(copy, '--to', other.name)).toMatchObject({ code: 1 })
    expect(existsSync(join(other.data, 'weir.db'))).toBe(false)
  })

  test('refuses a source that a server uses', async () => {
    const [source, target] = [sqlitePlace(), await postgresPlace()]
    await using scenario = await serveAt(source)
    const { code, err } = await source.say(copy, '--to', target.name)
    expect([code, err]).toEqual([1, expect.stringContaining('in use by another weir server')])
    expect(scenario.app.key).not.toBe('')
    expect(await execute(target.name, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).toEqual([])
  })

  test('recognizes a server in PostgreSQL by its signs of life, and ignores one that was killed', async () => {
    const [source, target] = [await postgresPlace(), sqlitePlace()]
    {
      await using scenario = await serveAt(source)
      const refused = await source.say(copy, '--to', target.name)
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is in use by a weir server')])
      expect((await scenario.app.request('/v1/models')).status).toBe(200)
    }
    await execute(source.name, "INSERT INTO processes VALUES ('dead', 7, 0)")
    expect(await source.say(copy, '--to', target.name)).toMatchObject({ code: 0 })
  }, 120_000)

  test('has a target that no server uses until it is complete, and starts over', async () => {
    const [source, target] = [sqlitePlace(), await postgresPlace()]
    await source.say(orgs, 'create', 'acme')
    await source.say(keys, 'create', '--org', 'acme')
    // What is there when a copy is killed: the mark, and a part of the data.
    await target.say(orgs, 'create', 'acme')
    await execute(target.name, 'CREATE TABLE unfinished_copy (started_at timestamptz NOT NULL DEFAULT now())')
    await expect(serveAt(target)).rejects.toThrow('has an unfinished copy')
    expect((await target.say(orgs, 'list')).err).toContain('has an unfinished copy')
    const { code, out } = await source.say(copy, '--to', target.name)
    expect([code, out]).toEqual([0, expect.stringContaining('Verified')])
    expect(JSON.parse((await target.say(keys, 'list', '--json')).out)).toHaveLength(1)
  })

  test('shows no password, also where the target cannot be reached', async () => {
    const password = 'canary-password-0123456789'
    const target = await (await sharedPostgres()).createDatabase()
    const secret = target.replace('weir@', `weir:${password}@`)
    const source = storageFixture({ WEIR_COPY_TO: secret })
    await source.say(orgs, 'create', 'acme')
    const results = [
      await source.say(copy),
      await source.say(copy, '--to', secret.replace(/:\d+\//, ':1/')),
      await source.say(copy, '--to', `mysql://u:${password}@host/name`),
    ]
    expect(results.map(({ code }) => code)).toEqual([0, 1, 1])
    for (const { out, err } of results) expect(out + err).not.toContain(password)
  })

  test('needs one database that is not a SQLite file', async () => {
    const { say } = sqlitePlace()
    expect(await say(copy)).toMatchObject({ code: 2, err: expect.stringContaining('--to or --from') })
    expect(await say(copy, '--to', 'elsewhere')).toMatchObject({
      code: 1,
      err: expect.stringContaining('weir backup'),
    })
  })
})
