import { describe, expect, test } from 'bun:test'
import { startAdmin } from '../api/support/admin.ts'
import { chunks, delta, doneFrame, jsonReply, usage } from '../support/chat-fixtures.ts'
import { after } from '../support/provider-queue.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { connected } from './support/live.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { startRelay } from './support/relay.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const limits = { requests_per_minute: 100_000, tokens_per_minute: 10_000_000, concurrent_requests: 100 }
const echo = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hi' }] }

describe.skipIf(!hasBrowser)(`the live view${browserNeeded}`, () => {
  test('a request that waits for a slot of its provider is queued, and its provider shows how many wait', async () => {
    const gate = Promise.withResolvers<void>()
    const acme = { concurrency: 1 }
    await using paid = await startAdmin([after(gate.promise, jsonReply()), jsonReply()], { acme })
    await using opened = await openAdmin(await browser(), paid.app, '#/live')
    const { page } = opened
    await connected(page)
    const replies = [paid.app.chat(chatRequest)]
    await paid.acme.request(0)
    replies.push(paid.app.chat(chatRequest))
    await page.getByRole('row', { name: /queued.*acme\/river/ }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'live-queued')
    await page.goto(page.url().replace('#/live', '#/providers/acme'))
    await page.getByText('1 of 1').waitFor()
    await screenshot(page, 'provider-slots')
    expect(await accessibilityProblems(page)).toEqual([])
    gate.resolve()
    for (const reply of await Promise.all(replies)) await reply.text()
    await page.getByText('0 of 1').waitFor()
  })

  test('a request appears when it starts, streams, and ends with its tokens and cost', async () => {
    const first = Promise.withResolvers<void>()
    const rest = Promise.withResolvers<void>()
    await using paid = await startAdmin([
      chunks([
        first.promise,
        delta({ content: 'swordfish' }),
        rest.promise,
        delta({}, 'stop'),
        usage,
        doneFrame,
      ]),
      json({ error: { message: 'swordfish' } }, { status: 500 }),
      jsonReply(),
    ])
    await using opened = await openAdmin(await browser(), paid.app, '#/live')
    const { page } = opened
    await connected(page)
    await page.getByText('No requests yet').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const reply = paid.app.chat({ ...chatRequest, stream: true })
    const row = page.getByRole('row', { name: /acme\/river/ }).last()
    await row.getByText('waiting').waitFor()
    await row.getByRole('link', { name: 'default' }).waitFor()
    first.resolve()
    await row.getByText('streaming').waitFor()
    await (await paid.app.chat(chatRequest)).text()
    await page.getByText('upstream_unavailable').waitFor()
    await screenshot(page, 'live-light')
    expect(await accessibilityProblems(page)).toEqual([])
    rest.resolve()
    await (await reply).text()
    await page.getByRole('row', { name: /200.*acme\/river.*\$0\.0001/ }).waitFor()
    await page.getByText('0 in progress, 2 finished').waitFor()

    await page.getByLabel('State').selectOption('failed')
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
    expect(await page.locator('tbody tr').count()).toBe(1)
    expect(page.url()).toContain('state=failed')
    await page.getByLabel('State').selectOption('all')
    await page.keyboard.press('Escape')
    await page.locator('#main').focus()
    await page.keyboard.press('p')
    await page.getByText('paused', { exact: true }).waitFor()
    await (await paid.app.chat(chatRequest)).text()
    expect(await page.locator('tbody tr').count()).toBe(2)
    await page.keyboard.press('p')
    await page.keyboard.press('/')
    await page.getByText('0 in progress, 3 finished').waitFor()
    await page.keyboard.type('nothing like this')
    await page.getByText('No request matches').waitFor()
    expect(await page.content()).not.toContain('swordfish')
    await page.getByLabel('Search').fill('')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'live-360-dark')
  })

  test('the cost of a short request to a cheap model is not cut off, and nothing costs $0.00', async () => {
    const model = { pricing: { input: 0.1, output: 0.1 } }
    await using paid = await startAdmin([jsonReply(), json({}, { status: 500 })], { model })
    await using opened = await openAdmin(await browser(), paid.app, '#/live')
    const { page } = opened
    await connected(page)
    await (await paid.app.chat(chatRequest)).text()
    const cost = page.getByRole('cell', { name: '<$0.0001', exact: true })
    expect(await cost.evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth)).toBe(0)
    await (await paid.app.chat(chatRequest)).text()
    await page.getByRole('cell', { name: '$0.00', exact: true }).waitFor()
  })

  test('a broken connection is made again, and the list goes on', async () => {
    await using paid = await startAdmin()
    await using relay = await startRelay(paid.app.url)
    const expected = /status of 401|ERR_/
    const relayed = { ...paid.app, url: relay.url }
    await using opened = await openAdmin(await browser(), relayed, '#/live', { expected })
    const { page } = opened
    await connected(page)
    await (await paid.app.chat(chatRequest)).text()
    await page.getByText('0 in progress, 1 finished').waitFor()
    relay.cut()
    await page.getByText(/^disconnected, next attempt in \d+ s$/).waitFor()
    relay.mend()
    await connected(page)
    await (await paid.app.chat(chatRequest)).text()
    await page.getByText('0 in progress, 2 finished').waitFor()
  })

  test('many requests are drawn together, the list is bounded, and only the rows in sight are rendered', async () => {
    await using paid = await startAdmin(jsonReply(), { settings: { limits } })
    await using opened = await openAdmin(await browser(), paid.app, '#/live')
    const { page } = opened
    await connected(page)
    await page.evaluate(() => {
      const counts = { draws: 0 }
      Object.assign(globalThis, { counts })
      new MutationObserver(() => counts.draws++).observe(document.querySelector('#main')!, {
        childList: true,
        characterData: true,
        subtree: true,
      })
    })
    for (let sent = 0; sent < 600; sent += 50)
      await Promise.all(Array.from({ length: 50 }, async () => (await paid.app.chat(echo)).text()))
    await page.getByText('0 in progress, 500 finished').waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThan(120)
    const draws = await page.evaluate(
      () => (globalThis as unknown as { counts: { draws: number } }).counts.draws,
    )
    expect(draws).toBeGreaterThan(0)
    // 1,200 events or more; each drawing has an effect of its own.
    expect(draws).toBeLessThan(600)
    expect(await accessibilityProblems(page)).toEqual([])
  })
})
