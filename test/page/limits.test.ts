import { describe, expect, test } from 'bun:test'
import { formatUsd } from '../../src/lib/usd.ts'
import { replyCost, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { screenshot, screenshots } from './support/screenshot.ts'

const browser = sharedTab()
const limits = { requests_per_minute: 600, tokens_per_minute: 200_000, concurrent_requests: 50 }

describe.skipIf(!hasBrowser)(`the limits view${browserNeeded}`, () => {
  test('the balance is exact, what is left of the limits is shown, and both are refreshed', async () => {
    await using paid = await startBillingScenario(jsonReply(), {
      balance: '12.345678901',
      settings: { limits },
    })
    await using opened = await openView(await browser(), paid.app, '#/limits')
    const { page } = opened
    const available = page.locator('.figures > div', { hasText: 'Available' }).locator('[title]')
    expect(await available.getAttribute('title')).toBe('$12.345678901')
    expect(await available.innerText()).toBe('$12.3457')
    const meter = page.getByRole('meter', { name: 'Requests per minute' })
    expect(await meter.getAttribute('aria-valuemax')).toBe('600')
    expect(Number(await meter.getAttribute('aria-valuenow'))).toBeGreaterThan(590)
    await page.getByText('50 requests at once').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'limits-light')
    await paid.billing.fund('default', '1')
    await page.keyboard.press('r')
    await page.locator('[title="$13.345678901"]').first().waitFor()
  })

  test('an organization without money is shown what to do', async () => {
    await using paid = await startBillingScenario(jsonReply(), { balance: '0', settings: { limits } })
    await using opened = await openView(await browser(), paid.app, '#/limits', { context: phoneInTheDark })
    const { page } = opened
    await page.getByText('weir orgs credit "default" 10').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'limits-360-dark')
  })

  test('a key is shown what it has spent of every budget that applies to it', async () => {
    await using paid = await startAdmin()
    const { app } = paid
    const create = async (path: string, body: object) =>
      (await requestAdmin(app, 'POST', path, { body: { organization: 'default', ...body } })).body
    await requestAdmin(app, 'PATCH', 'organizations/default', { body: { budget_usd: '100' } })
    const project = await create('projects', { name: 'research', budget_usd: '20' })
    const { key } = await create('keys', {
      name: 'agent',
      project: project.id,
      budget_usd: '0.50',
      budget_period: 'month',
      models: ['acme/*'],
    })
    const hash = `#key=${String(key)}`
    await using opened = await openView(await browser(), app, '#/limits', { hash })
    const { page } = opened
    const textOf = (name: string) => page.getByRole('meter', { name }).getAttribute('aria-valuetext')
    expect(await textOf('Budget of the organization default')).toBe(
      '$0.00 spent of $100.00; $100.00 left; never reset',
    )
    expect(await textOf('Budget of the project research')).toBe(
      '$0.00 spent of $20.00; $20.00 left; never reset',
    )
    await page.getByText('$0.50 left of $0.50 per month').waitFor()
    await page.getByRole('link', { name: '1 model' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])

    const headers = { authorization: `Bearer ${String(key)}` }
    expect((await app.chat(chatRequest, { headers })).status).toBe(200)
    await page.keyboard.press('r')
    const spent = formatUsd(replyCost)
    await page.getByText(`$${formatUsd(20_000_000_000 - replyCost)} left of $20.00 in total`).waitFor()
    expect(await textOf('Budget of the organization default')).toStartWith(`$${spent} spent of $100.00; `)
    await screenshots(page, 'limits-budgets')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('an exceeded rate limit is explained, and passes', async () => {
    await using paid = await startAdmin()
    const expected = /status of 429/
    await using opened = await openView(await browser(), paid.app, '#/limits', { expected })
    const { page } = opened
    await page.getByRole('meter').first().waitFor()
    const limitTo = (requests_per_minute: number) =>
      requestAdmin(paid.app, 'POST', 'organizations/default', { body: { requests_per_minute } })
    await limitTo(1)
    await page.getByRole('button', { name: 'Refresh' }).click()
    const explanation = page.getByText('Rate limit exceeded')
    // The gateway reads the changed limit within a second.
    while (!(await explanation.isVisible())) {
      const answered = page.waitForResponse(/./)
      await page.keyboard.press('r')
      await answered
    }
    expect(await accessibilityProblems(page)).toEqual([])
    await limitTo(60_000)
    await page.waitForFunction(() => {
      document.querySelector<HTMLButtonElement>('.failure button')?.click()
      return document.querySelector('[role=meter]') !== null
    })
  })
})
