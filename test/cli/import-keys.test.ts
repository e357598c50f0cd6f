import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command as imports } from '../../src/cli/commands/import.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { type DatabaseFixture, testDatabases } from './support/database-fixture.ts'
import { runWeir } from './support/run-weir.ts'

const hash = '88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b'

const keyList = {
  keys: [
    {
      token: hash,
      key_name: 'sk-...Ab3d',
      key_alias: 'alice laptop',
      spend: 3.25,
      max_budget: 20,
      budget_duration: '30d',
      models: ['gpt-4o', 'claude-sonnet'],
      rpm_limit: 60,
      tpm_limit: 100_000,
      max_parallel_requests: 4,
      metadata: { tags: ['prod'] },
      team_id: 'team-1',
      user_id: 'alice',
    },
    { token: hash, key_name: 'sk-...9xYz', models: [], team_id: null, blocked: true, expires: null },
    { token: hash, key_alias: 'old', expires: '2024-01-01T00:00:00Z' },
  ],
  total_count: 3,
  current_page: 1,
  total_pages: 1,
}
const teamList = [
  {
    team_id: 'team-1',
    team_alias: 'search',
    max_budget: 500,
    budget_duration: '1mo',
    models: [],
    rpm_limit: 600,
  },
]

function writeLists(): { readonly keysFile: string; readonly args: string[] } {
  const folder = temporaryFolder()
  const [keysFile, teamsFile] = [join(folder, 'keys.json'), join(folder, 'teams.json')]
  writeFileSync(keysFile, JSON.stringify(keyList))
  writeFileSync(teamsFile, JSON.stringify(teamList))
  return { keysFile, args: ['litellm', '--org', 'acme', '--keys', keysFile, '--teams', teamsFile] }
}

async function namesOf({ list }: DatabaseFixture): Promise<readonly string[]> {
  return [...(await list(keys)), ...(await list(projects))].map(({ name }) => name)
}

testDatabases((open) => {
  test('weir import litellm --keys changes nothing without --apply, and shows what it would create', async () => {
    const database = await open()
    const { code, out, err } = await database.say(imports, ...writeLists().args)
    expect(code).toBe(0)
    expect(out).toMatch(/^search +500\.00 a month +600 +- +- +all +active$/m)
    expect(out).toMatch(/^alice laptop +search +never +20\.00 a month +60 +100,000 +4 +gpt-4o \+1 +active$/m)
    expect(out).toMatch(/^key ending in 9xYz +- +never +- +- +- +- +all +disabled$/m)
    expect(err.split('\n')).toEqual([
      'keys.spend: What was spent so far is not imported: the budget begins with its whole amount.',
      'keys[2]: “old” has expired.',
      '1 project and 2 API keys would be created in the organization acme. Nothing was changed; to create them, add --apply.',
    ])
    expect(out + err).not.toContain(hash)
    expect(await namesOf(database)).toEqual([])
  })

  test('weir import litellm --keys --apply creates projects and keys, and prints the new keys once', async () => {
    const database = await open()
    const { args } = writeLists()
    const { code, out, err } = await database.say(imports, ...args, '--apply')
    expect(code).toBe(0)
    const [title, alice = '', other = ''] = out.split('\n')
    expect(title).toBe('name,project,id,key')
    const [, id = '', secret] = /^alice laptop,search,(\w{12}),(sk-weir-\1-\w{32})$/.exec(alice) ?? []
    expect(secret).toBeDefined()
    expect(other).toMatch(/^key ending in 9xYz,,\w{12},sk-weir-/)
    expect(err).toContain(
      '1 project and 2 API keys were created in the organization acme. The API keys are shown',
    )
    expect(await database.json(keys, 'show', id)).toMatchObject({
      name: 'alice laptop',
      organization: 'acme',
      project: { name: 'search' },
      budget_usd: '20.00',
      budget_period: 'month',
      requests_per_minute: 60,
      tokens_per_minute: 100_000,
      concurrent_requests: 4,
      models: ['gpt-4o', 'claude-sonnet'],
      tags: ['prod'],
      note: 'User of LiteLLM: alice',
    })
    const [project] = await database.list(projects)
    expect(project).toMatchObject({ budget_usd: '500.00', requests_per_minute: 600, models: null })
  })

  test('a second import of the same lists creates nothing', async () => {
    const database = await open()
    const { args } = writeLists()
    const first = JSON.parse((await database.say(imports, ...args, '--apply', '--json')).out)
    expect(first).toMatchObject({ applied: true, organization: 'acme', projects: [{ name: 'search' }] })
    expect(first.keys[0]).toMatchObject({ name: 'alice laptop', project: 'search', budget_usd: '20.00' })
    expect(first.keys[0].key).toStartWith(`sk-weir-${first.keys[0].id}-`)
    expect(first.existing).toEqual({ projects: [], keys: [] })
    const again = await database.say(imports, ...args, '--apply')
    expect(again.out).toBe('name,project,id,key')
    expect(again.err).toEndWith(
      '0 projects and 0 API keys were created in the organization acme. 1 project and 2 API keys exist already and ' +
        'stay as they are. Secrets of existing API keys are not shown again: if one was lost, weir keys rotate ID creates a new one, ' +
        'and weir keys list --org acme has the IDs.',
    )
    for (const flags of [['--apply'], []]) {
      const { code, out } = await database.say(imports, ...args, ...flags, '--json')
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({
        applied: flags.length > 0,
        projects: [],
        keys: [],
        existing: {
          projects: [{ name: 'search' }],
          keys: [
            { name: 'alice laptop', project: 'search' },
            { name: 'key ending in 9xYz', project: null },
          ],
        },
      })
    }
    expect(await namesOf(database)).toHaveLength(3)
  })

  test('an import of which one key is not possible creates nothing', async () => {
    const database = await open()
    const file = join(temporaryFolder(), 'keys.json')
    const tooMany = Array.from({ length: 1001 }, (_, index) => `model-${index}`)
    const [good, bad] = [
      { key_alias: 'good', team_id: 't' },
      { key_alias: 'bad', models: tooMany },
    ]
    writeFileSync(file, JSON.stringify([good, bad]))
    expect(await database.say(imports, 'litellm', '--org', 'acme', '--keys', file, '--apply')).toEqual({
      code: 1,
      out: '',
      err: 'A list of models must have at most 1000 entries.',
    })
    expect(await namesOf(database)).toEqual([])
    expect((await database.say(orgs, 'show', 'acme')).code).toBe(0)
  })
})

