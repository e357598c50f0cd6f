import { describe, expect, test } from 'bun:test'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

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
