import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { command as audit } from '../../src/cli/commands/audit.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as requests } from '../../src/cli/commands/requests.ts'
import type { Outcome, RequestMetadata } from '../../src/domain/accounting/request-metadata.ts'
import { createTimeSortedId, timeOf } from '../../src/lib/id.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createLedger } from '../../src/storage/sqlite/ledger.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { requestOf } from '../unit/storage/support/ledger-fixture.ts'
import { storageFixture } from './support/storage-fixture.ts'

const usage = { promptTokens: 1500, completionTokens: 20, cachedTokens: 3, estimated: false }
const replied: Outcome = {
  provider: 'openai',
  upstreamModel: 'gpt',
  usage,
  cost: 1_234_567n,
  status: 200,
  latency: 1500,
}
const asked = { request: { input: 'Hi \u009b31m' }, response: null, error: 'No \u001b[2J' }
const attempt = { provider: 'openai', model: 'gpt', outcome: 'upstream_timeout', status: 502, ms: 900 }
const message = 'The provider openai timed out.'
const failed: Outcome = {
  status: 502,
  error: 'upstream_timeout',
  provider: 'openai',
  upstreamModel: 'gpt',
  content: JSON.stringify(asked),
  details: {
    message,
    provider_message: 'The engine is overloaded.',
    attempts: [{ ...attempt, message, provider_message: 'The … is busy.' }, attempt],
    warnings: ['The parameter seed was ignored.'],
  },
}

/** A data folder with three requests of two organizations: the first is ten days old, and the last one failed. */
async function usedScenario() {
  const scenario = storageFixture()
  const create = async (name: string): Promise<string> =>
    JSON.parse((await scenario.say(orgs, 'create', name, '--json')).out).id
  const [acme, other] = [await create('acme'), await create('other')]
  const database = openDatabase(join(scenario.data, databaseName))
  const ledger = createLedger(database, new Writer(database))
  const add = async (
    age: number,
    organization: string,
    facts: Partial<RequestMetadata>,
    outcome: Outcome,
  ) => {
    const id = createTimeSortedId(() => Date.now() - age)('req_')
    await ledger.settle({ ...requestOf(organization, id), createdAt: timeOf(id), ...facts }, outcome)
    return id
  }
  const day = 86_400_000
  const old = await add(10 * day, acme, { model: 'a/old', user: 'ada', tags: ['x'] }, replied)
  const new_ = await add(2000, other, { model: 'a/new' }, replied)
  const last = await add(1000, acme, { model: 'a/new', stream: true }, failed)
  database.close()
  return { ...scenario, old, new_, last }
}

test('weir requests lists the finished requests by each filter, the newest first', async () => {
  const { say, old, new_, last } = await usedScenario()
  const ids = async (...args: string[]) => {
    const { data } = JSON.parse((await say(requests, ...args, '--json')).out)
    return (data as { id: string }[]).map(({ id }) => id)
  }
  expect(await ids()).toEqual([last, new_, old])
  expect(await ids('--status', '502', '--since', 'yesterday')).toEqual([last])
  expect(await ids('--status', 'failed')).toEqual([last])
  expect(await ids('--org', 'acme')).toEqual([last, old])
  expect(await ids('--user', 'ada')).toEqual([old])
  expect(await ids('--model', 'a/new', '--provider', 'openai', '--until', 'now')).toEqual([last, new_])
  expect(await ids('--error', 'upstream_timeout', '--key', 'abcdefghijkl')).toEqual([last])
  expect(await ids('--after', last)).toEqual([new_, old])
  const { out, err, code } = await say(requests, '--limit', '2')
  expect(out).toMatch(
    new RegExp(
      `^TIME +STATUS  ERROR +MODEL  PROVIDER  ORG .*\\n20\\S+ \\S+Z +502  upstream_timeout  a/new  openai    acme .* ${last}\\n` +
        `20\\S+ \\S+Z +200  - +a/new .* 1,500 +20 +0\\.0012  1\\.5 s  ${new_}$`,
    ),
  )
  expect({ err, code }).toEqual({ err: `There may be more. To list them, add: --after ${new_}`, code: 0 })
  expect((await say(requests, '--user', 'bob')).out).toBe('There are no such requests.')
})

test('weir requests show prints the attempts, the sentence of the error and the warnings of a request', async () => {
  const { say, old, last } = await usedScenario()
  const { out } = await say(requests, 'show', last)
  for (const line of [
    /^Status +502$/m,
    /^Error +upstream_timeout$/m,
    /^Message +The provider openai timed out\.$/m,
    /^Provider message +The engine is overloaded\.$/m,
    /^Route +openai\/gpt$/m,
    /^API +chat, streamed$/m,
    /^Warning +The parameter seed was ignored\.$/m,
    /^ATTEMPT +OUTCOME +TOOK  MESSAGE +PROVIDER MESSAGE$/m,
    /^openai\/gpt  upstream_timeout  900 ms  The provider openai timed out\.  The … is busy\.\nopenai\/gpt  upstream_timeout  900 ms$/m,
  ])
    expect(out).toMatch(line)
  expect(JSON.parse((await say(requests, 'show', old, '--json')).out)).toMatchObject({
    id: old,
    organization: 'acme',
    user: 'ada',
    tags: ['x'],
    input_tokens: 1500,
    cached_tokens: 3,
    cost_usd: '0.001234567',
    attempts: [{ provider: 'openai', outcome: 'ok' }],
  })
})

test('weir requests show prints the content only with --content, and nothing that a terminal would obey', async () => {
  const { say, old, last } = await usedScenario()
  expect((await say(requests, 'show', last)).out).not.toContain('Hi')
  const reads = async () =>
    JSON.parse((await say(audit, '--event', 'content.read', '--json')).out).data as unknown[]
  expect(await reads()).toEqual([])
  expect((await say(requests, 'show', last, '--content')).out).toEndWith(
    '\n\nREQUEST\n{\n  "input": "Hi \ufffd31m"\n}\n\nERROR\n"No \\u001b[2J"',
  )
  expect((await say(requests, 'show', old, '--content')).out).toEndWith('No content of this request is kept.')
  const { content } = JSON.parse((await say(requests, 'show', last, '--content', '--json')).out)
  expect(content).toEqual({ kept: true, ...asked })
  const read = { resource: { type: 'request', id: last }, actor: { type: 'command_line' } }
  expect(await reads()).toMatchObject([read, read])
})

test('weir requests rejects what it does not understand, and an ID that does not exist', async () => {
  const { say } = await usedScenario()
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--status', 'bad'], /^--status must be a status such as 502, 4xx, 5xx or failed, not “bad”\./],
    [['--limit', '0'], /^--limit must be a number from 1 to 1000/],
    [['--after', 'x'], /^--after must be the ID of a request/],
    [['--since', 'x'], /^--since must be a duration/],
    [['--org', 'none'], /^There is no organization “none”\./],
    [['show', 'req_1'], /^There is no request with this ID\./],
    [['show'], /^Missing argument ID/],
  ]
  for (const [args, message] of cases) {
    const { code, err } = await say(requests, ...args)
    expect({ args, code }).toEqual({ args, code: 2 })
    expect(err).toMatch(message)
  }
})
