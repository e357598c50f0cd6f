import { expect, test } from 'bun:test'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { testDatabases } from './support/database-fixture.ts'

testDatabases((open) => {
  test('a key has a project, tags, a note and permissions, which are set and removed', async () => {
    const { json, say } = await open()
    const project = await json(projects, 'create', 'alice', '--org', 'acme')
    const properties = ['--tags', 'ci,nightly', '--note', 'for Bob', '--permissions', 'mint,admin']
    const key = await json(
      keys,
      'create',
      '--org',
      'acme',
      '--project',
      'alice',
      '--name',
      'a',
      ...properties,
    )
    expect(key).toMatchObject({
      project: { id: project.id, name: 'alice' },
      tags: ['ci', 'nightly'],
      note: 'for Bob',
      permissions: ['mint', 'admin'],
    })
    expect((await say(keys, 'list')).out).toMatch(
      /^a +\w{12} +acme\/alice +- +all +active +[\d-]+ +- +never$/m,
    )
    const cleared = ['--project', 'none', '--tags', 'none', '--note', 'none', '--permissions', 'none']
    const changed = await json(keys, 'set', key.id, '--name', 'b', '--expires', '2h', ...cleared)
    expect(changed).toMatchObject({ name: 'b', project: null, tags: [], note: null, permissions: [] })
    expect(changed.expires_at).toStartWith('2')
    expect(await json(keys, 'set', key.id, '--expires', 'never')).toMatchObject({ expires_at: null })
    expect(await json(keys, 'set', key.id, '--project', project.id)).toMatchObject({
      project: { name: 'alice' },
    })
  })

  test('keys are listed by organization and by project', async () => {
    const { json, list, say } = await open()
    await json(projects, 'create', 'alice', '--org', 'acme')
    await json(keys, 'create', '--name', 'first')
    await json(keys, 'create', '--name', 'second', '--org', 'acme')
    await json(keys, 'create', '--name', 'third', '--org', 'acme', '--project', 'alice')
    const names = async (...flags: string[]) => (await list(keys, ...flags)).map(({ name }) => name)
    expect(await names()).toEqual(['first', 'second', 'third'])
    expect(await names('--org', 'acme')).toEqual(['second', 'third'])
    expect(await names('--org', 'acme', '--project', 'alice')).toEqual(['third'])
    expect(await say(keys, 'list', '--project', 'alice')).toEqual({
      code: 1,
      out: '',
      err: 'There is no project alice in the organization default. To list all projects, run: weir projects list',
    })
    expect((await say(keys, 'list', '--org', 'nobody')).err).toStartWith('There is no organization nobody.')
  })

  test('projects of an organization are created, renamed, listed and deleted', async () => {
    const { json, list, say } = await open()
    const created = await say(projects, 'create', 'alice', '--org', 'acme')
    expect(created.out).toMatch(/^Created the project alice \(proj_\w+\) in the organization acme\.$/)
    await json(projects, 'create', 'alice')
    expect((await say(projects, 'create', 'alice')).err).toBe('The project alice already exists.')
    await json(projects, 'set', 'alice', '--org', 'acme', '--name', 'bob')
    const names = async (...flags: string[]) => (await list(projects, ...flags)).map(({ name }) => name)
    expect(await names()).toEqual(['bob', 'alice'])
    expect(await names('--org', 'acme')).toEqual(['bob'])
    const refused = await say(projects, 'delete', 'bob', '--org', 'acme')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('To confirm, add --yes.')])
    const { id } = await json(projects, 'show', 'bob', '--org', 'acme')
    expect((await say(projects, 'delete', 'bob', '--org', 'acme', '--yes')).out).toBe(
      'Deleted the project bob.',
    )
    expect((await say(projects, 'list', '--org', 'acme')).out).toBe(
      'There are no projects in the organization acme.',
    )
    expect((await say(projects, 'show', id)).out).toMatch(/^State +deleted$/m)
    expect((await say(keys, 'create', '--org', 'acme', '--project', id)).code).toBe(1)
    expect((await say(projects, 'show', id, '--org', 'default')).code).toBe(1)
  })
})