test('the program prints the plan as JSON, and the keys as CSV that other programs read', async () => {
  const data = temporaryFolder()
  const environment = { WEIR_DATA: data }
  await runWeir(['orgs', 'create', 'acme'], data, environment)
  const { args } = writeLists()
  const plan = await runWeir(['import', ...args, '--json'], data, environment)
  expect([plan.code, plan.err]).toEqual([0, ''])
  expect(JSON.parse(plan.out)).toMatchObject({ applied: false, keys: [{ name: 'alice laptop' }, {}] })
  const applied = await runWeir(['import', ...args, '--apply'], data, environment)
  expect(applied.out.trimEnd().split('\n')).toHaveLength(3)
})

test.each([
  [
    ['config.yaml', '--keys', 'keys.json'],
    2,
    '--keys is an import of its own: run it without FILE and --out.',
  ],
  [['config.yaml', '--apply'], 2, '--teams, --org and --apply require --keys.'],
  [['--keys', 'missing.json'], 1, 'missing.json cannot be read: '],
  [['--keys', 'broken.json'], 1, 'broken.json is not valid JSON.'],
  [['--keys', 'text.json'], 1, 'text.json is not a list of keys of LiteLLM.'],
  [['--keys', 'many.json'], 1, 'many.json has more than 5,000 keys; divide the list.'],
  [['--keys', 'keys.json', '--org', 'nobody'], 1, 'There is no organization nobody.'],
] as const)('weir import litellm %p ends with %d and an error message', async (flags, code, says) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'keys.json'), '[]')
  writeFileSync(join(folder, 'broken.json'), '{"keys": [sk-secret-0123456789')
  writeFileSync(join(folder, 'text.json'), '"keys"')
  writeFileSync(join(folder, 'many.json'), JSON.stringify(Array.from({ length: 5001 }, () => ({}))))
  await runWeir(['orgs', 'create', 'default'], folder, { WEIR_DATA: folder })
  const output = await runWeir(['import', 'litellm', ...flags], folder, { WEIR_DATA: folder })
  expect([output.code, output.out]).toEqual([code, ''])
  expect(output.err).toContain(says)
  expect(output.err).not.toContain('sk-secret')
})
