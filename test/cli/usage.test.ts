import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { orgs } from '../../src/cli/orgs.ts'
import { usage } from '../../src/cli/usage.ts'
import { databaseName, openDatabase } from '../../src/storage/database.ts'
import { createLedger } from '../../src/storage/ledger.ts'
import type { RequestFacts } from '../../src/storage/request-facts.ts'
import { createWriter } from '../../src/storage/writer.ts'
import { requestOf } from '../storage/money-world.ts'
import { runWeir } from './run-weir.ts'
import { storageWorld } from './storage-world.ts'

const day = 86_400_000
const tokens = {
  promptTokens: 1500,
  completionTokens: 20,
  cachedTokens: 3,
  reasoningTokens: 4,
  estimated: false,
}

/** A data folder with two organizations and three requests, of which one is ten days old and one failed. */
async function usedWorld() {
  const world = storageWorld()
  const { id } = JSON.parse((await world.say(orgs, 'create', 'acme', '--json')).out)
  await world.say(orgs, 'create', 'other')
  const database = openDatabase(join(world.data, databaseName))
  const ledger = createLedger(database, createWriter(database))
  const facts = (more: Partial<RequestFacts>) => ({ ...requestOf(id), ...more })
  const old = facts({ model: 'a/old', createdAt: Date.now() - 10 * day })
  const answered = { provider: 'openai', usage: tokens, cost: 1_234_567_890n, status: 200 }
  await ledger.settle(facts({ model: 'a/new', tags: ['x', 'y'] }), answered)
  await ledger.settle(facts({ model: 'a/new', tags: ['y'] }), { status: 502, error: 'upstream_timeout' })
  await ledger.settle(old, answered)
  return { ...world, database }
}

test('the table is aligned, with titles above and the total below', async () => {
  const { say, database } = await usedWorld()
  database.close()
  expect(await say(usage)).toEqual({
    code: 0,
    err: '',
    out: [
      'MODEL  REQUESTS  FAILED  PROMPT  CACHED  COMPLETION  REASONING    COST USD',
      'a/new         2       1   1,500       3          20          4  1.23456789',
      'total         2       1   1,500       3          20          4  1.23456789',
    ].join('\n'),
  })
  expect((await say(usage, '--since', '20d')).out).toMatch(/^a\/old .*\ntotal +3 .* 2\.46913578$/m)
  expect((await say(usage, '--by', 'key')).out).toMatch(/^KEY +NAME +REQUESTS .*\nabcdefghijkl +- +2 /)
  expect((await say(usage, '--by', 'tag')).out).toMatch(/\ny +2 .*\ntotal +2 |\nx +1 .*\ntotal +2 /)
  expect((await say(usage, '--org', 'other')).out).toMatch(/^MODEL .*\ntotal +0 .* 0\.00$/)
})

test('--json tells the question, the groups and the total, with costs as decimal strings', async () => {
  const { say, database } = await usedWorld()
  database.close()
  const sums = {
    requests: 2,
    failed: 1,
    prompt_tokens: 1500,
    completion_tokens: 20,
    cached_tokens: 3,
    reasoning_tokens: 4,
    cost_usd: '1.23456789',
  }
  const json = async (...args: string[]) => JSON.parse((await say(usage, '--json', ...args)).out)
  expect(await json('--org', 'acme')).toEqual({
    organization: 'acme',
    by: 'model',
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
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
  expect((await json('--by', 'day')).groups[0].day).toBe(new Date().toISOString().slice(0, 10))
})

test('usage is read while another process has the database open', async () => {
  const { data, database } = await usedWorld()
  const { code, out, err } = await runWeir(['usage', '--by', 'day', '--json'], data, { WEIR_DATA: data })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out).total.requests).toBe(2)
  database.close()
})

test.each([
  { args: ['--by', 'colour'], code: 2, says: 'model, provider, org, key, tag, day, not “colour”' },
  { args: ['--since', '7'], code: 2, says: '--since needs a duration such as 7d' },
  { args: ['--since', '99999999999d'], code: 2, says: '--since needs a duration' },
  { args: ['--until', '7d'], code: 2, says: 'Unknown flag --until.' },
  { args: ['acme'], code: 2, says: '“acme”' },
  { args: ['--org', 'nobody'], code: 1, says: 'There is no organization with the name nobody.' },
])('weir usage $args ends with $code and says what is wrong', async ({ args, code, says }) => {
  const said = await storageWorld().say(usage, ...args)
  expect([said.code, said.out]).toEqual([code, ''])
  expect(said.err).toContain(says)
})
