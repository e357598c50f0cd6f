import { expect, test } from 'bun:test'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { storageFixture } from './support/storage-fixture.ts'

test('an organization is renamed, and keeps its id and its API keys', async () => {
  const { say: run } = storageFixture()
  const { id } = JSON.parse((await run(orgs, 'create', 'acme', '--json')).out)
  await run(orgs, 'create', 'globex')
  const key = JSON.parse((await run(keys, 'create', '--org', 'acme', '--json')).out)
  expect(await run(orgs, 'rename', 'acme', 'Acme Inc')).toEqual({
    code: 0,
    out: 'Renamed the organization acme to Acme Inc.',
    err: '',
  })
  expect(JSON.parse((await run(orgs, 'show', 'Acme Inc', '--json')).out)).toMatchObject({ id })
  expect(JSON.parse((await run(keys, 'show', key.id, '--json')).out).organization).toBe('Acme Inc')
  for (const [from, to, problem] of [
    ['acme', 'other', 'There is no organization acme.'],
    ['globex', 'Acme Inc', 'The organization Acme Inc already exists.'],
    ['globex', '-', 'must have 1 to 64 letters'],
  ] as const) {
    const { code, err } = await run(orgs, 'rename', from, to)
    expect([code, err]).toEqual([1, expect.stringContaining(problem)])
  }
  expect((await run(orgs, 'rename', 'globex', 'globex')).code).toBe(0)
  await run(orgs, 'create', 'default')
  const { err } = await run(orgs, 'rename', 'default', 'main')
  expect(err).toBe('Commands without --org use an organization named default, which no longer exists.')
})
