import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { command as usage } from '../../src/cli/commands/usage.ts'
import type { RequestMetadata } from '../../src/domain/accounting/request-metadata.ts'
import { createLedger } from '../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { weirCommand } from '../support/weir-command.ts'
import { requestOf } from '../unit/storage/support/ledger-fixture.ts'
import { runOnTerminal, withoutEscapes } from './support/run-terminal.ts'
import { runWeir } from './support/run-weir.ts'
import { storageFixture } from './support/storage-fixture.ts'

const day = 86_400_000
const tokens = {
  promptTokens: 1500,
  completionTokens: 20,
  cachedTokens: 3,
  reasoningTokens: 4,
  estimated: false,
}

const times = { latency: 1500, firstToken: 90 }

/** A data folder with two organizations and three requests, of which one is ten days old and one failed. */
async function usedScenario() {
  const scenario = storageFixture()
  const { id } = JSON.parse((await scenario.say(orgs, 'create', 'acme', '--json')).out)
  await scenario.say(orgs, 'create', 'other')
  const database = openDatabase(join(scenario.data, databaseName))
  const ledger = createLedger(database, new Writer(database))
  const facts = (more: Partial<RequestMetadata>) => ({ ...requestOf(id), stream: true, ...more })
  const old = facts({ model: 'a/old', createdAt: Date.now() - 10 * day })
  const replied = { provider: 'openai', usage: tokens, cost: 1_234_567_890n, status: 200, ...times }
  await ledger.settle(facts({ model: 'a/new', tags: ['x', 'y'] }), replied)
  await ledger.settle(facts({ model: 'a/new', tags: ['y'] }), { status: 502, error: 'upstream_timeout' })
  await ledger.settle(old, replied)
  return { ...scenario, database }
}

test('weir usage prints an aligned table, with titles above and the total below', async () => {
  const { say: runCommand, database } = await usedScenario()
  database.close()
  expect(await runCommand(usage)).toEqual({
    code: 0,
    err: '',
    out: [
      'MODEL  REQUESTS  FAILED  4XX  5XX  PROMPT  CACHED  COMPLETION  REASONING  COST USD    P50    P95  FIRST P50  FIRST P95',
      'a/new         2       1    0    1   1,500       3          20          4    1.2346  1.5 s  1.5 s      90 ms      90 ms  ████████████',
      'total         2       1    0    1   1,500       3          20          4    1.2346  1.5 s  1.5 s      90 ms      90 ms',
    ].join('\n'),
  })
  expect((await runCommand(usage, '--since', '20d')).out).toMatch(/^a\/old .*\ntotal +3 .* 2\.4691 .*$/m)
  expect((await runCommand(usage, '--by', 'key')).out).toMatch(/^KEY +NAME +REQUESTS .*\nabcdefghijkl +- +2 /)
  expect((await runCommand(usage, '--by', 'tag')).out).toMatch(/\ny +2 .*\ntotal +2 |\nx +1 .*\ntotal +2 /)
  expect((await runCommand(usage, '--org', 'other')).out).toMatch(/^MODEL .*\ntotal +0 .* 0\.0000( +-){4}$/)
})

test('weir usage --json prints the query, the groups and the total, with costs as decimal strings', async () => {
  const { say: runCommand, database } = await usedScenario()
  database.close()
  const sums = {
    requests: 2,
    failed: 1,
    errors: { '4xx': 0, '5xx': 1, other: 0 },
    prompt_tokens: 1500,
    completion_tokens: 20,
    cached_tokens: 3,
    reasoning_tokens: 4,
    cost_usd: '1.23456789',
    unpriced_requests: 0,
    latency_ms: { p50: 1500, p95: 1500 },
    first_token_ms: { p50: 90, p95: 90 },
  }
  const json = async (...args: string[]) => JSON.parse((await runCommand(usage, '--json', ...args)).out)
  expect(await json('--org', 'acme')).toEqual({
    organization: 'acme',
    by: 'model',
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    until: null,
    groups: [{ model: 'a/new', ...sums }],
    total: sums,
  })
  expect((await json('--by', 'org')).groups).toEqual([{ organization: 'acme', ...sums }])
  expect((await json('--by', 'key')).groups).toEqual([{ key: 'abcdefghijkl', name: null, ...sums }])
  const tags = (await json('--by', 'tag')).groups.map(({ tag, requests }: Record<string, unknown>) => [
    tag,
    requests,
  ])
  expect(tags.toSorted()).toEqual([
    ['x', 1],
    ['y', 2],
  ])
  expect((await json('--by', 'provider')).groups).toHaveLength(2)
  const days = (await json('--by', 'day')).groups
  expect([days.length, days.at(-1).day]).toEqual([8, new Date().toISOString().slice(0, 10)])
  expect(days[3]).toMatchObject({ requests: 0, cost_usd: '0.00', latency_ms: { p50: null } })
})

