import { expect, test } from 'bun:test'
import { queueRunRequest, waitForRun } from '../../support/background.ts'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { requestAdmin, startAdmin } from '../support/admin.ts'

/** Creates a project, and a key in it. */
async function startProject({ app }: BillingScenario) {
  const project = await requestAdmin(app, 'POST', 'projects', {
    body: { organization: 'default', name: 'river' },
  })
  const id = String(project.body.id)
  const key = await requestAdmin(app, 'POST', 'keys', {
    body: { organization: 'default', name: 'agent', project: id },
  })
  const headers = { authorization: `Bearer ${String(key.body.key)}` }
  return { id, key: String(key.body.id), headers }
}

test('a usage row has the project of the key at the time of the request, and the session', async () => {
  await using paid = await startAdmin()
  const { app, billing } = paid
  const { id, key, headers } = await startProject(paid)
  const rowOf = async (reply: Response) => billing.usageOf(reply.headers.get('x-request-id') ?? '')

  const first = await app.chat(chatRequest, { headers: { ...headers, 'x-session-id': 's'.repeat(300) } })
  expect(first.status).toBe(200)
  expect(await rowOf(first)).toMatchObject({ key_id: key, project_id: id, session: 's'.repeat(256) })
  const rejected = await app.chat({ model: 1 }, { headers })
  expect(rejected.status).toBe(400)
  expect(await rowOf(rejected)).toMatchObject({ key_id: key, project_id: id, session: null })

  await requestAdmin(app, 'PATCH', `keys/${key}`, { body: { project: null } })
  const moved = await app.chat(chatRequest, { headers })
  expect(await rowOf(moved)).toMatchObject({ key_id: key, project_id: null })
  expect(await rowOf(first)).toMatchObject({ project_id: id })
})

test('a background run is recorded with the project and the session of the request that created it', async () => {
  await using paid = await startAdmin(streamReply())
  const { app, billing } = paid
  const { id, headers } = await startProject(paid)
  const labelled = { headers: { ...headers, session_id: 'codex-1' } }
  const run = await queueRunRequest(app, {}, labelled)
  await waitForRun(app, run.id, { headers })
  expect(await billing.usageOf(run.request)).toMatchObject({
    project_id: id,
    session: 'codex-1',
    status: 200,
  })
})
