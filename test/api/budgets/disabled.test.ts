import { describe, expect, test } from 'bun:test'
import { firstChunks, queueRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chunks, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { retrieveResponse } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { type BudgetScenario, type LimitedKey, startBudgets } from './support/budget-scenario.ts'

const chat = '/v1/chat/completions'

/** What disables a key, with the status, the code and words of the error. */
type Case = readonly [
  what: string,
  disable: (
    scenario: BudgetScenario,
    ids: { readonly key: string; readonly project: string },
  ) => Promise<unknown>,
  status: number,
  code: string,
  words: string,
]

const cases: readonly Case[] = [
  [
    'it is disabled',
    ({ billing }, { key }) => billing.keys.change(key, { enabled: false }),
    403,
    'key_disabled',
    'is disabled.',
  ],
  [
    'its project is disabled',
    ({ billing }, { project }) => billing.projects.change(project, { enabled: false }),
    403,
    'project_disabled',
    'The project “research” of this API key is disabled.',
  ],
  [
    'its project is deleted',
    ({ billing }, { project }) => billing.projects.delete(project),
    403,
    'project_disabled',
    'The project “research” of this API key was deleted.',
  ],
  [
    'its organization is disabled',
    ({ billing }) => billing.organizations.change('default', { enabled: false }),
    403,
    'organization_disabled',
    'The organization “default” of this API key is disabled.',
  ],
]

async function keyInProject(scenario: BudgetScenario) {
  const project = await scenario.billing.projects.create({ organization: 'default', name: 'research' })
  const key = await scenario.keyWith({ project: project.id })
  return { key, ids: { key: key.id, project: project.id } }
}

describe.each(cases)('a key is rejected when %s', (_, disable, status, code, words) => {
  test('before its request costs anything, by every API', async () => {
    await using scenario = await startBudgets(jsonReply())
    const { key, ids } = await keyInProject(scenario)
    await disable(scenario, ids)
    const error = await readError(await key.post(chat, chatRequest))
    expect(error).toMatchObject({ status, code, type: 'permission_error' })
    expect(error.message).toContain(words)
    const message = await key.post('/v1/messages', {})
    expect(await message.json()).toMatchObject({ type: 'error', error: { type: 'permission_error' } })
    for (const path of ['/v1/models', '/v1/organization', '/v1/organization/costs'])
      expect([path, (await key.get(path)).status]).toEqual([path, status])
    expect(scenario.acme.requests).toEqual([])
  })

  test('and its open stream ends with the error', async () => {
    await using scenario = await startBudgets(chunks(firstChunks, hang))
    const { key, ids } = await keyInProject(scenario)
    const reply = await key.post(chat, { ...chatRequest, stream: true })
    await disable(scenario, ids)
    const text = await reply.text()
    expect(text).toContain('It is ')
    expect(text).toContain(words)
    expect(text).not.toContain('[DONE]')
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    await waitUntil(async () => (await scenario.billing.openReservations()) === 0, 'it is settled')
  })
})

test.each(cases.slice(0, 3))(
  'a queued run fails when its key is rejected because %s',
  async (_, disable, status, __, words) => {
    await using scenario = await startBudgets(chunks(firstChunks, hang), {
      settings: { limits: { concurrent_requests: 1 } },
    })
    const { app } = scenario
    const { key, ids } = await keyInProject(scenario)
    const other = await queueRun(app)
    await scenario.acme.request(0)
    const run = await queueRun(app, {}, { headers: key.headers })
    await disable(scenario, ids)
    await waitUntil(async () => (await key.get('/v1/models')).status === status, 'the change is known')
    await app.request(`/v1/responses/${other.id}/cancel`, { method: 'POST' })
    await waitUntil(async () => (await retrieveResponse(app, run.id)).status === 'failed', 'it has failed')
    expect((await retrieveResponse(app, run.id)).error?.message).toContain(words)
    expect(scenario.acme.requests).toHaveLength(1)
  },
)

describe('a key that another one has created is rejected when the other', () => {
  test.each<
    readonly [string, (scenario: BudgetScenario, parent: LimitedKey) => Promise<unknown>, number, string]
  >([
    [
      'is disabled',
      ({ billing }, { id }) => billing.keys.change(id, { enabled: false }),
      403,
      'key_disabled',
    ],
    ['is revoked', ({ billing }, { id }) => billing.keys.revoke(id), 401, 'invalid_api_key'],
    [
      'has expired',
      ({ billing }, { id }) => billing.rows('UPDATE api_keys SET expires_at = 1 WHERE public_id = ?', id),
      401,
      'invalid_api_key',
    ],
  ])('%s', async (_, end, status, code) => {
    await using scenario = await startBudgets(chunks(firstChunks, hang))
    const parent = await scenario.keyWith({ budget: 10n ** 9n, permissions: ['mint'] })
    const { key } = await scenario.billing.keys.mint(parent.id, {
      name: 'run',
      expiresAt: null,
      budget: 10n ** 8n,
    })
    const headers = { authorization: `Bearer ${key.reveal()}` }
    const reply = await scenario.app.chat({ ...chatRequest, stream: true }, { headers })
    expect(reply.status).toBe(200)
    await end(scenario, parent)
    expect(await reply.text()).toContain('"error"')
    const next = await readError(await scenario.app.chat(chatRequest, { headers }))
    expect([next.status, next.code]).toEqual([status, code])
    expect(scenario.acme.requests).toHaveLength(1)
  })
})