test('weir usage --by takes several groupings, separated by commas or repeated', async () => {
  const { say: runCommand, database } = await usedScenario()
  database.close()
  const json = async (...args: string[]) => JSON.parse((await runCommand(usage, '--json', ...args)).out)
  const report = await json('--by', 'org,model', '--by', 'key', '--since', '20d')
  expect(report.by).toEqual(['org', 'model', 'key'])
  const key = { key: 'abcdefghijkl', name: null }
  expect(report.groups).toEqual([
    expect.objectContaining({ organization: 'acme', model: 'a/new', ...key, requests: 2 }),
    expect.objectContaining({ organization: 'acme', model: 'a/old', ...key, requests: 1 }),
  ])
  expect(report.total.requests).toBe(3)
  const { out } = await runCommand(usage, '--by', 'day, model', '--since', '20d')
  const rows = out.split('\n').map((line) => line.split(/ +/).slice(0, 3))
  expect(rows).toEqual([
    ['DAY', 'MODEL', 'REQUESTS'],
    [expect.stringMatching(/^2\d{3}-/), 'a/old', '1'],
    [expect.stringMatching(/^2\d{3}-/), 'a/new', '2'],
    ['total', '3', '1'],
  ])
})

test('weir usage groups and filters by project, user and session, and names projects', async () => {
  const { say: runCommand, database } = await usedScenario()
  const { id: owner } = JSON.parse((await runCommand(orgs, 'show', 'acme', '--json')).out)
  const { id } = JSON.parse((await runCommand(projects, 'create', 'search', '--org', 'acme', '--json')).out)
  const ledger = createLedger(database, new Writer(database))
  const request = { ...requestOf(owner), project: id, user: 'ada', session: 's' }
  await ledger.settle(request, { status: 200, usage: tokens, cost: 5n })
  database.close()
  const { out } = await runCommand(usage, '--by', 'project,user,session')
  expect(out).toMatch(
    /^PROJECT +NAME +USER +SESSION +REQUESTS .*\n- +- +- +- +2 .*\nproj_\w+ +search +ada +s +1 .*\ntotal +3 /,
  )
  const json = async (...args: string[]) => JSON.parse((await runCommand(usage, '--json', ...args)).out)
  expect((await json('--by', 'project', '--user', 'ada,bob')).groups).toEqual([
    expect.objectContaining({ project: id, project_name: 'search', requests: 1, cost_usd: '0.000000005' }),
  ])
  for (const filter of [
    ['--project', 'search', '--org', 'acme'],
    ['--session', 's'],
    ['--project', id],
  ])
    expect([filter, (await json(...filter)).total.requests]).toEqual([filter, 1])
  expect((await json('--tag', 'x,y', '--key', 'abcdefghijkl', '--model', 'a/new')).total.requests).toBe(2)
})

test('weir usage reports a range of dates', async () => {
  const { say: runCommand, database } = await usedScenario()
  database.close()
  const requests = async (...args: string[]) =>
    JSON.parse((await runCommand(usage, '--json', ...args)).out).total.requests
  const dayOf = (days: number) => new Date(Date.now() - days * day).toISOString().slice(0, 10)
  expect(await requests('--since', '1970-01-01', '--until', '2d')).toBe(1)
  expect(await requests('--since', dayOf(11), '--until', dayOf(8))).toBe(1)
  expect(await requests('--since', dayOf(9), '--until', dayOf(2))).toBe(0)
  expect(await requests('--since', 'yesterday')).toBe(2)
  expect(await requests('--since', `${dayOf(2)}T08:00+01:00`, '--until', 'now')).toBe(2)
})

