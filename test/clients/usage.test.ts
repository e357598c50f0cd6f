import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import { replyCost, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'

test('the administration client of OpenAI reports usage and costs by project and user', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const { app, billing } = paid
  const project = await billing.projects.create({ organization: 'default', name: 'search' })
  const { key } = await billing.keys.create({
    organization: 'default',
    name: 'agent',
    expiresAt: null,
    project: project.id,
  })
  const headers = { authorization: `Bearer ${key.reveal()}` }
  for (const user of ['ada', 'ada', 'bob']) await app.chat({ ...chatRequest, user }, { headers })
  await (await app.chat({ ...chatRequest, user: 'ada' })).arrayBuffer()
  await billing.waitForUsage(4)

  const { usage } = new OpenAI({ baseURL: `${app.url}/v1`, adminAPIKey: key.reveal() }).admin.organization
  const start_time = Math.floor(Date.now() / 1000) - 86_400
  const { data } = await usage.completions({
    start_time,
    project_ids: [project.id],
    user_ids: ['ada', 'bob'],
    group_by: ['project_id', 'user_id'],
  })
  const results = data.flatMap((bucket) => bucket.results) as unknown as readonly Record<string, unknown>[]
  expect(results.map((one) => [one.project_id, one.user_id, one.num_model_requests])).toEqual([
    [project.id, 'ada', 2],
    [project.id, 'bob', 1],
  ])
  const costs = await usage.costs({ start_time, group_by: ['project_id'] })
  const amounts = costs.data.flatMap((bucket) => bucket.results) as unknown as readonly {
    readonly project_id: string | null
    readonly amount: { readonly value: number }
  }[]
  expect(amounts.map((one) => [one.project_id, Math.round(one.amount.value * 1e9)])).toEqual([
    [project.id, 3 * replyCost],
    [null, replyCost],
  ])
})
