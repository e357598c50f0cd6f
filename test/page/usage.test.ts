import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { formatUsd } from '../../src/lib/usd.ts'
import type { BillingScenario } from '../support/billing-scenario.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'
import { adminKey, idOf, startUsage } from './support/usage.ts'

const browser = sharedTab()
const day = 86_400_000

/** One gateway with 20,000 requests for the tests that do not change it. */
let paid: BillingScenario
beforeAll(async () => {
  paid = await startUsage(20_000)
})
afterAll(() => paid[Symbol.asyncDispose]())

/** What the database has of an organization since a time, beside the page. */
async function sumsSince(paid: BillingScenario, since: number) {
  const sql = `SELECT count(*) requests, sum(error IS NOT NULL) failed, sum(cost) cost, sum(prompt_tokens) input
    FROM usage WHERE organization_id = ? AND created_at >= ?`
  const [sums] = await paid.billing.rows<{
    readonly requests: number
    readonly failed: number
    readonly cost: number
    readonly input: number
  }>(sql, await idOf(paid, 'default'), since)
  return sums
}

async function figureOf(page: Page, label: string): Promise<string> {
  return await page.locator('.figures > div', { hasText: label }).locator('dd').innerText()
}

describe.skipIf(!hasBrowser)(`the usage view${browserNeeded}`, () => {
  test('the sums of 20,000 requests are those of the database, exact, and the address keeps range and grouping', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=7d&by=model')
    const { page } = opened
    await page.getByRole('heading', { name: 'By model' }).waitFor()
    const hour = 3_600_000
    const sums = await sumsSince(paid, Math.floor((Date.now() - 7 * day) / hour) * hour)
    expect(await figureOf(page, 'Requests')).toBe(sums!.requests.toLocaleString('en-US'))
    expect(await figureOf(page, 'Failed')).toStartWith(sums!.failed.toLocaleString('en-US'))
    const exact = `$${formatUsd(sums!.cost)}`
    expect(await page.locator('.figures [title^="$"]').getAttribute('title')).toBe(exact)
    expect(await page.getByRole('figure').count()).toBe(6)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'usage-light')
    await page.getByRole('heading', { name: 'By model' }).scrollIntoViewIfNeeded()
    await screenshot(page, 'usage-groups-light')
    await page.getByRole('button', { name: '24 hours' }).click()
    await page.getByLabel('Group by').selectOption('tag')
    await page.getByRole('heading', { name: 'By tag' }).waitFor()
    expect(page.url()).toContain('#/usage?range=24h&by=tag')
    await page.reload()
    await page.getByRole('heading', { name: 'By tag' }).waitFor()
    expect(await page.getByRole('button', { name: '24 hours' }).getAttribute('aria-pressed')).toBe('true')
  })

  test('numbers have the language of the page, whatever that of the browser', async () => {
    const context = { locale: 'de-DE' }
    await using opened = await openView(await browser(), paid.app, '#/usage?range=7d&by=model', { context })
    const { page } = opened
    await page.getByRole('heading', { name: 'By model' }).waitFor()
    expect(await figureOf(page, 'Requests')).toMatch(/^\d+,\d{3}$/)
    expect(await figureOf(page, 'Failed')).toMatch(/^[\d,]+\s+\d+(\.\d)?%$/)
    expect(await figureOf(page, 'Input tokens')).toMatch(/^[\d.]+[KM]\s/)
    const cost = page.getByRole('figure').first()
    await cost.getByText('Show as table').click()
    await cost.getByRole('cell').first().waitFor()
    const amounts = await cost.getByRole('cell').allInnerTexts()
    expect(amounts.join('\n')).toMatch(/^\$\d/m)
  })

  test('a report with more results than one page of the API has is loaded in several', async () => {
    const options = { expected: /status of 400/ }
    await using opened = await openView(await browser(), paid.app, '#/usage?range=30d&by=user_id', options)
    const { page } = opened
    await page.getByRole('heading', { name: 'By user' }).waitFor()
    const sums = await sumsSince(paid, Math.floor((Date.now() - 30 * day) / day) * day)
    expect(await figureOf(page, 'Requests')).toBe(sums!.requests.toLocaleString('en-US'))
    const exact = `$${formatUsd(sums!.cost)}`
    expect(await page.locator('.figures [title^="$"]').getAttribute('title')).toBe(exact)
  })

  test('the costs of the groups add up to the total exactly, and a model leads to its keys', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=30d&by=model')
    const { page } = opened
    await page.getByRole('heading', { name: 'By model' }).waitFor()
    const titles = await page
      .locator('td [title^="$"]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''))
    const nanos = (text: string) =>
      BigInt(
        text
          .replace('$', '')
          .split('.')
          .map((part, index) => (index ? part.padEnd(9, '0') : part))
          .join(''),
      )
    const total = await page.locator('.figures [title^="$"]').getAttribute('title')
    expect(titles.length).toBeGreaterThan(5)
    expect(titles.map(nanos).reduce((sum, one) => sum + one, 0n)).toBe(nanos(total ?? ''))
    await page.getByRole('link', { name: 'acme/m0' }).click()
    await page.getByRole('heading', { name: 'By API key' }).waitFor()
    expect(page.url()).toContain('model=acme%2Fm0')
    await page.getByRole('button', { name: /Remove the filter/ }).click()
    expect(page.url()).not.toContain('model=')
  })

  test('each chart has its figures as a table, and follows every page of a report', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=7d&by=none')
    const { page, watch } = opened
    await page.getByText('Show as table').first().waitFor()
    expect(watch.requests.filter((url) => url.includes('page=page_')).length).toBeGreaterThan(0)
    await page.getByText('Show as table').first().focus()
    await page.keyboard.press('Enter')
    const table = page.getByRole('region', { name: 'Cost' })
    await table.waitFor()
    expect(await table.locator('table').getAttribute('aria-rowcount')).toBe('170')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'usage-total-light')
  })

  test('the admin key shows all organizations, and an API key its own only', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=24h', {
      hash: `#key=${adminKey}`,
      expected: /status of 401/,
    })
    const { page } = opened
    await page.getByLabel('Group by').selectOption('organization_id')
    await page.getByRole('heading', { name: 'By organization' }).waitFor()
    const group = page.getByRole('cell', { name: 'globex', exact: true })
    await group.getByTitle(await idOf(paid, 'globex')).waitFor()
    const chart = page.getByRole('figure').first()
    await chart.getByText('globex', { exact: true }).waitFor()
    expect(await chart.getByText(await idOf(paid, 'globex')).count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('a project leads to its keys, a user to its sessions, and each filter can be removed', async () => {
    await paid.billing.rows(
      `INSERT INTO projects (id, organization_id, name, created_at) VALUES ('proj_0_1', ?, 'search', 1)`,
      await idOf(paid, 'default'),
    )
    await using opened = await openView(await browser(), paid.app, '#/usage?range=7d&by=project_id')
    const { page } = opened
    await page.getByRole('heading', { name: 'By project' }).waitFor()
    await screenshot(page, 'usage-projects')
    await page.getByRole('link', { name: 'search' }).click()
    await page.getByRole('heading', { name: 'By API key' }).waitFor()
    expect(
      await page
        .locator('tbody')
        .getByRole('link', { name: /^key0_[23]$/ })
        .count(),
    ).toBe(2)
    await page.getByLabel('Group by').selectOption('user_id')
    await page.getByRole('heading', { name: 'By user' }).waitFor()
    await page
      .locator('tbody')
      .getByRole('link', { name: /^user\d+$/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'By API key' }).waitFor()
    const chips = page.getByRole('button', { name: 'Remove the filter' })
    expect(await chips.count()).toBe(2)
    expect(page.url()).toMatch(/by=api_key_id&project=proj_0_1&user=user\d+/)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'usage-filters')
    await chips.first().click()
    await page.getByRole('button', { name: 'Remove the filter Project' }).waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('project=')
  })

  test('the row of the requests without a project or a model leads nowhere', async () => {
    for (const by of ['project_id', 'model,project_id']) {
      await using opened = await openView(await browser(), paid.app, `#/usage?range=7d&by=${by}`)
      const { page } = opened
      await page.getByRole('heading', { name: /^By .*project/ }).waitFor()
      const rows = page.getByRole('region', { name: /^Usage by/ }).locator('tbody tr')
      const none = rows.filter({ hasText: '(none)' })
      expect(await none.count()).toBeGreaterThan(0)
      expect(await none.getByRole('link').count()).toBe(0)
      const others = rows.filter({ hasNotText: '(none)' })
      expect(await others.getByRole('link').count()).toBe(await others.count())
      expect(await others.count()).toBeGreaterThan(0)
    }
  })

  test('hostile names of models and tags are text', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u202E'
    await using paid = await startUsage(100)
    await paid.billing.values(
      'UPDATE usage SET tags = ?, created_at = ?',
      JSON.stringify([hostile]),
      Date.now() - 7_200_000,
    )
    await using opened = await openView(await browser(), paid.app, '#/usage?range=24h&by=tag')
    const { page } = opened
    await page.getByRole('cell', { name: hostile.replace('\u202E', '[U+202E]') }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('without requests there is something to do, and a failure is explained', async () => {
    await using paid = await startUsage(0)
    const expected = /status of 503/
    await using opened = await openView(await browser(), paid.app, '#/usage?range=1h', { expected })
    const { page } = opened
    await page.getByRole('heading', { name: 'No requests in the last hour' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'usage-empty')
    await page.route('**/organization/costs*', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The report took too long.', code: null } } }),
    )
    await page.keyboard.press('r')
    await page.getByText('The report took too long.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('on a narrow and dark screen everything fits', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=30d&by=api_key_id', {
      context: phoneInTheDark,
    })
    const { page } = opened
    await page.getByRole('heading', { name: 'By API key' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'usage-360-dark')
    await page.getByRole('figure').first().scrollIntoViewIfNeeded()
    await screenshot(page, 'usage-charts-360-dark')
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('heading', { name: 'Usage', level: 1 }).scrollIntoViewIfNeeded()
    await screenshot(page, 'usage-dark')
  })
})