test('an unknown cost is not shown as zero', async () => {
  const { say: runCommand, database } = await usedScenario()
  const { id } = JSON.parse((await runCommand(orgs, 'list', '--json')).out)[0]
  const ledger = createLedger(database, new Writer(database))
  await ledger.settle({ ...requestOf(id), model: 'a/own' }, { provider: 'box', usage: tokens, status: 200 })
  database.close()
  const { out } = await runCommand(usage)
  expect(out).toMatch(/^a\/own +1 +0 .* 4 +- /m)
  expect(out).toEndWith('\n\nThe cost of 1 of the requests is unknown, because their models have no price.')
  const { groups } = JSON.parse((await runCommand(usage, '--json')).out)
  expect(groups[1]).toMatchObject({ model: 'a/own', cost_usd: null, unpriced_requests: 1 })
})

test('weir usage without data says so and creates nothing', async () => {
  const { say: runCommand, data } = storageFixture()
  const { code, err } = await runCommand(usage)
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^There is no database in .*\. Start weir serve first/),
  ])
  expect(existsSync(data)).toBe(false)
})

test('weir usage --watch prints again until it is interrupted, as JSON one object a line', async () => {
  const { say: runCommand, data, database } = await usedScenario()
  database.close()
  const refused = await runCommand(usage, '--watch')
  expect([refused.code, refused.err]).toEqual([
    2,
    '--watch requires a terminal, or --json. For help, run: weir usage --help',
  ])
  const command = [...weirCommand, 'usage', '--watch', '--json']
  const child = Bun.spawn(command, { env: { WEIR_DATA: data }, stdout: 'pipe', stderr: 'pipe' })
  let text = ''
  for await (const bytes of child.stdout) {
    text += new TextDecoder().decode(bytes)
    if (text.split('\n').length > 2) child.kill('SIGINT')
  }
  expect(await child.exited).toBe(0)
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).total.requests)).toEqual([2, 2])
})

test.skipIf(process.platform === 'win32')(
  'weir usage --watch on a terminal redraws a table that fits, and Ctrl-C stops it',
  async () => {
    const { data, database } = await usedScenario()
    database.close()
    await using run = runOnTerminal(['usage', '--watch'], data, { WEIR_DATA: data }, 70)
    await run.until(/Ctrl-C to stop\.[^]*Ctrl-C to stop\.[^]*total/)
    run.type('\u0003')
    expect(await run.exited).toBe(0)
    const lines = withoutEscapes(run.text()).split('\n')
    expect(lines.filter((line) => line.length > 70)).toEqual([])
    expect(lines).toContain('MODEL  REQUESTS  FAILED  PROMPT  COMPLETION  COST USD    P50    P95')
  },
)

test('weir usage reads while another process has the database open', async () => {
  const { data, database } = await usedScenario()
  const { code, out, err } = await runWeir(['usage', '--by', 'day', '--json'], data, { WEIR_DATA: data })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out).total.requests).toBe(2)
  database.close()
})

test.each([
  { args: ['--by', 'colour'], code: 2, says: 'session, tag, day, error, not “colour”' },
  { args: ['--since', '7'], code: 2, says: '--since must be a duration such as 7d' },
  { args: ['--since', '99999999999d'], code: 2, says: '--since must be a duration' },
  { args: ['--since', '2026-02-30'], code: 2, says: 'or a date such as 2026-11-22, not “2026-02-30”' },
  { args: ['--until', 'tomorrow'], code: 2, says: '--until must be a duration such as 7d' },
  { args: ['--until', '7d'], code: 2, says: 'The report must start before it ends.' },
  { args: ['--project', 'search'], code: 1, says: 'There is no project search in the organization default.' },
  { args: ['--key', 'x'.repeat(80)], code: 2, says: 'ID must be the ID of an API key' },
  { args: ['acme'], code: 2, says: '“acme”' },
  { args: ['--org', 'nobody'], code: 1, says: 'There is no organization nobody.' },
])('weir usage $args ends with $code and an error message', async ({ args, code, says }) => {
  const { say: runCommand } = storageFixture()
  await runCommand(orgs, 'create', 'acme')
  const output = await runCommand(usage, ...args)
  expect([output.code, output.out]).toEqual([code, ''])
  expect(output.err).toContain(says)
})
