import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { chunks, delta, jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../support/scenario.ts'
import { json, type Script, silence } from '../support/script.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'
import { stringsOf } from '../support/source-words.ts'

// The replies that docs/troubleshooting.md shows are provoked here, so that the page says what a reader will see.

const pageOf = (name: string) => Bun.file(join(projectFolder, `docs/${name}.md`)).text()
const page = await pageOf('troubleshooting')

/** Amounts and times differ from run to run. */
const withoutNumbers = (text: string) => text.replaceAll(/\d+(\.\d+)?/g, '0')

function expectOnPage(reply: string): void {
  const shown = withoutNumbers(page).split('\n').includes(withoutNumbers(reply))
  expect(shown ? 'on the page' : `not on the page: ${reply}`).toBe('on the page')
}

const refusal = (status: number, code: string, message = 'No.') =>
  json({ error: { message, code } }, { status })

const failures: Readonly<Record<string, { readonly script: Script; readonly options?: ScenarioOptions }>> = {
  provider_key_rejected: { script: refusal(401, 'invalid_api_key') },
  provider_quota_exhausted: { script: refusal(429, 'insufficient_quota') },
  upstream_model_not_found: { script: refusal(404, 'model_not_found') },
  upstream_rate_limited: { script: refusal(429, 'rate_limit_exceeded') },
  upstream_timeout: { script: silence, options: { provider: { timeouts: { first_byte: '100ms' } } } },
  upstream_unavailable: { script: silence, options: { acme: { base_url: 'http://127.0.0.1:1/v1' } } },
  context_length_exceeded: {
    script: refusal(400, 'context_length_exceeded', "This model's maximum context length is 8192 tokens."),
  },
}

test.each(Object.entries(failures))(
  'the page shows the reply to a request that fails with %s',
  async (code, failure) => {
    const { script, options } = failure
    await using scenario = await startScenario(script, options)
    const reply = await (await scenario.app.chat(chatRequest)).text()
    expect(reply).toContain(`"code":"${code}"`)
    expectOnPage(reply)
  },
)

test('the page shows the reply to a request for which a provider has no slot', async () => {
  const acme = { concurrency: 1, queue: { length: 0 } }
  await using scenario = await startScenario(silence, { acme })
  const leaving = new AbortController()
  const first = scenario.app.chat(chatRequest, { signal: leaving.signal }).catch(() => {})
  await scenario.acme.request(0)
  expectOnPage(await (await scenario.app.chat(chatRequest)).text())
  leaving.abort()
  await first
})

test('the page shows the last frame of a stream whose provider ends it too early', async () => {
  await using scenario = await startScenario(chunks([delta({ content: 'It is' })]))
  const stream = await (await scenario.app.chat({ ...chatRequest, stream: true })).text()
  expectOnPage(stream.trimEnd().split('\n').at(-1) ?? '')
})

test('the page shows the end of a stream that a stop of the gateway interrupts', async () => {
  const begun = Promise.withResolvers<void>()
  await using scenario = await startScenario(chunks([delta({ content: 'It is' }), new Promise(() => {})]))
  const response = await scenario.app.chat({ ...chatRequest, stream: true })
  let text = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (text.includes('It is')) begun.resolve()
    }
  })()
  await begun.promise
  scenario.app.runtime.abortCalls()
  await reading
  expectOnPage(text.trimEnd().split('\n').at(-1)?.replace('data: ', '') ?? '')
})

test('the page shows the reply to a request with a key that is not valid', async () => {
  await using scenario = await startScenario(jsonReply())
  expectOnPage(
    await (await scenario.app.chat(chatRequest, { headers: { authorization: 'Bearer no' } })).text(),
  )
})

test('the page shows the reply to a request for a model that does not exist', async () => {
  await using scenario = await startScenario(jsonReply())
  expectOnPage(await (await scenario.app.chat({ ...chatRequest, model: 'acme/nosuch' })).text())
})

test('the page shows the reply to a request for a model whose provider has no key', async () => {
  const settings = { providers: { openai: {} } }
  const models = [{ slug: 'openai/gpt-6-luna', enabled: true }]
  await using scenario = await startScenario(jsonReply(), { settings, models })
  expectOnPage(await (await scenario.app.chat({ ...chatRequest, model: 'openai/gpt-6-luna' })).text())
})

test('the page shows the reply to a request beyond the rate limit', async () => {
  await using scenario = await startScenario(jsonReply(), {
    settings: { limits: { requests_per_minute: 1 } },
  })
  await (await scenario.app.chat(chatRequest)).text()
  expectOnPage(await (await scenario.app.chat(chatRequest)).text())
})

test('the page shows the reply to a request that the balance does not cover', async () => {
  await using scenario = await startBillingScenario(jsonReply(), { balance: '0' })
  expectOnPage(await (await scenario.app.chat(chatRequest)).text())
})

test('the page shows the reply to a prepaid request for a model without a price', async () => {
  await using scenario = await startBillingScenario(jsonReply(), { model: { pricing: undefined } })
  expectOnPage(await (await scenario.app.chat(chatRequest)).text())
})

test('the lines of the log on the pages for operators have messages of the program', async () => {
  const strings = new Set((await sourceFiles('src')).flatMap(({ text }) => stringsOf(text)))
  const pages = await Promise.all(['troubleshooting', 'monitoring', 'operations'].map(pageOf))
  const messages = pages.flatMap((text) =>
    [...text.matchAll(/^\{"time":.*"message":"([^"]+)"/gm)].map((match) => match[1] ?? ''),
  )
  expect(messages.length).toBeGreaterThan(3)
  expect(messages.filter((message) => !strings.has(message))).toEqual([])
})

test('the reasons of an unavailable database on the page are those of the program', async () => {
  const file = await Bun.file(join(projectFolder, 'src/storage/sqlite/sqlite-errors.ts')).text()
  const shown = [...page.matchAll(/^\| `The database ((?:is|was) [^/]+?)\.`/gm)].map(
    (match) => match[1] ?? '',
  )
  expect(shown.length).toBeGreaterThan(3)
  expect(shown.filter((reason) => !file.includes(`'${reason}'`))).toEqual([])
})
