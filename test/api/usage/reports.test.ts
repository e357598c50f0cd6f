import { expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import {
  adminKey,
  chatTimes,
  costsPath,
  day,
  organizationId,
  readReport,
  type ReportQuery,
  requestReport,
  resultsOf,
  startReports,
  usagePath,
} from '../support/usage-reports.ts'

test('the usage of today has the requests, tokens and latencies of the organization of the key', async () => {
  await using scenario = await startReports()
  const { paid, globex } = scenario
  await chatTimes(paid, 2)
  await chatTimes(paid, 1, {}, globex)
  const page = await readReport(paid.app, usagePath, { limit: 1 })
  expect(page).toMatchObject({ object: 'page', has_more: false, next_page: null })
  expect(page.data.length).toBe(1)
  const start = Math.floor(Date.now() / day) * 86_400
  expect(page.data[0]).toMatchObject({ object: 'bucket', start_time: start, end_time: start + 86_400 })
  expect(resultsOf(page)).toEqual([
    {
      object: 'organization.usage.completions.result',
      input_tokens: 24,
      output_tokens: 10,
      input_cached_tokens: 0,
      input_cache_write_tokens: 0,
      input_audio_tokens: 0,
      output_audio_tokens: 0,
      output_reasoning_tokens: 0,
      num_model_requests: 2,
      num_failed_requests: 0,
      num_client_errors: 0,
      num_server_errors: 0,
      latency_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      // None of them was streamed.
      first_token_ms: null,
      batch: null,
      organization_id: null,
      project_id: null,
      project_name: null,
      user_id: null,
      api_key_id: null,
      api_key_name: null,
      model: null,
      provider: null,
      api: null,
      session_id: null,
      tag: null,
      error: null,
    },
  ])
  expect(resultsOf(await readReport(paid.app, usagePath, {}, globex))).toMatchObject([
    { num_model_requests: 1 },
  ])
})

test.each([
  ['model', 'model', 'acme/river'],
  ['api_key_id', 'api_key_id', 'Test00000000'],
  ['user_id', 'user_id', 'ada'],
  ['user', 'user_id', 'ada'],
  ['tag', 'tag', 'red'],
  ['session_id', 'session_id', 's'],
  ['provider', 'provider', 'acme'],
  ['api', 'api', 'chat'],
])(
  'a report that is grouped by %s has a result for each, and one for requests without',
  async (grouping, field, value) => {
    await using scenario = await startReports()
    const { paid } = scenario
    await chatTimes(paid, 2, { user: 'ada', tags: ['red', 'red'] }, { 'x-session-id': 's' })
    await paid.app.chat({ ...chatRequest, model: 'acme/unknown' })
    await paid.billing.waitForUsage(3)
    const results = resultsOf(await readReport(paid.app, usagePath, { 'group_by[]': grouping }))
    const rest =
      grouping === 'api' || grouping === 'api_key_id'
        ? [[value, 3, 1]]
        : [
            [value, 2, 0],
            [null, 1, 1],
          ]
    expect(
      results.map((result) => [result[field], result.num_model_requests, result.num_client_errors]),
    ).toEqual(rest)
  },
)

test('a report by error has the codes of the requests that failed, and null for the others', async () => {
  await using scenario = await startReports()
  const { paid } = scenario
  await chatTimes(paid, 3)
  await paid.app.chat({ ...chatRequest, model: 'acme/unknown' })
  paid.acme.respondWith(json({ error: { message: 'Broken.' } }, { status: 500 }))
  const failed = await paid.app.chat(chatRequest)
  const { error } = (await failed.json()) as { readonly error: { readonly code: string } }
  await paid.billing.waitForUsage(5)
  await paid.billing.rows('UPDATE usage SET error = NULL, status = 404 WHERE model IS NULL')
  const grouped = { group_by: ['error', 'model'] }
  const rows = (results: readonly Readonly<Record<string, unknown>>[]) =>
    results.map((result) => [result.error, result.model, result.num_model_requests])
  const expected = [
    [null, 'acme/river', 3],
    [error.code, 'acme/river', 1],
    ['status_404', null, 1],
  ].toSorted()
  expect(error.code).toBeString()
  for (const path of [usagePath, costsPath])
    expect(rows(resultsOf(await readReport(paid.app, path, grouped))).toSorted()).toEqual(expected)
})

test('the filters of a report are combined with the groups', async () => {
  await using scenario = await startReports()
  const { paid, admin, globex } = scenario
  await chatTimes(paid, 2)
  await chatTimes(paid, 1, {}, globex)
  await paid.app.chat({ ...chatRequest, model: 'acme/unknown' })
  await paid.billing.waitForUsage(4)
  const count = async (query: ReportQuery, headers = admin) =>
    resultsOf(await readReport(paid.app, usagePath, query, headers)).map(
      (result) => result.num_model_requests,
    )
  expect(await count({})).toEqual([4])
  expect(await count({ 'models[]': 'acme/river' })).toEqual([3])
  expect(await count({ models: ['acme/river', 'acme/other'], api_key_ids: 'Test00000000' })).toEqual([2])
  expect(await count({ 'models[]': 'acme/other' })).toEqual([])
  expect(await count({ group_by: ['model', 'api_key_id'], 'models[]': 'acme/river' })).toEqual([2, 1])
})

test('the costs are exact, and unknown where no price is known', async () => {
  await using scenario = await startReports()
  const { paid } = scenario
  await chatTimes(paid, 3)
  const reply = await requestReport(paid.app, costsPath, { group_by: 'model' })
  const text = await reply.text()
  expect(text).toContain('"amount":{"value":0.000186,"currency":"usd"}')
  expect(resultsOf(JSON.parse(text))).toMatchObject([
    {
      object: 'organization.costs.result',
      model: 'acme/river',
      num_model_requests: 3,
      num_unpriced_requests: 0,
    },
  ])
  await paid.billing.rows('UPDATE usage SET cost = NULL')
  expect(resultsOf(await readReport(paid.app, costsPath))).toMatchObject([
    { amount: { value: null }, num_unpriced_requests: 3 },
  ])
})

test('requests that failed are counted by class', async () => {
  await using scenario = await startReports()
  const { paid } = scenario
  paid.acme.respondWith(json({ error: { message: 'Broken.' } }, { status: 500 }))
  await paid.app.chat(chatRequest)
  expect(resultsOf(await readReport(paid.app, usagePath))).toMatchObject([
    {
      num_model_requests: 1,
      num_failed_requests: 1,
      num_server_errors: 1,
      num_client_errors: 0,
      latency_ms: null,
    },
  ])
})

test('an API key cannot read the usage of another organization, and the admin key can read each', async () => {
  await using scenario = await startReports()
  const { paid, globex, admin } = scenario
  await chatTimes(paid, 2)
  await chatTimes(paid, 1, {}, globex)
  const [own, other] = [await organizationId(paid, 'default'), await organizationId(paid, 'globex')]
  const denied = await requestReport(paid.app, usagePath, { 'organization_ids[]': own }, globex)
  expect([denied.status, await denied.text()]).toEqual([400, expect.stringContaining('organization_ids')])
  expect(
    resultsOf(await readReport(paid.app, usagePath, { 'organization_ids[]': other }, globex)).length,
  ).toBe(1)
  const both = resultsOf(await readReport(paid.app, usagePath, { group_by: 'organization_id' }, admin))
  expect(both.map((result) => [result.organization_id, result.num_model_requests])).toEqual([
    [own, 2],
    [other, 1],
  ])
  const one = await readReport(paid.app, usagePath, { 'organization_ids[]': other }, admin)
  expect(resultsOf(one)).toMatchObject([{ num_model_requests: 1 }])
  for (const key of [`${adminKey}x`, '', 'sk-weir-Test00000000-WrongSecretWrongSecretWrongSecret00'])
    expect((await requestReport(paid.app, usagePath, {}, { authorization: `Bearer ${key}` })).status).toBe(
      401,
    )
})

test('batch=true reports no request, because there are no jobs of a batch; batch=false reports all', async () => {
  await using scenario = await startReports()
  await chatTimes(scenario.paid, 2)
  const resultsWith = async (batch: string) =>
    resultsOf(await readReport(scenario.paid.app, usagePath, { limit: 1, batch }))
  expect(await resultsWith('true')).toEqual([])
  expect(await resultsWith('false')).toMatchObject([{ num_model_requests: 2 }])
  const invalid = await requestReport(scenario.paid.app, usagePath, { batch: 'maybe' })
  expect(await readError(invalid)).toMatchObject({ status: 400, param: 'batch' })
})
