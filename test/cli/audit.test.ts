import { $ } from 'bun'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { command as adminKeys } from '../../src/cli/commands/admin-keys.ts'
import { command as audit } from '../../src/cli/commands/audit.ts'
import { command as imports } from '../../src/cli/commands/import.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as models } from '../../src/cli/commands/models.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { type DatabaseFixture, testDatabases } from './support/database-fixture.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** The name that the system has for the user of this process. */
const user = (await $`id -un`.text()).trim()

type Entry = Readonly<Record<string, unknown>> & { readonly id: string; readonly event: string }

/** The entries that are new since the last call, the oldest first. */
function follow({ say }: Pick<DatabaseFixture, 'say'>) {
  const known = new Set<string>()
  return async (): Promise<readonly Entry[]> => {
    const { code, out } = await say(audit, '--limit', '1000', '--json')
    expect(code).toBe(0)
    const { data } = JSON.parse(out) as { readonly data: readonly Entry[] }
    const added = data.filter(({ id }) => !known.has(id)).toReversed()
    for (const { id } of added) known.add(id)
    return added
  }
}

function importFile(): string {
  const file = join(temporaryFolder(), 'keys.json')
  const list = [{ token: 'x', key_alias: 'one', models: [] }]
  writeFileSync(file, JSON.stringify({ keys: list, total_count: 1, current_page: 1, total_pages: 1 }))
  return file
}

testDatabases((open) => {
  test('each change on the command line has an entry by its user, and one without effect none', async () => {
    const fixture = await open()
    const { say, json, list } = fixture
    const entries = follow(fixture)
    await entries()
    const { id: project } = await json(projects, 'create', 'search', '--org', 'acme')
    const { id: key } = await json(keys, 'create', '--org', 'acme', '--name', 'ci')
    const { id: admin } = await json(adminKeys, 'create', '--name', 'ada')
    expect((await entries()).map(({ event }) => event)).toEqual([
      'project.created',
      'api_key.created',
      'admin_key.created',
    ])
    const commands: (readonly [string, Parameters<typeof say>])[] = [
      ['organization.created', [orgs, 'create', 'globex']],
      ['organization.updated', [orgs, 'set', 'acme', '--billing', 'prepaid']],
      ['organization.credited', [orgs, 'credit', 'acme', '12.50']],
      ['organization.updated', [orgs, 'rename', 'globex', 'initech']],
      ['organization.deleted', [orgs, 'delete', 'initech', '--yes']],
      ['project.updated', [projects, 'set', project, '--budget', '5']],
      ['api_key.updated', [keys, 'set', key, '--tags', 'ci', '--project', project]],
      ['api_key.rotated', [keys, 'rotate', key]],
      ['api_key.deleted', [keys, 'revoke', key]],
      ['project.archived', [projects, 'delete', project, '--yes']],
      ['admin_key.deleted', [adminKeys, 'revoke', admin]],
      ['api_key.created', [imports, 'litellm', '--org', 'acme', '--keys', importFile(), '--apply']],
    ]
    for (const [event, command] of commands) {
      expect([event, await say(...command)]).toEqual([event, expect.objectContaining({ code: 0 })])
      const [entry, ...others] = await entries()
      // A rotation creates another key.
      const created = event === 'api_key.rotated' ? ['api_key.created'] : []
      expect([event, others.map((other) => other.event)]).toEqual([event, created])
      expect(entry).toMatchObject({
        event,
        actor: { type: 'command_line', id: null, name: user },
        source: 'cli',
        address: hostname(),
      })
      if (['organization.credited', 'api_key.created'].includes(event)) continue
      await say(...command)
      expect([event, await entries()]).toEqual([event, []])
    }
    expect(await list(keys)).toHaveLength(3)
  })

  test('weir audit lists changes with filters, and shows one with its values', async () => {
    const fixture = await open()
    const { say } = fixture
    await say(orgs, 'set', 'acme', '--budget', '500', '--budget-period', 'month')
    const [changed] = (await follow(fixture)()).slice(-1)
    const table = (await say(audit, '--org', 'acme', '--event', 'organization.updated')).out
    expect(table).toMatch(/^TIME +EVENT +OBJECT +ORG +ACTOR +FROM +CHANGED +ID\n/)
    expect(table).toContain(`organization.updated  acme    acme  ${user}`)
    expect(table).toContain('budget_usd, budget_period')
    const shown = (await say(audit, 'show', changed?.id ?? '')).out
    expect(shown).toMatch(/^Object +organization acme \(org_\w+\)$/m)
    expect(shown).toMatch(/^budget_usd +null +"500.00"$/m)
    expect(shown).toMatch(/^budget_period +"none" +"month"$/m)
    expect(JSON.parse((await say(audit, 'show', changed?.id ?? '', '--json')).out)).toEqual(changed)
    const next = await say(audit, '--limit', '1')
    expect(next.err).toBe(`There are more. To list them, add: --after ${changed?.id}`)
    expect((await say(audit, '--after', changed?.id ?? '')).out).not.toContain('organization.updated')
    for (const none of [
      ['--since', '1h', '--until', '1h'],
      ['--actor', 'nobody'],
      ['--resource', 'nothing'],
    ])
      expect((await say(audit, ...none)).out).toBe('There are no such changes.')
    expect((await say(audit, '--resource', 'acme')).out).toContain('organization.created')
  })
})

test.each([
  [['--org', 'nobody'], 'There is no organization “nobody”.'],
  [['--since', 'x'], '--since'],
  [['--limit', '0'], '--limit'],
  [['--after', 'x'], '--after'],
  [['--event', 'api_key.create'], '--event must be one of organization.created, '],
  [['show', 'x'], 'There is no entry with this ID.'],
])('weir audit %p is refused with what to do', async (args, says) => {
  const { say } = storageFixture()
  await say(orgs, 'create', 'acme')
  const { code, err } = await say(audit, ...args)
  expect(code).toBe(2)
  expect(err).toContain(says)
})

test('with sudo, the actor is the user who has called it, and the environment names no other', async () => {
  const actorOf = async (environment: Readonly<Record<string, string>>) => {
    const { say } = storageFixture(environment)
    await say(orgs, 'create', 'acme')
    const { data } = JSON.parse((await say(audit, '--json')).out)
    return data[0].actor.name
  }
  expect(await actorOf({ SUDO_USER: 'ada' })).toBe('ada')
  expect(await actorOf({ USER: 'mallory', LOGNAME: 'mallory' })).toBe(user)
})

test('an update of the catalog has an entry with its models, and so has the return to the built-in one', async () => {
  const fixture = storageFixture()
  const { say } = fixture
  await say(orgs, 'create', 'acme')
  const entries = follow(fixture)
  await entries()
  const file = join(fixture.data, '..', 'list.json')
  const slug = 'openai/gpt-5-mini'
  writeFileSync(file, JSON.stringify({ models: [{ slug, pricing: { input: 0.3 } }] }))
  const update = ['update', '--from', file] as const
  await say(models, ...update, '--dry-run')
  expect(await entries()).toEqual([])
  expect(await say(models, ...update)).toMatchObject({ code: 0 })
  expect(await entries()).toMatchObject([
    { event: 'catalog.updated', resource: { type: 'catalog' }, after: { models: [slug] }, source: 'cli' },
  ])
  await say(models, ...update)
  expect(await entries()).toEqual([])
  for (let round = 0; round < 2; round++) await say(models, 'update', '--reset')
  expect(await entries()).toMatchObject([
    { event: 'catalog.updated', before: { is_built_in: false }, after: { is_built_in: true } },
  ])
})
