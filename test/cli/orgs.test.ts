import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keys } from '../../src/cli/keys.ts'
import { orgs } from '../../src/cli/orgs.ts'
import { storageWorld } from './storage-world.ts'

test('an organization is created, listed and deleted', async () => {
  const { say } = storageWorld()
  const created = await say(orgs, 'create', 'acme')
  expect(created).toMatchObject({ code: 0, err: '' })
  expect(created.out).toMatch(/^Created the organization acme \(org_\w{24}\)\.$/)
  expect((await say(orgs, 'list')).out).toContain('acme')
  expect(await say(orgs, 'delete', 'acme', '--yes')).toEqual({
    code: 0,
    out: 'Deleted the organization acme.',
    err: '',
  })
  expect((await say(orgs, 'list')).out).toStartWith('There are no organizations in ')
})

test('--json tells the billing, the balance in USD and the limits', async () => {
  const { say } = storageWorld()
  const created = JSON.parse((await say(orgs, 'create', 'acme', '--json')).out)
  expect(created).toEqual({
    id: expect.stringMatching(/^org_/),
    name: 'acme',
    billing: 'unmetered',
    balance_usd: '0.00',
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent_requests: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  })
  expect(JSON.parse((await say(orgs, 'list', '--json')).out)).toEqual([created])
  const deleted = await say(orgs, 'delete', 'acme', '--yes', '--json')
  expect(JSON.parse(deleted.out)).toEqual({ ...created, deleted: true })
  expect(JSON.parse((await say(orgs, 'list', '--json')).out)).toEqual([])
})

test('nothing is deleted without --yes', async () => {
  const { say } = storageWorld()
  await say(orgs, 'create', 'acme')
  const refused = await say(orgs, 'delete', 'acme')
  expect([refused.code, refused.out]).toEqual([2, ''])
  expect(refused.err).toContain('--yes')
  expect((await say(orgs, 'list')).out).toContain('acme')
})

test('the keys of a deleted organization stay in the list, without an owner', async () => {
  const { say } = storageWorld()
  await say(orgs, 'create', 'acme')
  const { id } = JSON.parse((await say(keys, 'create', '--org', 'acme', '--json')).out)
  await say(orgs, 'delete', 'acme', '--yes')
  expect(JSON.parse((await say(keys, 'list', '--json')).out)).toMatchObject([{ id, organization: null }])
  expect((await say(keys, 'list')).out).toContain('(deleted)')
})

test.each([
  { args: [], code: 2, says: 'weir orgs needs one of: create, list, delete.' },
  { args: ['crate', 'x'], code: 2, says: 'Did you mean create?' },
  { args: ['toString'], code: 2, says: 'There is no weir orgs toString.' },
  { args: ['create'], code: 2, says: 'needs NAME' },
  { args: ['create', 'a', 'b'], code: 2, says: '“b”' },
  { args: ['list', '--jsn'], code: 2, says: '--json' },
  { args: ['create', 'a/b'], code: 1, says: 'has 1 to 64 letters' },
  { args: ['delete', 'nobody', '--yes'], code: 1, says: 'There is no organization with the name nobody.' },
])('weir orgs $args ends with $code and says what is wrong', async ({ args, code, says }) => {
  const said = await storageWorld().say(orgs, ...args)
  expect([said.code, said.out]).toEqual([code, ''])
  expect(said.err).toContain(says)
})

test('a mistake in weir.yaml keeps nobody from the commands', async () => {
  const { say, data } = storageWorld()
  writeFileSync(join(data, '..', 'weir.yaml'), 'no such setting: true')
  expect((await say(orgs, 'create', 'acme')).code).toBe(0)
})
