import { maxNanos } from '../../src/lib/usd.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chatRequest } from '../../src/api/chat-completions/schema.ts'
import { prepareChat } from '../../src/api/chat-completions/service.ts'
import { chatCompletion } from './scripted-upstream.ts'
import { median } from './send.ts'
import { parseApiKey, verifySecret } from '../../src/domain/accounting/api-key.ts'
import type { RequestMetadata } from '../../src/domain/accounting/request-metadata.ts'
import { Meter } from '../../src/gateway/billing/meter.ts'
import { callerOf, createLocalLimits } from '../support/local-limits.ts'
import { parseJson } from '../../src/lib/json/json.ts'
import { silentLog } from '../../src/lib/log.ts'
import { isTooDeep } from '../../src/lib/validation/json-bounds.ts'
import { plain } from '../../src/providers/protocols/openai-chat/dialects/plain.ts'
import { openaiChat } from '../../src/providers/protocols/openai-chat/protocol.ts'
import { createLedger } from '../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createOrganizations } from '../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../src/storage/sqlite/script-runner.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { firstKey, startApp } from '../support/app.ts'
import { mediumBody, smallBody } from './bodies.ts'
import { testActor, testChange } from '../support/actor.ts'

/** What one part of the work for a request costs, measured in this process. */
export type Part = { readonly name: string; readonly microseconds: number }

const slug = 'bench/chat'

/** The price of each part that no setting turns off, in the order in which a request passes them. */
export async function measureParts(): Promise<Part[]> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-parts-'))
  try {
    return [...(await guardParts(folder)), ...(await gatewayParts()), ...(await moneyParts(folder))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function guardParts(folder: string): Promise<Part[]> {
  const storage = await openStorage(join(folder, 'guard.db'), silentLog)
  await storage.bootstrap({ configured: firstKey, admin: false, actor: testActor })
  const limits = createLocalLimits(() => ({
    requestsPerMinute: 10 ** 9,
    tokensPerMinute: 10 ** 12,
    concurrentRequests: 10 ** 5,
  }))
  const identify = () => {
    const parts = parseApiKey(firstKey)
    const known = parts && storage.keys.find(parts.publicId)
    if (
      !parts ||
      known instanceof Promise ||
      !known?.organization ||
      !verifySecret(parts.secret, known.secretHash)
    )
      throw new Error('No such key.')
    return known.organization
  }
  const caller = callerOf(identify())
  const bodies = [
    ['200 B', smallBody(slug)],
    ['6 kB', mediumBody(slug)],
  ] as const
  const parts = [
    await timed('key', identify),
    await timed('limits', () =>
      limits
        .admit(caller, () => {})
        .open(50)
        .release(150),
    ),
    ...(await each(bodies, 'JSON of the body', (text) => isTooDeep(text, 500) || parseJson(text))),
    ...(await each(
      bodies,
      'validation',
      (text) => JSON.parse(text),
      (body) => chatRequest.read(body),
    )),
  ]
  await storage.close()
  return parts
}

async function gatewayParts(): Promise<Part[]> {
  const route = { provider: 'acme', model: 'river-1' }
  const acme = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-bench' }
  await using app = await startApp({ settings: { providers: { acme }, models: [{ slug, routes: [route] }] } })
  const models = app.runtime.configuration().models.current()
  const request = chatRequest.read(JSON.parse(smallBody(slug)))
  const { generation, model } = prepareChat(request, models, { unsupported: 'reject', logprobs: false })
  const target = { model: 'river-1', stream: false, maxOutputTokens: undefined, efforts: undefined }
  const wire = openaiChat(plain('acme'))
  const answer = chatCompletion()
  const events = wire.parse(answer)
  return [
    await timed('lowering', () => prepareChat(request, models, { unsupported: 'reject', logprobs: false })),
    await timed('request to the provider', () => JSON.stringify(wire.render(generation, target, () => {}))),
    await timed('answer of the provider', () => wire.parse(answer)),
    await timed('metering', () => {
      const meter = new Meter({ generation, model, stream: false })
      meter.add(events)
      return meter.usage()
    }),
  ]
}

/** On disk, with the group commits of this many concurrent writers. */
async function moneyParts(folder: string): Promise<Part[]> {
  const callers = 16
  const database = openDatabase(join(folder, 'money.db'))
  const writer = new Writer(database)
  const ledger = createLedger(database, writer)
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  const { id } = await organizations.create('bench')
  await organizations.credit('bench', 10n ** 15n)
  let number = 0
  const facts = (): RequestMetadata => ({
    id: `req_${number++}`,
    organization: id,
    key: 'bench',
    createdAt: Date.now(),
    api: 'chat',
    model: slug,
    stream: false,
  })
  const outcome = {
    provider: 'acme',
    upstreamModel: 'river-1',
    usage: { promptTokens: 48, completionTokens: 101, estimated: false },
    cost: 1000n,
    latency: 3,
    firstToken: 3,
    status: 200,
  }
  const together = (work: () => Promise<unknown>) => () => Promise.all(Array.from({ length: callers }, work))
  const prepaid = async () => {
    const request = facts()
    await ledger.reserve({ request, amount: 5000n, promptCost: 500n, promptTokens: 48 })
    await ledger.settle(request, outcome, { budgeted: false })
  }
  const budgeted = (prepaid: boolean) => async () => {
    const request = facts()
    const budgets = [{ owner: 'bench', start: 0, limit: maxNanos }]
    await ledger.reserve({ request, amount: 5000n, promptCost: 500n, promptTokens: 48, prepaid, budgets })
    await ledger.settle(request, outcome)
  }
  const parts = [
    await timed(
      'usage row, 16 at once',
      together(() => ledger.settle(facts(), outcome, { reserved: false })),
      callers,
    ),
    await timed('usage row and prepaid ledger, 16 at once', together(prepaid), callers),
    await timed('the same with the budget of a key, 16 at once', together(budgeted(true)), callers),
    await timed('usage row and the budget of a key, 16 at once', together(budgeted(false)), callers),
  ]
  ledger.close()
  writer.close()
  database.close()
  return parts
}

async function each<Value>(
  bodies: readonly (readonly [name: string, text: string])[],
  name: string,
  first: (text: string) => Value,
  then?: (value: Value) => unknown,
): Promise<Part[]> {
  const parts: Part[] = []
  for (const [size, text] of bodies) {
    const value = then && first(text)
    parts.push(await timed(`${name}, ${size}`, () => (then ? then(value as Value) : first(text))))
  }
  return parts
}

/** Milliseconds of each of the batches, whose median counts. */
const batchDuration = 100
const batches = 7

/** Processor time of the whole process for each unit of the work. */
async function timed(name: string, work: () => unknown, units = 1): Promise<Part> {
  const found: number[] = []
  for (let batch = 0; batch < batches; batch++) {
    const before = process.cpuUsage()
    const end = performance.now() + batchDuration
    let count = 0
    for (; performance.now() < end; count++) await work()
    const { user, system } = process.cpuUsage(before)
    found.push((user + system) / count / units)
  }
  // The first ones are of code that is not warm yet.
  return { name, microseconds: median(found.slice(3)) }
}
