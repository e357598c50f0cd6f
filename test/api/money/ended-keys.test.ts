import { describe, expect, onTestFinished, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang, type Script, silence } from '../../support/script.ts'

type Ids = { readonly key: string; readonly project: string }

/** The ways in which a key ends while its request is open. */
const ends: readonly (readonly [string, (paid: BillingScenario, ids: Ids) => Promise<unknown>])[] = [
  ['is revoked', ({ billing }, { key }) => billing.keys.revoke(key)],
  ['is disabled', ({ billing }, { key }) => billing.keys.change(key, { enabled: false })],
  [
    'is in a project that is disabled',
    ({ billing }, { project }) => billing.projects.change(project, { enabled: false }),
  ],
  ['is in a project that is deleted', ({ billing }, { project }) => billing.projects.delete(project)],
  [
    'is in an organization that is disabled',
    ({ billing }) => billing.organizations.change('acme', { enabled: false }),
  ],
]

/** A model that does not reason, whose streams end at once. */
const plainModel = 'acme/plain'

/** A model that reasons unseen, and a prepaid organization with a key in a project. */
async function startWith(script: Script) {
  const paid = await startBillingScenario(script, {
    usageTimeoutMs: 600_000,
    model: { max_output_tokens: 10_000, reasoning: { supported_efforts: [] } },
    models: [{ slug: plainModel, routes: [{ provider: 'acme', model: 'plain-1' }] }],
  })
  onTestFinished(() => paid[Symbol.asyncDispose]())
  await paid.billing.fund('acme', '1')
  const organization = 'acme'
  const project = await paid.billing.projects.create({ organization, name: 'research' })
  const input = { organization, name: 'test', project: project.id, expiresAt: null }
  const { record, key } = await paid.billing.keys.create(input)
  const headers = { authorization: `Bearer ${key.reveal()}` }
  return { paid, ids: { key: record.id, project: project.id }, headers }
}

/** Resolves when the gateway has ended the streams of a key: one check looks up the keys of all open streams. */
async function untilStreamsEnd(
  { app, billing }: BillingScenario,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  await waitUntil(async () => !(await app.request('/v1/models', { headers })).ok, 'the key is rejected')
  const { record, key } = await billing.keys.create({
    organization: 'default',
    name: 'later',
    expiresAt: null,
  })
  await billing.fund('default', '0', 'unmetered')
  const later = { authorization: `Bearer ${key.reveal()}` }
  const pieces = readPieces(
    await app.chat({ ...chatRequest, model: plainModel, stream: true }, { headers: later }),
  )
  await pieces.until('THE ANSWER')
  await billing.keys.revoke(record.id)
  await pieces.rest()
}

describe.each(ends)('the call of a key that %s', (_, end) => {
  test('before the provider has sent anything is charged like one that its caller cancels', async () => {
    const { paid, ids, headers } = await startWith(silence)
    const requesting = paid.app.chat(chatRequest, { headers })
    await waitUntil(() => paid.acme.requests.length === 1, 'the provider is called')
    await end(paid, ids)
    const reply = await requesting
    expect([401, 403]).toContain(reply.status)
    const row = await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ prompt_tokens: 22, estimated: 1 })
    expect(row?.completion_tokens).toBeGreaterThan(0)
    expect(row?.cost).toBeGreaterThan(22 * 1000)
    expect(await paid.billing.account('acme')).toEqual([1e9 - Number(row?.cost), 0])
    await paid.billing.expectConsistent()
  })

  test('behind hidden reasoning pays what the provider counts', async () => {
    const gate = Promise.withResolvers<void>()
    const counted = { prompt_tokens: 12, completion_tokens: 5000, total_tokens: 5012 }
    const rest = [delta({}, 'stop'), { choices: [], usage: counted }]
    const opening = [delta({ role: 'assistant', content: '' }), delta({ content: 'THE ANSWER' })]
    const { paid, ids, headers } = await startWith(chunks([...opening, gate.promise, ...rest], hang))
    const reply = await paid.app.chat({ ...chatRequest, stream: true }, { headers })
    const pieces = readPieces(reply)
    await pieces.until('THE ANSWER')
    await end(paid, ids)
    await untilStreamsEnd(paid, headers)
    gate.resolve()
    expect(await pieces.rest()).toMatch(/"error"/)
    const row = await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ completion_tokens: 5000, estimated: 0, cost: 12 * 1000 + 5000 * 10_000 })
    await paid.billing.expectConsistent()
  })
})
