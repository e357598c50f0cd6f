import { describe, expect, test } from 'bun:test'
import { waitUntil } from '../support/billing-database.ts'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { chatOutput, jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { createResponse, streamResponse } from '../support/responses.ts'
import { retrieveCompletion, storeCompletion } from '../support/stored-completions.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const hostile = '<img src=x onerror=alert(1)>'
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A conversation with everything that a completion can have. */
const conversation = {
  messages: [
    { role: 'system', content: 'You read the gauge.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: `How high is it? ${hostile}` },
        { type: 'image_url', image_url: { url: pixel } },
      ],
    },
  ],
  metadata: { stage: 'test', depth: 4, tags: ['a', 'b'] },
}

const output = chatOutput({
  text: ['It is **four** metres.', ` ${hostile}`],
  reasoning: ['The gauge says so.'],
  calls: [{ id: 'call_1', name: 'height', arguments: ['{"gauge":"bridge"}'] }],
  finish: 'tool_calls',
})

describe.skipIf(!hasBrowser)(`a stored completion${browserNeeded}`, () => {
  test('has its messages, its reasoning, its tool calls, its tokens and its JSON', async () => {
    await using paid = await startBillingScenario(jsonReply(output), { acme: { kind: 'deepseek' } })
    const { id } = await storeCompletion(paid.app, conversation)
    await using opened = await openView(await browser(), paid.app, `#/stored/completions/${id}`)
    const { page } = opened
    await page.getByText('You read the gauge.').waitFor()
    await page.getByText('Tool call height').waitFor()
    const main = page.locator('main')
    for (const text of [hostile, '"gauge": "bridge"', 'tool calls'])
      expect(await main.innerText()).toContain(text)
    expect(await main.locator('strong', { hasText: 'four' }).count()).toBe(1)
    expect(await main.locator('img').count()).toBe(1)
    await page.getByText('Reasoning', { exact: true }).click()
    await page.getByText('The gauge says so.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'completion-light')
    await page.getByRole('tab', { name: 'JSON' }).click()
    expect(await page.getByRole('region', { name: 'JSON' }).innerText()).toContain(
      '"object": "chat.completion"',
    )
    expect(page.url()).toContain('tab=json')
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('its metadata is edited with the keyboard, and values that are not text stay what they are', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const { id } = await storeCompletion(paid.app, conversation)
    await using opened = await openView(await browser(), paid.app, `#/stored/completions/${id}`)
    const { page } = opened
    await page.getByRole('link', { name: 'stage: test' }).waitFor()
    await page.getByRole('button', { name: 'Edit metadata' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Edit metadata' })
    await dialog.getByLabel('Value', { exact: true }).fill('live')
    await dialog.getByRole('button', { name: 'Add a pair' }).press('Enter')
    await dialog.getByLabel('Key').nth(3).fill('stage')
    await page.keyboard.press('Enter')
    await dialog.getByText('The key “stage” is used twice.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'metadata-light')
    await dialog.getByLabel('Key').nth(3).fill(hostile)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'stage: live' }).waitFor()
    expect(await retrieveCompletion(paid.app, id)).toMatchObject({
      metadata: { stage: 'live', depth: 4, tags: ['a', 'b'], [hostile]: '' },
    })
  })

  test('it is deleted only after a confirmation, and is then gone', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const { id } = await storeCompletion(paid.app)
    const expected = /status of 404/
    await using opened = await openView(await browser(), paid.app, `#/stored/completions/${id}`, { expected })
    const { page } = opened
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete' }).click()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'delete-light')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No completions are stored' }).waitFor()
    await page.goto(`${paid.app.url}/#/stored/completions/${id}`)
    await page.getByRole('alert').waitFor()
  })
})

describe.skipIf(!hasBrowser)(`a stored response${browserNeeded}`, () => {
  test('has its input, its output and a link to the one that it continues', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const first = await createResponse(paid.app, { metadata: { turn: '1' } })
    const second = await createResponse(paid.app, {
      previous_response_id: first.id,
      instructions: 'Answer in feet.',
      input: `And now? ${hostile}`,
    })
    await using opened = await openView(await browser(), paid.app, `#/stored/responses/${second.id}`)
    const { page } = opened
    await page.getByText('Answer in feet.').waitFor()
    await page.getByText(`And now? ${hostile}`).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'response-light')
    await page.getByRole('link', { name: 'the previous response' }).click()
    await page.getByRole('link', { name: 'turn: 1' }).waitFor()
    expect(page.url()).toContain(first.id)
  })

  test('is replayed as events at a pace, can be paused, restarted and played at once', async () => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index} `)
    await using paid = await startBillingScenario(streamReply(chatOutput({ text: words })))
    const { last } = await streamResponse(paid.app)
    await using opened = await openView(await browser(), paid.app, '#/stored/responses', { clock: true })
    const { page } = opened
    // The replay takes two seconds, of which none passes by itself.
    await page.clock.pauseAt(Date.now() + 1000)
    await page.goto(`${paid.app.url}/#/stored/responses/${last?.id}?tab=replay`)
    await waitUntil(async () => {
      await page.clock.runFor(20)
      return (await page.locator('.replay-output').getByText('word1 ').count()) > 0
    }, 'the first words of the replay')
    await page.getByRole('button', { name: 'Pause' }).click()
    const paused = await page.locator('.replay-output').innerText()
    expect(paused).not.toContain('word399')
    await page.clock.resume()
    await screenshot(page, 'replay-light')
    await page.getByLabel('Pace').selectOption('instant')
    await page.getByText('word399').waitFor()
    const [, played, all] = /(\d+) of (\d+) events/.exec(await page.locator('main').innerText()) ?? []
    expect(Number(played)).toBe(Number(all))
    await page.getByText('Recorded events').click()
    await page
      .getByRole('region', { name: 'Recorded events' })
      .getByText('response.created')
      .first()
      .waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByLabel('Pace').selectOption('recorded')
    await page.getByRole('button', { name: 'Restart' }).click()
    await page.getByText('word399').waitFor()
  })

  test('on a narrow and dark screen everything fits', async () => {
    await using paid = await startBillingScenario(jsonReply(output), { acme: { kind: 'deepseek' } })
    const completion = await storeCompletion(paid.app, conversation)
    paid.acme.respondWith(jsonReply())
    const response = await createResponse(paid.app, { metadata: { turn: '1' } })
    const places = [
      [`#/stored/completions/${completion.id}`, 'completion-360-dark'],
      [`#/stored/responses/${response.id}?tab=replay`, 'replay-360-dark'],
    ] as const
    await using opened = await openView(await browser(), paid.app, '#/', { context: phoneInTheDark })
    const { page } = opened
    for (const [place, name] of places) {
      await page.goto(`${paid.app.url}/${place}`)
      await page
        .getByText(/metres/)
        .first()
        .waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
      expect(await accessibilityProblems(page)).toEqual([])
      await screenshot(page, name)
    }
  })
})
