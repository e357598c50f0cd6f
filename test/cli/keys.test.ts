import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { bootstrap } from '../../src/storage/scripts/known-keys.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { noLimits } from './support/no-limits.ts'
import { storageFixture } from './support/storage-fixture.ts'
import { testActor } from '../support/actor.ts'

const keyForm = /^sk-weir-[0-9A-Za-z]{12}-[0-9A-Za-z]{32}$/
const day = 86_400_000

/** A data folder as a first start leaves it, with the organization acme besides. */
async function startedScenario() {
  const scenario = storageFixture()
  const database = openDatabase(join(scenario.data, databaseName))
  database.run(bootstrap({ actor: testActor, admin: true }, Date.now()))
  database.close()
  await scenario.say(orgs, 'create', 'acme')
  const list = async () => JSON.parse((await scenario.say(keys, 'list', '--json')).out)
  return { ...scenario, list }
}

test('weir keys create prints the new key alone on standard output, and it is never shown again', async () => {
  const { say: run } = await startedScenario()
  const { code, out, err } = await run(keys, 'create', '--name', 'laptop')
  expect(code).toBe(0)
  expect(out).toMatch(keyForm)
  expect(err).toContain('shown only once')
  expect(err).not.toContain(out)
  for (const listing of [await run(keys, 'list'), await run(keys, 'list', '--json')]) {
    expect(listing.out).toContain('laptop')
    expect(listing.out + listing.err).not.toContain(out.slice(21))
  }
})

test('weir keys create --json prints all properties with the key', async () => {
  const { say: run } = await startedScenario()
  const plain = JSON.parse((await run(keys, 'create', '--json')).out)
  const { id } = plain
  expect(plain).toEqual({
    id,
    key: expect.stringMatching(keyForm),
    name: 'unnamed',
    organization: 'default',
    project: null,
    parent: null,
    ...noLimits,
    permissions: [],
    tags: [],
    note: null,
    content_log: false,
    last4: plain.key.slice(-4),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
  })
  expect(plain.key).toStartWith(`sk-weir-${id}-`)
  const args = ['--org', 'acme', '--name', 'ci', '--expires', '90d', '--json']
  const limited = JSON.parse((await run(keys, 'create', ...args)).out)
  expect(limited).toMatchObject({ name: 'ci', organization: 'acme' })
  expect(Math.abs(Date.parse(limited.expires_at) - Date.now() - 90 * day)).toBeLessThan(day)
})

test('a revoked key is listed as revoked', async () => {
  const { say: run, list } = await startedScenario()
  const { id } = JSON.parse((await run(keys, 'create', '--json')).out)
  expect((await run(keys, 'revoke', id)).out).toBe(`Revoked the API key ${id} (unnamed).`)
  const revoked = (await list()).find((key: { id: string }) => key.id === id)
  expect(revoked.revoked_at).toStartWith('20')
  expect((await run(keys, 'list')).out).toMatch(new RegExp(`${id} .*revoked`))
})

test('weir keys switches the content log of a key on and off', async () => {
  const { say: run } = await startedScenario()
  const { id, content_log } = JSON.parse((await run(keys, 'create', '--content-log', 'on', '--json')).out)
  expect(content_log).toBe(true)
  expect((await run(keys, 'show', id)).out).toMatch(/^Content log +on: the content of requests is kept$/m)
  expect((await run(keys, 'set', id, '--content-log', 'off')).out).toMatch(/^Content log +off$/m)
  expect(await run(keys, 'set', id, '--content-log', 'yes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--content-log must be on or off, not “yes”.'),
  })
})

test('the commands of one key accept the whole key, and never print it', async () => {
  const { say: run } = await startedScenario()
  const { id, key } = JSON.parse((await run(keys, 'create', '--json')).out)
  const secret = key.slice(`sk-weir-${id}-`.length)
  const outputs = [
    await run(keys, 'show', key),
    await run(keys, 'set', key, '--note', 'mine'),
    await run(keys, 'rotate', key),
    await run(keys, 'revoke', ` ${key}\n`),
    await run(keys, 'revoke', key, '--json'),
  ]
  expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
  const failures = [
    await run(keys, 'rotate', key),
    await run(keys, 'revoke', 'sk-weir-', key),
    await run(keys, 'list', '--org', key),
    await run(orgs, 'show', key),
  ]
  expect(failures.map(({ code }) => code)).toEqual([1, 2, 1, 1])
  for (const { out, err } of [...outputs, ...failures]) expect(out + err).not.toContain(secret)
})

test('a key that was not used has no time of its last use', async () => {
  const { say: run, list } = await startedScenario()
  const { id } = JSON.parse((await run(keys, 'create', '--json')).out)
  expect((await list()).find((key: { id: string }) => key.id === id)).toMatchObject({ last_used_at: null })
  expect((await run(keys, 'list')).out).toMatch(/^NAME .* CREATED +LAST USED +EXPIRES\n/)
  expect((await run(keys, 'show', id)).out).toMatch(/^Last used +-$/m)
})

test('a rotated key works for one more day, or for the grace period', async () => {
  const { say: run, list } = await startedScenario()
  for (const [grace, milliseconds] of [
    [[], day],
    [['--grace', '2h'], 7_200_000],
    [['--grace', '0s'], 0],
  ] as const) {
    const { id } = JSON.parse((await run(keys, 'create', '--org', 'acme', '--name', 'ci', '--json')).out)
    const made = JSON.parse((await run(keys, 'rotate', id, ...grace, '--json')).out)
    expect(made).toMatchObject({ name: 'ci', organization: 'acme', expires_at: null })
    expect(made.key).toMatch(keyForm)
    const old = (await list()).find((key: { id: string }) => key.id === id)
    expect(old.replaced_by).toBe(made.id)
    expect(Math.abs(Date.parse(old.expires_at) - Date.now() - milliseconds)).toBeLessThan(60_000)
  }
})

test.each([
  { args: ['rotte', 'x'], code: 2, says: 'Did you mean rotate?' },
  { args: ['revoke'], code: 2, says: 'Missing argument ID for weir keys revoke.' },
  { args: ['create', '--expires', '90'], code: 2, says: '--expires must be a duration such as 90d' },
  { args: ['create', '--expires', '0d'], code: 2, says: '--expires must be a duration' },
  { args: ['create', '--expires', '99999999999d'], code: 2, says: '--expires must be a duration' },
  { args: ['rotate', 'x', '--grace', 'soon'], code: 2, says: '--grace must be a duration' },
  { args: ['create', '--org', 'nobody'], code: 1, says: 'There is no organization nobody.' },
  { args: ['revoke', 'nosuchid'], code: 1, says: 'There is no API key with the ID nosuchid.' },
  { args: ['rotate', 'nosuchid'], code: 1, says: 'There is no API key with the ID nosuchid.' },
])('weir keys $args ends with $code and creates no key', async ({ args, code, says }) => {
  const { say: run, list } = await startedScenario()
  const output = await run(keys, ...args)
  expect([output.code, output.out]).toEqual([code, ''])
  expect(output.err).toContain(says)
  expect(await list()).toHaveLength(1)
})
