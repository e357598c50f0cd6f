import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { NewCompletion } from '../../src/storage/ports/completions.ts'
import { insertCompletion } from '../../src/storage/sqlite/completion-search.ts'
import { openCompletions, seeded } from '../bench/stored-completions.ts'
import { type BillingScenario, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { createResponse } from '../support/responses.ts'
import { storeCompletion } from '../support/stored-completions.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { sqliteFile } from '../support/database-connection.ts'
import { screenshot } from './support/screenshot.ts'
import { scrollToEnd } from './support/scroll.ts'

const browser = sharedTab()

/** One gateway with 2,000 stored completions for the tests that do not change it. */
let stored: BillingScenario
beforeAll(async () => {
  stored = await startStored(2000)
})
afterAll(() => stored[Symbol.asyncDispose]())

/** A gateway whose organization has this many stored completions. */
async function startStored(count: number): Promise<BillingScenario> {
  const paid = await startBillingScenario(jsonReply())
  const { database, sqlite, close } = openCompletions(sqliteFile(paid.database))
  const organization = String(sqlite.query('SELECT id FROM organizations').values()[0]?.[0])
  sqlite.run('PRAGMA synchronous = OFF')
  const insert = (completion: NewCompletion) => database.run(insertCompletion(completion))
  sqlite.transaction(() => {
    for (let number = 0; number < count; number++) insert({ ...seeded(number), organization })
  })()
  close()
  return paid
}

describe.skipIf(!hasBrowser)(`the lists of what is stored${browserNeeded}`, () => {
  test('of 2,000 completions, pages are loaded while one scrolls, and only rows in sight are rendered', async () => {
    await using opened = await openView(await browser(), stored.app, '#/stored')
    const { page, watch } = opened
    const region = page.getByRole('region', { name: 'Stored completions' })
    await region.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'stored-light')
    for (let rows = 50; rows < 600; rows += 50) {
      await page.waitForFunction(
        (count) => document.querySelector('table')?.ariaRowCount === String(count + 1),
        rows,
      )
      await scrollToEnd(region)
    }
    await page.getByText('600 loaded').waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThan(120)
    expect(watch.requests.some((url) => url.includes('order=desc'))).toBe(true)
  })

  test('the filters by model and metadata are kept in the address, and combined', async () => {
    await using opened = await openView(await browser(), stored.app, '#/stored')
    const { page } = opened
    await page.getByLabel('Metadata key').fill('gauge')
    await page.getByLabel('Value', { exact: true }).fill('g7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /Remove the filter.*gauge: g7/ }).waitFor()
    await page.getByRole('combobox', { name: 'Model' }).fill('acme/river-2')
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: /Remove the filter.*Model: acme\/river-2/ }).waitFor()
    await page.getByText(/200 in all|\d+ loaded/).waitFor()
    const rows = page.locator('tbody tr:not(.spacer)')
    await rows.filter({ hasNotText: 'acme/river-2' }).first().waitFor({ state: 'detached' })
    await rows.first().waitFor()
    for (const row of await rows.allInnerTexts()) {
      expect(row).toContain('acme/river-2')
      expect(row).toContain('gauge: g7')
    }
    await page.reload()
    await page.getByRole('button', { name: /Remove the filter.*Model: acme\/river-2/ }).click()
    await page.getByRole('button', { name: /Remove the filter.*gauge: g7/ }).click()
    await page.getByText(/50 loaded/).waitFor()
    expect(page.url()).toEndWith('#/stored')
    await page.goto(`${stored.app.url}/#/stored/completions?model=acme/none`)
    await page.getByRole('heading', { name: 'Nothing matches the filter' }).waitFor()
    await screenshot(page, 'stored-no-match')
  })

  test('hostile answers, models and metadata are text', async () => {
    await using paid = await startBillingScenario(jsonReply())
    const hostile = '<img src=x onerror=alert(1)>'
    const metadata = { [hostile]: `${hostile}\u202E`, '__proto__]': '"><script>alert(1)</script>' }
    await storeCompletion(paid.app, { metadata })
    await using opened = await openView(await browser(), paid.app, '#/stored')
    const { page } = opened
    await page.getByText(hostile).first().waitFor()
    await page.getByRole('link', { name: 'It is four metres.' }).click()
    await page.getByRole('heading', { name: 'Completion', level: 1 }).waitFor()
    await page.getByRole('link', { name: /onerror/ }).click()
    await page.getByRole('link', { name: 'It is four metres.' }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('responses are filtered by status, and an empty list says how something is stored', async () => {
    await using paid = await startBillingScenario(jsonReply())
    await using opened = await openView(await browser(), paid.app, '#/stored')
    const { page } = opened
    await page.getByRole('heading', { name: 'No completions are stored' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'stored-empty')
    await createResponse(paid.app)
    await page.getByRole('tab', { name: 'Completions' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('link', { name: 'It is four metres.' }).waitFor()
    await page.getByLabel('Status').selectOption('failed')
    await page.getByRole('heading', { name: 'Nothing matches the filter' }).waitFor()
    await page.getByLabel('Status').selectOption('completed')
    await page.getByRole('link', { name: 'It is four metres.' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('times are those of the zone of the reader', async () => {
    await using paid = await startStored(1)
    const context = { timezoneId: 'Pacific/Kiritimati', locale: 'en-GB' }
    await using opened = await openView(await browser(), paid.app, '#/stored', { context })
    await opened.page.getByText('1 Jan 2026, 14:00').waitFor()
  })

  test('a page that fails is tried again where it was', async () => {
    await using opened = await openView(await browser(), stored.app, '#/stored', {
      expected: /status of 503/,
    })
    const { page } = opened
    await page.getByText(/50 loaded/).waitFor()
    await page.route('**/v1/chat/completions?*after=*', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The database is busy.', code: null } } }),
    )
    await scrollToEnd(page.getByRole('region', { name: 'Stored completions' }))
    await page.getByText('The database is busy.').waitFor()
    await page.unroute('**/v1/chat/completions?*after=*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/1\d\d loaded/).waitFor()
  })

  test('on a narrow and dark screen everything fits', async () => {
    await using opened = await openView(await browser(), stored.app, '#/stored', { context: phoneInTheDark })
    const { page } = opened
    await page.getByRole('region', { name: 'Stored completions' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'stored-360-dark')
  })
})
