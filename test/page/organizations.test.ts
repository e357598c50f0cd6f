import { describe, expect, test } from 'bun:test'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { chatRequest } from '../support/scenario.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot, screenshots } from './support/screenshot.ts'
import { scrollToEnd } from './support/scroll.ts'
import { spendBudget } from './support/spend-budget.ts'

const browser = sharedTab()

/** Whether a request is for the list of a view: the overview, which is first, asks for what is near its end. */
function isOfList(url: string): boolean {
  return !url.includes('near_end=') && new URL(url).searchParams.get('limit') !== '1'
}

describe.skipIf(!hasBrowser)(`the organizations view${browserNeeded}`, () => {
  test('an organization is created, edited, credited exactly and deleted, by keyboard', async () => {
    await using paid = await startAdmin()
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations')
    const { page } = opened
    await page.getByRole('link', { name: 'default' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('n')
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('acme labs')
    await page.getByLabel('Requests per minute').fill('0')
    await page.getByText('Enter a whole number above 0').waitFor()
    expect(await page.getByRole('button', { name: 'Create', exact: true }).last().isDisabled()).toBe(true)
    await page.getByLabel('Requests per minute').fill('600')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'organization-create')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'acme labs', level: 1 }).waitFor()
    expect(page.url()).toMatch(/#\/organizations\/org_\w+$/)

    await page.getByRole('button', { name: 'Add credit' }).press('Enter')
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('12.3456789012')
    await page.getByText('Enter a decimal number').waitFor()
    await page.keyboard.press('Backspace')
    await page.getByLabel('Note').fill('Invoice 7')
    await page.keyboard.press('Enter')
    await page.getByText('The balance is now $12.345678901.').waitFor()
    await page.locator('.figures dd', { hasText: '$12.345678901' }).waitFor()

    await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
    await page.getByLabel('Billing').selectOption('prepaid')
    await page.getByLabel('Requests per minute').fill('')
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('prepaid', { exact: true }).waitFor()
    const { body } = await requestAdmin(paid.app, 'GET', 'organizations/acme%20labs')
    expect(body).toMatchObject({
      billing: 'prepaid',
      balance_usd: '12.345678901',
      requests_per_minute: null,
    })

    await page.getByRole('button', { name: 'Delete' }).press('Enter')
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('acme lab')
    expect(await remove.isDisabled()).toBe(true)
    await page.keyboard.type('s')
    await page.keyboard.press('Enter')
    await page.getByText('1 in all.', { exact: true }).waitFor()
    expect((await requestAdmin(paid.app, 'GET', 'organizations/acme%20labs')).status).toBe(404)
  })

  test('an organization has a budget and models, is disabled, and what is held is released', async () => {
    await using paid = await startAdmin()
    const { body } = await requestAdmin(paid.app, 'GET', 'organizations/default')
    await spendBudget(paid.billing, String(body.id), { spent: '20', held: '2.5' })
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/default')
    const { page } = opened
    await page.getByText('No budget.').waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
    await page.getByLabel('Budget in USD').fill('50')
    await page.getByRole('combobox', { name: 'Models' }).selectOption('some')
    await page.getByRole('combobox', { name: 'Add a model' }).fill('acme/*')
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    // The text that is not chosen yet counts, too.
    await page.getByRole('checkbox', { name: /^Enabled/ }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    expect((await sent).postDataJSON()).toEqual({ budget_usd: '50', models: ['acme/*'], enabled: false })
    await page.getByText('$27.50 left of $50.00 in total').waitFor()
    await page.getByText('disabled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Release what is held' }).press('Enter')
    await page.getByRole('button', { name: 'Release', exact: true }).press('Enter')
    await page.getByText('$30.00 left of $50.00 in total').waitFor()
    await screenshots(page, 'organization-budget')
    await page.getByRole('link', { name: '← All organizations' }).press('Enter')
    const meter = page.getByRole('meter', { name: 'Budget of default' })
    expect(await meter.getAttribute('aria-valuetext')).toBe(
      '$20.00 spent of $50.00; $30.00 left; never reset',
    )
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'organizations-budget')
  })

  test('what the gateway rejects is shown in the dialog, which stays open', async () => {
    await using paid = await startAdmin()
    const expected = /status of 40[01]/
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations', { expected })
    const { page } = opened
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('<img src=x onerror=alert(1)>')
    await page.keyboard.press('Enter')
    const alert = page.getByRole('dialog').getByRole('alert')
    await alert.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('an unknown organization is explained', async () => {
    await using paid = await startAdmin()
    const expected = /status of 40[14]/
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/nobody', { expected })
    const { page } = opened
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: '← All organizations' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('one has its own keys and usage only', async () => {
    await using paid = await startAdmin()
    const { body } = await requestAdmin(paid.app, 'POST', 'organizations', { body: { name: 'acme' } })
    const { body: key } = await requestAdmin(paid.app, 'POST', 'keys', {
      body: { organization: 'acme', name: 'ci', expires_in: '90d' },
    })
    const { body: other } = await requestAdmin(paid.app, 'GET', 'organizations/default')
    const now = Date.now()
    await fillUsage(paid.billing, {
      rows: 4000,
      from: now - 6 * 86_400_000,
      to: now,
      organizations: [String(body.id), String(other.id)],
    })
    await using opened = await openAdmin(await browser(), paid.app, `#/organizations/${body.id}`)
    const { page } = opened
    const requests = page.locator('.figures > div', { has: page.getByText('Requests', { exact: true }) })
    await requests.getByText('2,000').waitFor()
    await page.getByRole('cell', { name: new RegExp(`sk-weir-${key.id}`) }).waitFor()
    expect(await page.getByRole('region', { name: 'API keys' }).locator('tbody tr').count()).toBe(1)
    expect(await page.getByText(String(key.key)).count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'organization-light')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await screenshot(page, 'organization-360-dark')
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('of ten thousand organizations, one page is loaded at once, the next by scrolling, and the gateway searches', async () => {
    await using paid = await startAdmin()
    await paid.billing.rows(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9998)
        INSERT INTO organizations (id, name, created_at, billing, balance, reserved)
        SELECT 'org_' || (10000 + i), 'team ' || i, 1700000000000 + i, 'prepaid', i * 1234567891, 0 FROM n`,
    )
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations')
    const { page, watch } = opened
    const lists = () => watch.requests.filter((url) => url.includes('/admin/organizations?') && isOfList(url))
    await page.getByText('100 loaded.').waitFor()
    await page.getByRole('link', { name: 'team 9998' }).waitFor()
    await screenshot(page, 'organizations-light')
    expect(lists()).toHaveLength(1)
    for (let rows = 200; rows <= 500; rows += 100) {
      await scrollToEnd(page.getByRole('region', { name: 'Organizations' }))
      await page.getByText(`${rows} loaded.`).waitFor()
    }
    expect(lists()).toHaveLength(5)
    expect(await page.locator('tbody tr').count()).toBeLessThan(120)
    await page.keyboard.press('/')
    await page.keyboard.insertText('TEAM 1998')
    await page.getByRole('cell', { name: '$2466.666646218' }).waitFor()
    await page.getByText('1 in all.', { exact: true }).waitFor()
    expect(lists()).toHaveLength(6)
    expect(page.url()).toContain('q=TEAM+1998')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'organizations-360-dark')
  })

  test('the keys and the live requests of ten thousand organizations load no list of them', async () => {
    await using paid = await startAdmin()
    await paid.billing.rows(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9998)
        INSERT INTO organizations (id, name, created_at)
        SELECT 'org_' || (10000 + i), 'team ' || i, 1700000000000 + i FROM n`,
    )
    await using opened = await openAdmin(await browser(), paid.app, '#/live')
    const { page, watch } = opened
    const loaded = (path: string) => watch.requests.filter((url) => url.includes(`${path}?`) && isOfList(url))
    await page.getByRole('status').getByText('live', { exact: true }).waitFor()
    await (await paid.app.chat(chatRequest)).text()
    await page.getByRole('link', { name: 'default' }).waitFor()
    expect(loaded('/admin/organizations')).toEqual([])
    await page.goto(`${paid.app.url}/#/keys`)
    await page.getByText('1 in all.', { exact: true }).waitFor()
    expect(loaded('/admin/keys')).toHaveLength(1)
    await page.getByRole('combobox', { name: 'Organization' }).fill('team 4321')
    await page.getByRole('option', { name: 'team 4321' }).click()
    await page.getByRole('heading', { name: 'No API key matches' }).waitFor()
    expect(page.url()).toContain('organization=team+4321')
    // The first ones to choose from, and those that were typed.
    expect(loaded('/admin/organizations')).toHaveLength(2)
    expect(loaded('/admin/keys')).toHaveLength(2)
  })
})
