import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startApp } from '../support/app.ts'
import { chunks, delta, streamReply } from '../support/chat-fixtures.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { hang } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { canRun, runSnippet } from './support/run-snippet.ts'
import { screenshots } from './support/screenshot.ts'

const browser = sharedTab()
const languages = { curl: 'curl', python: 'Python', typescript: 'TypeScript' } as const

/** Opens the playground with a model of the scenario, and records the requests that it sends. */
async function openPlayground(scenario: Scenario, query = 'model=acme/river') {
  const opened = await openPage(await browser(), scenario.app)
  const { page } = opened
  const sent: { readonly path: string; readonly body: unknown }[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST')
      sent.push({ path: new URL(request.url()).pathname, body: request.postDataJSON() })
  })
  await page.goto(`${scenario.app.url}/#/playground?${query}`)
  await page.getByLabel('Message').waitFor()
  return { ...opened, sent }
}

async function send(page: Page, message: string, answers: number): Promise<void> {
  await page.getByLabel('Message').fill(message)
  await page.keyboard.press('Enter')
  await page
    .getByText('Output', { exact: true })
    .nth(answers - 1)
    .waitFor()
}

/** Opens the code, and runs what it has of each language; `option` selects one of several requests. */
async function runCode(page: Page, origin: string, option?: string) {
  await page.getByRole('button', { name: 'Code' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  if (option !== undefined) await dialog.getByLabel('Request').selectOption(option)
  const results: unknown[] = []
  for (const [id, label] of Object.entries(languages).filter(([id]) => canRun(id))) {
    await dialog.getByRole('tab', { name: label }).click()
    const code = (await dialog.getByRole('region', { name: label }).textContent()) ?? ''
    expect(code).not.toContain('sk-weir')
    results.push(await runSnippet(id, code, origin))
  }
  return results
}

const closeCode = (page: Page) => page.getByRole('button', { name: 'Close' }).click()
const times = (value: unknown, count: number) => Array.from({ length: count }, () => value)

describe.skipIf(!hasBrowser)(`the code of the playground${browserNeeded}`, () => {
  test('is an example until a message is written', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app)
    const { page } = opened
    await page.getByLabel('Message').waitFor()
    await page.getByRole('button', { name: 'Code' }).click()
    await page.getByRole('heading', { name: 'Next request to weir/echo as code' }).waitFor()
    await page.getByText('The message is an example until you write one.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'playground-code')
    await closeCode(page)
    await page.getByLabel('JSON Schema of the answer').fill('{')
    await page.getByRole('button', { name: 'Code' }).click()
    await page.getByRole('dialog').getByText('The JSON Schema is not valid JSON.').waitFor()
  })

  test.each([
    ['Chat Completions', 'chat', '/v1/chat/completions'],
    ['Responses', 'responses', '/v1/responses'],
  ])('is the last request and the next one, as the page sends them: %s', async (_, api, path) => {
    await using scenario = await startScenario([streamReply(), streamReply()])
    await using opened = await openPlayground(scenario)
    const { page, sent } = opened
    const { url } = scenario.app
    await page.getByLabel('API', { exact: true }).selectOption(api)
    await page.getByLabel('System prompt').fill(`It's a "test" of $HOME`)
    await page.getByLabel('Temperature').fill('0.5')
    await page.getByLabel('Reasoning effort').selectOption('low')
    await send(page, 'How high is it?', 1)
    const last = await runCode(page, url)
    expect(last.length).toBeGreaterThan(0)
    expect(last).toEqual(times(sent[0], last.length))
    expect(sent[0]?.path).toBe(path)
    await closeCode(page)
    await page.getByLabel('Temperature').fill('1')
    await page.getByLabel('Message').fill('And now?')
    const next = await runCode(page, url)
    expect(await page.getByLabel('Request').locator('option').allTextContents()).toEqual([
      'Next request to acme/river',
      'Last request to acme/river',
      'Retry to acme/river',
    ])
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, `playground-code-next-${api}`)
    await closeCode(page)
    await page.getByLabel('Message').press('Enter')
    await page.getByText('Output', { exact: true }).nth(1).waitFor()
    expect(next).toEqual(times(sent[1], next.length))
    expect(JSON.stringify(sent[1])).toContain('It is four metres.')
  })

  test('is the request of “Retry” where the parameters have changed', async () => {
    await using scenario = await startScenario([streamReply(), streamReply()])
    await using opened = await openPlayground(scenario)
    const { page, sent } = opened
    await send(page, 'How high is it?', 1)
    await page.getByLabel('Max. tokens').fill('50')
    const retried = await runCode(page, scenario.app.url, 'Retry to acme/river')
    await closeCode(page)
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Retry' }).click()
    // Until then, the page shows the answer before, which is finished, too.
    await asked
    await page.waitForFunction(() => document.querySelectorAll('article[aria-busy="false"]').length === 1)
    expect(retried).toEqual(times(sent[1], retried.length))
    expect(sent[1]?.body).toMatchObject({ max_completion_tokens: 50 })
  })

  test('has images in full where it is copied, and shortened where it is read', async () => {
    await using scenario = await startScenario(streamReply())
    await using opened = await openPlayground(scenario)
    const { page, sent } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const buffer = Buffer.from('not really a picture'.repeat(20))
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'level.webp', mimeType: 'image/webp', buffer })
    await page.getByRole('button', { name: 'Remove image 1' }).waitFor()
    await page.getByRole('button', { name: 'Code' }).click()
    await page.getByText('Images are shortened here, and copied in full.').waitFor()
    const shown = await page.getByRole('region', { name: 'curl' }).textContent()
    expect(shown).toContain('data:image/webp;base64,…')
    expect(shown).not.toContain(buffer.toString('base64'))
    await page.getByRole('button', { name: 'Copy curl' }).click()
    await page.getByRole('status').getByText('Copied.').waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    await closeCode(page)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Output', { exact: true }).waitFor()
    expect(JSON.stringify(sent[0]?.body)).toContain(buffer.toString('base64'))
    if (canRun('curl')) expect<unknown>(await runSnippet('curl', copied, scenario.app.url)).toEqual(sent[0])
  })

  test('is that of each of two models, and while they answer only the one that was sent', async () => {
    const settings = { providers: { echo: {} } }
    await using scenario = await startScenario(chunks([delta({ content: 'It is' })], hang), { settings })
    await using opened = await openPlayground(scenario, 'model=acme/river&compare=weir/echo')
    const { page, sent } = opened
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'Answer of weir/echo' }).getByText('Output').waitFor()
    await page.getByLabel('Message').fill('And now?')
    const echo = await runCode(page, scenario.app.url, 'Last request to weir/echo')
    expect(await page.getByLabel('Request').locator('option').allTextContents()).toEqual([
      'Last request to acme/river',
      'Last request to weir/echo',
    ])
    expect(echo).toEqual(times(sent[1], echo.length))
    expect(sent[1]?.body).toMatchObject({ model: 'weir/echo' })
  })
})
