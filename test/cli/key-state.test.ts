import { expect, test } from 'bun:test'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { type DatabaseFixture, testDatabases } from './support/database-fixture.ts'

/** A key of a project of acme, the key that has created it, and the states that the commands say. */
async function mintedKey({ json, say, change }: DatabaseFixture) {
  await json(projects, 'create', 'alice', '--org', 'acme')
  const owner = ['--org', 'acme', '--project', 'alice']
  const parent = await json(keys, 'create', ...owner, '--name', 'creator', '--permissions', 'mint')
  const child = await json(keys, 'create', ...owner, '--name', 'created', '--budget', '3')
  await change(`UPDATE api_keys SET parent_id = '${parent.id}' WHERE public_id = '${child.id}'`)
  return {
    parent,
    child,
    async states() {
      const { out } = await say(keys, 'list')
      return ['creator', 'created'].map((name) => new RegExp(`^${name} .* all +(\\w+) `, 'm').exec(out)?.[1])
    },
    /** The state and its reason. */
    async show(id: string) {
      const { out } = await say(keys, 'show', id)
      return [/^State +(.+)$/m.exec(out)?.[1], /^ {2}reason +(.+)$/m.exec(out)?.[1]]
    },
  }
}

const past = Date.now() - 60_000

testDatabases((open) => {
  test('a key is active while its owners are, and an own state precedes', async () => {
    const database = await open()
    const { parent, child, states, show } = await mintedKey(database)
    expect(await states()).toEqual(['active', 'active'])
    expect(await show(child.id)).toEqual(['active', undefined])
    await database.json(keys, 'rotate', parent.id, '--grace', '1h')
    expect(await states()).toEqual(['replaced', 'active'])
    await database.json(orgs, 'set', 'acme', '--disable')
    await database.json(keys, 'revoke', child.id)
    expect(await states()).toEqual(['disabled', 'revoked'])
    expect(await show(child.id)).toEqual(['revoked', undefined])
  })

  test('the keys of a key that has expired, or was rotated and is past its grace, have expired', async () => {
    const database = await open()
    const { parent, child, states, show } = await mintedKey(database)
    await database.json(keys, 'rotate', parent.id)
    await database.change(`UPDATE api_keys SET expires_at = ${past} WHERE public_id = '${parent.id}'`)
    expect(await states()).toEqual(['expired', 'expired'])
    const reason = `The API key ${parent.id} has ended, which has created it.`
    expect(await show(child.id)).toEqual(['expired', reason])
    expect(await show(parent.id)).toEqual(['expired', undefined])
  })

  test('the keys of a disabled key are disabled, also in a list without that key', async () => {
    const database = await open()
    const { parent, child, states, show } = await mintedKey(database)
    await database.json(keys, 'set', parent.id, '--disable', '--project', 'none')
    expect(await states()).toEqual(['disabled', 'disabled'])
    const { out } = await database.say(keys, 'list', '--org', 'acme', '--project', 'alice')
    expect(out).toMatch(/^created .* disabled /m)
    expect(out).not.toContain('creator')
    expect(await show(child.id)).toEqual(['disabled', `The API key ${parent.id} is disabled.`])
  })

  test.each([
    [orgs, ['set', 'acme', '--disable'], 'The organization “acme” of this API key is disabled.'],
    [orgs, ['delete', 'acme', '--yes'], 'The organization of this API key no longer exists.'],
    [
      projects,
      ['set', 'alice', '--org', 'acme', '--disable'],
      'The project “alice” of this API key is disabled.',
    ],
    [
      projects,
      ['delete', 'alice', '--org', 'acme', '--yes'],
      'The project “alice” of this API key was deleted.',
    ],
  ] as const)('the keys of what is disabled or deleted are disabled: %#', async (command, args, reason) => {
    const database = await open()
    const { child, states, show } = await mintedKey(database)
    await database.json(command, ...args)
    expect(await states()).toEqual(['disabled', 'disabled'])
    expect(await show(child.id)).toEqual(['disabled', reason])
  })

  test('what a key has returned of its budget is not called allocated to keys of its own', async () => {
    const database = await open()
    const { parent, child } = await mintedKey(database)
    const { id } = await database.json(orgs, 'show', 'acme')
    await database.change(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
        VALUES ('${child.id}', 0, '${id}', 0, 0, 0, 3000000000)`,
    )
    const { out } = await database.say(keys, 'show', child.id)
    expect(out).toMatch(/^ {2}left +0\.00 USD$/m)
    expect(out).toContain(`3.00 USD to the API key ${parent.id}, which has created this one`)
    expect(out).not.toContain('allocated')
  })
})
